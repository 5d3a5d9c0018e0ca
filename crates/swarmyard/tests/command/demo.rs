//! The demo, far from any project.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn the_demo_brings_its_worlds_along_and_runs() {
    // Not in the project's own folder: there the project's worlds would be taken.
    let folder = std::env::temp_dir().join(format!("swarmyard-test-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_swarmyard"))
        .args(["demo", "--no-open", "--port", "0"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it has an output")).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").expect("it says where it listens");
    let address = address.trim_end_matches('/');
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET /v1/status HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("Figure 7-2") && answer.contains(r#""state":"running""#), "{answer}");
    assert!(folder.join("swarmyard-demo/worlds/forty-wander.toml").is_file());
    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success() && child.wait().unwrap().success());
    std::fs::remove_dir_all(folder).unwrap();
}
