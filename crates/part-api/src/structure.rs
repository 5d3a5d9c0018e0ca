//! The classes of the scenario itself: run settings, world, walls, obstacles, robots, layouts.
//!
//! They have no model of their own; the engine gives them their meaning. Their sheets stand here so
//! that every text format and the editor read the same ones.

use crate::{AtEdge, Detail, Kind, Param, ParamType, Sheet};
use std::f64::consts::PI;
use swarmyard_base::units::Unit;
use swarmyard_base::{Pose2, Ratio};
use swarmyard_scene::Value;

/// The name of the part that moves a moving obstacle, and its class.
pub const OBSTACLE_DRIVE: (&str, &str) = ("drive", "drift");

/// The words for contact rules.
pub const CONTACT_RULES: &[&str] = &["stop", "impulse", "own", "ghost"];

/// All structure and layout sheets.
#[must_use]
pub fn sheets() -> Vec<Sheet> {
    let mut all = vec![
        run(),
        world(),
        surface(),
        wall(),
        obstacle(),
        track(),
        beacon(),
        robot_type(),
        register(),
        robot(),
        display(),
        assertion(),
        record(),
        fault(),
        zone(),
        sweep(),
        axis(),
        measure(),
    ];
    all.extend([grid(), circle(), random(), row()]);
    all
}

fn run() -> Sheet {
    Sheet::new("run", Kind::Structure, "Settings of the run: how time passes, how long, and what happens at a contact.")
        .param(
            Param::new("quantum", ParamType::Period, "Length of one lock-step quantum. Kept as an exact fraction: `1/60 s` does not drift.")
                .or(Value::Ratio(tenth())),
        )
        .param(Param::number("duration", Unit::Second, "Simulated time after which the run ends.").within(0.0, 3.0e9).or_num(60.0))
        .param(
            Param::new("seed", ParamType::Int { min: 0, max: i64::MAX }, "Seed of every random number of the run.")
                .or(Value::Int(swarmyard_base::chance::DEFAULT_SEED as i64)),
        )
        .param(
            Param::new("contact", ParamType::Choice(CONTACT_RULES), "What happens at a contact: `stop` ends the motion of both (who leaves a standing contact may go), `impulse` lets them bounce, `own` asks each body, `ghost` lets them pass through one another and through everything else.")
                .or_text("stop"),
        )
        .param(Param::new("detail", ParamType::Choice(Detail::WORDS), "Level of detail at the start: `coarse` (0), `normal` (1) or `fine` (2); see the levels of each class. At `coarse` every body that can move is a disc: the greatest one around its origin that fits into its outline.").or_text("normal"))
        .param(Param::number("gravity", Unit::MetrePerSecond2, "Gravity, for floor friction and grip.").within(0.0, 1000.0).or_num(9.81))
        .param(Param::number("floor_friction", Unit::None, "Friction of passive bodies on the floor.").within(0.0, 100.0).or_num(0.3))
        .param(Param::number("rest_speed", Unit::MetrePerSecond, "Below this closing speed an impact does not bounce.").within(0.0, 10.0).or_num(0.01))
        .param(
            Param::new("impact_limit", ParamType::Int { min: 1, max: 100_000 }, "Impacts of one body within one quantum before it falls back to `stop` and is reported.")
                .or(Value::Int(64)),
        )
        .example("[run]\nquantum = \"100ms\"\nduration = \"60s\"\nseed = 7\ncontact = \"impulse\"")
}

fn tenth() -> Ratio {
    // 1/10 is a valid ratio, so this cannot fail.
    Ratio::from_decimal(0.1).unwrap_or_else(|| unreachable!("one tenth is a ratio"))
}

fn world() -> Sheet {
    Sheet::new("world", Kind::Structure, "The ground: infinite, or a rectangle whose border is a wall.")
        .param(Param::new(
            "min",
            ParamType::Point,
            "Lower left corner of the bounds. Without `min` and `max` the world is infinite.",
        ))
        .param(Param::new("max", ParamType::Point, "Upper right corner of the bounds."))
        .param(Param::new("surface", ParamType::Name("surface"), "Surface of the border wall."))
        .param(
            Param::number("height", Unit::Metre, "Height of the border wall.").within(0.0, 1.0e6).or_num(1.0),
        )
        .example("[world]\nmin = [-5, -5]\nmax = [\"5m\", \"500cm\"]")
}

