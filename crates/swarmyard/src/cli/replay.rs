//! `replay`: the recorded run once more, from its texts, seed and journal.

use super::again;
use super::fail::{Exit, Failure};
use super::load::Until;
use super::out::{Out, count, seconds};
use super::progress::Progress;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;
use swarmyard::Sim;
use swarmyard::base::Time;
use swarmyard::record::Recording;

/// Arguments of `replay`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard replay arena.mcap               run it again, print its hash\n  swarmyard replay arena.mcap --verify      and compare every recorded hash; exit 6 when one differs"
)]
pub(crate) struct ReplayArgs {
    /// The recording
    recording: PathBuf,
    /// Compare every recorded hash
    #[arg(long)]
    verify: bool,
    /// Threads; they never change a result
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The first step at which the replay is not what was recorded.
struct Mismatch {
    step: u64,
    time: Time,
    recorded: u64,
    now: u64,
    /// Recorded hashes before it that agree.
    equal: usize,
}

/// Replays a recording.
pub(crate) fn replay(args: &ReplayArgs, out: &Out) -> Result<Exit, Failure> {
    let recording = again::open(&args.recording)?;
    let damage = recording.damage().map(|d| format!("the file is not whole: {d}"));
    for why in again::other_build(&recording).into_iter().chain(damage) {
        out.say(&format!("warning: {why}"));
    }
    let mut sim = again::rebuild(&recording, args.threads.map_or(0, usize::from))?;
    let (checked, mismatch) = play(&mut sim, &recording, args.verify)?;
    let hash = format!("{:016x}", sim.hash());
    let value = json!({
        "recording": args.recording, "ticks": sim.state().stops, "time_s": seconds(sim.now()), "hash": hash,
        "verified": args.verify.then_some(mismatch.is_none()), "hashes": checked,
        "mismatch": mismatch.as_ref().map(Mismatch::json),
    });
    let text = match &mismatch {
        Some(m) => m.text(),
        None => {
            let mut text = format!(
                "replayed {} to {}\n  hash  {hash}\n",
                count(sim.state().stops as usize, "tick"),
                sim.now()
            );
            if args.verify {
                text += &format!(
                    "verified: {} all the same\n",
                    count(checked, "recorded hash").replace("hashs", "hashes are")
                );
            }
            text
        }
    };
    out.answer("replay", value, &text)?;
    Ok(if mismatch.is_some() { Exit::Mismatch } else { Exit::Ok })
}

/// Steps to the recorded end; stops at the first hash that differs, when hashes are looked at.
fn play(sim: &mut Sim, recording: &Recording, verify: bool) -> Result<(usize, Option<Mismatch>), Failure> {
    let last = again::last_step(recording);
    let mut marks = recording.hashes().iter().peekable();
    let mut progress = Progress::new(true);
    let (started, mut hash, mut checked) = (Instant::now(), sim.hash(), 0);
    loop {
        let step = sim.state().stops;
        if let Some(mark) = marks.next_if(|m| m.step == step).filter(|_| verify) {
            if mark.hash != hash || mark.time != sim.now() {
                let found =
                    Mismatch { step, time: mark.time, recorded: mark.hash, now: hash, equal: checked };
                progress.clear();
                return Ok((checked, Some(found)));
            }
            checked += 1;
        }
        if step >= last {
            break;
        }
        hash = sim.step()?.hash;
        progress.show(sim, Until::Tick(last), started.elapsed().as_secs_f64());
    }
    progress.clear();
    let Some(end) = recording.end().filter(|_| verify) else { return Ok((checked, None)) };
    let now = sim.hash();
    if end.hash != now {
        let found = Mismatch { step: end.step, time: end.time, recorded: end.hash, now, equal: checked };
        return Ok((checked, Some(found)));
    }
    Ok((checked + 1, None))
}

impl Mismatch {
    fn text(&self) -> String {
        format!(
            "the replay differs from the recording at tick {} ({})\n  recorded  {:016x}\n  replayed  {:016x}\n  {} recorded hashes before it are the same\n",
            self.step, self.time, self.recorded, self.now, self.equal
        )
    }

    fn json(&self) -> Value {
        json!({
            "tick": self.step, "time_s": seconds(self.time), "equal_before": self.equal,
            "recorded": format!("{:016x}", self.recorded), "replayed": format!("{:016x}", self.now),
        })
    }
}
