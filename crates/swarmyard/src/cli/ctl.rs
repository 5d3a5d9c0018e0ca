//! `ctl`: one request to a server, from a script or by hand.
//!
//! Asks for control, does it, prints the reply and leaves: control is free again afterwards.

use super::fail::{Exit, Failure};
use super::link::{Link, ServerArgs};
use super::out::Out;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  swarmyard ctl status
  swarmyard ctl pause
  swarmyard ctl http://127.0.0.1:7078/ step 10
  swarmyard ctl speed max --take                  although another console holds control
  swarmyard ctl edit 'robot[0].at' '[1, 2, \"90deg\"]'";

/// Arguments of `ctl`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct CtlArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Take control from whoever has it; only on the server's own machine
    #[arg(long, global = true)]
    take: bool,
    /// Ask the console for control, and wait so many seconds for it
    #[arg(long, value_name = "SECONDS", global = true, value_parser = clap::value_parser!(u64).range(1..=3600))]
    wait: Option<u64>,
    #[command(subcommand)]
    order: Order,
}

#[derive(Subcommand)]
enum Order {
    /// Say how the run stands
    Status,
    /// Go on
    Start,
    /// Stand still
    Pause,
    /// Take steps while paused
    Step {
        /// How many
        #[arg(default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        n: u64,
    },
    /// Back to the start of the document as it is now
    Reset,
    /// End the run and the server
    Exit,
    /// Simulated seconds per second
    Speed {
        /// From 0.1 to 1000, or `max`
        #[arg(value_name = "F|max", value_parser = speed)]
        factor: Speed,
    },
    /// Length of a quantum from the next step on
    Quantum {
        /// Such as 20ms
        value: String,
    },
    /// Level of detail from the next step on
    Detail {
        /// Which
        #[arg(value_parser = ["coarse", "normal", "fine"])]
        level: String,
    },
    /// Go on without the commands of a robot that is waited for
    Skip {
        /// Its path
        robot: String,
    },
    /// End a robot's native program and start it again
    Restart {
        /// Its path
        robot: String,
    },
    /// Stop a robot for good
    Halt {
        /// Its path
        robot: String,
        /// Let it go again
        #[arg(long)]
        off: bool,
    },
    /// Write to a register of a robot
    Poke {
        /// Its path
        robot: String,
        /// Address, such as 0x20
        #[arg(value_parser = whole)]
        address: u32,
        /// What is written, such as 100, -5 or 0xff
        #[arg(value_parser = value, allow_hyphen_values = true)]
        value: i64,
        /// How many bytes
        #[arg(long, default_value_t = 2, value_parser = bytes)]
        bytes: u32,
    },
    /// Set a command channel of a part
    Command {
        /// Path of the part, such as /robots/r1/drive
        part: String,
        /// The channel
        channel: String,
        /// Its numbers
        #[arg(required = true, allow_hyphen_values = true)]
        values: Vec<f64>,
    },
    /// Look at an earlier moment
    Seek {
        /// The stop
        stop: u64,
    },
    /// Back to the newest moment
    Live,
    /// Begin a new run at the moment that is shown
    Branch,
    /// Open a scenario or a recording of the project
    Open {
        /// Its path in the project
        path: String,
    },
    /// Write the document to its file
    Save {
        /// Another file of the project
        path: Option<String>,
    },
    /// Change one value of the document
    Edit {
        /// Where, such as robot[0].at or run.quantum
        key: String,
        /// What is written there
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Take back the last edit
    Undo,
    /// Make it again
    Redo,
}

/// Simulated seconds per second; `None` is as fast as possible.
#[derive(Clone, Copy, Debug)]
struct Speed(Option<f64>);

fn speed(text: &str) -> Result<Speed, String> {
    if text == "max" {
        return Ok(Speed(None));
    }
    let factor = text.parse().ok().filter(|f| (0.1..=1000.0).contains(f));
    factor.map(|f| Speed(Some(f))).ok_or_else(|| "write `max`, or a number from 0.1 to 1000".into())
}

fn whole(text: &str) -> Result<u32, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    number.ok_or_else(|| "write a whole number such as 32 or 0x20".into())
}

fn value(text: &str) -> Result<i64, String> {
    text.parse::<i32>().map(i64::from).or_else(|_| whole(text).map(i64::from))
}

/// A number as so many bytes of a register, negative ones as their two's complement.
fn register(value: i64, bytes: u32) -> Result<i64, Failure> {
    let range = 1_i64 << (8 * bytes);
    if (-range / 2..range).contains(&value) {
        return Ok(value.rem_euclid(range));
    }
    let what = format!("`{value}` does not fit into {bytes} bytes");
    Err(Failure::new(Exit::Usage, "usage", what).help("say how many with --bytes"))
}

fn bytes(text: &str) -> Result<u32, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("write 1, 2 or 4".into()),
    }
}