fn surface() -> Sheet {
    Sheet::new("surface", Kind::Structure, "A material: how bodies bounce and rub. Written as `[surface.NAME]`.")
        .param(Param::number("restitution", Unit::None, "Share of the closing speed that comes back. The greater of the two surfaces counts.").within(0.0, 1.0).or_num(0.2))
        .param(Param::number("friction", Unit::None, "Coulomb friction. The geometric mean of the two surfaces counts.").within(0.0, 100.0).or_num(0.3))
        .example("[surface.rubber]\nrestitution = 0.8\nfriction = 0.9\n\n[[wall]]\npoints = [[0, 3], [4, 3]]\nsurface = \"rubber\"")
}

fn heights(sheet: Sheet) -> Sheet {
    sheet
        .param(
            Param::number("from", Unit::Metre, "Height above the floor at which it begins.")
                .within(0.0, 1.0e6)
                .or_num(0.0),
        )
        .param(
            Param::number(
                "to",
                Unit::Metre,
                "Height above the floor at which it ends. A sensor mounted higher sees over it.",
            )
            .within(0.0, 1.0e6)
            .or_num(1.0),
        )
}

fn wall() -> Sheet {
    let sheet = Sheet::new("wall", Kind::Structure, "A thin wall along a polyline; it never moves.")
        .param(Param::new(
            "name",
            ParamType::Text,
            "Name in its path `/world/walls/NAME`; `wallN` when left out.",
        ))
        .param(Param::new("points", ParamType::Points { min_len: 2 }, "Corner points in order.").required())
        .param(
            Param::new("closed", ParamType::Bool, "Whether the last point joins the first.")
                .or(Value::Bool(false)),
        )
        .param(Param::new("surface", ParamType::Name("surface"), "Its surface."));
    heights(sheet).example("[[wall]]\nname = \"north\"\npoints = [[-2, 2], [2, 2], [\"2m\", \"150cm\"]]")
}

/// The keys that say which outline a body has; exactly one of them is given.
pub const SHAPE_KEYS: [&str; 3] = ["radius", "size", "polygon"];

fn shape(sheet: Sheet) -> Sheet {
    sheet
        .param(
            Param::number(
                "radius",
                Unit::Metre,
                "A disc of this radius. Give one of `radius`, `size`, `polygon`.",
            )
            .within(1e-4, 1.0e5),
        )
        .param(Param::new(
            "size",
            ParamType::Numbers { unit: Unit::Metre, min_len: 2, max_len: 2 },
            "A rectangle [length, width], length forward.",
        ))
        .param(Param::new(
            "polygon",
            ParamType::Points { min_len: 3 },
            "A polygon in the body's frame, whose origin is the centre of mass; convex if the body can move.",
        ))
        .param(
            Param::number("mass", Unit::Kilogram, "Mass; matters under `impulse`.")
                .within(1e-6, 1.0e9)
                .or_num(1.0),
        )
        .param(
            Param::number(
                "inertia",
                Unit::KilogramMetre2,
                "Moment of inertia about the centre; that of the uniform outline when left out.",
            )
            .within(1e-12, 1.0e15),
        )
        .param(Param::new("surface", ParamType::Name("surface"), "Surface of its outline."))
        .param(
            Param::new(
                "on_contact",
                ParamType::Choice(&["stop", "impulse"]),
                "Its own rule when the run's contact rule is `own`.",
            )
            .or_text("impulse"),
        )
        .param(Param::new("colour", ParamType::Text, "Colour on displays, as #rrggbb."))
}

/// The columns of a velocity script.
pub const SCRIPT_COLUMNS: &[(&str, Unit)] = &[
    ("t", Unit::Second),
    ("vx", Unit::MetrePerSecond),
    ("vy", Unit::MetrePerSecond),
    ("spin", Unit::RadianPerSecond),
];

