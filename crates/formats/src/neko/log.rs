//! The log of Neko's robot simulator: one type per kind of line, read and written.
//!
//! In: the text of a log, or values of a simulator. Out: [`Line`]s, or text: `Display` of a line is the
//! line, and a line that was read is written back to the byte. Lengths and speeds have the units of the
//! run, angles are degrees as in the text. [`Animation`] says where every robot is between its lines.
//!
//! Numbers of the simulator have three decimals; what programs put into messages is written as Java
//! writes it ([`java_double`]).

mod animation;
mod java;
mod read;

pub use animation::{Animation, MAX_STRETCHES, Stretch, poses};
pub use java::java_double;
pub use read::{MAX_LINE, MAX_LINES, MAX_TEXT, read, read_line};

use std::fmt::{self, Display, Formatter};

/// The line that names the columns of event rows.
pub const HEADER: &str = "time | R# | pos | des | angle | turn | distance | tSpeed | mSpeed | condition";

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// When and in which process; some logs leave it out.
    pub prefix: Option<Prefix>,
    /// What happened.
    pub entry: Entry,
}

/// What Neko puts before every line: `31.059 p3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix {
    /// Simulated time.
    pub time_s: f64,
    /// Number of the process; the first is 0.
    pub process: u32,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// The names of the columns of [`Entry::Motion`].
    Header,
    /// The motion of a robot begins, ends, or is ended by a collision.
    Motion(Motion),
    /// A robot asks a sensor.
    SensorRequest(SensorRequest),
    /// A push sensor tells its robot something.
    SensorEvent(SensorEvent),
    /// A robot asks its motion module for something.
    MotionRequest(MotionRequest),
    /// A message is sent or received.
    Message(Message),
    /// A text of the algorithm, on one line.
    Algorithm(String),
}

/// A row of `Event:` or `CollisionEvent:`: how a robot stands, and what it does from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Whether a collision made it stop.
    pub collision: bool,
    /// Simulated time.
    pub time_s: f64,
    /// Number of the robot.
    pub robot: u32,
    /// Where it is.
    pub position: [f64; 2],
    /// Where it goes; where it is while it turns and when it has arrived.
    pub destination: [f64; 2],
    /// Where it looks: degrees, counter-clockwise from the x axis.
    pub angle_deg: f64,
    /// How far it still has to turn.
    pub turn_deg: f64,
    /// How far it still has to go.
    pub distance: f64,
    /// How fast it turns now, per second.
    pub turn_speed_deg: f64,
    /// How fast it goes now, per second.
    pub move_speed: f64,
    /// Which step of which motion begins or ends.
    pub condition: Condition,
}

/// Which step of which motion begins or ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A step of a move to a place begins: the turn, or the way.
    DoMoveToSequence,
    /// The turn of a move to a place has ended.
    FinishMoveToSequence,
    /// A move to a place has ended.
    FinishMoveTo,
    /// A turn begins.
    DoTurn,
    /// A turn has ended.
    FinishTurn,
    /// A way straight on begins.
    DoForward,
    /// A way straight on has ended.
    FinishForward,
    /// A motion of another module, in one word.
    Other(String),
}

/// The conditions that have a name here, as they are written.
const CONDITIONS: [(Condition, &str); 7] = [
    (Condition::DoMoveToSequence, "Do_MoveTo_Sequence"),
    (Condition::FinishMoveToSequence, "Finish_MoveTo_Sequence"),
    (Condition::FinishMoveTo, "Finish_MoveTo"),
    (Condition::DoTurn, "Do_Turn"),
    (Condition::FinishTurn, "Finish_Turn"),
    (Condition::DoForward, "Do_Forward"),
    (Condition::FinishForward, "Finish_Forward"),
];

/// A robot asks a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorRequest {
    /// Number of the robot.
    pub robot: u32,
    /// What it asks for.
    pub sensing: Sensing,
}

