//! `watch` and `ctl`, from outside: what they print, and with which exit code.

use crate::circles;
use crate::served::{Display, Served, told};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// The same world, over after two simulated seconds.
fn short() -> String {
    circles().replace("60s", "2s")
}

#[test]
fn watch_writes_a_line_per_robot_and_moment_and_ends_with_the_run() {
    let served = Served::start("watch", &short());
    let words = "watch --every 500ms --channel /robots/a/rays.range[1] --channel /robots/b.x";
    let mut watch = served.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut console = Display::join(&served.url, "console", true);
    let mut said = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut out = String::new();
    // It goes on when the moment before has been written: one that is late would be left out otherwise.
    for stop in ["0", "25", "50", "75"] {
        loop {
            let line = said.next().unwrap_or_else(|| panic!("it ended before stop {stop}: {out}"));
            out += &format!("{line}\n");
            if line.split(' ').skip(1).take(3).eq([stop, "pose", "/robots/a"]) {
                break;
            }
        }
        console.ask(json!({ "do": "step", "n": 25 }));
    }
    said.for_each(|line| out += &format!("{line}\n"));
    let (code, _, err) = told(&watch.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}{err}");
    let lines: Vec<Vec<&str>> =
        out.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(' ').collect()).collect();
    let of = |what: &str, who: &str| -> Vec<&Vec<&str>> {
        lines.iter().filter(|l| l[2] == what && l[3] == who).collect()
    };
    // Five stretches: from 0, 0.5, 1, 1.5 s, and the end.
    let poses = of("pose", "/robots/a");
    assert_eq!(poses.len(), 5, "{out}");
    assert_eq!(poses[0][..2], ["0.000", "0"]);
    assert_eq!(poses[4][..2], ["2.000", "100"]);
    let number = |line: &[&str], k: usize| line[k].parse::<f64>().unwrap();
    // The last place of `b` is the last value of its x, to a tenth of a millimetre.
    let (pose, value) = (of("pose", "/robots/b"), of("value", "/robots/b.x[0]"));
    let (pose, value) = (pose.last().unwrap(), value.last().unwrap());
    assert_eq!(pose[1], value[1], "{out}");
    assert!((number(pose, 4) - number(value, 4)).abs() < 1e-4, "{out}");
    let range = of("value", "/robots/a/rays.range[1]");
    assert!(range.len() >= 3 && range.iter().all(|l| (0.0..=4.0).contains(&number(l, 4))), "{out}");
}

#[test]
fn watch_says_what_is_not_there() {
    let served = Served::start("strangers", &circles());
    let (code, _, err) = served.run("watch --robots c");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("there is no robot `c`"), "{err}");
    let (code, _, err) = served.run("watch --channel /robots/a/rays.rang");
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("/robots/a/rays.rang"), "{err}");
    let nobody =
        Command::new(env!("CARGO_BIN_EXE_swarmyard")).args(["watch", "127.0.0.1:1"]).output().unwrap();
    let (code, _, err) = told(&nobody);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("there is no server at `127.0.0.1:1`") && err.contains("swarmyard serve"), "{err}");
}

#[test]
fn watch_in_json_is_one_object_per_line() {
    let served = Served::start("json", &short());
    let watch = served.command("watch --every 1s --json").stdout(Stdio::piped()).spawn().unwrap();
    let mut console = Display::join(&served.url, "console", true);
    while console.control["clients"].as_array().map_or(0, Vec::len) < 2 {
        console.hear();
    }
    console.ask(json!({ "do": "speed", "factor": null }));
    console.ask(json!({ "do": "start" }));
    let hash = console.until(|s| s["state"] == "ended")["hash"].clone();
    let (code, out, _) = told(&watch.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}");
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(lines.iter().all(|l| l["schema"] == "swarmyard-watch/1"), "{out}");
    let last = lines.iter().rfind(|l| l["is"] == "moment").unwrap();
    assert_eq!((&last["stop"], &last["hash"]), (&json!(100), &hash));
    assert_eq!(last["poses"].as_array().map(Vec::len), Some(2));
}

