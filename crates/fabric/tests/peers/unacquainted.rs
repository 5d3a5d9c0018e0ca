//! Members that were not told of each other: they do not find each other, neither by themselves nor by way of a third.

use crate::{AGES, listen, member, patient, reaches, watch};
use std::time::Duration;
use swarmyard_fabric::Fabric;

#[test]
fn who_was_not_told_of_another_does_not_meet_him() {
    let hub = member(patient(), &[]);
    let (one, two) = (member(patient(), &[&hub]), member(patient(), &[&hub]));
    let alone = member(patient(), &[]);
    let (at_hub, _ear) = listen(&hub, "k");
    let (at_two, _ear) = listen(&two, "k");
    let (at_alone, _ear) = listen(&alone, "k");
    let (seen, _watch) = watch(&two, "live/*");
    let _token = one.live("live/one").expect("a token");
    let _answer = one.answer("ask", Box::new(|_, _| Some(vec![1]))).expect("an answer");
    assert!(reaches(&one, "k", &at_hub, AGES));
    assert!(reaches(&two, "k", &at_hub, AGES));
    // As long as it would take many times over.
    assert!(!reaches(&one, "k", &at_two, Duration::from_millis(500)), "the hub passed it on");
    assert!(!reaches(&one, "k", &at_alone, Duration::from_millis(500)), "they found each other");
    assert!(two.ask("ask", b"", Duration::from_millis(300)).is_err());
    assert!(seen.try_recv().is_err());
}
