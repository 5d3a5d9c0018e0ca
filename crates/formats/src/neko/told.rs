//! What the lines of a log say, as notes that the class `playback` tells again.
//!
//! In: lines. Out: one text per line, in ascending order of time, as `playback` reads them: in SI units, robots by their
//! number in the scenario. A message that comes is the one that was sent first of those that read alike and have not come
//! to that robot yet.

use super::log::{
    Command, Condition, Content, Entry, Line, Message, MessageEvent, Motion, MotionRequest, Sensing,
    SensorEvent, SensorRequest,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use swarmyard_base::{Diagnostic, math};

/// Most receivers of all messages together.
const MAX_RECEIVERS: usize = 4_000_000;

/// How an algorithm's line says that a robot is out of service or back, in logs of our own.
const STATES: [&str; 4] = ["crashed", "recovered", "endless", "swallowed"];

/// The notes of a log.
#[derive(Default)]
pub(super) struct Notes {
    /// In the order of time.
    pub(super) texts: Vec<String>,
    /// Messages sent.
    pub(super) sent: usize,
    /// Copies that came.
    pub(super) received: usize,
    /// Lines of algorithms.
    pub(super) words: usize,
    /// Lines that are not among them.
    pub(super) left_out: usize,
}

/// All processes that a log names, ascending.
pub(super) fn processes(lines: &[Line]) -> BTreeSet<u32> {
    let mut all = BTreeSet::new();
    for line in lines {
        all.extend(line.prefix.map(|p| p.process));
        match &line.entry {
            Entry::Motion(Motion { robot, .. })
            | Entry::SensorRequest(SensorRequest { robot, .. })
            | Entry::SensorEvent(SensorEvent { robot, .. })
            | Entry::MotionRequest(MotionRequest { robot, .. }) => all.extend([*robot]),
            Entry::Message(Message { from, to, .. }) => all.extend(to.iter().chain([from])),
            Entry::Header | Entry::Algorithm(_) => {}
        }
    }
    all
}

/// The notes of a log whose processes these are.
///
/// # Errors
/// When its messages have too many receivers.
pub(super) fn notes(lines: &[Line], processes: &BTreeSet<u32>) -> Result<Notes, Diagnostic> {
    let numbers = processes.iter().copied().zip(0..).collect();
    let mut teller = Teller { numbers, mail: Mail::default(), notes: Notes::default() };
    let mut now = 0.0;
    let mut timed: Vec<(f64, &Line)> = Vec::with_capacity(lines.len());
    for line in lines {
        // A line without a time stands below the one it goes with.
        now = line.time_s().map_or(now, |t| math::max(t, 0.0));
        timed.push((now, line));
    }
    // A log that was put together from several need not be in order.
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (time_s, line) in timed {
        teller.line(time_s, line)?;
    }
    Ok(teller.notes)
}

struct Teller {
    /// Numbers of robots, by process.
    numbers: BTreeMap<u32, u32>,
    mail: Mail,
    notes: Notes,
}

impl Teller {
    fn line(&mut self, time_s: f64, line: &Line) -> Result<(), Diagnostic> {
        let by = line.prefix.map(|p| p.process);
        let told = match &line.entry {
            Entry::Header => return Ok(()),
            Entry::Motion(row) => Some((row.robot, motion(row))),
            Entry::SensorRequest(SensorRequest { robot, sensing }) => Some((*robot, asked(sensing))),
            Entry::SensorEvent(event) => Some((event.robot, pushed(event))),
            Entry::MotionRequest(request) => Some((request.robot, wanted(request))),
            Entry::Message(message) => self.message(by, message)?,
            Entry::Algorithm(text) => by.map(|robot| {
                self.notes.words += 1;
                let is_state = STATES.contains(&text.as_str());
                (robot, if is_state { format!("became {text}") } else { format!("said {text}") })
            }),
        };
        match told.and_then(|(process, text)| Some((self.numbers.get(&process)?, text))) {
            Some((robot, text)) => self.notes.texts.push(format!("{time_s:?} {robot} {text}")),
            None => self.notes.left_out += 1,
        }
        Ok(())
    }

    /// A message that is sent or comes, and whose note it is.
    fn message(&mut self, by: Option<u32>, m: &Message) -> Result<Option<(u32, String)>, Diagnostic> {
        let content = match &m.content {
            None => String::new(),
            Some(Content::Point([x, y])) => format!(" ({x}, {y})"),
            Some(Content::Text(text)) => format!(" {text}"),
        };
        let number = |process: &u32| self.numbers.get(process).copied().unwrap_or(u32::MAX);
        Ok(match m.event {
            MessageEvent::Send => {
                let to: Vec<String> = m.to.iter().map(|p| number(p).to_string()).collect();
                let serial = self.mail.send(m)?;
                self.notes.sent += 1;
                Some((m.from, format!("sent {serial} {} {}{content}", to.join(","), m.kind)))
            }
            MessageEvent::Receive => {
                // Without a process the line is that of the only one it can be for.
                let alone = if let [one] = m.to[..] { Some(one) } else { None };
                by.or(alone).map(|robot| {
                    self.notes.received += 1;
                    let (serial, from) = (self.mail.receive(m, robot), number(&m.from));
                    (robot, format!("received {serial} {from} {}{content}", m.kind))
                })
            }
            MessageEvent::NetworkSend | MessageEvent::NetworkReceive => None,
        })
    }
}

/// Who has still to get what.
#[derive(Default)]
struct Mail {
    /// Messages so far.
    serials: u64,
    receivers: usize,
    /// Numbers for messages that read alike.
    alike: BTreeMap<String, usize>,
    /// By (messages that read alike, receiver).
    boxes: BTreeMap<(usize, u32), Letters>,
}

#[derive(Default)]
struct Letters {
    under_way: VecDeque<u64>,
    /// The last that came: a network may double one.
    came: Option<u64>,
}

impl Mail {
    fn fresh(&mut self) -> u64 {
        self.serials += 1;
        self.serials - 1
    }

    fn kind(&mut self, message: &Message) -> usize {
        let text = Message { event: MessageEvent::Send, ..message.clone() }.to_string();
        let next = self.alike.len();
        *self.alike.entry(text).or_insert(next)
    }

    fn send(&mut self, message: &Message) -> Result<u64, Diagnostic> {
        let (serial, kind) = (self.fresh(), self.kind(message));
        self.receivers += message.to.len();
        if self.receivers > MAX_RECEIVERS {
            let what = format!("the messages of the log have more than `{MAX_RECEIVERS}` receivers");
            return Err(Diagnostic::error("too-big", what).help("import a part of it"));
        }
        for to in &message.to {
            self.boxes.entry((kind, *to)).or_default().under_way.push_back(serial);
        }
        Ok(serial)
    }

    /// The number of the message that comes; a new one when nobody has sent it.
    fn receive(&mut self, message: &Message, by: u32) -> u64 {
        let kind = self.kind(message);
        let known = self.boxes.get_mut(&(kind, by)).and_then(|letters| {
            let serial = letters.under_way.pop_front().or(letters.came);
            letters.came = serial;
            serial
        });
        known.unwrap_or_else(|| self.fresh())
    }
}

fn motion(row: &Motion) -> String {
    let (word, name) = step(row);
    let ([x, y], [to_x, to_y]) = (row.position, row.destination);
    let angles = [row.angle_deg, row.turn_deg, row.turn_speed_deg].map(f64::to_radians);
    let [heading, turn, turn_speed] = angles;
    let (distance, speed) = (row.distance, row.move_speed);
    format!(
        "{word} {name} {x:?} {y:?} {to_x:?} {to_y:?} {heading:?} {turn:?} {distance:?} {turn_speed:?} {speed:?}"
    )
}

/// Which step of which motion it is.
fn step(row: &Motion) -> (&'static str, &str) {
    use Condition as C;
    let begins = |several: bool| match (row.collision, several) {
        (false, false) => "begins",
        (false, true) => "begins-first",
        (true, false) => "collided",
        (true, true) => "collided-on",
    };
    let (step, name) = match &row.condition {
        C::DoMoveToSequence => (begins(true), "MoveTo"),
        C::FinishMoveToSequence => ("next", "MoveTo"),
        C::FinishMoveTo => ("finished", "MoveTo"),
        C::DoTurn => (begins(false), "Turn"),
        C::FinishTurn => ("finished", "Turn"),
        C::DoForward => (begins(false), "Forward"),
        C::FinishForward => ("finished", "Forward"),
        C::Other(word) => match (word.strip_prefix("Do_"), word.strip_prefix("Finish_")) {
            (Some(name), _) => match name.strip_suffix("_Sequence") {
                Some(name) => (begins(true), name),
                None => (begins(false), name),
            },
            (None, Some(name)) => match name.strip_suffix("_Sequence") {
                Some(name) => ("next", name),
                None => ("finished", name),
            },
            (None, None) if row.collision => ("collided", word.as_str()),
            (None, None) => ("passed", word.as_str()),
        },
    };
    // A motion has a name, whatever a condition looks like.
    if name.is_empty() { (step, "_") } else { (step, name) }
}

fn wanted(MotionRequest { task, command, .. }: &MotionRequest) -> String {
    let mut text = format!("wanted {task} ");
    // Writing to a string never fails.
    let _ = match *command {
        Command::MoveTo { to: [x, y], turn_speed_deg, move_speed, .. } => {
            write!(text, "move-to {x:?} {y:?} {move_speed:?} {:?}", turn_speed_deg.to_radians())
        }
        Command::Turn { by_deg, turn_speed_deg } => {
            write!(text, "turn {:?} {:?}", by_deg.to_radians(), turn_speed_deg.to_radians())
        }
        Command::Forward { distance, move_speed } => write!(text, "forward {distance:?} {move_speed:?}"),
    };
    text
}

fn asked(sensing: &Sensing) -> String {
    match sensing {
        Sensing::Positioning { error_factor } => format!("asked gps {error_factor:?}"),
        Sensing::View { view_size } => format!("asked view {view_size:?}"),
        Sensing::Proximity { view_size } => format!("asked proximity {view_size:?}"),
        // Nobody asks for contacts: they are told.
        Sensing::Contact => "looks-out contact".to_owned(),
        Sensing::Other(words) => format!("asked {}", own(words)),
    }
}

fn pushed(event: &SensorEvent) -> String {
    let mut text = format!("pushed {}", event.found.len());
    for [x, y] in &event.found {
        let _ = write!(text, " {x:?} {y:?}");
    }
    let what = match &event.sensing {
        Sensing::Proximity { view_size } => format!("near {view_size:?}"),
        Sensing::Contact => "contact".to_owned(),
        Sensing::View { view_size } => format!("own view {view_size:?}"),
        Sensing::Positioning { error_factor } => format!("own gps {error_factor:?}"),
        Sensing::Other(words) => own(words),
    };
    text + " " + &what
}

/// A sensor of one's own: as our logs have it, `Own eye [1.0, 2.0]`, or by whatever words there are.
fn own(words: &str) -> String {
    let ours = || {
        let (name, args) = words.strip_prefix("Own ")?.strip_suffix(']')?.split_once(" [")?;
        let args = args.split(", ").filter(|a| !a.is_empty()).map(|a| a.parse::<f64>().ok());
        let args: Option<Vec<f64>> = args.collect();
        Some((name, args.filter(|args| args.iter().all(|a| a.is_finite()))?))
    };
    let (name, args) = ours().unwrap_or((words, Vec::new()));
    let name = name.split_whitespace().collect::<Vec<_>>().join("_");
    let args: String = args.iter().map(|a| format!(" {a:?}")).collect();
    format!("own {}{args}", if name.is_empty() { "sensor" } else { &name })
}
