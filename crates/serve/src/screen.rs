//! The scene of a chain as it changes line by line, for pages: as often as eyes can follow, and always the last.
//!
//! In: the scene, after every line. Out: calls of [`ModuleServer::show`], each of which costs as much as the whole scene.
//!
//! Why not with every line: a scene of n things that come one by one would cost n times n.

use crate::modules::ModuleServer;
use std::time::{Duration, Instant};
use swarmyard_modules::Scenery;

/// Least time between two scenes.
const PACE: Duration = Duration::from_millis(33);

/// A server for pages, and what it has not shown yet.
pub struct Screen {
    /// The server.
    pub server: ModuleServer,
    pace: Pace,
}

impl Screen {
    /// A screen of a server.
    #[must_use]
    pub fn new(server: ModuleServer) -> Screen {
        Screen { server, pace: Pace::default() }
    }

    /// The scene has changed. It is shown now, or by [`Screen::catch_up`] when it is time.
    pub fn changed(&mut self, scenery: &Scenery) {
        self.pace.is_stale = true;
        self.catch_up(scenery);
    }

    /// Shows what has not been shown, if it is time.
    pub fn catch_up(&mut self, scenery: &Scenery) {
        let begun = Instant::now();
        if self.pace.is_due(begun) {
            self.server.show(scenery);
            self.pace.shown(begun, Instant::now());
        }
    }

    /// Shows what has not been shown, before nothing more comes for so long.
    pub fn rest(&mut self, scenery: &Scenery, rest: Duration) {
        if rest >= PACE {
            self.pace.next = None;
        }
        self.catch_up(scenery);
    }
}

/// When a scene is to be shown.
#[derive(Debug, Default)]
struct Pace {
    next: Option<Instant>,
    is_stale: bool,
}

impl Pace {
    fn is_due(&self, now: Instant) -> bool {
        self.is_stale && self.next.is_none_or(|next| now >= next)
    }

    /// A scene that takes long to show takes at most half of the time.
    fn shown(&mut self, begun: Instant, ended: Instant) {
        self.is_stale = false;
        self.next = Some(ended + PACE.max(ended - begun));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_shown_thirty_times_a_second_and_always_the_last() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut pace = Pace::default();
        let mut times = Vec::new();
        // Something changes every millisecond, and a scene takes five to show, until 200; then nothing more.
        for ms in 0..400 {
            pace.is_stale |= ms <= 200;
            if pace.is_due(at(ms)) {
                pace.shown(at(ms), at(ms + 5));
                times.push(ms);
            }
        }
        assert_eq!(times, [0, 38, 76, 114, 152, 190, 228]);
        // One that takes a second to show has as much time to change.
        pace.shown(at(1000), at(2000));
        pace.is_stale = true;
        assert!(!pace.is_due(at(2999)) && pace.is_due(at(3000)));
    }
}
