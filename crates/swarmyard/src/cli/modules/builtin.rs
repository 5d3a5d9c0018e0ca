//! `module`: the built-in modules, each between stdin and stdout.

use super::super::fail::{Exit, Failure};
use super::super::out::Out;
use super::{PAGE, page};
use clap::{Args, Subcommand};
use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use swarmyard_modules::builtin::arm::ArmModule;
use swarmyard_modules::builtin::obstacles::Obstacles;
use swarmyard_modules::builtin::smooth::Smooth;
use swarmyard_modules::builtin::trajectory::Trajectory;
use swarmyard_modules::builtin::{MOVE, Module, Station, literal, module_number};
use swarmyard_modules::control::NOBODY;
use swarmyard_modules::line::MOST_BYTES;
use swarmyard_modules::{Control, Event, Line, Scenery, Splitter, Universe, What};
use swarmyard_serve::Screen;

const EXAMPLES: &str = "\
Examples:
  swarmyard module trajectory points.txt | swarmyard module smooth | swarmyard module display
  swarmyard module display --serve < lines            look at it in a browser";

/// The number of a display that shows whatever comes.
pub(super) const ANY: u16 = 65534;
/// Why the page of a display inside a chain cannot steer.
const NOT_HEAD: &str = "this display is a module of a chain, so what it says does not enter at the head: steer by the page of \
    `simulate --serve`, or by `simulate --control`";
/// Largest file that is read.
const MOST_FILE: u64 = 64 << 20;

/// Arguments of `module`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct ModuleArgs {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    /// Say the points of a file: `BasePos BaseRot Jnt1 Jnt2 Jnt3 [seconds]` on each line
    Trajectory {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        names: Names,
        /// Two corners of the universe [default: those of the reset that a chain gives it on stdin; else ±100 m]
        #[arg(long, value_name = "X", num_args = 6, allow_hyphen_values = true)]
        universe: Option<Vec<f64>>,
        /// Seconds to wait after each point, by the clock on the wall
        #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
        pace: f64,
        /// Then pass on lines of stdin until its end; a reset says the points again
        #[arg(long)]
        stay: bool,
    },
    /// Lead over from point to point in steps
    Smooth {
        #[command(flatten)]
        names: Names,
        /// As printed in 1986, with its mistakes
        #[arg(long)]
        literal: bool,
    },
    /// An arm on its mobile base: say its pose to the display, and where its tip is
    Arm {
        #[command(flatten)]
        names: Names,
        /// The object of the display that the tip is
        #[arg(long, value_name = "N", default_value_t = 1)]
        object: u16,
    },
    /// Say the obstacles and objects of a file: `box N x y z X Y Z`, `object N x y z`
    Obstacles {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        names: Names,
    },
    /// Show the scene: in letters, as JSON (`--json`), or in a browser
    Display(DisplayArgs),
}

/// Who a module is, and to whom it speaks.
#[derive(Args)]
struct Names {
    /// Its number [default: SWARMYARD_MODULE, which a chain sets; else 1 for a trajectory, 2 for others]
    #[arg(long, value_name = "N", value_parser = module_number)]
    number: Option<u16>,
    /// The number of the module it speaks to [default: the next one]
    #[arg(long, value_name = "N", value_parser = module_number)]
    to: Option<u16>,
}

#[derive(Args)]
struct DisplayArgs {
    /// Its number [default: SWARMYARD_MODULE, which a chain sets; else it shows lines for anybody]
    #[arg(long, value_name = "N", value_parser = module_number)]
    number: Option<u16>,
    /// Show it in a browser; commands of its control panel are written to stdout
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true, default_missing_value = PAGE)]
    serve: Option<SocketAddr>,
    /// Take the page from this folder
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,
    /// Seconds to wait after each move
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pace: f64,
}

/// The number that a chain gave this process.
pub(super) fn given() -> Option<u16> {
    std::env::var("SWARMYARD_MODULE").ok().and_then(|t| module_number(&t).ok())
}

impl Names {
    fn with(&self, default: u16) -> (u16, u16) {
        let number = self.number.or_else(given).unwrap_or(default);
        (number, self.to.unwrap_or(number.saturating_add(1).min(NOBODY - 1)))
    }
}

