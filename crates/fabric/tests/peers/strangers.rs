//! Members without a certificate, with one of another authority, or at another address than theirs: refused, and those who belong
//! here go on.

use crate::{AGES, folder, listen, member, patient, reaches};
use std::path::Path;
use std::time::Duration;
use swarmyard_fabric::keys::{Keys, make_authority, make_member};
use swarmyard_fabric::mesh::{Mesh, Options};
use zenoh::Wait;

/// An authority in a folder, and members it vouches for.
pub(crate) fn authority<const N: usize>(dir: &Path, names: [&str; N]) -> [Keys; N] {
    make_authority(dir).expect("an authority");
    names.map(|name| make_member(dir, name, &[]).expect("a certificate"))
}

pub(crate) fn with(keys: &Keys) -> Options {
    Options { keys: Some(keys.clone()), ..patient() }
}

/// The same for one that tries in vain.
fn in_vain(keys: Option<&Keys>) -> Options {
    Options { keys: keys.cloned(), reach: Duration::from_secs(2), ..Options::default() }
}

#[test]
fn only_who_has_a_certificate_of_our_authority_comes_in() {
    let [alpha, beta] = authority(&folder("ours"), ["alpha", "beta"]);
    let [elsewhere] = authority(&folder("theirs"), ["beta"]);
    let home = member(with(&alpha), &[]);
    let connect = home.endpoints().to_vec();
    let (heard, _ear) = listen(&home, "k");
    let friend = member(with(&beta), &[&home]);
    assert!(reaches(&friend, "k", &heard, AGES));

    let refused = |options: Options, who: &str| {
        let opened = Mesh::open(&Options { connect: connect.clone(), ..options });
        let error = opened.err().unwrap_or_else(|| panic!("{who} was let in"));
        println!("{who}: {error}");
    };
    refused(in_vain(None), "one without keys");
    refused(in_vain(Some(&elsewhere)), "one of another authority");
    // Its own certificate is of another authority, but it trusts ours.
    let liar = Keys { authority: alpha.authority.clone(), ..elsewhere.clone() };
    refused(in_vain(Some(&liar)), "one that trusts us and is not trusted");
    // We are not fooled either: the listener is of another authority.
    let trap = member(with(&elsewhere), &[]);
    let fooled = Mesh::open(&Options { connect: trap.endpoints().to_vec(), ..in_vain(Some(&beta)) });
    assert!(fooled.is_err(), "a member connected to a stranger");

    assert!(reaches(&friend, "k", &heard, AGES), "those who belong here were disturbed");
}

#[test]
fn one_that_shows_no_certificate_at_all_does_not_come_in() {
    let [alpha] = authority(&folder("bare"), ["alpha"]);
    let home = member(with(&alpha), &[]);
    let (heard, _ear) = listen(&home, "k");
    let mut config = zenoh::Config::default();
    let endpoint = format!("[\"tls/{}\"]", home.endpoints()[0]);
    let authority = format!("{{root_ca_certificate: {:?}}}", alpha.authority);
    for (key, value) in [
        ("connect/endpoints", endpoint.as_str()),
        ("connect/timeout_ms", "2000"),
        ("connect/exit_on_failure", "true"),
        ("listen/endpoints", "[]"),
        ("scouting/multicast/enabled", "false"),
        ("transport/link/tls", authority.as_str()),
    ] {
        config.insert_json5(key, value).expect("a setting");
    }
    if let Ok(session) = zenoh::open(config).wait() {
        for _ in 0..20 {
            let _ = session.put("k", "hello").wait();
            assert!(heard.recv_timeout(Duration::from_millis(50)).is_err(), "it was let in");
        }
    }
}

#[test]
fn a_certificate_counts_only_at_the_addresses_it_names() {
    let dir = folder("addresses");
    let [alpha, beta] = authority(&dir, ["alpha", "beta"]);
    let there = "127.0.0.2:0".to_owned();
    let home = Mesh::open(&Options { listen: vec![there.clone()], ..with(&alpha) }).expect("a member");
    let opened = Mesh::open(&Options { connect: home.endpoints().to_vec(), ..in_vain(Some(&beta)) });
    assert!(opened.is_err(), "127.0.0.2 is not in its certificate");
    let gamma = make_member(&dir, "gamma", &["127.0.0.2".into()]).expect("a certificate");
    let home = Mesh::open(&Options { listen: vec![there], ..with(&gamma) }).expect("a member");
    let opened = Mesh::open(&Options { connect: home.endpoints().to_vec(), ..with(&beta) });
    assert!(opened.is_ok(), "127.0.0.2 is in its certificate: {:?}", opened.err());
}
