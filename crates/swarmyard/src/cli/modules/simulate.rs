//! `simulate` and `pipe`: a chain of programs, and one program in a chain of others' making.

use super::super::cluster::ReachArgs;
use super::super::fail::{Exit, Failure};
use super::super::out::{Out, marked};
use super::builtin::{ANY, given};
use super::{PAGE, control, here, page, program, tell};
use clap::Args;
use serde_json::json;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;
use swarmyard_modules::builtin::Station;
use swarmyard_modules::builtin::module_number;
use swarmyard_modules::pipe::{Patience, Runner, Source};
use swarmyard_modules::{Event, Head, How, LinkLimits, Scenery, Stamped, Universe, What};
use swarmyard_serve::Screen;

const EXAMPLES: &str = "\
Examples:
  swarmyard simulate local 'trajectory points.txt' local smooth | swarmyard module display
  swarmyard simulate - 'cat data' 7@- ./control 3@- smooth    with numbers of your own
  swarmyard simulate --serve local 'trajectory points.txt' local smooth local arm
  swarmyard simulate --hosts alpha=10.0.0.5:7400 --keys keys local 'trajectory points.txt' alpha smooth";

const PIPE_EXAMPLES: &str = "\
Examples:
  swarmyard module trajectory points.txt | swarmyard pipe 2@local ./my-module | swarmyard module display
  swarmyard pipe --bytes --hosts alpha=127.0.0.1:7400 -- alpha sort -n < numbers   what alpha allows";

/// Longest wait between two looks at everything else.
const WAIT: Duration = Duration::from_millis(50);
/// Most lines that are taken from whoever steers before the chain goes on.
const MOST_AT_ONCE: usize = 64;

/// Arguments of `simulate`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// Host and program by turns: the source, then the modules. HOST is `local` or `-` for this machine, or one of
    /// `--hosts`, by its name or what it can do; `NUMBER@HOST` gives a number (else 1, 2, 3, …). A program with arguments is one word in quotes; the names of
    /// built-in modules stand for them
    #[arg(value_name = "HOST PROGRAM", required = true, num_args = 2..)]
    places: Vec<String>,
    /// Two corners of the universe: the box of the first reset, which the source is told too
    #[arg(long, value_name = "X", num_args = 6, allow_hyphen_values = true)]
    universe: Option<Vec<f64>>,
    /// Lines on stdin enter at the head of the chain; `add HOST PROGRAM` adds a module at its end. The chain stays open
    /// when its source has ended, until the end of stdin or `0 0 65534`
    #[arg(long)]
    control: bool,
    /// Show the scene in a browser, with a control panel; lines are not printed then. The chain stays open when its
    /// source has ended, until it is ended from there or interrupted
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true, default_missing_value = PAGE)]
    serve: Option<SocketAddr>,
    /// Take the page from this folder
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,
    /// Seconds to wait after each move that is shown, with --serve
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "serve")]
    pace: f64,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    reach: ReachArgs,
}

/// Arguments of `pipe`.
#[derive(Args)]
#[command(before_help = PIPE_EXAMPLES)]
pub(crate) struct PipeArgs {
    /// Where the module runs: `[NUMBER@]HOST` [number: SWARMYARD_MODULE, which a chain sets; else 2]
    host: String,
    /// The module's program, with its arguments as one word in quotes; with --bytes its name and its arguments, after
    /// `--` when they begin with a dash
    #[arg(required = true, num_args = 1..)]
    program: Vec<String>,
    /// Any program, started once: input, output, errors and exit code are those of the program on the host. The code
    /// is 121 when the host is lost, 125 when nobody starts it
    #[arg(long)]
    bytes: bool,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    reach: ReachArgs,
}

/// What modules may do.
#[derive(Args)]
struct Limits {
    /// This module's answers depend on one input alone: started again, it does not get old inputs again
    #[arg(long, value_name = "NUMBER", value_parser = module_number)]
    stateless: Vec<u16>,
    /// Seconds without an answer after which a module hangs
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    answer: f64,
    /// Lines that a module may say for one input
    #[arg(long, value_name = "N", default_value_t = LinkLimits::default().per_input)]
    flood: u64,
    /// How often a module that died is started again, between two resets
    #[arg(long, value_name = "N", default_value_t = LinkLimits::default().restarts)]
    restarts: u32,
    /// Inputs since the last reset that are kept for a module that dies; beyond, it cannot be started again
    #[arg(long, value_name = "N", default_value_t = LinkLimits::default().journal)]
    journal: usize,
}

impl Limits {
    fn of_links(&self) -> LinkLimits {
        LinkLimits {
            per_input: self.flood,
            restarts: self.restarts,
            journal: self.journal,
            ..LinkLimits::default()
        }
    }

