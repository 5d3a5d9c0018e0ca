//! Programs elsewhere against the same here, with the process over there as a thread.

use super::line::tests::{answers, bytes_of};
use super::line::{Pipes, Talk, Task};
use super::price::Prices;
use super::program::{Desk, FarMind};
use super::there::{Question, Shown};
use crate::wasm::{Budget, WasmProgram};
use std::io::{self, Read};
use std::sync::Arc;
use swarmyard_base::Uid;
use swarmyard_part_api::{
    Mind, Occasion, Place, Pokes, Port, Program as _, Reaches, RegisterFile, RegisterMap, Thought,
};

/// Remembers what it read, from a reading and a port; writes to a command, the port and where nothing is; speaks when its
/// number is odd, and crashes when it divides by seven.
const WORK: &str = r#"
    (import "rio" "peek16" (func $peek (param i32) (result i32)))
    (import "rio" "poke16" (func $poke (param i32 i32)))
    (import "rio" "ticks" (func $ticks (result i32)))
    (import "rio" "log" (func $log (param i32)))
    (import "rio" "wait" (func $wait (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 16) "odd\00")
    (func $work (local $n i32)
        (local.set $n (i32.mul (call $peek (i32.const 0x10)) (call $ticks)))
        (local.set $n (i32.add (local.get $n) (i32.load (i32.const 640))))
        (local.set $n (i32.add (local.get $n) (call $peek (i32.const 0x20))))
        (call $poke (i32.const 0x20) (local.get $n))
        (i32.store (i32.const 640) (local.get $n))
        (call $poke (i32.const 0x12) (local.get $n))
        (call $poke (i32.add (i32.const 0x50) (i32.and (local.get $n) (i32.const 6))) (i32.const 1))
        (if (i32.and (local.get $n) (i32.const 1)) (then (call $log (i32.const 16))))
        (if (i32.eqz (i32.rem_u (local.get $n) (i32.const 7))) (then (unreachable))))
"#;
const STEPS: &str = "(func (export \"robot_step\") (call $work))
    (func (export \"robot_stop\") (call $log (i32.const 16)))";
const LOOP: &str = "(func (export \"rio_main\") (result i32)
    (loop $on (drop (call $wait)) (call $work) (br $on)) (i32.const 0))";

fn program(end: &str) -> Arc<WasmProgram> {
    let bytes = wat::parse_str(format!("(module {WORK} {end})")).expect("a module");
    let budget = Budget { fuel: 10_000, memory: 1 << 20 };
    Arc::new(WasmProgram::nameless(&Arc::new(bytes), budget).expect("a program"))
}

/// Everything that comes from over there, up to so many bytes.
struct Cut<R> {
    from: R,
    left: usize,
}

impl<R: Read> Read for Cut<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = to.len().min(self.left);
        let read = self.from.read(&mut to[..most])?;
        self.left -= read;
        Ok(read)
    }
}

/// A desk whose line leads to a thread, and breaks after so many bytes.
fn desk(program: &Arc<WasmProgram>, prices: &Prices, left: usize) -> Arc<Desk> {
    let meter = prices.meter("there");
    let opens = move || {
        let ((theirs, to), (from, back)) = (io::pipe()?, io::pipe()?);
        // It ends when its questions do, or when nobody hears its answers.
        std::thread::spawn(move || super::compute(theirs, back));
        Talk::over(Pipes::new(Box::new(Cut { from, left }), Box::new(to)), Task::Programs, meter.clone())
    };
    Arc::new(Desk::new(Arc::clone(program), Box::new(opens)))
}

/// A port with a state of its own.
struct Mixer;

impl Port for Mixer {
    fn read(&self, state: &mut [f64]) -> u32 {
        state[0] = (state[0] * 3.0 + 1.0) % 65_536.0;
        state[0] as u32
    }
    fn write(&self, state: &mut [f64], value: u32) {
        state[0] = (state[0] + f64::from(value)) % 65_536.0;
    }
}

