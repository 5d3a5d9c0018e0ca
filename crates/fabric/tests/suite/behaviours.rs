//! What is true of every fabric; each function takes a town and asserts one fact.

use crate::{AGES, Town, listen, until};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_fabric::{Care, Fabric, Heard, Lost, MOST_BYTES};

pub(crate) fn puts_reach_those_whose_pattern_matches(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let one = listen(&*b, "t/*/x", &*a, "t/0/x");
    let any = listen(&*b, "t/**", &*a, "t");
    let own = listen(&*a, "t/2/x", &*a, "t/2/x");
    while one.heard.try_recv().is_ok() || any.heard.try_recv().is_ok() {}
    for key in ["t/1/x", "t/1/y", "u/1/x", "t/1/2/x", "t/2/x", "t/end/x"] {
        a.put(key, key.as_bytes(), Care::Block).expect("put");
    }
    let keys = |ear: &crate::Ear| {
        let mut keys = Vec::new();
        while keys.last().is_none_or(|k: &String| k != "t/end/x") {
            let (key, text) = ear.heard.recv_timeout(AGES).expect("the last one arrives");
            if key == text {
                keys.push(key);
            }
        }
        keys
    };
    assert_eq!(keys(&one), ["t/1/x", "t/2/x", "t/end/x"]);
    assert_eq!(keys(&any), ["t/1/x", "t/1/y", "t/1/2/x", "t/2/x", "t/end/x"]);
    assert_eq!(own.heard.recv_timeout(AGES).expect("its own message").0, "t/2/x");
    drop(one.handle);
    a.put("t/3/x", b"after the end", Care::Block).expect("put");
    assert!(any.heard.iter().any(|h| h.1 == "after the end"));
    assert!(one.heard.recv_timeout(Duration::from_millis(50)).is_err(), "heard after its handle was dropped");
}

pub(crate) fn a_stuck_display_costs_nobody_anything(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let other = listen(&*b, "work", &*a, "work");
    let (go, wait) = channel::<()>();
    let (tell, heard) = channel();
    let wait = Mutex::new(wait);
    let stuck = b.listen(
        "show",
        Box::new(move |h: Heard<'_>| {
            let _ = tell.send(h.bytes.len());
            let _ = wait.lock().map(|w| w.recv());
        }),
    );
    let stuck = stuck.expect("a listener");
    until("the display hears", || {
        a.put("show", b"first", Care::Drop).expect("put");
        heard.recv_timeout(Duration::from_millis(20)).is_ok()
    });
    let frame = vec![1; 100_000];
    let put = |_| {
        let before = Instant::now();
        a.put("show", &frame, Care::Drop).expect("put");
        before.elapsed()
    };
    // The display is stuck to the end: a put that waited for it would not have come back. Nor does one wait for a while; in one
    // of three batches or another none waits for a processor either.
    let batch = |_| {
        let mut times: Vec<Duration> = (0..1000).map(put).collect();
        times.sort();
        (times[989], times[999])
    };
    let batches: Vec<(Duration, Duration)> = (0..3).map(batch).collect();
    a.put("work", b"on with it", Care::Block).expect("put");
    assert_eq!(other.heard.recv_timeout(AGES).expect("workers go on").1, "on with it");
    println!("3000 frames; 99 of 100 puts and the longest, by batch: {batches:?}");
    let (most, longest) = batches.iter().min().copied().unwrap_or_default();
    assert!(most < Duration::from_millis(20) && longest < Duration::from_millis(250), "{batches:?}");
    drop(go);
    drop(stuck);
}

pub(crate) fn nothing_put_with_block_is_lost_behind_a_slow_worker(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let (tell, heard) = channel();
    let slow = move |h: Heard<'_>| {
        let number = u32::from_le_bytes(h.bytes.try_into().unwrap_or([255; 4]));
        if number == 0 {
            std::thread::sleep(Duration::from_millis(200));
        }
        let _ = tell.send(number);
    };
    let _handle = b.listen("slow", Box::new(slow)).expect("a listener");
    until("it hears", || {
        a.put("slow", b"....", Care::Block).expect("put");
        heard.recv_timeout(Duration::from_millis(20)).is_ok()
    });
    for number in 0..5000_u32 {
        a.put("slow", &number.to_le_bytes(), Care::Block).expect("put");
    }
    let probe = u32::from_le_bytes(*b"....");
    let numbers = std::iter::from_fn(|| heard.recv_timeout(AGES).ok()).filter(|n| *n != probe);
    assert!(numbers.take(5000).eq(0..5000), "something is missing or out of order");
}