impl Order {
    fn request(&self, revision: &Value) -> Result<Value, Failure> {
        Ok(match self {
            Order::Status => json!(null),
            Order::Start => json!({ "do": "start" }),
            Order::Pause => json!({ "do": "pause" }),
            Order::Step { n } => json!({ "do": "step", "n": n }),
            Order::Reset => json!({ "do": "reset" }),
            Order::Exit => json!({ "do": "exit" }),
            Order::Speed { factor } => json!({ "do": "speed", "factor": factor.0 }),
            Order::Quantum { value } => json!({ "do": "quantum", "value": value }),
            Order::Detail { level } => json!({ "do": "detail", "level": level }),
            Order::Skip { robot } => json!({ "do": "skip", "robot": path(robot) }),
            Order::Restart { robot } => json!({ "do": "restart", "robot": path(robot) }),
            Order::Halt { robot, off } => json!({ "do": "halt", "robot": path(robot), "on": !off }),
            Order::Poke { robot, address, value, bytes } => {
                let value = register(*value, *bytes)?;
                json!({ "do": "poke", "robot": path(robot), "address": address, "bytes": bytes, "value": value })
            }
            Order::Command { part, channel, values } => {
                json!({ "do": "command", "part": part, "channel": channel, "values": values })
            }
            Order::Seek { stop } => json!({ "do": "seek", "stop": stop }),
            Order::Live => json!({ "do": "live" }),
            Order::Branch => json!({ "do": "branch" }),
            Order::Open { path } => json!({ "do": "open", "path": path }),
            Order::Save { path: None } => json!({ "do": "save" }),
            Order::Save { path } => json!({ "do": "save", "path": path }),
            Order::Edit { key, value } => {
                let (entry, key) = place(key)?;
                let change = json!({ "op": "set", "entry": entry, "key": key, "value": value });
                let label = format!("{key} of {entry}");
                json!({ "do": "edit", "label": label, "changes": [change], "revision": revision })
            }
            Order::Undo => json!({ "do": "undo" }),
            Order::Redo => json!({ "do": "redo" }),
        })
    }
}

/// The path of a robot that is named by its path or its name.
fn path(robot: &str) -> String {
    if robot.starts_with('/') { robot.to_owned() } else { format!("/robots/{robot}") }
}

/// Splits `robot[0].at` into the entry and its key.
fn place(key: &str) -> Result<(&str, &str), Failure> {
    key.rsplit_once('.').filter(|(entry, key)| !entry.is_empty() && !key.is_empty()).ok_or_else(|| {
        Failure::new(Exit::Usage, "usage", format!("`{key}` is no place in a document"))
            .help("write the entry and its key, such as robot[0].at or run.quantum")
    })
}

/// Does one thing.
pub(crate) fn ctl(args: &CtlArgs, out: &Out) -> Result<Exit, Failure> {
    let steers = !matches!(args.order, Order::Status);
    let mut link = Link::open(&args.server, "swarmyard ctl", steers)?;
    if !steers {
        let status = link.status.clone();
        out.answer("ctl", status.clone(), &table(&status))?;
        link.close();
        return Ok(Exit::Ok);
    }
    get_control(&mut link, args)?;
    let request = args.order.request(&link.status["revision"])?;
    let answer = link.ask(request.clone());
    let reply = match answer? {
        Ok(reply) => reply,
        Err(refused) => {
            link.close();
            return Err(refused.into());
        }
    };
    link.close();
    let text = match reply.as_object() {
        Some(fields) if !fields.is_empty() => table(&reply),
        _ => format!("{}: done", request["do"].as_str().unwrap_or("?")),
    };
    out.answer("ctl", json!({ "do": request["do"], "ok": reply }), &text)?;
    Ok(Exit::Ok)
}

fn get_control(link: &mut Link, args: &CtlArgs) -> Result<(), Failure> {
    if link.is_console() {
        return Ok(());
    }
    if args.take {
        link.ask(json!({ "do": "control.take" }))??;
        return Ok(());
    }
    let holder = link.control["holder"]["name"].as_str().unwrap_or("somebody").to_owned();
    if let Some(seconds) = args.wait {
        let asked = link.ask(json!({ "do": "control.ask" }))??;
        if asked["holds"] == true || link.wait_until(Duration::from_secs(seconds), Link::is_console)? {
            return Ok(());
        }
    }
    let what = format!("another console holds control: `{holder}`");
    let help = "ask for it with --wait SECONDS, or take it with --take on the server's own machine";
    Err(Failure::new(Exit::Failed, "not-console", what).help(help))
}

/// The fields of an answer, one per line.
fn table(answer: &Value) -> String {
    let Some(fields) = answer.as_object() else { return answer.to_string() };
    let mut text = String::new();
    for (key, value) in fields.iter().filter(|(key, value)| *key != "is" && !value.is_null()) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.push_str(&format!("{key:<14}{value}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_document_is_an_entry_and_a_key() {
        assert_eq!(place("robot[0].at").ok(), Some(("robot[0]", "at")));
        assert_eq!(place("type.scout.part[1].range").ok(), Some(("type.scout.part[1]", "range")));
        assert!(place("robot").is_err() && place(".at").is_err() && place("run.").is_err());
    }

    #[test]
    fn numbers_are_as_wide_as_what_is_written() {
        let poke = |text: &str, bytes| register(value(text).expect("a number"), bytes).ok();
        assert_eq!(
            [poke("-5", 2), poke("-5", 4), poke("0xff", 1)],
            [Some(0xfffb), Some(0xffff_fffb), Some(255)]
        );
        assert_eq!([poke("256", 1), poke("-129", 1), poke("-128", 1)], [None, None, Some(128)]);
    }

    #[test]
    fn a_speed_is_a_factor_or_max() {
        assert_eq!(speed("2.5").map(|s| s.0), Ok(Some(2.5)));
        assert_eq!(speed("max").map(|s| s.0), Ok(None));
        assert!(speed("0").is_err() && speed("nan").is_err() && speed("1001").is_err());
    }
}
