//! Random worlds: robots of three outlines, obstacles of every kind, walls, and random commands.

use crate::Dice;
use std::fmt::Write as _;
use swarmyard::Sim;
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// What a generated world is like.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Number of the world.
    pub seed: u64,
    /// Bodies at most; each stands in a cell of its own.
    pub bodies: usize,
    /// Contact rule.
    pub rule: &'static str,
    /// Greatest wheel speed and greatest speed of obstacles, m/s.
    pub speed: f64,
    /// Length of the quantum as it is written.
    pub quantum: &'static str,
    /// Side of a cell: 1.2 m is airy, 0.9 m is dense.
    pub cell: f64,
    /// Whether robots have grippers and arms, and obstacles are rather things to carry.
    pub hands: bool,
}

/// A generated world.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The scenario.
    pub text: String,
    /// Paths of the drives that take commands.
    pub drives: Vec<String>,
    /// Paths of the grippers and arms that take commands, and their numbers of joints.
    pub hands: Vec<(String, usize)>,
    /// Corners of fixed polygonal obstacles, in the world's frame.
    pub solids: Vec<Vec<Vec2>>,
    /// A wall from border to border that nobody may pass.
    pub divider: Option<(Vec2, Vec2)>,
}

/// Greatest reach of any generated body: it fits into a cell of 0.9 m however it is turned.
const REACH_M: f64 = 0.42;

/// Makes a world.
#[must_use]
pub fn generate(wish: &Wish) -> Generated {
    let mut dice = Dice::new(wish.seed);
    let columns = ((wish.bodies as f64).sqrt().ceil() as usize).max(2) + 1;
    let half = columns as f64 * wish.cell / 2.0 + 0.1;
    let mut world = Generated {
        text: head(&mut dice, wish, half),
        drives: Vec::new(),
        hands: Vec::new(),
        solids: Vec::new(),
        divider: None,
    };
    if dice.chance(0.5) {
        let (a, b) = (Vec2::new(dice.between(-0.5, 0.5), -half), Vec2::new(dice.between(-0.5, 0.5), half));
        let _ = writeln!(
            world.text,
            "[[wall]]\nname = \"divider\"\npoints = [[{}, {}], [{}, {}]]",
            a.x, a.y, b.x, b.y
        );
        world.divider = Some((a, b));
    }
    types(&mut world.text, &mut dice, wish);
    let mut cells = dice.order(columns * columns);
    for number in 0..wish.bodies {
        let free = cells.iter().position(|&cell| !blocked(world.divider, centre(cell, columns, wish.cell)));
        let Some(k) = free else { break };
        let at = centre(cells.swap_remove(k), columns, wish.cell);
        let slack = math::max(wish.cell / 2.0 - REACH_M - 0.005, 0.0);
        let at = at + dice.point(slack);
        place(&mut world, &mut dice, wish, number, at);
    }
    world
}

fn centre(cell: usize, columns: usize, side: f64) -> Vec2 {
    let along = |k: usize| (k as f64 + 0.5 - columns as f64 / 2.0) * side;
    Vec2::new(along(cell % columns), along(cell / columns))
}

fn blocked(divider: Option<(Vec2, Vec2)>, at: Vec2) -> bool {
    let Some((a, b)) = divider else { return false };
    let d = b - a;
    (d.cross(at - a) / d.norm()).abs() < 0.75
}

fn head(dice: &mut Dice, wish: &Wish, half: f64) -> String {
    format!(
        "format = 1\n[run]\nquantum = \"{}\"\nduration = \"1h\"\nseed = {}\ncontact = \"{}\"\nfloor_friction = {}\nimpact_limit = {}\n\
         [world]\nmin = [-{half}, -{half}]\nmax = [{half}, {half}]\nsurface = \"hard\"\n\
         [surface.hard]\nrestitution = {}\nfriction = {}\n[surface.soft]\nrestitution = {}\nfriction = {}\n",
        wish.quantum,
        wish.seed,
        wish.rule,
        dice.pick(&[0.0, 0.3, 2.0]),
        dice.pick(&[1, 8, 64]),
        dice.between(0.5, 1.0),
        dice.pick(&[0.0, 0.3]),
        dice.pick(&[0.0, 0.3]),
        dice.between(0.0, 1.0),
    )
}

/// Three outlines, each as a type that takes commands and as one that cruises.
fn types(text: &mut String, dice: &mut Dice, wish: &Wish) {
    for (k, name) in ["disc", "box", "poly"].into_iter().enumerate() {
        for cruises in [false, true] {
            let shape = match k {
                0 => format!("radius = {}", dice.between(0.05, REACH_M)),
                1 => format!("size = [{}, {}]", dice.between(0.1, 0.59), dice.between(0.1, 0.59)),
                _ => {
                    let (corners, reach) = (dice.below(5) + 3, dice.between(0.1, REACH_M));
                    format!("polygon = {}", points(&dice.convex(corners, reach)))
                }
            };
            let who = format!("{name}{}", if cruises { "-cruise" } else { "" });
            let _ = write!(
                text,
                "[type.{who}]\n{shape}\nmass = {}\nsurface = \"{}\"\non_contact = \"{}\"\n[[type.{who}.part]]\nname = \"bumper\"\n\
                 class = \"bumper\"\n[[type.{who}.part]]\nname = \"rays\"\nclass = \"range-rays\"\nrays = 5\nrange = 2\nnoise = 0.01\n\
                 [[type.{who}.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nbase = {}\nmax_speed = {}\nslip = {}\n",
                dice.scale(0.1, 20.0),
                dice.pick(&["hard", "soft"]),
                dice.pick(&["stop", "impulse"]),
                dice.between(0.05, 0.6),
                wish.speed,
                dice.pick(&[0.0, 0.05]),
            );
            if dice.chance(0.3) {
                let _ = writeln!(text, "acceleration = {}", dice.scale(0.5, 50.0));
            }
            if dice.chance(0.3) {
                let _ = writeln!(text, "grip = {}", dice.scale(0.1, 2.0));
            }
            if wish.hands {
                text.push_str(&hand(dice, k, &who, cruises));
            }
            let (left, right) =
                (dice.between(-wish.speed, wish.speed), dice.between(-wish.speed, wish.speed));
            let class = if cruises {
                format!("class = \"cruise\"\nleft = {left}\nright = {right}")
            } else {
                "class = \"external\"".to_owned()
            };
            let _ = writeln!(text, "[type.{who}.controller]\n{class}");
        }
    }
}

