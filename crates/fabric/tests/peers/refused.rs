//! What Zenoh refuses is counted by kind and told, in a process of its own: what it says is said for the whole process. And what
//! members do whom nothing is forbidden is no refusal.

use crate::strangers::{authority, with};
use crate::{AGES, folder, listen, member, patient, reaches, until};
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;
use swarmyard_fabric::access::Access;
use swarmyard_fabric::gate::Kind;
use swarmyard_fabric::keys::Keys;
use swarmyard_fabric::mesh::{Mesh, Options, on_refusal};
use swarmyard_fabric::{Fabric, MOST_BYTES};
use zenoh::Wait;

/// Everything that was told.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn is_told(words: &[&str]) -> bool {
    let told = TOLD.lock().expect("no panic");
    told.iter().any(|line| words.iter().all(|word| line.contains(word)))
}

fn in_a_process_of_its_own(test: &str) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let out = command.args(["--exact", test, "--ignored", "--nocapture"]).output().expect("a child");
    let said = [out.stdout, out.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    assert!(out.status.success() && said.contains("1 passed"), "{said}");
}

fn hear() {
    on_refusal(Box::new(|line| {
        println!("{line}");
        TOLD.lock().expect("no panic").push(line.to_owned());
    }));
}

/// A session of Zenoh's own with these settings.
fn bare(settings: &[(&str, &str)]) -> Option<zenoh::Session> {
    let mut config = zenoh::Config::default();
    let usual = [
        ("listen/endpoints", "[]"),
        ("connect/timeout_ms", "1000"),
        ("connect/exit_on_failure", "true"),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
    ];
    for (key, value) in usual.iter().chain(settings) {
        config.insert_json5(key, value).expect("a setting");
    }
    zenoh::open(config).wait().ok()
}

#[test]
fn wrong_certificates_and_what_the_access_file_forbids_are_counted_and_told() {
    in_a_process_of_its_own("refused::certificates_and_access");
}

#[test]
#[ignore = "what the test above does in a process of its own"]
fn certificates_and_access() {
    hear();
    let [alpha, beta, desk, guest] = authority(&folder("refused"), ["alpha", "beta", "desk", "guest"]);
    let [theirs] = authority(&folder("refused-theirs"), ["beta"]);
    let text = "[members]\nalpha = [\"worker\"]\nbeta = [\"worker\"]\ndesk = [\"display\"]\n";
    let access = Some(Access::parse(text).expect("an access file"));
    let home = member(Options { access: access.clone(), ..with(&alpha) }, &[]);
    let count = |kind| home.traffic().refused.of(kind);

    // What members may do.
    let key = "swarm/run/1/workers/order/0";
    let (heard, _ear) = listen(&home, "swarm/**");
    let answers = |key| home.answer(key, Box::new(|_, _| Some(vec![1]))).expect("an answer");
    let _answers = ["swarm/host/alpha/info", "swarm/host/alpha/start"].map(answers);
    let friend = member(Options { access: access.clone(), ..with(&beta) }, &[&home]);
    assert!(reaches(&friend, key, &heard, AGES));
    let (_friends, _ear) = listen(&friend, "swarm/run/1/**");
    let _token = friend.live("swarm/run/1/live/0").expect("a token");
    let _watch = friend.watch("swarm/run/1/live/*", Box::new(|_, _| {})).expect("a watcher");
    let _replies =
        friend.answer("swarm/run/1/workers/figures/0", Box::new(|_, _| Some(vec![1]))).expect("one");
    let display = member(Options { access: access.clone(), ..with(&desk) }, &[&home]);
    let _looks = display.watch("swarm/host/*/live", Box::new(|_, _| {})).expect("a watcher");
    let asks = |who: &Mesh, key| who.ask(key, b"", Duration::from_millis(500)).is_ok();
    until("a display may look", || asks(&display, "swarm/host/alpha/info"));
    assert!(asks(&friend, "swarm/host/alpha/start"));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(home.traffic().refused.total(), 0, "{:?}", home.traffic().refused);

    // What a display may not. One of ours does not even send what nobody would hear; but it says what it wants to hear.
    assert!(!asks(&display, "swarm/host/alpha/start"));
    let (_secret, _ear) = listen(&display, "swarm/run/1/workers/**");
    let forbidden = || is_told(&["not allowed", "member desk", "subscriber `swarm/run/1/workers/**`"]);
    until("what the display wants to hear", || count(Kind::NotAllowed) > 0 && forbidden());
    // One that is not ours, with its certificate, sends it all the same.
    while heard.try_recv().is_ok() {}
    let endpoint = format!("[\"tls/{}\"]", home.endpoints()[0]);
    let shows = format!(
        "{{root_ca_certificate: {:?}, connect_certificate: {:?}, connect_private_key: {:?}, enable_mtls: true}}",
        desk.authority, desk.certificate, desk.key
    );
    let settings = [
        ("mode", "\"client\""),
        ("connect/endpoints", endpoint.as_str()),
        ("transport/link/tls", shows.as_str()),
    ];
    let rogue = bare(&settings).expect("it has a certificate");
    let before = count(Kind::NotAllowed);
    until("an order of a display", || {
        rogue.put(key, "no order of ours").wait().expect("put");
        std::thread::sleep(Duration::from_millis(20));
        count(Kind::NotAllowed) > before
    });
    let before = count(Kind::NotAllowed);
    let answers =
        rogue.get("swarm/host/alpha/start").timeout(Duration::from_millis(300)).wait().expect("asked");
    until("a question of a display", || count(Kind::NotAllowed) > before);
    assert!(answers.into_iter().all(|reply| reply.result().is_err()), "it was answered");
    assert!(heard.try_recv().is_err(), "a display gave an order");
    assert_eq!(count(Kind::NotAllowed), home.traffic().refused.total());

    // Somebody with a certificate of ours whom nobody has listed.
    let nobody = member(Options { access, ..with(&guest) }, &[&home]);
    assert!(!reaches(&nobody, key, &heard, Duration::from_millis(300)));
    until("who is not listed", || count(Kind::NotListed) == 1 && is_told(&["not in the access file"]));

    // Somebody of another authority, one who trusts ours and is not trusted, one without, and one who does not encrypt.
    let connect = home.endpoints().to_vec();
    let try_with = |keys: Option<Keys>| {
        let reach = Duration::from_millis(600);
        assert!(
            Mesh::open(&Options { connect: connect.clone(), keys, reach, ..Options::default() }).is_err()
        );
    };
    try_with(Some(theirs.clone()));
    until("another authority", || count(Kind::Certificate) > 0 && is_told(&["wrong certificate"]));
    let before = count(Kind::Certificate);
    try_with(Some(Keys { authority: alpha.authority.clone(), ..theirs }));
    until("one who is not trusted", || count(Kind::Certificate) > before);
    let before = count(Kind::Certificate);
    let trusts = format!("{{root_ca_certificate: {:?}}}", alpha.authority);
    let _none = bare(&[("connect/endpoints", &endpoint), ("transport/link/tls", &trusts)]);
    until("one without a certificate", || count(Kind::Certificate) > before);
    assert_eq!(count(Kind::Stranger), 0);
    try_with(None);
    until("one who does not encrypt", || count(Kind::Stranger) > 0 && is_told(&["strange connection"]));

    assert!(reaches(&friend, key, &heard, AGES), "those who belong here were disturbed");
    let told = TOLD.lock().expect("no panic").len();
    assert!(told < 20, "a flood: {told} lines");
}

