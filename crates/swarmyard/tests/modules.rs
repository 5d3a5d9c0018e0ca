//! `simulate`, `pipe` and `module`, from outside: real pipes, real processes.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

const BIN: &str = env!("CARGO_BIN_EXE_swarmyard");
const RESET: &str = "0 0 0 -10 -10 -10 10 10 10";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/modules")
}

fn points() -> String {
    format!("trajectory {}", examples().join("points.txt").display())
}

/// Runs the command with some input.
fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(BIN);
    command.args(arguments).env_remove("SWARMYARD_MODULE");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    let writer = std::thread::spawn(move || {
        // The command may have ended without reading everything.
        let _ = stdin.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn out(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn plain_pipes_of_the_shell_are_a_chain() {
    let script = format!(
        "'{BIN}' module {} --universe -10 -10 -10 10 10 10 | '{BIN}' module smooth | '{BIN}' module display",
        points()
    );
    let output = Command::new("sh").args(["-c", &script]).env_remove("SWARMYARD_MODULE").output().unwrap();
    assert!(output.status.success());
    let shown = out(&output);
    // The reset's zero move, the first point, 11 metres by steps of one, and so on.
    assert!(shown.len() > 30, "{shown:?}");
    assert_eq!(
        shown[0],
        "0 s: base 0.000 m, turn 0.000, joints 0.000 0.000 0.000 rad, tip (15.300, 0.000, 1.000) m; 0 obstacles, 0 objects"
    );
    assert!(shown.iter().any(|l| l.starts_with("1 s: base 10.000 m")), "{shown:?}");
    assert!(shown.last().unwrap().starts_with("7 s: "));
}

#[test]
fn a_chain_says_the_same_as_plain_pipes() {
    let script = format!("'{BIN}' module {} | '{BIN}' module smooth", points());
    let plain = Command::new("sh").args(["-c", &script]).env_remove("SWARMYARD_MODULE").output().unwrap();
    let chain = run(&["simulate", "local", &points(), "-", "smooth"], "");
    assert!(chain.status.success(), "{}", errors(&chain));
    assert_eq!(out(&chain), out(&plain));
    let told = errors(&chain);
    assert!(
        told.contains("module 1 (trajectory)") && told.contains("module 2 (smooth), 7 s: ended: exit code 0"),
        "{told}"
    );
}

#[test]
fn case_1_comes_out_of_the_command_to_the_byte() {
    let input = format!("{RESET}\n1 2 10 0 0 0 0 0 0 0 0\n1 2 10 0 0 3 0 0 0 0 0\n");
    let z = "0.000000";
    let at = |v: &str| format!("2 3 10 {z} {z} {v} 0 {z} {z} {z} {z}");
    let mut wanted = vec![RESET.to_owned(), at(z), at(z)];
    wanted.extend([z, "1.000000", "2.000000", "3.000000"].map(at));
    assert_eq!(out(&run(&["module", "smooth"], &input)), wanted);
    assert_eq!(out(&run(&["pipe", "2@local", "smooth"], &input)), wanted);
    let literal = run(&["module", "smooth", "--literal"], &format!("{RESET}\n"));
    assert_eq!(out(&literal), [at(z), "-10 -10 -10 10 10 10".to_owned()]);
}

#[test]
fn as_printed_the_interpolator_is_found_out_in_a_chain() {
    let input = format!("{RESET}\n1 2 10 0 0 0 0 0 0 0 0\n");
    let output = run(&["pipe", "local", "smooth --literal", "--answer", "10", "--restarts", "0"], &input);
    assert_eq!(output.status.code(), Some(1));
    let told = errors(&output);
    assert!(told.contains("bad line 1: column 1: the sender is not a whole number: `-10 -10 -10"), "{told}");
}

#[test]
fn the_whole_system_stands_in_one_command() {
    let yard = format!("obstacles {} --to 5", examples().join("yard.txt").display());
    let output = run(
        &[
            "simulate",
            "local",
            &points(),
            "local",
            "smooth",
            "local",
            "arm --to 5",
            "local",
            &yard,
            "local",
            "display",
        ],
        "",
    );
    assert!(output.status.success(), "{}", errors(&output));
    let told = errors(&output);
    // Inside a chain stdout is the stream, so the display tells people on stderr.
    assert!(told.contains("(display), 7 s: 7 s: base"), "{told}");
    assert!(told.contains("2 obstacles, 2 objects"), "{told}");
    assert!(out(&output).iter().all(|l| l.starts_with("0 0 ")), "only broadcasts are left at the end");
}

#[test]
fn numbers_are_given_and_taken_once() {
    let same = run(&["simulate", "local", "cat", "7@local", "smooth", "7@-", "smooth"], "");
    assert_eq!(same.status.code(), Some(2));
    assert!(errors(&same).contains("number 7 is taken by `smooth`"), "{}", errors(&same));
    let host = run(&["simulate", "local", "true", "iris", "smooth"], "");
    assert_eq!(host.status.code(), Some(2));
    assert!(errors(&host).contains("host `iris` is not known here"), "{}", errors(&host));
    let odd = run(&["simulate", "local", "true", "local"], "");
    assert_eq!(odd.status.code(), Some(2));
    let zero = run(&["simulate", "local", "true", "0@local", "smooth"], "");
    assert!(errors(&zero).contains("from 1 to 65534"), "{}", errors(&zero));
}

#[test]
fn an_exit_code_of_a_module_is_told_and_is_that_of_the_command() {
    let output = run(&["simulate", "local", "echo '1 9 1'", "local", "sh -c 'cat; exit 4'"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("module 2 (sh): exit code 4"), "{}", errors(&output));
    assert_eq!(out(&output), ["0 0 0 -100 -100 -100 100 100 100", "1 9 1"]);
}

#[test]
fn as_json_every_line_has_its_time() {
    let output = run(&["simulate", "--json", "local", &points(), "local", "smooth"], "");
    let last: serde_json::Value = serde_json::from_str(out(&output).last().unwrap()).unwrap();
    assert_eq!((&last["schema"], &last["at"]), (&"swarmyard-line/1".into(), &7_000_000_000_i64.into()));
}

#[test]
fn a_person_steers_a_chain_by_stdin() {
    let mut child = Command::new(BIN)
        .args(["simulate", "--control", "local", "sleep 1000", "local", "smooth"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    writeln!(stdin, "{RESET}").unwrap();
    assert_eq!(lines.next().unwrap(), RESET);
    assert!(lines.next().unwrap().starts_with("2 3 10 "));
    writeln!(stdin, "nonsense\nadd local arm --to 9").unwrap();
    // The new one is number 3; the reset that it gets first makes it tell its pose.
    assert_eq!(lines.next().unwrap(), "3 9 10 0 0 0 0 0");
    assert_eq!(lines.next().unwrap(), "3 9 12 1 15.3 0 1");
    writeln!(stdin, "0 2 10 0 0 4 0 0 0 0 0").unwrap();
    // From the interpolator to the arm, and from the arm to number 9.
    assert_eq!(lines.next().unwrap(), "3 9 10 4 0 0 0 0");
    writeln!(stdin, "0 0 65534").unwrap();
    assert_eq!(lines.last().unwrap(), "0 0 65534");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(errors(&output).contains("not done: column 1"), "{}", errors(&output));
}

#[test]
fn nothing_is_left_running_when_the_command_is_killed() {
    let mut child = Command::new(BIN)
        .args(["simulate", "local", "sh -c 'echo 1 9 1 $$; exec sleep 1000'", "local", "smooth"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|l| l.starts_with("1 9 1 ")).unwrap();
    let process = Path::new("/proc").join(said.rsplit(' ').next().unwrap());
    assert!(process.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..1200 {
        if !process.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{} still runs", process.display());
}

#[test]
fn a_circle_of_pipes_needs_no_chain() {
    // What the display writes enters at the head: here a reset and the end, written by hand.
    let input = format!("{RESET}\n0 0 65534\n0 0 65533\n");
    let file = examples().join("points.txt").display().to_string();
    let output = run(&["module", "trajectory", &file, "--stay"], &input);
    let said = out(&output);
    assert_eq!(said.iter().filter(|l| l.starts_with("1 2 10 ")).count(), 16, "the points are said twice");
    assert_eq!(said.iter().filter(|l| *l == RESET).count(), 1);
    assert_eq!(said.last().unwrap(), "0 0 65534");
}

#[test]
fn mistakes_in_files_are_told_with_their_line() {
    let file = std::env::temp_dir().join(format!("swarmyard-points-{}.txt", std::process::id()));
    std::fs::write(&file, "0 0 0 0 0\n1 2 three 4 5\n").unwrap();
    let shown = file.display().to_string();
    let output = run(&["module", "trajectory", &shown], "");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("line 2: `three` is not a number"), "{}", errors(&output));
    assert!(out(&output).is_empty());
}

#[test]
fn a_module_said_to_be_stateless_says_the_same_and_does_not_get_its_past_again() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stateless-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (script, died) = (folder.join("echo.sh"), folder.join("died"));
    // It dies once, in the middle.
    let text = format!(
        "while read -r from to command rest; do if [ $to = 2 ]; then \
         if [ $rest = 150 ] && [ ! -e {0} ]; then : > {0}; kill -9 $$; fi; echo \"2 9 1 $rest\"; \
         elif [ $to != 0 ]; then echo \"$from $to $command $rest\"; fi; done\n",
        died.display()
    );
    std::fs::write(&script, text).unwrap();
    let module = format!("sh {}", script.display());
    let source = "sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo 1 2 5 $i; done'";
    let chain = |words: &[&str]| {
        let output = run(&[&["simulate"], words, &["local", source, "local", &module]].concat(), "");
        assert!(output.status.success(), "{}", errors(&output));
        (out(&output), errors(&output))
    };
    std::fs::write(&died, "").unwrap();
    let (undisturbed, _) = chain(&[]);
    assert_eq!(undisturbed.len(), 301);
    for (words, inputs) in [(&["--stateless", "2"][..], 1), (&[], 150)] {
        std::fs::remove_file(&died).unwrap();
        let (lines, told) = chain(words);
        assert_eq!(lines, undisturbed, "{words:?}");
        assert!(told.contains(&format!("started again; it gets {inputs} inputs again")), "{words:?}: {told}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn there_is_one_reset_with_the_box_that_was_asked_for() {
    let tenth = ["--universe", "-10", "-10", "-10", "10", "10", "10"];
    let points = points();
    let words = [&["simulate"], &tenth[..], &["local", &points, "local", "smooth"]].concat();
    let output = run(&words, "");
    assert!(output.status.success(), "{}", errors(&output));
    let resets =
        |lines: &[String]| lines.iter().filter(|l| l.starts_with("0 0 0 ")).cloned().collect::<Vec<_>>();
    assert_eq!(resets(&out(&output)), [RESET]);
    // Whoever steers gives another one: the source says its points again, in that box. All of it is said when stdin has
    // ended, and with it the chain.
    let five = "0 0 0 -5 -5 -5 5 5 5";
    let mut child = Chain::start(&["--control"], &[&points, "smooth"]);
    assert_eq!(child.said.by_ref().find(|l| l.starts_with("0 0 65535 7 ")).as_deref(), Some("0 0 65535 7 0"));
    child.say(five);
    child.say("0 2 65531 1 2");
    drop(child.stdin.take());
    let rest: Vec<String> = child.said.by_ref().collect();
    assert_eq!(resets(&rest), [five], "{rest:?}");
    assert_eq!(rest.iter().filter(|l| l.starts_with("0 0 65535 7 ")).count(), 1, "{rest:?}");
    assert!(child.child.wait().unwrap().success());
}

/// A chain under way.
struct Chain {
    child: Child,
    stdin: Option<std::process::ChildStdin>,
    said: Box<dyn Iterator<Item = String>>,
}

impl Chain {
    /// With options, and its programs on this machine.
    fn start(options: &[&str], programs: &[&str]) -> Chain {
        let places = programs.iter().flat_map(|p| ["local", *p]);
        let mut child = Command::new(BIN)
            .arg("simulate")
            .args(options)
            .args(places)
            .env_remove("SWARMYARD_MODULE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        Chain { stdin: child.stdin.take(), said: Box::new(said), child }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// A connection to the page that it serves.
    fn page(&mut self) -> Page {
        let mut told = BufReader::new(self.child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = told.find_map(|l| l.split_once("http://").map(|(_, rest)| rest.to_owned())).unwrap();
        // What it tells later is read, so that it is never held up.
        std::thread::spawn(move || told.for_each(drop));
        Page::open(url.split('/').next().unwrap())
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page that is open.
struct Page {
    socket: WebSocket<TcpStream>,
    asked: u64,
    /// What happened to modules, as it was told.
    events: Vec<Value>,
    scenery: Value,
}

impl Page {
    fn open(address: &str) -> Page {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let request = format!("ws://{address}/v1/modules").into_client_request().unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Page { socket, asked: 0, events: Vec::new(), scenery: Value::Null }
    }

    fn read(&mut self) -> Value {
        loop {
            let Message::Text(text) = self.socket.read().expect("the chain is there") else { continue };
            let value: Value = serde_json::from_str(&text).unwrap();
            match value["is"].as_str() {
                Some("events") => self.events.extend(value["lines"].as_array().unwrap().iter().cloned()),
                Some("scenery") => self.scenery = value.clone(),
                _ => {}
            }
            return value;
        }
    }

    /// Reads until this holds.
    fn until(&mut self, what: impl Fn(&Page) -> bool) {
        while !what(self) {
            self.read();
        }
    }

    /// Sends a line; answers why it was refused.
    fn send(&mut self, line: &str) -> Option<String> {
        self.asked += 1;
        self.socket.send(Message::text(json!({ "id": self.asked, "line": line }).to_string())).unwrap();
        loop {
            let answer = self.read();
            if answer["is"] == "answer" && answer["id"] == self.asked {
                return answer["why"].as_str().map(str::to_owned);
            }
        }
    }

    /// How often the source has ended.
    fn ends(&self) -> usize {
        self.events.iter().filter(|e| e["number"] == 1 && e["kind"] == "ended").count()
    }
}

#[test]
fn the_page_steers_a_chain_whose_source_has_ended() {
    let mut chain = Chain::start(&["--serve=127.0.0.1:0"], &[&points(), "smooth", "arm"]);
    let mut page = chain.page();
    page.until(|p| p.ends() == 1 && p.scenery["at"] == 7_000_000_000_i64);
    assert_eq!(page.scenery["universe"]["high"], json!([100.0, 100.0, 100.0]));
    // A parameter, a move, and a reset that says the points again in its box.
    assert_eq!(page.send("0 3 65531 1 2"), None);
    assert_eq!(page.send("0 9 10 42 0 0 0 0"), None);
    page.until(|p| p.scenery["arm"]["pose"]["base_m"] == 42.0);
    assert_eq!(page.scenery["made_of"]["links_m"][0], 2.0);
    assert_eq!(page.send("0 0 0 -5 -5 -5 5 5 5"), None);
    let five = json!([5.0, 5.0, 5.0]);
    let is_five = |p: &Page| p.scenery["universe"]["high"] == five;
    page.until(|p| p.ends() == 2 && is_five(p) && p.scenery["at"] == 7_000_000_000_i64);
    assert_ne!(page.scenery["arm"]["pose"]["base_m"], 42.0);
    // What the display does not understand is told with its reason, as it was sent.
    assert_eq!(page.send("0 9 2 500"), None);
    assert_eq!(page.send("0 9 99 1"), None);
    page.until(|p| p.events.iter().filter(|e| e["kind"] == "refused").count() == 2);
    let text = page.events.iter().map(|e| e["text"].as_str().unwrap()).collect::<String>();
    assert!(text.contains("a field of view lies between 0 and 180 degrees: `0 9 2 500`"), "{text}");
    assert!(text.contains("the display does not know command 99: `0 9 99 1`"), "{text}");
    assert_eq!(page.send("0 0 65534"), None);
    page.until(|p| p.events.iter().any(|e| e["number"] == 3 && e["kind"] == "ended"));
    assert!(page.send("0 0 0 -5 -5 -5 5 5 5").unwrap().contains("the chain has ended"));
}

#[test]
fn the_page_of_a_display_inside_a_chain_says_that_it_cannot_steer() {
    // The reset of the box starts it; then nothing more is said.
    let tenth = ["--universe", "-10", "-10", "-10", "10", "10", "10"];
    let mut chain = Chain::start(&tenth, &["sleep 1000", "display --serve=127.0.0.1:0"]);
    let mut page = chain.page();
    assert!(page.send("0 2 2 60").unwrap().contains("simulate --serve"));
}

#[test]
fn a_scene_of_many_things_is_shown_and_the_last_of_them_too() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("many-{}.txt", std::process::id()));
    let things: String = (1..=3000).map(|i| format!("object {i} {i} 0 0\n")).collect();
    std::fs::write(&file, things).unwrap();
    let yard = format!("obstacles {}", file.display());
    let mut chain = Chain::start(&["--serve=127.0.0.1:0"], &[&points(), &yard]);
    let mut page = chain.page();
    page.until(|p| p.ends() == 1 && p.scenery["objects"]["3000"] == json!([3000.0, 0.0, 0.0]));
    assert_eq!(page.scenery["objects"].as_object().unwrap().len(), 3000);
    assert_eq!(page.send("0 3 12 7 1 2 3"), None);
    page.until(|p| p.scenery["objects"]["7"] == json!([1.0, 2.0, 3.0]));
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn whoever_steers_without_pause_does_not_hold_the_chain_up() {
    let mut chain = Chain::start(&["--control"], &[&points(), "smooth"]);
    let mut stdin = chain.stdin.take().unwrap();
    // It may end in the middle of that.
    let writer =
        std::thread::spawn(move || while stdin.write_all(&b"0 2 65531 1 1\n".repeat(100)).is_ok() {});
    // The last point of the source comes out all the same.
    assert!(chain.said.by_ref().any(|l| l.starts_with("0 0 65535 7 ")));
    drop(chain);
    writer.join().unwrap();
}

#[test]
fn a_sister_process_is_a_module_of_a_chain_as_well() {
    let pipe = format!("{BIN} pipe local smooth");
    let (near, far) = (
        run(&["simulate", "local", &points(), "local", "smooth"], ""),
        run(&["simulate", "local", &points(), "local", &pipe], ""),
    );
    assert!(far.status.success(), "{}", errors(&far));
    assert_eq!(out(&far), out(&near));
    // With the number that the chain gave it.
    let third = run(&["simulate", "local", "printf '1 5 10 1 0 0 0 0\\n'", "5@local", &pipe], "");
    assert!(out(&third).last().unwrap().starts_with("5 6 10 "), "{:?}", out(&third));
}

#[test]
fn a_journal_is_as_long_as_it_is_told_to_be() {
    let output = run(&["simulate", "--journal", "3", "local", &points(), "local", "smooth"], "");
    assert!(errors(&output).contains("more than 3 inputs since the last reset"), "{}", errors(&output));
}
