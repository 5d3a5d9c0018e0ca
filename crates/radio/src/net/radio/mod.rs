//! The radio: who hears whom depends on distance, walls, bit rate and chance, and transmissions disturb each other.
//!
//! In: messages, places of robots, walls. Out: an arrival or a loss for each receiver.
//!
//! A message is a frame: its airtime is its bits over the bit rate, and it is in the air once, however many robots it
//! is for. What each receiver gets of it is decided when the frame begins ([`propagation`]); whether another frame
//! destroyed it, when it has come to its end (`running`). Only under `dcf` are frames acknowledged and repeated.

mod dcf;
pub mod propagation;
mod running;
pub mod shadowing;

use super::faulty::{self, Faulty, Flaws};
use propagation::{LIGHT_MPS, PathLoss, range_at_rate, sensitivity_dbm};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Kind, Network, NetworkModel, Param, ParamType, Sheet, TypeLayout};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

const PATHS: &[&str] = &["disc", "log-distance", "friis", "two-ray", "three-log"];

/// When a robot may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// At once.
    Aloha,
    /// At the next beginning of a slot.
    SlottedAloha,
    /// When the air seems free; when not, it asks again after a random time.
    Csma,
    /// The same, asking at beginnings of slots.
    CsmaSlotted,
    /// When the air seems free; when not, as soon as it does.
    CsmaPersistent,
    /// As in IEEE 802.11: after a random number of free slots, with acknowledgements and repetition.
    Dcf,
}

impl Access {
    const WORDS: &'static [&'static str] =
        &["aloha", "slotted-aloha", "csma", "csma-slotted", "csma-1-persistent", "dcf"];
    const ALL: [Access; 6] = [
        Access::Aloha,
        Access::SlottedAloha,
        Access::Csma,
        Access::CsmaSlotted,
        Access::CsmaPersistent,
        Access::Dcf,
    ];

    fn slotted(self) -> bool {
        matches!(self, Access::SlottedAloha | Access::CsmaSlotted)
    }

    fn senses(self) -> bool {
        matches!(self, Access::Csma | Access::CsmaSlotted | Access::CsmaPersistent)
    }
}

fn sheet() -> Sheet {
    let sheet = Sheet::new(
        "radio",
        Kind::Network,
        "One radio channel. Who hears whom depends on distance, walls and bit rate; frames that overlap at a receiver destroy each other; a robot cannot hear while it sends.",
    );
    faulty::with_flaws(access_params(signal_params(path_params(sheet))))
        .marks("links between robots that can hear each other")
        .example("[network]\nclass = \"radio\"\npath = \"log-distance\"\nrate = 1e6\npower_dbm = 0\nwall_db = 5\nsolid_db_per_m = 20\naccess = \"csma\"")
}