/// Runs a module until the end of its input.
pub(crate) fn module(args: &ModuleArgs, out: &Out) -> Result<Exit, Failure> {
    match &args.which {
        Which::Trajectory { file, names, universe, pace, stay } => {
            let text = read(file)?;
            let trajectory = Trajectory::parse(&text).map_err(|e| wrong(file, &e))?;
            let (me, to) = names.with(1);
            let first = first_reset()?;
            let universe = match universe {
                Some(corners) => box_of(Some(corners))?,
                None => first.unwrap_or_default(),
            };
            say_points(&trajectory, (me, to), universe, seconds(*pace)?)?;
            if *stay {
                say_again(&trajectory, (me, to), seconds(*pace)?, out)?;
            }
            Ok(Exit::Ok)
        }
        Which::Smooth { names, literal: false } => {
            let (me, to) = names.with(2);
            run(Station::new(me, Smooth::new(me, to)), out)
        }
        Which::Smooth { names, literal: true } => {
            let (me, to) = names.with(2);
            literal::run(me, to, std::io::stdin().lock(), std::io::stdout().lock())?;
            Ok(Exit::Ok)
        }
        Which::Arm { names, object } => {
            let (me, to) = names.with(2);
            run(Station::new(me, ArmModule::new(me, to, *object)), out)
        }
        Which::Obstacles { file, names } => {
            let (me, to) = names.with(2);
            let obstacles = Obstacles::parse(&read(file)?, me, to).map_err(|e| wrong(file, &e))?;
            run(Station::new(me, obstacles), out)
        }
        Which::Display(args) => display(args, out),
    }
}

fn run<M: Module>(mut station: Station<M>, out: &Out) -> Result<Exit, Failure> {
    let stdout = std::io::BufWriter::new(std::io::stdout().lock());
    station.run(std::io::stdin().lock(), stdout, |text| out.say(text))?;
    Ok(Exit::Ok)
}

/// The box of the reset that a chain says to its source first, as to every module. In plain pipes stdin is not read: there a
/// source is the beginning.
fn first_reset() -> Result<Option<Universe>, Failure> {
    let stdin = std::io::stdin();
    if given().is_none() || stdin.is_terminal() {
        return Ok(None);
    }
    let mut line = Vec::new();
    stdin.lock().take(MOST_BYTES as u64 + 2).read_until(b'\n', &mut line)?;
    let control = Line::parse(line.trim_ascii_end()).ok().and_then(|l| l.control());
    Ok(match control {
        Some(Control::Reset(universe)) => Some(universe),
        _ => None,
    })
}

/// Says the reset and every point.
fn say_points(
    trajectory: &Trajectory,
    (me, to): (u16, u16),
    universe: Universe,
    pace: Duration,
) -> Result<(), Failure> {
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    for lines in trajectory.lines(me, to, universe) {
        for line in lines {
            writeln!(stdout, "{}", line.text())?;
        }
        if !pace.is_zero() {
            stdout.flush()?;
            std::thread::sleep(pace);
        }
    }
    Ok(stdout.flush()?)
}

/// Passes on lines of stdin; a reset says the points again, in its box.
fn say_again(trajectory: &Trajectory, names: (u16, u16), pace: Duration, out: &Out) -> Result<(), Failure> {
    let mut is_over = false;
    each_line(|bytes| {
        match Line::parse(bytes) {
            Ok(line) if matches!(line.control(), Some(Control::Reset(_))) => {
                if let Some(Control::Reset(universe)) = line.control() {
                    say_points(trajectory, names, universe, pace)?;
                }
            }
            Ok(line) => {
                is_over = line.control() == Some(Control::End);
                out.data(line.text())?;
            }
            Err(bad) => out.say(&format!("bad line, not passed on: {bad}")),
        }
        Ok(!is_over)
    })
}

/// Every line of stdin, until the end or until told to stop.
fn each_line(mut each: impl FnMut(&[u8]) -> Result<bool, Failure>) -> Result<(), Failure> {
    let mut splitter = Splitter::default();
    let mut buffer = [0; 4096];
    let mut stdin = std::io::stdin().lock();
    loop {
        let n = match stdin.read(&mut buffer) {
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            n => n?,
        };
        let mut lines: Vec<Vec<u8>> = Vec::new();
        if n == 0 {
            splitter.finish(|line| lines.push(line.to_vec()));
        } else {
            splitter.push(&buffer[..n], |line| lines.push(line.to_vec()));
        }
        for line in lines {
            if !each(&line)? {
                return Ok(());
            }
        }
        if n == 0 {
            return Ok(());
        }
    }
}

