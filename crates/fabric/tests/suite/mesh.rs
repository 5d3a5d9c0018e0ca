//! The suite over Zenoh on the loopback interface.

use crate::{AGES, Town, behaviours, posting};
use std::sync::Arc;
use swarmyard_fabric::Fabric;
use swarmyard_fabric::mesh::{Mesh, Options};

/// Members that each connect to all before them.
#[derive(Default)]
pub(crate) struct Loopback {
    endpoints: Vec<String>,
}

impl Town for Loopback {
    fn member(&mut self, _: &str) -> Arc<dyn Fabric> {
        // Nobody here hangs: on a busy machine nobody is to be taken for one that does.
        let connect = self.endpoints.clone();
        let options = Options { connect, lease: AGES, reach: AGES, ..Options::default() };
        let mesh = Mesh::open(&options).expect("a member");
        self.endpoints.extend_from_slice(mesh.endpoints());
        Arc::new(mesh)
    }
}

macro_rules! on_the_loopback_interface {
    ($place:ident: $($behaviour:ident),* $(,)?) => {$(
        #[test]
        fn $behaviour() {
            $place::$behaviour(&mut Loopback::default());
        }
    )*};
}

on_the_loopback_interface!(
    behaviours:
    puts_reach_those_whose_pattern_matches,
    a_stuck_display_costs_nobody_anything,
    nothing_put_with_block_is_lost_behind_a_slow_worker,
    questions_are_answered_or_met_with_silence,
    one_that_thinks_too_long_is_silence_for_who_asked_and_holds_up_no_other,
    everyone_asked_at_once_answers_under_its_key,
    tokens_are_seen_by_early_and_late_watchers_until_dropped,
    a_member_that_goes_takes_everything_with_it,
    what_is_no_key_or_too_long_is_refused,
    long_messages_arrive_whole,
    traffic_is_counted_by_kind,
);

on_the_loopback_interface!(
    posting:
    what_was_sent_before_anyone_listened_is_asked_for_again,
    a_neighbour_that_is_ahead_or_late_changes_nothing,
    who_neither_sends_nor_answers_is_named,
    replays_forgeries_and_old_epochs_are_refused_and_change_nothing,
    a_new_epoch_ends_a_wait_and_starts_clean,
);