fn path_params(sheet: Sheet) -> Sheet {
    const BANDS: &[(&str, Unit)] = &[("distance", Unit::Metre), ("m", Unit::None)];
    sheet
        .param(Param::new("path", ParamType::Choice(PATHS), "How a signal weakens with distance.").or_text("disc"))
        .param(Param::number("range", Unit::Metre, "Of `disc`: how far a robot is heard.").within(1.0e-6, 1.0e9).or_num(10.0))
        .param(Param::number("range_rate", Unit::None, "Of `disc`: the bit rate at which `range` holds; faster is shorter. `rate` when left out.").within(1.0, 1.0e12))
        .param(Param::number("exponent", Unit::None, "Path-loss exponent of `log-distance`; of `disc` what walls and rates shorten the range by.").within(0.1, 20.0).or_num(3.0))
        .param(Param::number("reference_distance", Unit::Metre, "Of `log-distance`: where the reference loss holds.").within(1.0e-6, 1.0e6).or_num(1.0))
        .param(Param::number("reference_loss_db", Unit::None, "Of `log-distance` and `three-log`: loss at the reference distance, dB.").within(-300.0, 300.0).or_num(46.6777))
        .param(Param::number("frequency", Unit::Hertz, "Of `friis` and `two-ray`.").within(1.0e3, 1.0e12).or_num(5.15e9))
        .param(Param::number("system_loss", Unit::None, "Of `friis` and `two-ray`: loss in the devices, as a factor.").within(1.0, 1.0e6).or_num(1.0))
        .param(Param::number("height", Unit::Metre, "Of `two-ray`: height of the antennas.").within(1.0e-3, 1.0e4).or_num(1.5))
        .param(Param::new("distances", ParamType::Numbers { unit: Unit::Metre, min_len: 3, max_len: 3 }, "Of `three-log`: where its pieces begin.").or(Value::Nums(vec![1.0, 200.0, 500.0])))
        .param(Param::new("exponents", ParamType::Numbers { unit: Unit::None, min_len: 3, max_len: 3 }, "Of `three-log`: the exponents of its pieces.").or(Value::Nums(vec![1.9, 3.8, 3.8])))
        .param(Param::number("wall_db", Unit::None, "Loss for each edge of a wall or obstacle on the way, dB.").within(0.0, 300.0).or_num(0.0))
        .param(Param::number("solid_db_per_m", Unit::None, "Loss for each metre of the way inside obstacles, dB.").within(0.0, 1.0e6).or_num(0.0))
        .param(Param::number("shadowing_db", Unit::None, "Standard deviation of a loss that each pair of robots has, dB.").within(0.0, 30.0).or_num(0.0))
        .param(Param::number("shadowing_correlation", Unit::Metre, "How far a robot must go until its shadowing is another: after that way 37 % of it is left, e^(−d/c). It then depends on the places of both robots, and not on who they are. 0: each pair has one number for the whole run.").within(0.0, 1.0e9).or_num(0.0))
        .param(Param::number("nakagami", Unit::None, "Shape m of Nakagami fading, drawn for each frame and receiver: 1 is Rayleigh, large is none; 0 switches it off.").within(0.0, 1000.0).or_num(0.0))
        .param(Param::new("nakagami_far", ParamType::Rows(BANDS), "Shape of the fading from a distance on, in place of `nakagami`; rows in the order of the distance. That of ns-3 is 1.5 with [[80, 0.75], [200, 0.75]]."))
}

fn signal_params(sheet: Sheet) -> Sheet {
    const RATES: &[(&str, Unit)] = &[("rate", Unit::None), ("sensitivity_dbm", Unit::None)];
    sheet
        .param(Param::number("rate", Unit::None, "Bit rate, bit/s: sets how long a frame is in the air, and how strong it must be.").within(1.0, 1.0e12).or_num(1.0e6))
        .param(Param::new("header", ParamType::Int { min: 0, max: 100_000 }, "Bytes in the air besides those of the message.").or(Value::Int(32)))
        .param(Param::number("wave_speed", Unit::MetrePerSecond, "Speed of the signal; 1500 m/s for sound in water.").within(1.0, LIGHT_MPS).or_num(LIGHT_MPS))
        .param(Param::number("power_dbm", Unit::None, "Transmission power, dBm. Not of `disc`.").within(-200.0, 200.0).or_num(16.0206))
        .param(Param::number("sensitivity_dbm", Unit::None, "Weakest signal that can be received, dBm. Left out it follows from `rates`, or from the bit rate by Shannon's bound.").within(-300.0, 200.0))
        .param(Param::new("rates", ParamType::Rows(RATES), "Sensitivity by bit rate: the row of the lowest rate that is not below `rate` counts."))
        .param(Param::number("bandwidth", Unit::Hertz, "Bandwidth, for Shannon's bound.").within(1.0, 1.0e12).or_num(20.0e6))
        .param(Param::number("noise_figure_db", Unit::None, "Noise of the receiver above the thermal noise, dB.").within(0.0, 100.0).or_num(7.0))
        .param(Param::number("gap_db", Unit::None, "What receivers need above Shannon's bound, dB.").within(0.0, 100.0).or_num(0.0))
        .param(Param::new("judged", ParamType::Choice(&["start", "both"]), "When a frame must be strong enough: when it begins, or also when it has arrived, for robots that move far during a frame.").or_text("start"))
}