/// The parameters that say how a mover goes on by itself, for obstacles and for the part that moves them.
#[must_use]
pub fn keeps_moving(sheet: Sheet) -> Sheet {
    sheet
        .param(Param::new("script", ParamType::Rows(SCRIPT_COLUMNS), "Velocities by time instead of one: from the time t on (in ascending order) it has this velocity in the world's frame and this turning speed; before the first it stands. In a quantum in which the velocity changes it moves by the mean, so it is exactly where the script says at the end of every quantum."))
        .param(Param::number("repeat", Unit::Second, "Time after which the script begins again; never when left out.").within(1e-3, 1.0e9))
        .param(Param::new("at_edge", ParamType::Choice(AtEdge::WORDS), "What it does at the border and at other things that never move: `push` goes on trying, `bounce` mirrors its velocity at the contact and keeps that, `stop` stands for ever. `wrap` passes through the border and comes back at the opposite side, at the end of the quantum in which its centre passed; when there is no room it waits outside. At other fixed things it pushes.").or_text("push"))
}

fn obstacle() -> Sheet {
    let sheet = Sheet::new("obstacle", Kind::Structure, "A body that is not a robot: fixed; or moving, when it has a velocity, a script or a robot's type; or passive, when it is movable.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/obstacles/NAME`; `obstacleN` when left out."))
        .param(Param::new("at", ParamType::Pose, "Where it stands.").or(Value::Pose(Pose2::default())))
        .param(Param::new("type", ParamType::Name("type"), "A robot's type: it has the outline, the parts and the controller of one, but is an obstacle to others. Other keys than `name` and `at` do nothing then."))
        .param(Param::new("velocity", ParamType::Numbers { unit: Unit::MetrePerSecond, min_len: 2, max_len: 2 }, "Velocity in the world's frame that it keeps, or returns to after an impact; what it starts with, if it is movable."))
        .param(Param::number("spin", Unit::RadianPerSecond, "Turning speed to go with `velocity`.").within(-1.0e4, 1.0e4))
        .param(Param::new("movable", ParamType::Bool, "Whether others can push it. It slows down by floor friction.").or(Value::Bool(false)));
    heights(shape(keeps_moving(sheet))).example(
        "[[obstacle]]\nname = \"crate\"\nat = [1, 2, \"30deg\"]\nsize = [\"40cm\", \"30cm\"]\n\n[[obstacle]]\nname = \"trolley\"\nradius = 0.2\nat = [-2, 0]\nvelocity = [0.3, 0]\nat_edge = \"bounce\"\n\n[[obstacle]]\nname = \"door\"\nsize = [1, 0.1]\nat = [0, 3]\nscript = [[0, 0.5, 0, 0], [2, 0, 0, 0], [5, -0.5, 0, 0], [7, 0, 0, 0]]\nrepeat = \"10s\"",
    )
}

fn track() -> Sheet {
    Sheet::new("track", Kind::Structure, "A mark on the floor for track sensors: a band along a polyline, or a polygon. Nothing collides with it.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/world/tracks/NAME`; `trackN` when left out."))
        .param(Param::new("points", ParamType::Points { min_len: 2 }, "The middle of the band, or the corners of the area when there is no `width`.").required())
        .param(Param::number("width", Unit::Metre, "Width of the band.").within(1e-4, 1.0e4))
        .param(Param::number("reflectivity", Unit::None, "Share of light that comes back; the floor has 0.").within(0.0, 1.0).or_num(1.0))
        .example("[[track]]\npoints = [[0, 0], [3, 0], [3, 2]]\nwidth = \"2cm\"")
}

fn beacon() -> Sheet {
    Sheet::new("beacon", Kind::Structure, "A light that says who it is, for beacon finders: they learn its bearing and its code, never its distance. It has no body; stand it on an obstacle if it should be in the way.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/beacons/NAME`; `beaconN` when left out."))
        .param(Param::new("id", ParamType::Int { min: 0, max: 65_535 }, "The code it shines with. Several beacons may have the same.").required())
        .param(Param::new("at", ParamType::Pose, "Where it is; the heading is where it shines.").or(Value::Pose(Pose2::default())))
        .param(Param::number("aperture", Unit::Radian, "Full angle of its light around the heading; all around when left out.").within(0.0, 2.0 * PI).or_num(2.0 * PI))
        .param(Param::number("range", Unit::Metre, "Distance up to which it is seen.").within(1e-3, 1.0e5).or_num(10.0))
        .param(Param::number("height", Unit::Metre, "Height above the floor. What is lower than the line from here to a finder does not hide it.").within(0.0, 1.0e4).or_num(0.2))
        .example("[[beacon]]\nname = \"dock\"\nid = 7\nat = [2, 0, \"180deg\"]\naperture = \"90deg\"\nrange = \"5m\"")
}