    fn patience(&self) -> Result<Patience, Failure> {
        let answer = Duration::try_from_secs_f64(self.answer).ok().filter(|a| !a.is_zero());
        let wrong = || Failure::new(Exit::Usage, "usage", "`--answer` is a number of seconds above 0");
        Ok(Patience { answer: answer.ok_or_else(wrong)?, ..Patience::default() })
    }
}

/// Runs a chain until its end.
pub(crate) fn simulate(args: &SimulateArgs, out: &Out) -> Result<Exit, Failure> {
    let usage = |what: &str| Failure::new(Exit::Usage, "usage", what.to_owned());
    if !args.places.len().is_multiple_of(2) {
        return Err(usage("hosts and programs come in pairs").help("simulate HOST SOURCE [HOST MODULE …]"));
    }
    let mut programs = Vec::new();
    for (i, pair) in args.places.chunks(2).enumerate() {
        let mut program = program(&pair[0], &pair[1], u16::try_from(i + 1).unwrap_or(u16::MAX))?;
        program.is_stateless = args.limits.stateless.contains(&program.number);
        programs.push(program);
    }
    let universe = universe(args.universe.as_deref())?;
    let mut programs = programs.into_iter();
    let source = programs.next().ok_or_else(|| usage("there is no source"))?;
    let mut head = Head::new(source.number, source.name(), universe);
    head.stay(args.serve.is_some() || args.control);
    if args.universe.is_some() {
        head.begin();
    }
    let mut runner = Runner::new(
        head,
        Source::Program(source),
        args.reach.places(here(), out)?,
        args.limits.of_links(),
        args.limits.patience()?,
    )
    .map_err(|e| Failure::new(Exit::Failed, "module", e.to_string()))?;
    for program in programs {
        runner.add(program).map_err(|e| Failure::new(Exit::Usage, "module", e.to_string()))?;
    }
    let shown = match args.serve {
        Some(address) => {
            let server = page(ANY, address, args.web.clone(), out)?;
            Some(Shown::new(Screen::new(server), args.pace)?)
        }
        None => None,
    };
    let said = args.control.then(control::lines);
    drive(&mut runner, shown, said, out)
}

/// Runs one module between stdin and stdout.
pub(crate) fn pipe(args: &PipeArgs, out: &Out) -> Result<Exit, Failure> {
    if args.bytes {
        return args.reach.sister(&args.host, &args.program, out);
    }
    let [command] = args.program.as_slice() else {
        let what = "a module's program and its arguments are one word in quotes";
        return Err(Failure::new(Exit::Usage, "usage", what).help("with --bytes they are words of their own"));
    };
    // As a module of another chain it has the number that it was given there.
    let mut module = program(&args.host, command, given().unwrap_or(2))?;
    module.is_stateless = args.limits.stateless.contains(&module.number);
    // Whoever is before it has a number of its own; the stream itself has none, so it takes one that is free.
    let number = if module.number == 1 { 2 } else { 1 };
    let head = Head::new(number, "stdin", Universe::default()).with_marks();
    let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
    let limits = args.limits.of_links();
    let patience = args.limits.patience()?;
    let failed = |e: &dyn std::fmt::Display| Failure::new(Exit::Failed, "module", e.to_string());
    let places = args.reach.places(here(), out)?;
    let mut runner =
        Runner::new(head, Source::Stream(stdin), places, limits, patience).map_err(|e| failed(&e))?;
    runner.add(module).map_err(|e| failed(&e))?;
    drive(&mut runner, None, None, out)
}

pub(super) fn universe(corners: Option<&[f64]>) -> Result<Universe, Failure> {
    let wrong =
        || Failure::new(Exit::Usage, "usage", "the first corner of the universe is not below the second");
    match corners {
        Some(&[a, b, c, d, e, f]) if a <= d && b <= e && c <= f => {
            Ok(Universe { low: [a, b, c], high: [d, e, f] })
        }
        Some(_) => Err(wrong()),
        None => Ok(Universe::default()),
    }
}

/// The display at the end of the chain, for pages.
struct Shown {
    screen: Screen,
    station: Station<Scenery>,
    pace: Duration,
}

impl Shown {
    fn new(screen: Screen, pace_s: f64) -> Result<Shown, Failure> {
        let pace = Duration::try_from_secs_f64(pace_s)
            .map_err(|_| Failure::new(Exit::Usage, "usage", "`--pace` is a number of seconds"))?;
        Ok(Shown { screen, station: Station::for_anybody(ANY, Scenery::default()), pace })
    }

    fn take(&mut self, next: &Stamped, out: &Out) {
        let step = self.station.take(next.line.text().as_bytes());
        if let Some(said) = step.said {
            self.tell(
                &Event { number: ANY, name: "display".into(), at: next.at, what: What::Refused(said) },
                out,
            );
        }
        self.screen.changed(self.station.module());
        if !self.pace.is_zero() && next.line.command == swarmyard_modules::builtin::MOVE {
            self.screen.rest(self.station.module(), self.pace);
            std::thread::sleep(self.pace);
        }
    }

