//! How many processors others use.
//!
//! In: what the system says of all processors and of each process. Out: processors that were busy since the last look, less those that
//! a process and everything it has started were busy with. A load average will not do: it remembers a minute, so that a run which has
//! just ended looks like an owner who works, and it counts threads that wait.

use std::collections::BTreeMap;

/// Looks at the time that processors were at work.
pub(super) struct Others {
    /// Whose time does not count, with that of all it has started.
    root: u32,
    before: Option<Sample>,
}

/// Sums since the machine was started, in the system's own ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    /// Of all processors: at work, and altogether.
    busy: u64,
    all: u64,
    processors: u32,
    /// Of a process and all it has started, ended ones included.
    own: u64,
}

impl Others {
    /// Of all others than this process and what it has started.
    pub(super) fn than_this_process() -> Others {
        Others { root: std::process::id(), before: None }
    }

    /// Processors that others kept busy since the last look; `None` the first time, and where the system does not tell.
    pub(super) fn look(&mut self) -> Option<f64> {
        let now = Sample::of(self.root)?;
        self.before.replace(now).and_then(|before| now.since(&before))
    }
}

impl Sample {
    fn of(root: u32) -> Option<Sample> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let (busy, all, processors) = processors(&text)?;
        Some(Sample { busy, all, processors, own: own(root)? })
    }

    /// Processors that others kept busy since then.
    fn since(&self, before: &Sample) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let busy = self.busy.saturating_sub(before.busy);
        // What one has started and nobody has waited for is lost from the sum when it ends.
        let own = self.own.saturating_sub(before.own);
        Some(busy.saturating_sub(own) as f64 / all as f64 * f64::from(self.processors))
    }
}

/// Ticks at work and altogether of all processors, and their number.
fn processors(text: &str) -> Option<(u64, u64, u32)> {
    let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
    // user nice system idle iowait irq softirq steal; what guests use is in the first two.
    let words = lines.next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
    let times: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [user, nice, system, idle, waits, irq, soft, stolen] = times[..] else { return None };
    let busy = user + nice + system + irq + soft;
    Some((busy, busy + idle + waits + stolen, lines.count() as u32))
}

/// Ticks of a process and of all it has started.
fn own(root: u32) -> Option<u64> {
    let (mut times, mut children): (BTreeMap<u32, u64>, BTreeMap<u32, Vec<u32>>) = Default::default();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that has just ended is none any more.
        let Some((parent, time)) =
            std::fs::read_to_string(entry.path().join("stat")).ok().as_deref().and_then(process)
        else {
            continue;
        };
        times.insert(pid, time);
        children.entry(parent).or_default().push(pid);
    }
    let (mut sum, mut open) = (0, vec![root]);
    while let Some(pid) = open.pop() {
        sum += times.get(&pid).copied().unwrap_or_default();
        open.extend(children.remove(&pid).unwrap_or_default());
    }
    Some(sum)
}

/// Who has started a process, and its ticks with those of its children that have ended.
fn process(stat: &str) -> Option<(u32, u64)> {
    // The second word is a name in brackets, with anything in it.
    let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let times = words.get(11..15)?.iter().map(|word| word.parse::<u64>());
    Some((words.get(1)?.parse().ok()?, times.sum::<Result<u64, _>>().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    struct Ends(Child);

    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn shell(text: &str) -> Ends {
        Ends(Command::new("sh").args(["-c", text]).spawn().expect("a shell"))
    }

    #[test]
    fn the_system_is_read_as_it_writes() {
        let text = "cpu  10 20 30 400 5 1 2 3 9 9\ncpu0 5 10 15 200 5 1 1 1 0 0\ncpu1 5 10 15 200 0 0 1 2 0 0\nintr 7\n";
        assert_eq!(processors(text), Some((63, 471, 2)));
        assert_eq!(processors("cpu 1 2\n"), None);
        let stat = "42 (a) b) S 7 42 42 0 -1 4194304 100 0 0 0 11 12 13 14 20 0 1 0 99 0 0";
        assert_eq!(process(stat), Some((7, 50)));
        assert_eq!(process("42 (x) S 7"), None);
        let sample = |busy, all, own| Sample { busy, all, processors: 2, own };
        assert_eq!(sample(300, 600, 50).since(&sample(100, 200, 0)), Some(0.75));
        assert_eq!(sample(300, 600, 50).since(&sample(300, 600, 50)), None, "no time has passed");
        assert_eq!(sample(100, 400, 0).since(&sample(100, 200, 90)), Some(0.0));
    }

    /// Everything else that runs on the machine is seen by both: what they see differently is what this process has started.
    #[test]
    fn a_process_that_burns_is_seen_unless_one_has_started_it() {
        let (still, burner) =
            (shell("exec sleep 60"), shell("i=0; while [ $i -lt 30000000 ]; do i=$((i+1)); done"));
        let burnt = || own(burner.0.id()).expect("it runs");
        let look = |root: u32| Sample::of(root).expect("Linux tells");
        let (began, others, ours) = (burnt(), look(still.0.id()), look(std::process::id()));
        let until = Instant::now() + Duration::from_secs(60);
        while burnt() < began + 50 {
            assert!(Instant::now() < until, "it gets no processor");
            std::thread::sleep(Duration::from_millis(20));
        }
        let seen = |root: u32, before: &Sample| {
            let now = look(root);
            (now.busy - before.busy) as f64 - now.own.saturating_sub(before.own) as f64
        };
        let (with, without) = (seen(still.0.id(), &others), seen(std::process::id(), &ours));
        assert!(with - without >= 40.0, "{with} ticks of others, {without} without it");
    }
}