fn robot_type() -> Sheet {
    let sheet = Sheet::new(
        "type",
        Kind::Structure,
        "A kind of robot: an outline and parts. Written as `[type.NAME]`, its parts as `[[type.NAME.part]]` with `name` and `class`, its controller as `[type.NAME.controller]` with `class`. Type, part and controller may take what they do not say from a `file` in block syntax.",
    )
    .param(Param::new(
        "file",
        ParamType::Text,
        "The robot's own file, such as `essex.robot`, with its outline, parts and controllers; a key in the scenario wins over the file's.",
    ))
    .param(Param::new(
        "on",
        ParamType::Text,
        "Where robots of this type are simulated when the run is spread over hosts: the name of a host, or something that a host can do, such as `fast-float`. It never changes a result.",
    ));
    shape(sheet)
        .param(Param::number("height", Unit::Metre, "Height of the body; sensors mounted higher than others see over them.").within(1e-3, 1.0e4).or_num(0.3))
        .example("[type.scout]\nradius = \"12cm\"\nmass = \"2kg\"\n\n[[type.scout.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[robot]]\ntype = \"scout\"")
}

fn register() -> Sheet {
    Sheet::new("register", Kind::Structure, "One channel of a part as memory-mapped registers. Written as `[[type.NAME.register]]`; `peek` and `poke` reach it at its address, little-endian. A channel of several numbers takes as many registers one after the other.")
        .param(Param::new("name", ParamType::Text, "Name in generated headers; PART_CHANNEL when left out."))
        .param(Param::new("part", ParamType::Name("part"), "The part.").required())
        .param(Param::new("channel", ParamType::Text, "Its channel.").required())
        .param(Param::new("at", ParamType::Int { min: 0, max: 0xffff_ffff }, "Byte address; a multiple of the width in bytes.").required())
        .param(Param::new("width", ParamType::Int { min: 8, max: 32 }, "Bits: 8, 16 or 32.").or(Value::Int(16)))
        .param(Param::new("signed", ParamType::Bool, "Whether counts are two's complement.").or(Value::Bool(false)))
        .param(Param::number("scale", Unit::None, "What one count is worth, in the channel's unit.").within(1e-12, 1e12).or_num(1.0))
        .param(Param::number("offset", Unit::None, "What a count of zero means, in the channel's unit.").within(-1e12, 1e12).or_num(0.0))
        .example("[type.scout]\nradius = \"10cm\"\n\n[[type.scout.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.scout.register]]\npart = \"drive\"\nchannel = \"left\"\nat = 0x20\nwidth = 8\nsigned = true\nscale = 0.01\n\n[[robot]]\ntype = \"scout\"")
}

fn robot() -> Sheet {
    Sheet::new("robot", Kind::Structure, "One robot, or many by `count` and `layout`.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/robots/NAME`; with `count` robots are called NAME1, NAME2, … (from NAME0 with `first = 0`). `r` when left out."))
        .param(Param::new("type", ParamType::Name("type"), "Its type.").required())
        .param(Param::new("at", ParamType::Pose, "Where it starts; with a layout, where the layout's origin is.").or(Value::Pose(Pose2::default())))
        .param(Param::new("count", ParamType::Int { min: 1, max: 10_000_000 }, "How many."))
        .param(Param::new("first", ParamType::Int { min: 0, max: 1 }, "Number of the first of `count` robots: 0 or 1.").or(Value::Int(1)))
        .param(Param::new("on", ParamType::Text, "Where it is simulated when the run is spread over hosts, instead of where its type says: the name of a host, or something that a host can do. It never changes a result."))
        .param(Param::new("layout", ParamType::Inline(Kind::Layout), "How the `count` robots are placed; a row with a step of three radii when left out."))
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 9\nlayout = { class = \"grid\", columns = 3, spacing = \"50cm\" }")
}