#[test]
fn watch_waits_for_the_server_and_joins_again() {
    // The same place twice; nobody is given it meanwhile who asks for any, for those begin at 32768.
    let number = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let port = (number..32_768).find(is_free).unwrap().to_string();
    let mut first = Served::start_with("again", &circles(), &["--port", &port]);
    let mut watch = first.command("watch --keep --every tick:1");
    let mut watch = watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut console = Display::join(&first.url, "console", true);
    while console.control["clients"].as_array().map_or(0, Vec::len) < 2 {
        console.hear();
    }
    drop(console);
    first.done("ctl exit");
    assert!(first.ended());
    let second = Served::start_with("again-2", &circles(), &["--port", &port]);
    let mut console = Display::join(&second.url, "console", true);
    while console.control["clients"].as_array().map_or(0, Vec::len) < 2 {
        console.hear();
    }
    assert!(watch.try_wait().unwrap().is_none(), "it is still there");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn ctl_steers_a_run() {
    let mut served = Served::start("ctl", &circles());
    let status =
        |served: &Served| -> Value { serde_json::from_str(&served.done("ctl status --json")).unwrap() };
    let at = |served: &Served, stop: u64| {
        let mut display = Display::join(&served.url, "looker", false);
        display.until(|s| s["stop"] == stop);
    };
    assert_eq!(status(&served)["stop"], 0);
    served.done("ctl step 5");
    at(&served, 5);
    served.done("ctl step");
    at(&served, 6);
    served.done("ctl speed max");
    served.done("ctl quantum 10ms");
    served.done("ctl halt /robots/a");
    served.done("ctl command /robots/b/drive left -0.1");
    served.done("ctl step");
    at(&served, 7);
    assert_eq!(status(&served)["quantum"], 0.01);
    served.done("ctl start");
    Display::join(&served.url, "looker", false).until(|s| s["stop"].as_u64() > Some(20));
    served.done("ctl pause");
    served.done("ctl reset");
    at(&served, 0);
    assert_eq!(served.done("ctl exit"), "exit: done\n");
    assert!(served.ended(), "the server has ended");
}

#[test]
fn ctl_edits_saves_and_takes_back() {
    let served = Served::start("edit", &circles());
    served.done("ctl edit robot[0].at [-2,0.5]");
    served.done("ctl save");
    let text = std::fs::read_to_string(served.path("world.toml")).unwrap();
    assert!(text.contains("at = [-2,0.5]") && text.contains("# The one in the west."), "{text}");
    served.done("ctl undo");
    served.done("ctl redo");
    served.done("ctl undo");
    served.done("ctl save");
    assert_eq!(std::fs::read_to_string(served.path("world.toml")).unwrap(), circles());
    // Inside the other robot: the scenario would not be valid, and stays as it was.
    let (code, _, err) = served.run("ctl edit robot[0].type nobody");
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("nobody"), "{err}");
    let (code, _, err) = served.run("ctl edit robot 3");
    assert_eq!(code, 2, "{err}");
}

#[test]
fn ctl_says_who_holds_control_and_takes_it_only_when_told() {
    let served = Served::start("control", &circles());
    let mut page = Display::join(&served.url, "the page", true);
    let (code, _, err) = served.run("ctl step");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("another console holds control: `the page`") && err.contains("--take"), "{err}");
    served.done("ctl status");
    served.done("ctl step --take");
    page.until(|s| s["stop"] == 1);
    // It left, so control is free; the page has to ask for it like anybody.
    while !page.control["holder"].is_null() {
        page.hear();
    }
    page.ask(json!({ "do": "control.ask" }));
    // And gives it to one that asks.
    let mut asking = served.command("ctl step --wait 30");
    let asking = asking.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while page.control["asking"].as_array().is_none_or(Vec::is_empty) {
        page.hear();
    }
    let to = page.control["asking"][0]["id"].clone();
    page.ask(json!({ "do": "control.give", "to": to }));
    let (code, out, err) = told(&asking.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}{err}");
    page.until(|s| s["stop"] == 2);
}

#[test]
fn a_server_with_a_token_lets_in_who_knows_it() {
    let served = Served::start_with("token", &circles(), &["--port", "0", "--token", "open-sesame"]);
    let place = served.url.trim_start_matches("http://").split('/').next().unwrap();
    let ctl = |url: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        told(&command.args(["ctl", url, "step"]).args(more).output().unwrap())
    };
    let (code, _, err) = ctl(place, &[]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("token"), "{err}");
    assert_eq!(ctl(place, &["--token", "open-barley"]).0, 1);
    assert_eq!(ctl(place, &["--token", "open-sesame"]).0, 0);
    assert_eq!(ctl(&format!("http://{place}/?token=open-sesame"), &[]).0, 0);
}
