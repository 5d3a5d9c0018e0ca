//! Native programs as controllers: the same answers over every transport and in every language.
#![cfg(target_os = "linux")]

mod common;

use common::{LONG, SHORT, build, launch, left_over, nothing_left, programs, quantum, root, skipped, start};
use std::path::Path;
use std::process::Command;
use swarmyard_agents::process::{
    BadAccess, BadKind, Cause, Child, End, Launch, Poke, Poll, PostError, Register, Reply, StartError,
    Transport,
};

/// Seven quanta with images that all differ, and the end.
fn played(launch: &Launch) -> (Vec<Reply>, End) {
    let mut child = start(launch);
    let mut replies = Vec::new();
    for tick in 0..7_u64 {
        let image: Vec<u8> = (0..14).map(|k| (tick * 37 + k * 11) as u8).collect();
        let mut reply = quantum(&mut child, tick, &image);
        reply.cpu_ns = 0;
        replies.push(reply);
    }
    (replies, child.stop())
}

fn expected() -> (Vec<Reply>, End) {
    let poke = |address, width, value| Poke { address, width, value };
    let mut replies = Vec::new();
    for tick in 0..7_u64 {
        let image: Vec<u8> = (0..14).map(|k| (tick * 37 + k * 11) as u8).collect();
        let word = |k: usize| u32::from(u16::from_le_bytes([image[k], image[k + 1]]));
        let sum = word(0) + word(2) + word(4) + word(6);
        let speed = (word(0) as i32 - 500).clamp(-100, 100);
        let mut pokes =
            vec![poke(0x20, 1, speed as u32 & 0xff), poke(0x21, 1, u32::from(image[1])), poke(0x24, 4, sum)];
        if tick % 3 == 2 {
            pokes.extend([poke(0x40, 1, 7), poke(0x24, 2, tick as u32 * 1000)]);
        }
        let bad = vec![
            BadAccess { address: 0x10, width: 2, write: true, kind: BadKind::ReadOnly },
            BadAccess { address: 0x99, width: 1, write: false, kind: BadKind::Unmapped },
        ];
        let mut said = vec![format!("sum {sum}")];
        if tick == 0 {
            said.insert(0, "tick_us 100000".into());
        }
        replies.push(Reply { pokes, bad, cpu_ns: 0, said });
    }
    (replies, End { cause: Cause::Exited(0), pokes: vec![poke(0x20, 1, 0)], said: vec!["bye".into()] })
}

fn answers_as_expected(launch: &Launch, tag: &str) {
    let ((replies, end), (want, want_end)) = (played(launch), expected());
    for (tick, (got, want)) in replies.iter().zip(&want).enumerate() {
        assert_eq!(got, want, "{tag}, tick {tick}");
    }
    assert_eq!(end, want_end, "{tag}");
    nothing_left(tag);
}

#[test]
fn a_program_of_functions_answers_over_shared_memory() {
    answers_as_expected(&launch(&build("echo.c", "cc", &["-std=c99"]), Transport::Shared, "as"), "as");
}

#[test]
fn a_program_of_functions_answers_over_pipes() {
    answers_as_expected(&launch(&build("echo.c", "cc", &["-std=c99"]), Transport::Pipes, "ap"), "ap");
}

#[test]
fn a_program_with_a_loop_answers_over_shared_memory_and_pipes() {
    let program = build("echo_loop.c", "cc", &["-std=c99"]);
    answers_as_expected(&launch(&program, Transport::Shared, "bs"), "bs");
    answers_as_expected(&launch(&program, Transport::Pipes, "bp"), "bp");
}

#[test]
fn the_same_source_is_also_cpp() {
    let program = build("echo.c", "c++", &["-x", "c++", "-std=c++11"]);
    answers_as_expected(&launch(&program, Transport::Shared, "cpp"), "cpp");
}

/// A launch of an interpreter with a script, if it is installed.
fn script(interpreter: &str, file: &str, sdk: (&str, &str), tag: &str) -> Option<Launch> {
    if Command::new(interpreter).arg("--version").output().is_err() {
        skipped(&format!("`{interpreter}` is not installed"));
        return None;
    }
    let mut launch = launch(Path::new(interpreter), Transport::Lines, tag);
    launch.args = vec![programs().join(file).display().to_string()];
    launch.env.push((sdk.0.into(), root().join(sdk.1).display().to_string()));
    launch.env.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    Some(launch)
}