#[test]
fn a_message_that_is_too_long_and_connections_of_nobody_are_counted_and_told() {
    in_a_process_of_its_own("refused::lengths_and_nonsense");
}

#[test]
#[ignore = "what the test above does in a process of its own"]
fn lengths_and_nonsense() {
    hear();
    let home = member(Options { reach: Duration::from_secs(1), ..patient() }, &[]);
    let friend = member(patient(), &[&home]);
    let (heard, _ear) = listen(&home, "k");
    assert!(reaches(&friend, "k", &heard, AGES));
    assert_eq!(home.traffic().refused.total(), 0, "{:?}", home.traffic().refused);
    let count = |kind| home.traffic().refused.of(kind);

    let endpoint = format!("[\"tcp/{}\"]", home.endpoints()[0]);
    let rogue = bare(&[("connect/endpoints", &endpoint)]).expect("anybody may join here");
    let block = zenoh::qos::CongestionControl::Block;
    let long = vec![7_u8; MOST_BYTES + (1 << 20)];
    until("the long message is refused", || {
        rogue.put("k", &long[..]).congestion_control(block).wait().expect("put");
        std::thread::sleep(Duration::from_millis(300));
        count(Kind::TooLong) > 0
    });
    until("it is told", || is_told(&["too long"]));
    assert!(heard.try_iter().all(|bytes| bytes.len() < 100), "the long message was heard");
    assert_eq!(count(Kind::Stranger), 0, "{:?}", home.traffic().refused);

    let connect = || TcpStream::connect(&home.endpoints()[0]).expect("it listens");
    for nonsense in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), &[3, 0, 0xff, 0xff, 0xff], &[0xff; 70_000]] {
        let before = count(Kind::Stranger);
        // It may be refused before everything is sent.
        let _ = connect().write_all(nonsense);
        until("nonsense is refused", || count(Kind::Stranger) > before);
    }
    until("it is told", || is_told(&["strange connection", "127.0.0.1", "did not greet as members do"]));
    let before = count(Kind::Stranger);
    let _silent = connect();
    until("one that says nothing", || count(Kind::Stranger) > before);
    // More than may greet at once.
    let before = count(Kind::Stranger);
    let _crowd: Vec<TcpStream> = (0..150).map(|_| connect()).collect();
    until("a crowd", || count(Kind::Stranger) >= before + 150);

    assert!(reaches(&friend, "k", &heard, AGES), "those who belong here were disturbed");
}