/// Joints of the arm of each outline; discs have a gripper in front and one behind.
const JOINTS: [usize; 3] = [0, 2, 3];

/// The hand of a type: it grips by itself when nobody commands it.
fn hand(dice: &mut Dice, outline: usize, who: &str, cruises: bool) -> String {
    let jaws = format!("reach = {}\nopening = 1\nmax_mass = 100\nauto = {cruises}\n", dice.between(0.1, 0.4));
    let part = |name: &str, rest: &str| format!("[[type.{who}.part]]\nname = \"{name}\"\n{rest}\n{jaws}");
    match JOINTS[outline] {
        0 => {
            let at = dice.between(0.1, REACH_M);
            part("hand", &format!("class = \"gripper\"\nmount = [{at}, 0]"))
                + &part("tail", &format!("class = \"gripper\"\nmount = [-{at}, 0, 3.141592653589793]"))
        }
        n => {
            let links: Vec<String> = (0..n).map(|_| dice.between(0.1, 0.5).to_string()).collect();
            let speed = dice.scale(0.5, 20.0);
            part("hand", &format!("class = \"arm\"\nlinks = [{}]\nspeed = {speed}", links.join(", ")))
        }
    }
}

fn place(world: &mut Generated, dice: &mut Dice, wish: &Wish, number: usize, at: Vec2) {
    let turn = dice.angle();
    let pose = format!("at = [{}, {}, {turn}]", at.x, at.y);
    if dice.chance(if wish.hands { 0.45 } else { 0.7 }) {
        let (shape, cruises) = (dice.pick(&["disc", "box", "poly"]), dice.chance(0.4));
        let kind = if cruises { "-cruise" } else { "" };
        let _ = writeln!(world.text, "[[robot]]\nname = \"r{number}\"\ntype = \"{shape}{kind}\"\n{pose}");
        if !cruises {
            world.drives.push(format!("/robots/r{number}/drive"));
            let joints = JOINTS[["disc", "box", "poly"].iter().position(|s| *s == shape).unwrap_or(0)];
            if wish.hands {
                world.hands.push((format!("/robots/r{number}/hand"), joints));
            }
            if wish.hands && joints == 0 {
                world.hands.push((format!("/robots/r{number}/tail"), 0));
            }
        }
        return;
    }
    let corners = dice.below(4) + 3;
    let outline = dice.convex(corners, REACH_M);
    let radius = dice.between(0.05, REACH_M);
    let shape = if dice.chance(0.5) {
        format!("radius = {radius}")
    } else {
        format!("polygon = {}", points(&outline))
    };
    let round = shape.starts_with("radius");
    let kind = match if wish.hands && dice.chance(0.7) { 1 } else { dice.below(3) } {
        0 => String::new(),
        1 => "movable = true".to_owned(),
        _ => {
            let v = Vec2::at_angle(dice.angle()) * dice.between(0.0, wish.speed);
            format!("velocity = [{}, {}]\nspin = {}", v.x, v.y, dice.between(-3.0, 3.0))
        }
    };
    if kind.is_empty() && !round {
        let frame = swarmyard_base::Pose2 { at, heading: turn };
        world.solids.push(outline.iter().map(|c| frame.point(*c)).collect());
    }
    let _ = writeln!(
        world.text,
        "[[obstacle]]\nname = \"o{number}\"\n{shape}\n{pose}\nsurface = \"hard\"\n{kind}"
    );
}

fn points(corners: &[Vec2]) -> String {
    let all: Vec<String> = corners.iter().map(|c| format!("[{}, {}]", c.x, c.y)).collect();
    format!("[{}]", all.join(", "))
}

/// Gives about half of the drives new random commands.
///
/// # Panics
/// When a drive does not take them.
pub fn command(sim: &mut Sim, world: &Generated, dice: &mut Dice, speed: f64) {
    for drive in &world.drives {
        if dice.chance(0.5) {
            let both = dice.between(-speed, speed);
            let other = if dice.chance(0.3) { both } else { dice.between(-speed, speed) };
            sim.command(drive, "left", &[both]).unwrap_or_else(|e| panic!("{drive}: {e}"));
            sim.command(drive, "right", &[other]).unwrap_or_else(|e| panic!("{drive}: {e}"));
        }
    }
    for (hand, joints) in &world.hands {
        if dice.chance(0.4) {
            let close = f64::from(u8::from(dice.chance(0.7)));
            sim.command(hand, "close", &[close]).unwrap_or_else(|e| panic!("{hand}: {e}"));
        }
        if *joints > 0 && dice.chance(0.5) {
            let angles: Vec<f64> = (0..*joints).map(|_| dice.angle()).collect();
            sim.command(hand, "joint", &angles).unwrap_or_else(|e| panic!("{hand}: {e}"));
        }
    }
}
