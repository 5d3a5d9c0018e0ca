//! The benchmark worlds, exactly as the field's comparisons define them.
//!
//! Common layout: ⌈√N⌉ columns of cells of side s; robot k in cell (k mod columns, k div columns),
//! at its centre plus a jitter of ±0.2 s in x and y, heading uniform, all from one linear
//! congruential generator; four walls 0.1 m thick at ±(columns·s/2 + 0.5) m; steps of 0.1 s; no noise.

use crate::{Error, Options, Sim};
use std::fmt::Write as _;
use swarmyard_base::Pose2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::Detail;
use swarmyard_scene::Scene;

/// The scenario that is measured at every level of detail, `worlds/levels.toml`.
const LEVELS: &str = include_str!("../../../worlds/levels.toml");

/// The world that is measured at every level of detail, at one of them.
///
/// # Errors
/// When the system refuses threads, or the scenario is no longer understood.
pub fn at_level(detail: Detail) -> Result<Sim, Error> {
    let overrides = vec![("run.detail".to_owned(), detail.word().to_owned())];
    Sim::from_text_with(LEVELS, &Options { overrides, ..Options::default() })
}

/// The load of SPREAD's table 10-1, `worlds/table-10-1.toml`, and what its robots run.
const TABLE: &str = include_str!("../../../worlds/table-10-1.toml");
const AVOID: &str = include_str!("../../../examples/controllers/avoid.c");

/// The load of SPREAD's table 10-1 with so many robots, as one text: its program stands in it.
#[must_use]
pub fn table_10_1(robots: u32) -> String {
    let code = format!("code = '''\n{AVOID}'''");
    let text = TABLE.replace("source = \"../examples/controllers/avoid.c\"", &code);
    // What is asserted would have every step told.
    let text = text.split("[[assert]]").next().unwrap_or_default().to_owned();
    text.replace("robots = 40", &format!("robots = {robots}"))
        .replace("duration = \"60s\"", "duration = \"1h\"")
}

/// Robots that drive in circles, each by a program that goes round so many times in every step.
#[must_use]
pub fn burning(robots: u32, rounds: u32) -> String {
    let work = format!(
        "    static volatile uint32_t x = 1;\n    for (uint32_t k = 0; k < {rounds}u; k++) {{ x = x * 1664525u + 1013904223u; }}\n"
    );
    let text = World::Programs.placed_scenario(robots as usize);
    text.replace("void robot_step(void)\n{\n", &format!("void robot_step(void)\n{{\n{work}"))
        .replace("class = \"program\"\n", "class = \"program\"\nfuel = 0\n")
}

/// A benchmark world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// Squares of 0.1 m with 12 rays of 2 m that spread out (Stage's swarm benchmark).
    Swarm12,
    /// The same with discs of the same area, to show what the square costs.
    Swarm12Disc,
    /// Discs with 24 proximity rays of 0.1 m that diffuse (ARGoS's diffusion experiment).
    Prox24,
    /// Eight-cornered robots with a laser of 180 rays of 8 m that wander (Stage).
    Laser180,
    /// Discs that turn in circles by a built-in controller: what the loop itself costs.
    Circles,
    /// The same by a C program in the sandbox: what a sandboxed controller costs more.
    Programs,
}

const CIRCLES: &str = "[type.bot.controller]\nclass = \"cruise\"\nleft = 0.26\nright = 0.34\n";

/// Reads a register, does a little arithmetic, writes two: the least a controller does.
const PROGRAMS: &str = r#"[[type.bot.register]]
part = "drive"
channel = "left_speed"
at = 0x10
signed = true
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "right"
at = 0x22
signed = true
scale = 0.001
[type.bot.controller]
class = "program"
code = '''
#include "rio.h"
#include "registers.h"
void robot_step(void)
{
    int16_t speed = rio_peeks16(DRIVE_LEFT_SPEED);
    rio_pokes16(DRIVE_LEFT, speed < 260 ? 260 : speed);
    rio_pokes16(DRIVE_RIGHT, 340);
}
'''
"#;

impl World {
    /// All worlds with their names.
    pub const ALL: [(&'static str, World); 6] = [
        ("swarm12", World::Swarm12),
        ("swarm12-disc", World::Swarm12Disc),
        ("prox24", World::Prox24),
        ("laser180", World::Laser180),
        ("circles", World::Circles),
        ("programs", World::Programs),
    ];

    /// Side of a cell in metres.
    fn spacing(self) -> f64 {
        match self {
            World::Laser180 => 2.0,
            // Far enough apart that nobody meets anybody.
            World::Circles | World::Programs => 3.0,
            World::Swarm12 | World::Swarm12Disc | World::Prox24 => 1.0,
        }
    }

    fn body(self) -> &'static str {
        match self {
            World::Swarm12 => "size = [0.1, 0.1]",
            World::Swarm12Disc => "radius = 0.05641895835477563",
            World::Prox24 => "radius = 0.085",
            World::Circles | World::Programs => "radius = 0.1",
            World::Laser180 => {
                "polygon = [[-0.22, -0.11], [-0.14, -0.19], [0.14, -0.19], [0.22, -0.11], [0.22, 0.11], [0.14, 0.19], [-0.14, 0.19], [-0.22, 0.11]]"
            }
        }
    }