fn registers() -> RegisterFile {
    let place = |at, reaches| Place { at, bytes: 2, count: 1, reaches };
    let places = [place(0x10, Reaches::Reading), place(0x12, Reaches::Command), place(0x20, Reaches::Port)];
    let map = RegisterMap::of_places(&places, |_| Arc::new(Mixer)).expect("a map");
    RegisterFile::new(Arc::new(map))
}

/// What came of a quantum: thought, pokes, ports.
type Came = (Thought, Pokes, Vec<(usize, Vec<f64>)>);

/// One robot with its copy.
struct Robot {
    mind: Box<dyn Mind>,
    registers: RegisterFile,
    number: u64,
}

impl Robot {
    fn all(mut start: impl FnMut() -> Box<dyn Mind>) -> Vec<Robot> {
        let all = registers();
        (0..3).map(|number| Robot { mind: start(), registers: all.clone(), number }).collect()
    }

    fn latch(&mut self, tick: u64) -> Occasion {
        let [low, high] = ((tick * 7 + self.number * 100) as u16).to_le_bytes();
        assert!(self.registers.show(&[low, high, 5, 0, 0, 0]));
        self.registers.bring_ports(|_| std::slice::from_ref(&PORT[self.number as usize]));
        Occasion { robot: Uid(self.number), tick, tick_us: 1000 }
    }

    fn think(&mut self, tick: u64) -> Came {
        let moment = self.latch(tick);
        let thought = self.mind.think(&moment, &mut self.registers);
        (thought, self.registers.pokes(), self.registers.ports().to_vec())
    }
}

/// What the ports of robots begin a quantum with.
static PORT: [f64; 3] = [3.0, 40.0, 500.0];

/// A quantum of all: shown together, asked one after another.
fn quantum(robots: &mut [Robot], tick: u64) -> Vec<Came> {
    for robot in &mut *robots {
        let moment = robot.latch(tick);
        robot.mind.show(&moment, &robot.registers);
    }
    robots.iter_mut().map(|robot| robot.think(tick)).collect()
}

fn far(desk: &Arc<Desk>) -> Box<dyn Mind> {
    Box::new(FarMind::new(desk))
}

/// What came of each quantum, the memories now and then, and what is said at the end.
#[derive(Debug, PartialEq)]
struct History {
    came: Vec<Vec<Came>>,
    memories: Vec<Vec<u8>>,
    said: Vec<Vec<String>>,
}

fn history(robots: &mut [Robot]) -> History {
    let (mut came, mut memories) = (Vec::new(), Vec::new());
    memories.extend(robots.iter().map(|r| r.mind.image()));
    for tick in 0..24 {
        came.push(quantum(robots, tick));
        if tick % 5 == 4 {
            memories.extend(robots.iter().map(|r| r.mind.image()));
        }
    }
    let said = robots.iter_mut().map(|r| r.mind.stop()).collect();
    memories.extend(robots.iter().map(|r| r.mind.image()));
    History { came, memories, said }
}

#[test]
fn a_program_elsewhere_does_what_it_does_here_and_robots_are_asked_together() {
    for end in [STEPS, LOOP] {
        let (program, prices) = (program(end), Prices::default());
        let right = history(&mut Robot::all(|| program.start()));
        let failed = right.came.iter().flatten().filter(|c| c.0.failure.is_some()).count();
        let spoke = right.came.iter().flatten().filter(|c| !c.0.said.is_empty()).count();
        assert!(failed > 0 && spoke > 0, "{failed} failed, {spoke} spoke");
        let desk = desk(&program, &prices, usize::MAX);
        assert!(history(&mut Robot::all(|| far(&desk))) == right);
        let price = prices.all()[0].1;
        // 24 quanta but for the first, four times three memories, three ends.
        assert_eq!(price.answers, 23 + 12 + 3);
        assert!(price.sent > 1000 && price.received > 1000, "{price:?}");
    }
}

#[test]
fn a_line_that_breaks_anywhere_changes_nothing() {
    for end in [STEPS, LOOP] {
        let (program, prices) = (program(end), Prices::default());
        let right = history(&mut Robot::all(|| program.start()));
        let whole = desk(&program, &prices, usize::MAX);
        history(&mut Robot::all(|| far(&whole)));
        let bytes = prices.all()[0].1.received as usize;
        for left in (0..bytes).step_by(bytes / 23) {
            let desk = desk(&program, &Prices::default(), left);
            assert_eq!(history(&mut Robot::all(|| far(&desk))), right, "after {left} of {bytes} bytes");
        }
    }
}

