//! What controllers say and what becomes of them, for the person at the terminal.

use crate::cli::progress::Progress;
use swarmyard::Sim;
use swarmyard::engine::{Frame, RunEvent};
use swarmyard::record::Event;

/// Lines printed in one run; the rest is in the recording.
const MOST_LINES: u32 = 200;

/// Prints lines on stderr, up to a bound.
pub(super) struct Speech {
    left: u32,
}

impl Speech {
    pub(super) fn new(wanted: bool) -> Speech {
        Speech { left: if wanted { MOST_LINES } else { 0 } }
    }

    /// What a controller says when the run is over.
    pub(super) fn last(&mut self, robot: &str, line: &str) {
        if self.left > 0 {
            self.left -= 1;
            eprintln!("           {robot}: {line}");
        }
    }

    /// The lines of one step.
    pub(super) fn frame(&mut self, sim: &Sim, frame: &Frame, progress: &Progress) {
        if self.left == 0 {
            return;
        }
        // Notes of robots that live by events are for logs and recordings, and there are many.
        let told = frame.events.iter().filter(|e| !matches!(e, RunEvent::Live(_)));
        for (at, event) in told.filter_map(|e| Some((e.at(), Event::of_controller(sim.model(), e)?))) {
            let Some(words) = words(&event) else { continue };
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let when = at.map_or(frame.now, |at| at.time);
            progress.say(&format!("{:>9}  {words}", when.to_string()));
            if self.left == 0 {
                progress.say("controllers say more; it is in the recording");
            }
        }
    }
}

/// What there is to say of an event at the terminal, if anything.
fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::Said { robot, text } => format!("{robot}: {text}"),
        Event::BadRegister { robot, what } => format!("{robot}: warning: {what}"),
        Event::Quarrel { robot, command } => {
            format!("{robot}: warning: two controllers write `{command}`; the later one's value holds")
        }
        Event::AlgorithmFailed { robot, what } => format!("{robot}: {what}"),
        Event::Endless { robot, protocol } => {
            format!("{robot}: `{protocol}` never came to rest at one moment: the robot was stopped")
        }
        Event::Swallowed { robot } => format!("{robot}: fell into a hole"),
        Event::PartFailed { part, what } => format!("{part}: the model {what}"),
        Event::Failed { robot, controller, what, then, lines } => {
            let mut text = format!("{robot}: controller `{controller}` {what}; {}", follows(then));
            for line in lines {
                text += &format!("\n             it said: {line}");
            }
            text
        }
        _ => return None,
    })
}

fn follows(policy: &str) -> &'static str {
    match policy {
        "halt" => "the robot is halted",
        "restart" => "it starts anew",
        "end" => "the run ends",
        _ => "its last commands stay",
    }
}
