//! A chain whose programs are plain objects of this process, driven one line at a time.

use std::collections::VecDeque;
use swarmyard_modules::builtin::smooth::Smooth;
use swarmyard_modules::builtin::{Module, Station};
use swarmyard_modules::{Chain, Event, Head, How, Line, Link, LinkLimits, Universe};

/// Makes a program: bytes of a line in, lines out, and whether it ended.
pub(crate) type Maker = Box<dyn Fn() -> Running>;

/// A program that runs.
pub(crate) type Running = Box<dyn FnMut(&str) -> (Vec<String>, bool)>;

/// A program around a module.
pub(crate) fn program<M: Module + 'static>(number: u16, make: impl Fn() -> M + 'static) -> Maker {
    Box::new(move || {
        let mut station = Station::new(number, make());
        Box::new(move |line| {
            let step = station.take(line.as_bytes());
            (step.out, step.is_end)
        })
    })
}

/// The interpolator with a number, speaking to another.
pub(crate) fn smooth(number: u16, to: u16) -> Maker {
    program(number, move || Smooth::new(number, to))
}

struct Seat {
    make: Maker,
    running: Option<Running>,
    /// What it has said and nobody has read.
    said: VecDeque<String>,
    has_ended: bool,
}

/// A chain and its programs.
pub(crate) struct Desk {
    pub(crate) chain: Chain,
    seats: Vec<Seat>,
    pub(crate) out: Vec<String>,
    pub(crate) times: Vec<i64>,
    pub(crate) events: Vec<Event>,
}

pub(crate) const RESET: &str = "0 0 0 -10 -10 -10 10 10 10";

impl Desk {
    pub(crate) fn new() -> Desk {
        let chain = Chain::new(Head::new(1, "source", Universe::default()));
        Desk { chain, seats: Vec::new(), out: Vec::new(), times: Vec::new(), events: Vec::new() }
    }

    pub(crate) fn add(&mut self, number: u16, make: Maker) {
        self.add_link(Link::new(number, "module", false, LinkLimits::default()), make);
    }

    pub(crate) fn add_link(&mut self, link: Link, make: Maker) {
        self.chain.add(link).expect("the number is free");
        self.seats.push(Seat { make, running: None, said: VecDeque::new(), has_ended: false });
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.chain.head.from_source(line.as_bytes());
    }

    /// One small step: a program gets what it may have, and one line of what it said is read.
    pub(crate) fn step(&mut self) {
        self.chain.pump();
        for (i, seat) in self.seats.iter_mut().enumerate() {
            let link = self.chain.link_mut(i).expect("there is a link for each seat");
            if link.must_end().is_some() {
                seat.running = None;
                seat.said.clear();
                link.ended(How::Killed(String::new()));
            }
            if link.wants_start() {
                seat.running = Some((seat.make)());
                seat.has_ended = false;
                link.started();
            }
            let Some(running) = &mut seat.running else { continue };
            let (text, closes) = match (link.to_module(), link.close()) {
                (Some(text), _) => (text, false),
                (None, Some(text)) => (text, true),
                (None, None) => (String::new(), false),
            };
            for line in text.lines() {
                if seat.has_ended {
                    break;
                }
                let (out, ended) = running(line);
                seat.said.extend(out);
                seat.has_ended = ended;
            }
            seat.has_ended |= closes;
            if let Some(line) = seat.said.pop_front() {
                link.from_module(line.as_bytes());
            } else if seat.has_ended {
                seat.running = None;
                link.ended(How::Exited(0));
            }
        }
        self.chain.pump();
        while let Some(stamped) = self.chain.next_output() {
            self.out.push(stamped.line.text().to_owned());
            self.times.push(stamped.at.0);
        }
        while let Some(event) = self.chain.next_event() {
            self.events.push(event);
        }
    }

    /// A program dies; half of what it said is lost.
    pub(crate) fn kill(&mut self, i: usize) {
        if self.seats[i].running.take().is_some() {
            self.seats[i].said.clear();
            self.chain.link_mut(i).expect("it is there").ended(How::Signal(9));
        }
    }

    pub(crate) fn settle(&mut self) {
        for _ in 0..2000 {
            self.step();
        }
    }

    /// Ends the stream, and answers what came out.
    pub(crate) fn finish(mut self) -> (Vec<String>, Vec<Event>) {
        self.chain.head.end();
        for _ in 0..100_000 {
            if self.chain.is_over() {
                self.step();
                return (self.out, self.events);
            }
            self.step();
        }
        panic!("the chain does not end: {:?}", self.events);
    }
}

/// A line that must be fine.
pub(crate) fn line(text: &str) -> Line {
    Line::parse(text.as_bytes()).expect("the test's own line is fine")
}

pub(crate) fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(Event::kind).collect()
}