fn display() -> Sheet {
    Sheet::new("display", Kind::Structure, "Displays on another host: where the run is served (`swarmyard serve --reach …`), a relay is started there, for any number of them. It never changes a result.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/displays/NAME`; `display1` and so on when left out."))
        .param(Param::new("on", ParamType::Text, "The host, by its name or what it can do, such as `display`.").required())
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\nname = \"a\"\ntype = \"dot\"\n\n[[display]]\non = \"desk\"")
}

fn assertion() -> Sheet {
    Sheet::new("assert", Kind::Structure, "A condition that the run must meet; when it does not, the run ends with exit code 4.")
        .param(Param::new("name", ParamType::Text, "What it is about, for people."))
        .param(Param::new("that", ParamType::Text, "The condition, such as `distance(/robots/r1, /robots/r2) < 0.5`.").required())
        .param(Param::new("when", ParamType::Text, "Only quanta where this holds count, such as `time > 5`."))
        .param(
            Param::new("holds", ParamType::Choice(&["always", "sometime", "at-end"]), "Whether the condition must hold at every quantum, at one at least, or at the last.")
                .or_text("always"),
        )
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\nname = \"a\"\ntype = \"dot\"\n\n[[assert]]\nname = \"a stays\"\nthat = \"/robots/a.x < 1 && contacts == 0\"")
}

fn fault() -> Sheet {
    Sheet::new("fault", Kind::Structure, "Something goes wrong (or right again) at a moment, for robots that live by events. Each does one thing.")
        .param(Param::number("at", Unit::Second, "When.").within(0.0, 3.0e9).required())
        .param(Param::new("crash", ParamType::Texts, "These robots stop where they are and lose their memory, except what their protocols have persisted."))
        .param(Param::new("recover", ParamType::Texts, "These crashed robots start again."))
        .param(Param::new("partition", ParamType::Texts, "The network falls apart: each text names the robots of one side, with blanks between. Who is not named is on a side of its own with all others who are not."))
        .param(Param::new("heal", ParamType::Bool, "The partition ends."))
        .param(Param::number("loss", Unit::None, "From now on the network loses this share of all messages, beyond what its class does; 0 ends it.").within(0.0, 1.0))
        .param(Param::number("delay", Unit::Second, "From now on every message takes this much longer; 0 ends it.").within(0.0, 1.0e6))
        .example("[network]\nclass = \"constant\"\n\n[[fault]]\nat = \"5s\"\nloss = 0.1\n\n[[fault]]\nat = \"9s\"\nloss = 0")
}

fn zone() -> Sheet {
    Sheet::new("zone", Kind::Structure, "Ground that does not block robots that live by events, but slows them down (a river) or swallows them (a hole). The centre of the robot counts. A hole comes before any river; of rivers that overlap the first counts. Zones do nothing to robots that go by quanta.")
        .param(Param::new("name", ParamType::Text, "Name in its path `/world/zones/NAME`; `zoneN` when left out."))
        .param(Param::new("points", ParamType::Points { min_len: 3 }, "Its corners.").required())
        .param(Param::new("kind", ParamType::Choice(&["slow", "swallow"]), "What it does.").or_text("slow"))
        .param(Param::number("factor", Unit::None, "How fast robots are in it, as a share of what they would be.").within(1e-6, 1.0e6).or_num(0.5))
        .example("[[zone]]\nname = \"river\"\npoints = [[-5, 1], [5, 1], [5, 2], [-5, 2]]\nfactor = 0.3")
}