fn access_params(sheet: Sheet) -> Sheet {
    sheet
        .param(Param::new("access", ParamType::Choice(Access::WORDS), "When a robot may send: at once, at the beginning of a slot, or when the air seems free; when it is not, `csma` asks again after a random time and `csma-1-persistent` waits for the end. `dcf` is that of IEEE 802.11: it counts down a random number of free slots, and repeats what one receiver did not get.").or_text("csma"))
        .param(Param::number("slot", Unit::Second, "Length of a slot.").within(1.0e-9, 1.0e3).or_num(1.0e-3))
        .param(Param::number("sensing", Unit::Second, "How late a robot notices that the air is used, or free again, besides the way of the signal.").within(0.0, 1.0e3).or_num(0.0))
        .param(Param::number("backoff", Unit::Second, "Mean of the exponential time after which `csma` asks again.").within(1.0e-9, 1.0e3).or_num(1.0e-3))
        .param(Param::new("retries", ParamType::Int { min: 0, max: 60_000 }, "How often `csma` asks again, and `dcf` repeats a frame, before the message is lost.").or(Value::Int(16)))
        .param(Param::number("pause", Unit::Second, "Of `dcf`: how long the air must be free before slots are counted (DIFS).").within(0.0, 1.0e3).or_num(50.0e-6))
        .param(Param::number("acknowledgement", Unit::Second, "Of `dcf`: how long the air is kept free after a frame to one robot, for the acknowledgement (SIFS and ACK).").within(0.0, 1.0e3).or_num(300.0e-6))
        .param(Param::new("window", ParamType::Int { min: 1, max: 65_536 }, "Of `dcf`: slots to choose from at the first attempt; twice as many at each further one.").or(Value::Int(32)))
        .param(Param::new("window_most", ParamType::Int { min: 1, max: 65_536 }, "Of `dcf`: most slots to choose from.").or(Value::Int(1024)))
        .param(Param::new("queue", ParamType::Int { min: 0, max: 1_000_000 }, "Messages that may wait in a robot for the one being sent; more are lost.").or(Value::Int(64)))
        .param(Param::number("interference_db", Unit::None, "How far below what can be received a signal still disturbs others, dB.").within(-300.0, 300.0).or_num(0.0))
        .param(Param::number("sense_db", Unit::None, "How far below what can be received a signal is still noticed, dB.").within(-300.0, 300.0).or_num(0.0))
        .param(Param::number("capture_db", Unit::None, "A frame survives when it is so much stronger than all that overlap with it together, dB. Left out, none survives.").within(-100.0, 300.0))
}

/// The radio with its parameters; see its sheet for each.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the sheet says what each parameter means")]
pub struct Radio {
    pub path: PathLoss,
    /// What a signal has left at the receiver when nothing is lost on the way: transmission power above sensitivity, dB.
    pub budget_db: f64,
    pub wall_db: f64,
    pub solid_db_per_m: f64,
    pub shadowing_db: f64,
    pub shadowing_correlation_m: f64,
    pub nakagami: f64,
    pub nakagami_far: Vec<(f64, f64)>,
    pub rate_bps: f64,
    pub header_bytes: u64,
    pub wave_speed_mps: f64,
    pub judged_at_end: bool,
    pub access: Access,
    pub slot_s: f64,
    pub sensing_s: f64,
    pub backoff_s: f64,
    pub retries: u32,
    pub pause_s: f64,
    pub acknowledgement_s: f64,
    pub window: u32,
    pub window_most: u32,
    pub queue: u64,
    pub interference_db: f64,
    pub sense_db: f64,
    pub capture_db: Option<f64>,
    /// What else happens to messages.
    pub flaws: Flaws,
}