    fn parts(self) -> String {
        const RAYS: &str = "[[type.bot.part]]\nname = \"rays\"\nclass = \"range-rays\"\n";
        let (rays, rest) = match self {
            World::Circles => ("", CIRCLES),
            World::Programs => ("", PROGRAMS),
            World::Swarm12 | World::Swarm12Disc => {
                (RAYS, { "rays = 12\nrange = 2\n[type.bot.controller]\nclass = \"expand-swarm\"\n" })
            }
            World::Prox24 => (RAYS, {
                "rays = 24\nstart = 0.085\nrange = 0.1\n[type.bot.controller]\nclass = \"diffusion\"\n"
            }),
            World::Laser180 => (RAYS, {
                "rays = 180\nspread = \"180deg\"\nrange = 8\n[type.bot.controller]\nclass = \"wander\"\nclearance = 0.5\nsway = 0\n"
            }),
        };
        format!("{rays}{rest}")
    }

    /// The scenario without its robots, as a person would write it.
    #[must_use]
    pub fn scenario(self, robots: usize) -> String {
        let half = columns(robots) as f64 * self.spacing() / 2.0 + 0.5;
        let mut text = self.without_robots(half);
        let _ = write!(
            text,
            "[[robot]]\nname = \"r\"\ntype = \"bot\"\ncount = {robots}\nlayout = {{ class = \"grid\", spacing = {} }}\n",
            self.spacing(),
        );
        text
    }

    /// The scenario with every robot where the benchmark has it, for any program that reads scenarios.
    ///
    /// Numbers are written in full: a run of it has the same hashes as the benchmark.
    #[must_use]
    pub fn placed_scenario(self, robots: usize) -> String {
        let half = columns(robots) as f64 * self.spacing() / 2.0 + 0.5;
        let mut text = self.without_robots(half);
        for (k, p) in self.poses(robots).enumerate() {
            let (name, x, y, h) = (k + 1, p.at.x, p.at.y, p.heading);
            let _ =
                write!(text, "[[robot]]\nname = \"r{name}\"\ntype = \"bot\"\nat = [{x:?}, {y:?}, {h:?}]\n");
        }
        text
    }

    fn without_robots(self, half: f64) -> String {
        let mut text = String::from("format = 1\n[run]\nquantum = \"100ms\"\nduration = \"1h\"\n");
        let (inner, outer) = (half - 0.05, half + 0.05);
        for (name, low, high) in [
            ("south", (-outer, -outer), (outer, -inner)),
            ("north", (-outer, inner), (outer, outer)),
            ("west", (-outer, -inner), (-inner, inner)),
            ("east", (inner, -inner), (outer, inner)),
        ] {
            let ((x0, y0), (x1, y1)) = (low, high);
            let _ = writeln!(
                text,
                "[[wall]]\nname = \"{name}\"\nclosed = true\npoints = [[{x0:?}, {y0:?}], [{x1:?}, {y0:?}], [{x1:?}, {y1:?}], [{x0:?}, {y1:?}]]",
            );
        }
        let _ = write!(
            text,
            "[type.bot]\n{}\n\
             [[type.bot.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nbase = 0.2\nmax_speed = 1\n{}",
            self.body(),
            self.parts(),
        );
        text
    }

    /// Puts the robots of a loaded scenario where the benchmark has them.
    pub fn place(self, scene: &mut Scene) {
        let Some(robots) = scene.root.children.iter_mut().find(|c| c.name == "robots") else { return };
        let poses = self.poses(robots.children.len());
        for (robot, pose) in robots.children.iter_mut().zip(poses) {
            robot.pose = pose;
        }
    }

    /// The world, ready to be stepped.
    ///
    /// # Errors
    /// When the system refuses threads, or the benchmark's own scenario is no longer understood.
    pub fn load(self, robots: usize, options: &Options) -> Result<Sim, Error> {
        let registry = crate::standard_registry();
        let text = self.scenario(robots);
        let mut loaded = swarmyard_formats::read("bench", &text, &options.overrides, &NoFiles, &registry)
            .map_err(|failed| Error::Scenario(failed.sources, failed.problems))?;
        self.place(&mut loaded.scene);
        Sim::from_scene(&loaded.scene, &registry, options)
    }

    fn poses(self, robots: usize) -> impl Iterator<Item = Pose2> {
        let (n, s) = (columns(robots), self.spacing());
        let mut draw = lcg();
        (0..robots).map(move |k| {
            let centre = |cell: usize| (cell as f64 + 0.5) * s - n as f64 * s / 2.0;
            let (jx, jy, h) = (draw(), draw(), draw());
            Pose2::new(
                centre(k % n) + (jx - 0.5) * 0.4 * s,
                centre(k / n) + (jy - 0.5) * 0.4 * s,
                (h - 0.5) * 2.0 * std::f64::consts::PI,
            )
        })
    }
}

fn columns(robots: usize) -> usize {
    let mut n = (robots as f64).sqrt() as usize;
    while n * n < robots {
        n += 1;
    }
    n.max(1)
}

/// x ← x·6364136223846793005 + 1442695040888963407 mod 2⁶⁴, start 12345, value (x >> 11)/2⁵³.
fn lcg() -> impl FnMut() -> f64 {
    let mut x = 12345_u64;
    move || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 11) as f64 / (1_u64 << 53) as f64
    }
}