/// What a sensor looks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Sensing {
    /// Positions, its own or everybody's.
    Positioning {
        /// How wrong they may be.
        error_factor: f64,
    },
    /// The robots in view.
    View {
        /// How far it sees.
        view_size: f64,
    },
    /// What is near.
    Proximity {
        /// How far it feels.
        view_size: f64,
    },
    /// Whether it touches something.
    Contact,
    /// A sensor of another module, in words.
    Other(String),
}

/// A push sensor tells its robot something.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorEvent {
    /// Simulated time.
    pub time_s: f64,
    /// Number of the robot.
    pub robot: u32,
    /// What the sensor looks for.
    pub sensing: Sensing,
    /// Where it found something.
    pub found: Vec<[f64; 2]>,
}

/// A robot asks its motion module for something.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionRequest {
    /// Simulated time.
    pub time_s: f64,
    /// Number of the robot.
    pub robot: u32,
    /// Number of the task; 1 in everything the thesis shows.
    pub task: u32,
    /// What it asks for.
    pub command: Command,
}

/// What a motion module can be asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Turn towards a place and go there.
    MoveTo {
        /// The place.
        to: [f64; 2],
        /// How the place is written.
        comma: Comma,
        /// Per second.
        turn_speed_deg: f64,
        /// Per second.
        move_speed: f64,
    },
    /// Turn on the spot.
    Turn {
        /// How far.
        by_deg: f64,
        /// Per second.
        turn_speed_deg: f64,
    },
    /// Go straight on.
    Forward {
        /// How far.
        distance: f64,
        /// Per second.
        move_speed: f64,
    },
}

/// The thesis writes places in requests in two ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comma {
    /// `( 400.452 , 435.529 )`
    #[default]
    Apart,
    /// `( 673.296, 211.928 )`
    Close,
}

/// A message is sent or received.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// On which side, and where in the stack of protocols.
    pub event: MessageEvent,
    /// Number of the process that sends it.
    pub from: u32,
    /// Numbers of the processes that it is for.
    pub to: Vec<u32>,
    /// The name of its type, one word: `GOTO`.
    pub kind: String,
    /// What it says.
    pub content: Option<Content>,
}

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageEvent {
    /// `s`: a program sends it.
    Send,
    /// `r`: a program receives it.
    Receive,
    /// `ns`: it enters the network.
    NetworkSend,
    /// `nr`: it leaves the network.
    NetworkReceive,
}

const MESSAGE_EVENTS: [(MessageEvent, &str); 4] = [
    (MessageEvent::Send, "s"),
    (MessageEvent::Receive, "r"),
    (MessageEvent::NetworkSend, "ns"),
    (MessageEvent::NetworkReceive, "nr"),
];

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A place.
    Point([f64; 2]),
    /// Anything else, on one line.
    Text(String),
}

impl Line {
    /// A line with its time and process.
    #[must_use]
    pub fn at(time_s: f64, process: u32, entry: Entry) -> Line {
        Line { prefix: Some(Prefix { time_s, process }), entry }
    }

    /// A line without time and process.
    #[must_use]
    pub fn bare(entry: Entry) -> Line {
        Line { prefix: None, entry }
    }

    /// When it happened, if the line says so.
    #[must_use]
    pub fn time_s(&self) -> Option<f64> {
        match &self.entry {
            Entry::Motion(row) => Some(row.time_s),
            Entry::SensorEvent(event) => Some(event.time_s),
            Entry::MotionRequest(request) => Some(request.time_s),
            _ => self.prefix.map(|p| p.time_s),
        }
    }
}

/// Lines as the text of a log.
#[must_use]
pub fn write(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(Prefix { time_s, process }) = self.prefix {
            write!(f, "{time_s:.3} p{process} ")?;
        }
        match &self.entry {
            Entry::Header => f.write_str(HEADER),
            Entry::Motion(row) => row.fmt(f),
            Entry::SensorRequest(SensorRequest { robot, sensing }) => {
                write!(f, "SensorRequest: ROBOT# {robot} | {sensing}")
            }
            Entry::SensorEvent(event) => event.fmt(f),
            Entry::MotionRequest(MotionRequest { time_s, robot, task, command }) => {
                write!(f, "MotionRequest: TIME: {time_s:.3} | ROBOT# {robot} Task ID = {task} | {command}")
            }
            Entry::Message(message) => message.fmt(f),
            Entry::Algorithm(text) => write!(f, "Algorithm: {}", OneLine(text)),
        }
    }
}

