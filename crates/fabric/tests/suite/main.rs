//! What every fabric does, checked on each of them: inside a process, and over Zenoh on the loopback interface.

/// Every fact of the suite as a test, in a town of this sort.
macro_rules! suite_in {
    ($town:ty) => {
        suite_in!($town:
            behaviours::puts_reach_those_whose_pattern_matches,
            behaviours::a_stuck_display_costs_nobody_anything,
            behaviours::nothing_put_with_block_is_lost_behind_a_slow_worker,
            behaviours::questions_are_answered_or_met_with_silence,
            behaviours::one_that_thinks_too_long_is_silence_for_who_asked_and_holds_up_no_other,
            behaviours::everyone_asked_at_once_answers_under_its_key,
            behaviours::tokens_are_seen_by_early_and_late_watchers_until_dropped,
            behaviours::a_member_that_goes_takes_everything_with_it,
            behaviours::what_is_no_key_or_too_long_is_refused,
            behaviours::long_messages_arrive_whole,
            behaviours::traffic_is_counted_by_kind,
            posting::what_was_sent_before_anyone_listened_is_asked_for_again,
            posting::a_neighbour_that_is_ahead_or_late_changes_nothing,
            posting::who_neither_sends_nor_answers_is_named,
            posting::replays_forgeries_and_old_epochs_are_refused_and_change_nothing,
            posting::a_new_epoch_ends_a_wait_and_starts_clean,
        );
    };
    ($town:ty: $($place:ident::$fact:ident,)*) => {$(
        #[test]
        fn $fact() {
            crate::$place::$fact(&mut <$town>::default());
        }
    )*};
}

mod behaviours;
mod local;
#[cfg(feature = "zenoh")]
mod mesh;
mod posting;
mod slow_way;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use swarmyard_fabric::{Care, Fabric, Handle, Heard};

/// Where members come from; each reaches all others.
pub(crate) trait Town {
    /// A new member, connected with all before it.
    fn member(&mut self, name: &str) -> Arc<dyn Fabric>;
}

/// Longer than anything here takes on a busy machine.
pub(crate) const AGES: Duration = Duration::from_secs(60);

/// Tries again until it is true.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < AGES, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Everything one listener hears, as (key, text).
pub(crate) struct Ear {
    pub(crate) heard: Receiver<(String, String)>,
    pub(crate) handle: Handle,
}

/// Listens, and returns when what `speaker` puts under `probe` is heard: a fabric needs a moment to tell everyone.
pub(crate) fn listen(listener: &dyn Fabric, pattern: &str, speaker: &dyn Fabric, probe: &str) -> Ear {
    let (tell, heard): (Sender<(String, String)>, _) = channel();
    let handle = listener.listen(pattern, Box::new(move |h: Heard<'_>| drop(tell.send(text(h)))));
    let ear = Ear { heard, handle: handle.expect("a listener") };
    meet(&ear, speaker, probe);
    ear
}

/// Returns when this listener hears this speaker.
pub(crate) fn meet(ear: &Ear, speaker: &dyn Fabric, probe: &str) {
    let mut count = 0;
    until("a probe is heard", || {
        count += 1;
        speaker.put(probe, format!("probe {count}").as_bytes(), Care::Block).expect("put");
        ear.heard.recv_timeout(Duration::from_millis(20)).is_ok()
    });
    // Nothing is left behind the last end that was sent. A fabric may lose one, above all just after two have met.
    let mut count = 0;
    until("the end of the probes is heard", || {
        count += 1;
        let end = format!("end {count}");
        speaker.put(probe, end.as_bytes(), Care::Block).expect("put");
        std::iter::from_fn(|| ear.heard.recv_timeout(Duration::from_millis(500)).ok()).any(|h| h.1 == end)
    });
}

fn text(heard: Heard<'_>) -> (String, String) {
    (heard.key.to_owned(), String::from_utf8_lossy(heard.bytes).into_owned())
}
