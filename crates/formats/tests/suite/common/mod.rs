//! What the tests of this crate share: a registry with a few parts, and files next to the tests.

use std::path::{Path, PathBuf};
use swarmyard_base::units::Unit;
use swarmyard_formats::Loader;
use swarmyard_part_api::structure;
use swarmyard_part_api::{Channel, Class, Kind, Param, ParamType, Registry, Sheet};
use swarmyard_scene::Value;

/// The structure, and stand-ins for parts of every kind.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    let pair = ParamType::Numbers { unit: Unit::MetrePerSecond, min_len: 2, max_len: 2 };
    let drive = Sheet::new("diff-drive", Kind::Actuator, "Two driven wheels. For tests.")
        .param(Param::number("max_speed", Unit::MetrePerSecond, "Top speed.").within(0.0, 100.0).or_num(1.0))
        .channel(Channel::command("wheels", 2, Unit::MetrePerSecond, (-1.0, 1.0), "Wheel speeds."))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = \"80cm/s\"");
    let rays = Sheet::new("rays", Kind::Sensor, "A fan of rays. For tests.")
        .param(Param::new("count", ParamType::Int { min: 1, max: 360 }, "Rays.").or(Value::Int(8)))
        .param(Param::number("range", Unit::Metre, "Reach.").within(0.01, 1000.0).or_num(2.0))
        .param(Param::new("period", ParamType::Period, "Time between readings."))
        .channel(Channel::reading("range", 8, Unit::Metre, (0.0, 2.0), "Distances."))
        .level("every", "Every ray.")
        .marks("a line per ray");
    let follow = Sheet::new("follow", Kind::Controller, "Follows. For tests.")
        .param(Param::number("gain", Unit::None, "Gain.").or_num(1.0))
        .param(Param::new("drive", ParamType::Name("part"), "The drive it steers."));
    let drift = Sheet::new("drift", Kind::Actuator, "Keeps a velocity. For tests.")
        .param(Param::new("velocity", pair, "Velocity.").or(Value::Nums(vec![0.0, 0.0])))
        .param(Param::number("spin", Unit::RadianPerSecond, "Turning speed.").or_num(0.0));
    let drift = structure::keeps_moving(drift);
    let of = |name| Param::new(name, ParamType::Name("protocol"), "What stands below.");
    let link = Sheet::new("reliable-link", Kind::Protocol, "Loses nothing. For tests.")
        .param(Param::number("retry", Unit::Second, "Time.").within(1e-3, 10.0).or_num(0.1))
        .param(of("link"));
    let order = Sheet::new("lamport-order", Kind::Protocol, "A total order. For tests.").param(of("link"));
    let constant = Sheet::new("constant", Kind::Network, "Takes the same time always. For tests.")
        .param(Param::number("delay", Unit::Second, "Time.").within(0.0, 100.0).or_num(0.001));
    let step = Sheet::new("in-step", Kind::Algorithm, "All in step. For tests.").param(of("broadcast"));
    let planned = Sheet::new("planned", Kind::Algorithm, "Does as a file says. For tests.")
        .param(Param::new("plan", ParamType::Text, "What to do.").or_text(""))
        .param(Param::new("plan_file", ParamType::File("plan"), "The file that has it."));
    for sheet in [drive, rays, follow, drift, link, order, constant, step, planned] {
        registry.add(Class { sheet, build: None });
    }
    registry
}

/// Files of one folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn of_tests(name: &str) -> Folder {
        Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name))
    }

    /// Names and texts of the files in it that end so, sorted.
    pub(crate) fn files(&self, extension: &str) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = std::fs::read_dir(&self.0)
            .expect("the folder of scenarios")
            .map(|e| e.expect("an entry").path())
            .filter(|p| p.extension().is_some_and(|e| e == extension))
            .map(|p| {
                let name = p.file_name().expect("a name").to_string_lossy().into_owned();
                (name, std::fs::read_to_string(&p).expect("a text"))
            })
            .collect();
        all.sort();
        all
    }
}

impl Loader for Folder {
    fn load(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(name)).map_err(|e| e.to_string())
    }
}