#[test]
fn python_answers_over_lines() {
    if let Some(launch) = script("python3", "echo.py", ("RIO_PYTHON", "sdk/python"), "py") {
        answers_as_expected(&launch, "py");
    }
}

#[test]
fn python_knows_registers_by_name_and_unit() {
    let Some(mut launch) = script("python3", "", ("PYTHONPATH", "sdk/python"), "names") else { return };
    let code = "import swarmyard_rio as rio
for tick in rio.ticks():
    rio.log(rio.get('front_mm', 1))
    rio.put('speed', -0.5)
    rio.put('speed', 99)
    print(sorted(rio.registers))
";
    launch.args = vec!["-c".into(), code.into()];
    launch.registers.push(Register {
        name: "speed".into(),
        at: 0x20,
        bytes: 1,
        count: 1,
        signed: true,
        scale: 0.01,
        offset: 0.0,
        unit: "m/s".into(),
    });
    let mut child = start(&launch);
    let reply = quantum(&mut child, 0, &[0, 0, 0xf4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(reply.said, ["0.5", "['front_mm', 'speed']"]);
    let poke = |value| Poke { address: 0x20, width: 1, value };
    assert_eq!(reply.pokes, [poke(0xce), poke(127)]);
    assert_eq!(child.stop().cause, Cause::Exited(0));
}

#[test]
fn prolog_answers_over_lines() {
    if let Some(launch) = script("swipl", "echo.pl", ("RIO_PROLOG", "sdk/prolog"), "pl") {
        answers_as_expected(&launch, "pl");
    }
}

#[test]
fn the_shell_script_of_the_documents_answers_over_lines() {
    let text = std::fs::read_to_string(root().join("docs/register-protocol.md")).expect("documented");
    let code = text.split("```sh\n").nth(1).and_then(|t| t.split("```").next()).expect("it has an example");
    let mut launch = launch(Path::new("sh"), Transport::Lines, "sh");
    launch.args = vec!["-c".into(), code.into()];
    let mut child = start(&launch);
    for tick in 0..3 {
        let reply = quantum(&mut child, tick, &[0; 14]);
        assert_eq!(reply.pokes, [Poke { address: 0x20, width: 1, value: 40 }]);
        assert_eq!(reply.said, [format!("tick {tick}")]);
    }
    assert_eq!(child.stop().cause, Cause::Exited(0));
}

#[test]
fn what_it_prints_belongs_to_its_tick() {
    for transport in [Transport::Shared, Transport::Pipes] {
        let mut launch = launch(&build("hostile.c", "cc", &["-std=gnu99"]), transport, "prints");
        launch.args = vec!["prints".into()];
        let mut child = start(&launch);
        for tick in 0..3 {
            let said = quantum(&mut child, tick, &[0; 14]).said;
            assert_eq!(said, [format!("out {tick}"), format!("err {tick}")], "{transport:?}");
        }
    }
}

#[test]
fn think_time_is_the_programs_own() {
    let mut launch = launch(&build("hostile.c", "cc", &["-std=gnu99"]), Transport::Shared, "think");
    launch.args = vec!["thinks".into()];
    let mut child = start(&launch);
    quantum(&mut child, 0, &[0; 14]);
    let thought = quantum(&mut child, 1, &[0; 14]).cpu_ns;
    assert!((19_000_000..200_000_000).contains(&thought), "{thought} ns for 20 ms");
}

#[test]
fn more_pokes_than_the_outbox_holds_arrive_in_order() {
    for transport in [Transport::Shared, Transport::Pipes] {
        let mut launch = launch(&build("hostile.c", "cc", &["-std=gnu99"]), transport, "many");
        launch.args = vec!["pokes".into(), "20000".into()];
        let mut child = start(&launch);
        for tick in 0..2 {
            let pokes = quantum(&mut child, tick, &[0; 14]).pokes;
            assert_eq!(pokes.len(), 20_000);
            assert!(pokes.iter().enumerate().all(|(k, p)| p.value == k as u32 && p.address == 0x24));
        }
        assert_eq!(child.stop().cause, Cause::Exited(0));
    }
}

#[test]
fn a_quantum_is_posted_only_when_the_last_is_answered() {
    let mut child = start(&launch(&build("echo.c", "cc", &["-std=c99"]), Transport::Shared, "busy"));
    assert_eq!(child.post(0, &[0; 13]), Err(PostError::Image { got: 13, want: 14 }));
    assert_eq!(child.post(7, &[0; 14]), Ok(()));
    assert_eq!(child.post(8, &[0; 14]), Err(PostError::Busy(7)));
    assert!(matches!(child.poll(LONG), Poll::Ready(_)));
    assert_eq!(child.post(8, &[0; 14]), Ok(()));
    assert!(matches!(child.poll(LONG), Poll::Port(_)));
    assert_eq!(child.post(9, &[0; 14]), Err(PostError::Busy(8)));
    assert_eq!(child.poll(SHORT), Poll::Pending);
}

#[test]
fn a_program_may_be_polled_by_any_thread() {
    fn may_be_sent<T: Send + Sync>() {}
    may_be_sent::<Child>();
    let program = build("echo.c", "cc", &["-std=c99"]);
    // Started by a thread that is gone: the program lives on.
    let mut child = std::thread::spawn(move || start(&launch(&program, Transport::Shared, "thread")))
        .join()
        .expect("started");
    std::thread::sleep(SHORT);
    quantum(&mut child, 0, &[0; 14]);
    assert_eq!(child.stop().cause, Cause::Exited(0));
}

#[test]
fn forty_programs_answer_at_the_same_time() {
    let launch = launch(&build("echo.c", "cc", &["-std=c99"]), Transport::Shared, "forty");
    let mut all: Vec<Child> = (0..40).map(|_| start(&launch)).collect();
    for tick in [0, 1, 3, 4] {
        for child in &mut all {
            child.post(tick, &[1; 14]).expect("it is idle");
        }
        for child in &mut all {
            assert!(matches!(child.poll(LONG), Poll::Ready(_)));
        }
    }
    drop(all);
    nothing_left("forty");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = Child::start(&launch(Path::new("/nowhere/robot"), Transport::Shared, "no")).err();
    let Some(StartError::Spawn { program, error }) = error else { panic!("it started") };
    assert_eq!((program.as_str(), error.kind()), ("/nowhere/robot", std::io::ErrorKind::NotFound));
    assert!(left_over("no").is_empty());
}

#[test]
fn another_version_is_refused_with_both_numbers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("version2-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for file in ["rio.h", "rio_process.c"] {
        let text = std::fs::read_to_string(root().join("sdk/c").join(file)).expect("the SDK");
        let text = text.replace("#define RIO_API_VERSION 1", "#define RIO_API_VERSION 2");
        std::fs::write(folder.join(file), text).expect("written");
    }
    for file in ["echo.c", "echo_body.h"] {
        std::fs::copy(programs().join(file), folder.join(file)).expect("copied");
    }
    let program = folder.join("echo");
    common::run(Command::new("cc").current_dir(&folder).args(["echo.c", "rio_process.c", "-o", "echo"]));
    for transport in [Transport::Shared, Transport::Pipes] {
        let mut child = start(&launch(&program, transport, "version"));
        let death = common::death(&mut child);
        assert_eq!(death.cause, Cause::Version { theirs: 2 }, "{transport:?}");
        assert!(death.to_string().contains("version 2 of the register interface, this simulator version 1"));
        assert_eq!(child.poll(LONG), Poll::Dead(death));
    }
    let mut lines = launch(Path::new("sh"), Transport::Lines, "version");
    lines.args = vec!["-c".into(), "echo rio 7; sleep 100".into()];
    assert_eq!(common::death(&mut start(&lines)).cause, Cause::Version { theirs: 7 });
    nothing_left("version");
    std::fs::remove_dir_all(folder).expect("removed");
}