impl Default for Radio {
    /// A disc of 10 m at 1 Mbit/s with non-persistent carrier sensing.
    fn default() -> Radio {
        Radio {
            path: PathLoss::Disc { range_m: 10.0, exponent: 3.0 },
            budget_db: 0.0,
            wall_db: 0.0,
            solid_db_per_m: 0.0,
            shadowing_db: 0.0,
            shadowing_correlation_m: 0.0,
            nakagami: 0.0,
            nakagami_far: Vec::new(),
            rate_bps: 1.0e6,
            header_bytes: 32,
            wave_speed_mps: LIGHT_MPS,
            judged_at_end: false,
            access: Access::Csma,
            slot_s: 1.0e-3,
            sensing_s: 0.0,
            backoff_s: 1.0e-3,
            retries: 16,
            pause_s: 50.0e-6,
            acknowledgement_s: 300.0e-6,
            window: 32,
            window_most: 1024,
            queue: 64,
            interference_db: 0.0,
            sense_db: 0.0,
            capture_db: None,
            flaws: Flaws::default(),
        }
    }
}

impl Radio {
    /// Shape of the fading at a distance; 0 for none.
    fn fading(&self, distance_m: f64) -> f64 {
        let band = self.nakagami_far.iter().rfind(|band| distance_m >= band.0);
        band.map_or(self.nakagami, |band| band.1)
    }

    /// How long a message of so many bytes is in the air, s.
    #[must_use]
    pub fn airtime_s(&self, bytes: usize) -> f64 {
        (self.header_bytes + bytes as u64) as f64 * 8.0 / self.rate_bps
    }

    /// How far it is heard where nothing stands in the way, without shadowing and fading, m.
    #[must_use]
    pub fn range_m(&self) -> f64 {
        self.path.reach_m(self.budget_db)
    }
}

impl NetworkModel for Radio {
    fn start(&self, robots: u32) -> Box<dyn Network> {
        let running = running::Running::new(self.clone(), robots);
        Box::new(Faulty::new(Box::new(running), robots, self.flaws.clone()))
    }
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Network(Arc::new(from_params(p)?)))
}

fn from_params(p: &Params) -> Result<Radio, Diagnostic> {
    let path = path(p)?;
    let budget_db = match path {
        PathLoss::Disc { .. } => 0.0,
        _ => p.num("power_dbm") - sensitivity(p)?,
    };
    let access = Access::WORDS.iter().position(|w| *w == p.text("access")).unwrap_or(0);
    Ok(Radio {
        path,
        budget_db,
        wall_db: p.num("wall_db"),
        solid_db_per_m: p.num("solid_db_per_m"),
        shadowing_db: p.num("shadowing_db"),
        shadowing_correlation_m: p.num("shadowing_correlation"),
        nakagami: p.num("nakagami"),
        nakagami_far: bands(p)?,
        rate_bps: p.num("rate"),
        header_bytes: p.int("header") as u64,
        wave_speed_mps: p.num("wave_speed"),
        judged_at_end: p.text("judged") == "both",
        access: Access::ALL[access],
        slot_s: p.num("slot"),
        sensing_s: p.num("sensing"),
        backoff_s: p.num("backoff"),
        retries: p.int("retries") as u32,
        pause_s: p.num("pause"),
        acknowledgement_s: p.num("acknowledgement"),
        window: p.int("window") as u32,
        window_most: p.int("window_most") as u32,
        queue: p.int("queue") as u64,
        interference_db: p.num("interference_db"),
        sense_db: p.num("sense_db"),
        capture_db: p.num_or_none("capture_db"),
        flaws: Flaws::from_params(p)?,
    })
}

