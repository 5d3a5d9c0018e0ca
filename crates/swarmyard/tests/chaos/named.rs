//! Hosts that are called by their names alone, and asked what goes on between them while a run does: it does not notice.

use crate::yard::{Host, Run, alone, done, folder, swarmyard};
use serde_json::Value;
use std::net::TcpListener;

/// A port that nobody has.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port()
}

#[test]
fn hosts_are_found_by_the_names_that_keys_add_wrote_down_and_tell_what_they_send_each_other() {
    let _alone = alone();
    let dir = folder("named");
    let (keys, ports) = (dir.display(), [port(), port()]);
    done(&format!("keys init {keys}"));
    done(&format!("keys add {keys} keeper"));
    let [a, b] = [("alpha", ports[0]), ("beta", ports[1])].map(|(name, port)| {
        let said = done(&format!("keys add {keys} {name} 127.0.0.1 --port {port}"));
        assert!(said.contains(&format!("{name}=127.0.0.1:{port}")), "{said}");
        Host::start(&[], name, &format!("--slots 1 --keys {keys} --listen 127.0.0.1:{port} --lease 20"))
    });
    let mut run =
        Run::start(&[], "named-run", &format!("--hosts alpha,beta --keys {keys} --rtf 5 --lease 20"));
    run.comes_to(100);
    let asks = format!("hosts alpha beta --keys {keys} --name keeper");
    let told: Value = serde_json::from_str(&done(&format!("{asks} --json"))).expect("JSON");
    let (words, number) = (done(&asks), run.keeper().0);
    println!("{words}");
    let links = told["links"].as_array().expect("a list");
    let ends: Vec<_> = links.iter().map(|l| [&l["from_host"], &l["to_host"]]).collect();
    assert_eq!(ends, [["alpha", "beta"], ["beta", "alpha"]], "{told}");
    for link in links {
        let count = |key: &str| link[key].as_u64().expect("a number");
        // One message per neighbour and quantum, and one more whenever bodies change hands: after every eighth.
        assert!((112..=350).contains(&count("messages")), "{link}");
        assert!(count("bytes") > 10 * count("messages"), "{link}");
        assert_eq!(link["run"], number.to_string());
    }
    assert!(words.contains(&format!("links of run {number}")), "{words}");
    assert!(words.contains("from alpha to beta: ") && words.contains("from beta to alpha: "), "{words}");
    run.ends_as_undisturbed();
    let none: Value = serde_json::from_str(&done(&format!("{asks} --json"))).expect("JSON");
    assert_eq!(none["links"], Value::Array(Vec::new()), "the run is over");
    drop((a, b));
}

#[test]
fn a_name_that_nobody_has_is_refused_with_the_one_that_was_meant() {
    let dir = folder("misnamed");
    let list = dir.join("list");
    std::fs::write(&list, "alpha=127.0.0.1:1\nbeta=127.0.0.1:2\n").expect("a file");
    let refused = |words: &str, list: Option<&str>| {
        let mut command = swarmyard(&[], words);
        list.map(|list| command.env("SWARMYARD_HOSTS", list));
        let out = command.output().expect("the command");
        assert_eq!(out.status.code(), Some(2), "{words}");
        String::from_utf8_lossy(&out.stderr).into_owned()
    };
    let list = list.to_str();
    for words in [
        "run worlds/forty-wander.toml --no-record --hosts beta,alhpa",
        "hosts alhpa",
        "pipe --bytes --hosts alhpa -- a cat",
    ] {
        let said = refused(words, list);
        assert!(
            said.contains("no host is called `alhpa`") && said.contains("did you mean `alpha`?"),
            "{said}"
        );
    }
    let said = refused("hosts alpha", None);
    assert!(said.contains("nobody says where host `alpha` is") && said.contains("SWARMYARD_HOSTS"), "{said}");
}