fn record() -> Sheet {
    Sheet::new("record", Kind::Structure, "What the recording holds beyond poses, contacts, journal and hashes.")
        .param(Param::number("rate", Unit::Hertz, "Frames per simulated second, at most one per quantum.").within(1e-6, 1.0e6).or_num(10.0))
        .param(Param::number("budget", Unit::None, "Most bytes on disk. When half is used, every other frame is left out from then on, and so on.").within(65_536.0, 1.0e15).or_num(2.0e9))
        .param(Param::new("topics", ParamType::Texts, "Paths of robots or parts recorded as ROS 2 messages, such as `/robots/r1` (odometry) or `/robots/r1/rays` (laser scan).").or(Value::Texts(Vec::new())))
        .example("[record]\nrate = \"5Hz\"")
}

/// How the axes of a sweep go together.
pub const SWEEP_MODES: &[&str] = &["grid", "zip", "random"];

/// How the values of an axis are drawn.
pub const DRAWS: &[&str] = &["uniform", "log-uniform", "normal", "choice"];

/// What is taken of a measure over the run.
pub const TAKES: &[&str] = &["end", "first", "mean", "min", "max"];

/// Most values of one axis, and most seeds.
pub const MOST_VALUES: i64 = 10_000;

const SWEEP_EXAMPLE: &str = "[params]\nspeed = 1\n\n[run]\ncontact = \"impulse\"\n\n[[obstacle]]\nname = \"puck\"\nradius = \"5cm\"\nmovable = true\nvelocity = [\"${speed}\", 0]\n\n[sweep]\nseeds = 3\nuntil = \"10s\"\n\n[[sweep.axis]]\nkey = \"params.speed\"\nvalues = [0.5, 1, 2]\n\n[[sweep.axis]]\nkey = \"run.floor_friction\"\nfrom = 0.01\nto = 1\ncount = 5\nscale = \"log\"\n\n[[sweep.measure]]\nname = \"way\"\nof = \"/obstacles/puck.x\"\n\n[[sweep.measure]]\nname = \"stands after\"\nof = \"time\"\nwhen = \"/obstacles/puck.speed == 0\"\ntake = \"first\"";

fn sweep() -> Sheet {
    Sheet::new("sweep", Kind::Structure, "What `swarmyard sweep` runs: this scenario with other values, as `[[sweep.axis]]` say, and other seeds; and what it measures, as `[[sweep.measure]]` say. A single run takes no notice of it.")
        .param(Param::new("mode", ParamType::Choice(SWEEP_MODES), "How axes go together: `grid` runs every combination, the last axis changing fastest; `zip` the first values of all axes, then the second, and so on; `random` runs `samples` points, each with a value of every axis by chance.").or_text("grid"))
        .param(Param::new("samples", ParamType::Int { min: 1, max: 100_000 }, "How many points `mode = \"random\"` has."))
        .param(Param::new("seeds", ParamType::Loose, "Seeds of the runs at every point: a number of them, counted from 1; a list; or a range such as `\"5..14\"`. All points have the same ones.").or_text("1"))
        .param(Param::new("draw_seed", ParamType::Int { min: 0, max: i64::MAX }, "Seed of the values that axes draw. It is not the seed of a run.").or(Value::Int(1)))
        .param(Param::number("until", Unit::Second, "Duration of every run, instead of the one in `[run]`.").within(0.0, 3.0e9))
        .example(SWEEP_EXAMPLE)
}

fn axis() -> Sheet {
    Sheet::new("axis", Kind::Structure, "One key that a sweep varies, written as `[[sweep.axis]]`. Its values are a list (`values`), a range (`from`, `to` and `count` or `step`) or drawn by chance (`draw`).")
        .param(Param::new("key", ParamType::Text, "The key, as `--set` takes it: `params.robots`, `run.quantum`, `type.cart.part.drive.slip`.").required())
        .param(Param::new("values", ParamType::Loose, "The values themselves; those to choose from with `draw = \"choice\"`."))
        .param(Param::new("from", ParamType::Loose, "First value of a range, least value of a draw; with its unit, such as `\"5mm\"`."))
        .param(Param::new("to", ParamType::Loose, "Last value of a range, included; greatest value of a draw."))
        .param(Param::new("step", ParamType::Loose, "From one value of a range to the next. Drawn values are rounded to whole steps: from `from` on, or from 0 when they are `normal`."))
        .param(Param::new("count", ParamType::Int { min: 1, max: MOST_VALUES }, "How many values a range or a draw has. In a sweep by chance draws have none: every point draws its own."))
        .param(Param::new("scale", ParamType::Choice(&["linear", "log"]), "Whether the values of a range have the same difference or the same ratio from one to the next."))
        .param(Param::new("draw", ParamType::Choice(DRAWS), "Draws the values: evenly between `from` and `to`, evenly in their logarithms, normally around `mean` with the deviation `sd`, or one of `values`. The n-th value depends on `draw_seed`, `key` and n, and on nothing else."))
        .param(Param::new("mean", ParamType::Loose, "Mean of a `normal` draw."))
        .param(Param::new("sd", ParamType::Loose, "Standard deviation of a `normal` draw."))
        .example(SWEEP_EXAMPLE)
}