/// The bands of the fading, checked.
fn bands(p: &Params) -> Result<Vec<(f64, f64)>, Diagnostic> {
    let rows = p.rows_or_none("nakagami_far").unwrap_or(&[]);
    let bands: Vec<(f64, f64)> = rows.iter().map(|row| (row[0], row[1])).collect();
    let fits = |band: &(f64, f64)| band.0 >= 0.0 && (0.0..=1000.0).contains(&band.1);
    if bands.iter().all(fits) && bands.is_sorted_by(|a, b| a.0 < b.0) {
        return Ok(bands);
    }
    let what = "the rows of `nakagami_far` are distances that grow, each with a shape from `0` to `1000`";
    let d = Diagnostic::error("out-of-range", what).at(p.span("nakagami_far"));
    Err(d.help("such as `[[80, 0.75], [200, 0.75]]`"))
}

fn path(p: &Params) -> Result<PathLoss, Diagnostic> {
    let (exponent, rate) = (p.num("exponent"), p.num("rate"));
    let (wavelength_m, system_loss) = (LIGHT_MPS / p.num("frequency"), p.num("system_loss"));
    let reference_db = p.num("reference_loss_db");
    Ok(match p.text("path") {
        "log-distance" => {
            PathLoss::LogDistance { exponent, reference_m: p.num("reference_distance"), reference_db }
        }
        "friis" => PathLoss::Friis { wavelength_m, system_loss },
        "two-ray" => PathLoss::TwoRay { wavelength_m, system_loss, height_m: p.num("height") },
        "three-log" => {
            let three = |name: &str| {
                let n = p.nums(name);
                [n[0], n[1], n[2]]
            };
            let (distances_m, exponents) = (three("distances"), three("exponents"));
            let [a, b, c] = distances_m;
            if !(0.0 < a && a < b && b < c) || exponents.iter().any(|n| *n < 0.0) {
                let what =
                    "the pieces of `three-log` must begin at growing distances and have no negative exponent";
                return Err(Diagnostic::error("out-of-range", what)
                    .at(p.span("distances"))
                    .help("for example distances = [1, 200, 500]"));
            }
            PathLoss::ThreeLog { distances_m, exponents, reference_db }
        }
        _ => {
            let range_rate = p.num_or_none("range_rate").unwrap_or(rate);
            let range_m = range_at_rate(p.num("range"), range_rate, rate, p.num("bandwidth"), exponent);
            if !range_m.is_finite() || range_m <= 0.0 {
                let what = format!("at `rate` = `{rate}` nothing is left of the range");
                return Err(
                    Diagnostic::error("out-of-range", what).help("widen `bandwidth`, or lower `rate`")
                );
            }
            PathLoss::Disc { range_m, exponent }
        }
    })
}

/// The weakest signal that can be received, dBm.
fn sensitivity(p: &Params) -> Result<f64, Diagnostic> {
    let rate = p.num("rate");
    if let Some(given) = p.num_or_none("sensitivity_dbm") {
        return Ok(given);
    }
    if let Some(rows) = p.rows_or_none("rates") {
        let enough = rows.iter().filter(|r| r[0] >= rate);
        let row = enough.min_by(|a, b| a[0].total_cmp(&b[0])).ok_or_else(|| {
            let what = format!("no row of `rates` has a rate of at least `{rate}` bit/s");
            Diagnostic::error("out-of-range", what).at(p.span("rates")).help("add one, or lower `rate`")
        })?;
        return Ok(row[1]);
    }
    let found = sensitivity_dbm(rate, p.num("bandwidth"), p.num("noise_figure_db"), p.num("gap_db"));
    if found.is_finite() {
        return Ok(found);
    }
    let what = format!("no signal is strong enough for `rate` = `{rate}` bit/s in this bandwidth");
    Err(Diagnostic::error("out-of-range", what).help("widen `bandwidth`, or lower `rate`"))
}

#[cfg(test)]
mod tests;