#[test]
fn a_memory_goes_there_and_back_and_one_that_does_not_fit_is_refused_as_here() {
    for end in [STEPS, LOOP] {
        let program = program(end);
        let desk = desk(&program, &Prices::default(), usize::MAX);
        let mut here = Robot::all(|| program.start());
        (0..9).for_each(|tick| drop(quantum(&mut here, tick)));
        let mut there = Robot::all(|| far(&desk));
        // They have a past of their own, which is over now.
        (0..3).for_each(|tick| drop(quantum(&mut there, tick)));
        for (from, to) in here.iter().zip(&mut there) {
            to.mind.restore(&from.mind.image()).expect("it fits");
            assert!(to.mind.image() == from.mind.image());
        }
        assert!(quantum(&mut there, 9) == quantum(&mut here, 9));
        let mut home = Robot::all(|| program.start());
        for (from, to) in there.iter().zip(&mut home) {
            to.mind.restore(&from.mind.image()).expect("it fits");
        }
        assert!(quantum(&mut home, 10) == quantum(&mut here, 10));
        for wrong in [&b""[..], b"\xff", b"nonsense"] {
            assert_eq!(far(&desk).restore(wrong), program.start().restore(wrong));
        }
    }
}

#[test]
fn what_is_kept_here_is_bounded_because_memories_are_fetched() {
    let program = program(STEPS);
    let desk = desk(&program, &Prices::default(), usize::MAX);
    let mut mind = FarMind::new(&desk);
    let mut here = Robot::all(|| program.start());
    let mut registers = registers();
    let mut most = 0;
    for tick in 0..2500 {
        let moment = here[0].latch(tick);
        registers.clone_from(&here[0].registers);
        let thought = mind.think(&moment, &mut registers);
        assert!(thought == here[0].think(tick).0);
        most = most.max(mind.kept());
    }
    assert!((500..1000).contains(&most), "at most {most} quanta are kept");
    assert!(mind.image() == here[0].mind.image());
}

#[test]
fn copies_that_are_no_more_end_the_process_and_the_next_one_opens_it_again() {
    let (program, prices) = (program(STEPS), Prices::default());
    let desk = desk(&program, &prices, usize::MAX);
    for round in 1..3 {
        let mut robots = Robot::all(|| far(&desk));
        quantum(&mut robots, 0);
        drop(robots.pop());
        quantum(&mut robots, 1);
        assert!(desk.is_open());
        drop(robots);
        assert!(!desk.is_open());
        assert_eq!(prices.all()[0].1.answers, round);
    }
}

#[test]
fn nonsense_ends_the_process_in_words() {
    let asked = |questions: &[Question<'_>]| {
        let task = |pipes: &mut Pipes| pipes.say(&Task::Programs).expect("said");
        let all = |pipes: &mut Pipes| questions.iter().for_each(|q| pipes.say(q).expect("said"));
        let (done, out) = answers(bytes_of(&[&task, &all]));
        assert!(out.is_empty());
        done.expect_err("nonsense").to_string()
    };
    let shown = |begin, image: &'static [u8]| {
        Question::Steps(vec![Shown { mind: 1, begin, tick: 0, tick_us: 0, image: image.into(), keep: false }])
    };
    use super::there::Begin;
    assert!(asked(&[shown(Some(Begin::Fresh), b"")]).contains("before a program"));
    assert!(asked(&[shown(None, b"")]).contains("no such copy"));
    assert!(asked(&[shown(None, b"x")]).contains("does not fit the registers"));
    assert!(asked(&[Question::Memory(3)]).contains("no such copy"));
    let odd = Place { at: 1, bytes: 2, count: 1, reaches: Reaches::Command };
    assert!(asked(&[Question::Registers(vec![odd])]).contains("no such registers"));
    assert!(!asked(&[Question::Program { code: b"int main"[..].into(), fuel: 1, memory: 1 }]).is_empty());
}