impl Display for Motion {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Motion { time_s, robot, angle_deg, turn_deg, distance, turn_speed_deg, move_speed, .. } = self;
        let ([x, y], [to_x, to_y]) = (self.position, self.destination);
        let (name, end) = if self.collision { ("CollisionEvent", "(Collision)") } else { ("Event", "") };
        write!(f, "{name}: | {time_s:.3} | {robot} | [{x:.3},{y:.3}] | [{to_x:.3},{to_y:.3}] | ")?;
        write!(
            f,
            "{angle_deg:.3} | {turn_deg:.3} | {distance:.3} | {turn_speed_deg:.3} | {move_speed:.3} | "
        )?;
        write!(f, "{}{end}", self.condition)
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self, CONDITIONS.iter().find(|c| c.0 == *self)) {
            (Condition::Other(word), _) => OneWord(word).fmt(f),
            (_, known) => f.write_str(known.map_or("", |c| c.1)),
        }
    }
}

impl Display for Sensing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Sensing::Positioning { error_factor } => {
                write!(f, "Positioning with errorFactor {}", java_double(*error_factor))
            }
            Sensing::View { view_size } => write!(f, "View with viewSize {}", java_double(*view_size)),
            Sensing::Proximity { view_size } => {
                write!(f, "Proximity with viewSize {}", java_double(*view_size))
            }
            Sensing::Contact => f.write_str("Contact"),
            Sensing::Other(words) => OneLine(&words.replace('|', "/")).fmt(f),
        }
    }
}

impl Display for SensorEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let SensorEvent { time_s, robot, sensing, found } = self;
        write!(f, "SensorEvent: TIME: {time_s:.3} | ROBOT# {robot} | {sensing} | [")?;
        for (k, [x, y]) in found.iter().enumerate() {
            write!(f, "{}[{x:.3},{y:.3}]", if k == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Command::MoveTo { to: [x, y], comma, turn_speed_deg, move_speed } => {
                let comma = if comma == Comma::Apart { " ," } else { "," };
                write!(f, "MoveTo: ( {x:.3}{comma} {y:.3} ) with ")?;
                write!(f, "turnSpeed = {turn_speed_deg:.3} moveSpeed = {move_speed:.3}")
            }
            Command::Turn { by_deg, turn_speed_deg } => {
                write!(f, "Turn: {by_deg:.3} with turnSpeed = {turn_speed_deg:.3}")
            }
            Command::Forward { distance, move_speed } => {
                write!(f, "Forward: {distance:.3} with moveSpeed = {move_speed:.3}")
            }
        }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let event = MESSAGE_EVENTS.iter().find(|e| e.0 == self.event).map_or("", |e| e.1);
        write!(f, "messages e {event} p{} ", self.from)?;
        for (k, to) in self.to.iter().enumerate() {
            write!(f, "{}p{to}", if k == 0 { "" } else { "," })?;
        }
        write!(f, " {}", OneWord(&self.kind))?;
        match &self.content {
            None => Ok(()),
            Some(Content::Point([x, y])) => {
                write!(f, " Point2D.Double[{}, {}]", java_double(*x), java_double(*y))
            }
            Some(Content::Text(text)) => write!(f, " {}", OneLine(text)),
        }
    }
}

/// A text of a program that must not end the line.
struct OneLine<'t>(&'t str);

impl Display for OneLine<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.split(['\n', '\r']).enumerate().try_for_each(|(k, part)| {
            f.write_str(if k == 0 { "" } else { " " })?;
            f.write_str(part)
        })
    }
}

/// A name of a program that must stay one word, and cannot be nothing.
struct OneWord<'t>(&'t str);

impl Display for OneWord<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("_");
        }
        self.0.split(char::is_whitespace).enumerate().try_for_each(|(k, part)| {
            f.write_str(if k == 0 { "" } else { "_" })?;
            f.write_str(part)
        })
    }
}