    /// Tells people here, and those at pages.
    fn tell(&self, event: &Event, out: &Out) {
        tell(event, out);
        self.screen.server.tell(event);
    }
}

/// Carries lines and events until the chain is over.
fn drive(
    runner: &mut Runner,
    mut shown: Option<Shown>,
    said: Option<Receiver<String>>,
    out: &Out,
) -> Result<Exit, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let handled = ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst));
    handled.map_err(|e| Failure::new(Exit::Failed, "system", e.to_string()))?;
    let mut is_closed = false;
    while !runner.is_over() {
        if interrupted.swap(false, Ordering::SeqCst) {
            if is_closed {
                return Ok(Exit::Signal);
            }
            is_closed = true;
            runner.end();
        }
        listen(runner, shown.as_ref(), said.as_ref(), out);
        runner.step(WAIT);
        let mut stdout = std::io::stdout().lock();
        while let Some(next) = runner.next_output() {
            match &mut shown {
                Some(shown) => {
                    shown.take(&next, out);
                    listen(runner, Some(shown), None, out);
                }
                None if out.json => {
                    let line = json!({ "at": next.at, "line": next.line.text() });
                    writeln!(stdout, "{}", marked("line", line))?;
                }
                None => writeln!(stdout, "{}", next.line.text())?,
            }
        }
        stdout.flush()?;
        if let Some(shown) = &mut shown {
            shown.screen.catch_up(shown.station.module());
        }
        while let Some(event) = runner.next_event() {
            match &shown {
                Some(shown) => shown.tell(&event, out),
                None => tell(&event, out),
            }
            let is_source = event.number == runner.chain().head.number() && event.kind() == "ended";
            if is_source && runner.chain().head.is_dry() {
                out.say("the source has ended; a reset starts it anew, `0 0 65534` or an interrupt ends the chain");
            }
        }
    }
    if let Some(shown) = shown.as_mut().filter(|_| !is_closed) {
        linger(shown, &interrupted, out);
    }
    let wrong: Vec<String> = runner
        .ends()
        .iter()
        .filter(|(_, _, how)| !how.is_fine())
        .map(|(number, name, how): &(u16, String, How)| format!("module {number} ({name}): {how}"))
        .collect();
    if wrong.is_empty() {
        return Ok(if is_closed { Exit::Signal } else { Exit::Ok });
    }
    Err(Failure::new(Exit::Failed, "module", format!("not every module ended well: {}", wrong.join("; "))))
}

/// The chain has ended; the page still shows its last scene until somebody ends this.
fn linger(shown: &mut Shown, interrupted: &AtomicBool, out: &Out) {
    out.say("the chain has ended; its last scene is shown until you interrupt this");
    while !interrupted.load(Ordering::SeqCst) {
        shown.screen.catch_up(shown.station.module());
        if let Some(asked) = shown.screen.server.wait_command(WAIT) {
            asked.answer(Err("the chain has ended".into()));
        }
    }
}

/// Takes what pages and stdin say: not more than the chain has room for, and not so much that it cannot go on.
fn listen(runner: &mut Runner, shown: Option<&Shown>, said: Option<&Receiver<String>>, out: &Out) {
    for _ in 0..MOST_AT_ONCE {
        let screen = shown.map(|s| &s.screen).filter(|_| runner.wants_control());
        let Some(asked) = screen.and_then(|s| s.server.next_command()) else { break };
        let how = runner.control(&asked.line).map_err(|e| e.to_string());
        asked.answer(how);
    }
    for _ in 0..MOST_AT_ONCE {
        let Some(said) = said.filter(|_| runner.wants_control()) else { return };
        match said.try_recv() {
            Ok(line) => {
                if let Err(why) = obey(runner, &line) {
                    out.say(&format!("not done: {why}"));
                }
            }
            // Nobody can steer any more, so the end of the source is that of the chain.
            Err(TryRecvError::Disconnected) if shown.is_none() => return runner.stay(false),
            Err(_) => return,
        }
    }
}

/// A line of stdin: a command of the controller, or `add HOST PROGRAM`.
fn obey(runner: &mut Runner, line: &str) -> Result<(), String> {
    let Some(rest) = line.strip_prefix("add ") else {
        return runner.control(line).map_err(|e| e.to_string());
    };
    let (host, command) = rest.trim().split_once(' ').ok_or("add HOST PROGRAM")?;
    let number = u16::try_from(runner.chain().links().len() + 2).unwrap_or(u16::MAX);
    let failed = |f: Failure| f.problems.0.first().map(|d| d.message.clone()).unwrap_or_default();
    let program = program(host, command, number).map_err(failed)?;
    runner.add(program).map_err(|e| e.to_string())
}