fn display(args: &DisplayArgs, out: &Out) -> Result<Exit, Failure> {
    let in_chain = given().is_some();
    let number = args.number.or_else(given);
    let pace = seconds(args.pace)?;
    let mut station = match number {
        Some(number) => Station::new(number, Scenery::default()),
        None => Station::for_anybody(ANY, Scenery::default()),
    };
    let number = number.unwrap_or(ANY);
    let Some(address) = args.serve else {
        each_line(|bytes| {
            let step = show(&mut station, bytes);
            if let Some(said) = &step.said {
                out.say(said);
            }
            if in_chain {
                // In a chain stdout is the stream, and people read stderr.
                for line in &step.passed {
                    out.data(line)?;
                }
            }
            if step.is_change {
                print(station.module(), in_chain, out)?;
                std::thread::sleep(pace);
            }
            Ok(!step.is_end)
        })?;
        return Ok(Exit::Ok);
    };
    let mut screen = Screen::new(page(number, address, args.web.clone(), out)?);
    let (said, lines) = sync_channel::<Vec<u8>>(256);
    std::thread::spawn(move || {
        // When nobody takes them any more, this process ends.
        let _ = each_line(|bytes| Ok(said.send(bytes.to_vec()).is_ok()));
    });
    let mut is_open = true;
    loop {
        while let Some(asked) = screen.server.next_command() {
            if in_chain {
                asked.answer(Err(NOT_HEAD.into()));
                continue;
            }
            // The paper's circle: what is steered here enters at the head, by a pipe that leads back there.
            let how = out.data(&asked.line).map_err(|_| "nobody reads what this display writes".to_owned());
            asked.answer(how);
        }
        screen.catch_up(station.module());
        if !is_open {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        match lines.recv_timeout(Duration::from_millis(20)) {
            Ok(bytes) => {
                let step = show(&mut station, &bytes);
                if let Some(said) = step.said {
                    out.say(&said);
                    let at = station.module().at;
                    let what = What::Refused(said);
                    screen.server.tell(&Event { number, name: "display".into(), at, what });
                }
                for line in step.passed.iter().filter(|_| in_chain) {
                    out.data(line)?;
                }
                screen.changed(station.module());
                if in_chain && step.is_end {
                    return Ok(Exit::Ok);
                }
                if step.is_change {
                    screen.rest(station.module(), pace);
                    std::thread::sleep(pace);
                }
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(_) if in_chain => return Ok(Exit::Ok),
            Err(_) => {
                out.say("the input has ended; its last scene is shown until you interrupt this");
                is_open = false;
            }
        }
    }
}

/// What a line did to the scene.
struct Shown {
    passed: Vec<String>,
    /// What is to be told to people.
    said: Option<String>,
    is_change: bool,
    is_end: bool,
}

fn show(station: &mut Station<Scenery>, bytes: &[u8]) -> Shown {
    let before = station.module().lines;
    let step = station.take(bytes);
    let is_move = Line::parse(bytes).is_ok_and(|l| l.command == MOVE);
    let is_change = is_move && station.module().lines != before;
    Shown { passed: step.out, said: step.said, is_change, is_end: step.is_end }
}

fn print(scenery: &Scenery, in_chain: bool, out: &Out) -> Result<(), Failure> {
    match (in_chain, out.json) {
        (true, _) => out.say(&scenery.summary()),
        (false, true) => out.json("scenery", serde_json::json!(scenery))?,
        (false, false) => out.data(&scenery.summary())?,
    }
    Ok(())
}

fn seconds(value: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| Failure::new(Exit::Usage, "usage", "`--pace` is a number of seconds"))
}

fn box_of(corners: Option<&[f64]>) -> Result<Universe, Failure> {
    super::simulate::universe(corners)
}

fn read(file: &Path) -> Result<String, Failure> {
    let failed = |e: std::io::Error| Failure::file("read", file, &e);
    let opened = std::fs::File::open(file).map_err(failed)?;
    let mut text = String::new();
    opened.take(MOST_FILE).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

fn wrong(file: &Path, why: &str) -> Failure {
    let shown = file.display().to_string();
    Failure::new(Exit::Failed, "points", format!("`{shown}`: {why}")).on(shown)
}