fn measure() -> Sheet {
    Sheet::new("measure", Kind::Structure, "A number that a sweep takes of every run, written as `[[sweep.measure]]`: a column of the table.")
        .param(Param::new("name", ParamType::Text, "Name of the column.").required())
        .param(Param::new("of", ParamType::Text, "The number, in the language of conditions: `mean(self.speed)`, `contacts`, `distance(/robots/a, /robots/b)`.").required())
        .param(Param::new("when", ParamType::Text, "Only quanta where this holds count, such as `time > 5`. When it never holds there is no number."))
        .param(Param::new("take", ParamType::Choice(TAKES), "Which of the numbers: at the end (the last quantum that counts), at the first quantum that counts, or mean, least or greatest of all that count. The time until something happens is `of = \"time\"`, `when = …`, `take = \"first\"`.").or_text("end"))
        .example(SWEEP_EXAMPLE)
}

fn grid() -> Sheet {
    Sheet::new("grid", Kind::Layout, "Rows and columns, centred on `at`, first along x.")
        .param(Param::new("columns", ParamType::Int { min: 1, max: 10_000_000 }, "Robots per row; the square root of the count, rounded up, when left out."))
        .param(Param::number("spacing", Unit::Metre, "Distance between neighbours.").within(1e-4, 1.0e6).required())
        .param(Param::number("jitter", Unit::Metre, "Random offset in x and y, at most this much either way.").within(0.0, 1.0e6).or_num(0.0))
        .param(Param::new("heading", ParamType::Choice(&["same", "random"]), "`same` as `at`, or random.").or_text("same"))
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\ntype = \"dot\"\ncount = 6\nlayout = { class = \"grid\", columns = 3, spacing = 1 }")
}

fn circle() -> Sheet {
    Sheet::new("circle", Kind::Layout, "Evenly on a circle around `at`.")
        .param(Param::number("radius", Unit::Metre, "Radius of the circle.").within(0.0, 1.0e6).required())
        .param(Param::new("facing", ParamType::Choice(&["in", "out", "along", "same", "random"]), "Where they look.").or_text("out"))
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\ntype = \"dot\"\ncount = 8\nlayout = { class = \"circle\", radius = 2, facing = \"in\" }")
}

fn random() -> Sheet {
    Sheet::new("random", Kind::Layout, "Anywhere in a rectangle around `at`, without overlap of robots, obstacles and walls.")
        .param(Param::new("size", ParamType::Numbers { unit: Unit::Metre, min_len: 2, max_len: 2 }, "Width and height of the rectangle.").required())
        .param(Param::number("gap", Unit::Metre, "Least distance between outlines.").within(0.0, 1.0e6).or_num(0.01))
        .param(Param::new("heading", ParamType::Choice(&["same", "random"]), "`same` as `at`, or random.").or_text("random"))
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\ntype = \"dot\"\ncount = 20\nlayout = { class = \"random\", size = [6, 6] }")
}

fn row() -> Sheet {
    Sheet::new("row", Kind::Layout, "N copies, each shifted by the same step from the one before.")
        .param(Param::new("step", ParamType::Numbers { unit: Unit::Metre, min_len: 2, max_len: 2 }, "Shift from one to the next.").required())
        .example("[type.dot]\nradius = 0.1\n\n[[robot]]\ntype = \"dot\"\ncount = 4\nlayout = { class = \"row\", step = [0.5, 0] }")
}