pub(crate) fn questions_are_answered_or_met_with_silence(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let silent = |key: &str| Lost::Silent { key: key.into() };
    assert_eq!(a.ask("q/nobody", b"", Duration::from_millis(300)), Err(silent("q/nobody")));
    let reply = |key: &str, question: &[u8]| {
        let text = format!("{key}: {}", String::from_utf8_lossy(question));
        (!question.is_empty()).then(|| text.into_bytes())
    };
    let handle = b.answer("q/*/b", Box::new(reply)).expect("an answer");
    until("b answers", || a.ask("q/1/b", b"x", Duration::from_secs(5)).is_ok());
    assert_eq!(a.ask("q/7/b", b"how", AGES).as_deref(), Ok(b"q/7/b: how".as_slice()));
    assert_eq!(b.ask("q/7/b", b"own", AGES).as_deref(), Ok(b"q/7/b: own".as_slice()));
    assert_eq!(a.ask("q/7/b", b"", Duration::from_millis(300)), Err(silent("q/7/b")), "no answer");
    drop(handle);
    until("b is silent", || a.ask("q/7/b", b"how", Duration::from_millis(100)) == Err(silent("q/7/b")));
}

pub(crate) fn one_that_thinks_too_long_is_silence_for_who_asked_and_holds_up_no_other(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let think = move |_: &str, question: &[u8]| {
        if question == b"hard" {
            let _ = wait.lock().map(|w| w.recv());
        }
        Some(b"42".to_vec())
    };
    let _slow = b.answer("slow", Box::new(think)).expect("an answer");
    let _quick = b.answer("quick", Box::new(|_, _| Some(b"1".to_vec()))).expect("an answer");
    until("both answer", || a.ask("slow", b"", AGES).is_ok() && a.ask("quick", b"", AGES).is_ok());
    // It thinks to the end of this test: who waited for it would not come back.
    assert!(matches!(a.ask("slow", b"hard", Duration::from_millis(200)), Err(Lost::Silent { .. })));
    assert_eq!(a.ask("quick", b"", AGES).as_deref(), Ok(b"1".as_slice()));
    drop(go);
}

pub(crate) fn everyone_asked_at_once_answers_under_its_key(town: &mut dyn Town) {
    let (a, b, c) = (town.member("a"), town.member("b"), town.member("c"));
    let _b = b.answer("host/b/load", Box::new(|key, _| Some(key.as_bytes().to_vec()))).expect("an answer");
    let _c = c.answer("host/c/load", Box::new(|_, _| Some(vec![3]))).expect("an answer");
    let _none = c.answer("host/d/load", Box::new(|_, _| None)).expect("an answer");
    let wanted = [("host/b/load".to_owned(), b"host/b/load".to_vec()), ("host/c/load".to_owned(), vec![3])];
    until("both answer", || a.ask_all("host/*/load", b"", Duration::from_secs(5)).expect("asked") == wanted);
    assert_eq!(a.ask_all("nobody/**", b"", Duration::from_millis(300)), Ok(Vec::new()));
}

/// What a watcher has seen, in order.
type Seen = Arc<Mutex<Vec<(String, bool)>>>;

fn watch(fabric: &dyn Fabric, pattern: &str) -> (Seen, swarmyard_fabric::Handle) {
    let seen = Seen::default();
    let list = seen.clone();
    let note = move |key: &str, is_alive: bool| {
        list.lock().expect("no panic").push((key.to_owned(), is_alive));
    };
    let handle = fabric.watch(pattern, Box::new(note)).expect("a watcher");
    (seen, handle)
}

fn has_seen(seen: &Seen, wanted: &[(&str, bool)]) -> bool {
    let seen = seen.lock().expect("no panic");
    seen.iter().map(|(key, is_alive)| (key.as_str(), *is_alive)).eq(wanted.iter().copied())
}

pub(crate) fn tokens_are_seen_by_early_and_late_watchers_until_dropped(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let (early, _early) = watch(&*a, "live/*");
    let token = b.live("live/b").expect("a token");
    let _elsewhere = b.live("other/b").expect("a token");
    until("the early one sees it", || has_seen(&early, &[("live/b", true)]));
    let c = town.member("c");
    let (late, _late) = watch(&*c, "live/*");
    until("the late one sees it", || has_seen(&late, &[("live/b", true)]));
    let (own, _own) = watch(&*b, "live/*");
    until("its owner sees it", || has_seen(&own, &[("live/b", true)]));
    drop(token);
    for seen in [&early, &late, &own] {
        until("it is gone", || has_seen(seen, &[("live/b", true), ("live/b", false)]));
    }
    let _again = b.live("live/b").expect("a token");
    for seen in [&early, &late, &own] {
        let all = [("live/b", true), ("live/b", false), ("live/b", true)];
        until("it is back", || has_seen(seen, &all));
    }
}

pub(crate) fn a_member_that_goes_takes_everything_with_it(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let (seen, _watch) = watch(&*a, "live/**");
    let token = b.live("live/b/1").expect("a token");
    let other = b.live("live/b/2").expect("a token");
    let answer = b.answer("b", Box::new(|_, _| Some(Vec::new()))).expect("an answer");
    until("it is seen", || seen.lock().expect("no panic").len() == 2);
    until("it answers", || a.ask("b", b"", AGES).is_ok());
    drop((token, other, answer, b));
    until("it is gone", || seen.lock().expect("no panic").iter().filter(|s| !s.1).count() == 2);
    assert!(a.ask("b", b"", Duration::from_millis(300)).is_err());
}

pub(crate) fn what_is_no_key_or_too_long_is_refused(town: &mut dyn Town) {
    let a = town.member("a");
    assert!(matches!(a.put("a/*", b"", Care::Block), Err(Lost::BadKey { .. })));
    assert!(matches!(a.put("", b"", Care::Block), Err(Lost::BadKey { .. })));
    assert!(matches!(a.listen("a/b*", Box::new(|_| {})), Err(Lost::BadKey { .. })));
    assert!(matches!(a.ask("a/**", b"", AGES), Err(Lost::BadKey { .. })));
    assert!(matches!(a.live("a/**"), Err(Lost::BadKey { .. })));
    let long = vec![0; MOST_BYTES + 1];
    let refused = Lost::TooLong { key: "a".into(), bytes: MOST_BYTES + 1, most: MOST_BYTES };
    assert_eq!(a.put("a", &long, Care::Block), Err(refused));
}

pub(crate) fn long_messages_arrive_whole(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let ear = listen(&*b, "long", &*a, "long");
    let long: String = (0..1_000_000).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
    a.put("long", long.as_bytes(), Care::Block).expect("put");
    assert!(ear.heard.recv_timeout(AGES).expect("it arrives").1 == long);
}

pub(crate) fn traffic_is_counted_by_kind(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let _ear = listen(&*b, "count", &*a, "count");
    let _answer = b.answer("ask", Box::new(|_, _| Some(vec![0; 7]))).expect("an answer");
    until("b answers", || a.ask("ask", b"", AGES).is_ok());
    let (a_before, b_before) = (a.traffic(), b.traffic());
    a.put("count", &[0; 100], Care::Drop).expect("put");
    a.put("count", &[0; 10], Care::Block).expect("put");
    assert!(a.ask("ask", &[0; 5], AGES).is_ok());
    let out = a.traffic();
    assert_eq!(out.show.bytes_out - a_before.show.bytes_out, 100);
    assert_eq!(out.work.bytes_out - a_before.work.bytes_out, 10);
    assert_eq!(out.questions.bytes_out - a_before.questions.bytes_out, 5);
    assert_eq!(out.answers.bytes_in - a_before.answers.bytes_in, 7);
    until("b has counted", || {
        let came = b.traffic();
        came.show.bytes_in - b_before.show.bytes_in == 100
            && came.work.bytes_in - b_before.work.bytes_in == 10
            && came.questions.bytes_in - b_before.questions.bytes_in == 5
            && came.answers.bytes_out - b_before.answers.bytes_out == 7
    });
}
