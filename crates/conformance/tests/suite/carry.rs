//! Grippers and arms: what they take, how it moves with them, and what happens when it meets something.
//! Expected numbers are worked out by hand, not taken from a run.

use swarmyard::Sim;
use swarmyard_base::{Pose2, Uid, Vec2, math};
use swarmyard_conformance::Dice;
use swarmyard_engine::RunEvent;
use swarmyard_part_api::MarkShape;

/// A disc of 10 cm with jaws 15 cm ahead of its middle.
const BOT: &str = "[type.bot]\nradius = 0.1\nmass = 3\nsurface = \"s\"\n[[type.bot.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nbase = 0.2\n\
    [[type.bot.part]]\nname = \"hand\"\nclass = \"gripper\"\nmount = [0.15, 0]\nreach = 0.05\nopening = 0.3\nmax_mass = 2\n";

fn sim(rule: &str, rest: &str) -> Sim {
    let head = format!(
        "format = 1\n[run]\nquantum = \"100ms\"\ncontact = \"{rule}\"\nfloor_friction = 0\nrest_speed = 0\n\
         [surface.s]\nrestitution = 1\nfriction = 0\n"
    );
    Sim::from_text(&(head + rest)).unwrap_or_else(|e| panic!("{e}\n{rest}"))
}

fn robot(name: &str, at: &str) -> String {
    format!("[[robot]]\nname = \"{name}\"\ntype = \"bot\"\nat = {at}\n")
}

fn puck(name: &str, at: &str, rest: &str) -> String {
    format!("[[obstacle]]\nname = \"{name}\"\nat = {at}\nmovable = true\nsurface = \"s\"\n{rest}\n")
}

fn tell(sim: &mut Sim, part: &str, channel: &str, values: &[f64]) {
    sim.command(&format!("/robots/{part}"), channel, values).expect("takes it");
}

fn drive(sim: &mut Sim, robot: &str, left: f64, right: f64) {
    tell(sim, &format!("{robot}/drive"), "left", &[left]);
    tell(sim, &format!("{robot}/drive"), "right", &[right]);
}

fn steps(sim: &mut Sim, count: usize) {
    for _ in 0..count {
        sim.step().expect("steps");
    }
}

fn reads(sim: &Sim, part: &str, channel: &str) -> Vec<f64> {
    sim.channel(&format!("/robots/{part}"), channel).expect("channel").to_vec()
}

fn holds(sim: &Sim, part: &str) -> bool {
    reads(sim, part, "holding") == [1.0]
}

fn pose(sim: &Sim, path: &str) -> Pose2 {
    sim.pose(path).expect("is there")
}

fn near(a: Vec2, b: (f64, f64), tolerance: f64) {
    assert!((a - Vec2::new(b.0, b.1)).norm() < tolerance, "{a:?} is not {b:?}");
}

/// Half a metre ahead, a radian to the left, dropped, and half a metre back.
#[test]
fn what_is_gripped_moves_along_and_stays_where_it_is_let_go() {
    let mut sim =
        sim("stop", &(BOT.to_owned() + &robot("r", "[0, 0]") + &puck("p", "[0.24, 0]", "radius = 0.05")));
    steps(&mut sim, 1);
    assert_eq!((reads(&sim, "r/hand", "beam"), holds(&sim, "r/hand")), (vec![1.0], false));
    tell(&mut sim, "r/hand", "close", &[1.0]);
    drive(&mut sim, "r", 0.5, 0.5);
    steps(&mut sim, 10);
    assert!(holds(&sim, "r/hand"));
    assert_eq!(reads(&sim, "r/hand", "beam"), [0.0]);
    assert_eq!(reads(&sim, "r/hand", "touching"), [0.0]);
    near(pose(&sim, "/obstacles/p").at, (0.74, 0.0), 1e-12);
    assert!((sim.twist("/obstacles/p").expect("is there").forward - 0.5).abs() < 1e-12);
    drive(&mut sim, "r", -0.1, 0.1);
    steps(&mut sim, 10);
    let at = (0.5 + 0.24 * math::cos(1.0), 0.24 * math::sin(1.0));
    near(pose(&sim, "/obstacles/p").at, at, 1e-12);
    assert!((pose(&sim, "/obstacles/p").heading - 1.0).abs() < 1e-12);
    tell(&mut sim, "r/hand", "close", &[0.0]);
    drive(&mut sim, "r", -0.5, -0.5);
    steps(&mut sim, 10);
    near(pose(&sim, "/obstacles/p").at, at, 1e-12);
    assert!(sim.twist("/obstacles/p").expect("is there").is_rest() && !holds(&sim, "r/hand"));
    near(pose(&sim, "/robots/r").at, (0.5 - 0.5 * math::cos(1.0), -0.5 * math::sin(1.0)), 1e-12);
    assert_eq!(sim.state().accounts.contacts, 0);
}

#[test]
fn only_what_is_near_light_narrow_and_movable_is_taken() {
    for (what, at, taken) in [
        ("radius = 0.05\nmovable = true", "[0.249, 0]", true),
        ("radius = 0.05\nmovable = true", "[0.251, 0]", false),
        ("radius = 0.05\nmovable = true\nmass = 2", "[0.24, 0]", true),
        ("radius = 0.05\nmovable = true\nmass = 2.001", "[0.24, 0]", false),
        ("radius = 0.149\nmovable = true", "[0.34, 0]", true),
        ("radius = 0.151\nmovable = true", "[0.34, 0]", false),
        ("size = [0.1, 0.4]\nmovable = true", "[0.24, 0]", false),
        ("size = [0.1, 0.4]\nmovable = true", "[0.39, 0, 1.5707963267948966]", true),
        ("radius = 0.05\nmovable = true", "[0.15, 0.099]", true),
        ("radius = 0.05", "[0.24, 0]", false),
        ("size = [0.1, 0.1]", "[0.24, 0]", false),
        ("radius = 0.05\nvelocity = [1e-9, 0]", "[0.24, 0]", false),
    ] {
        let thing = format!("[[obstacle]]\nname = \"p\"\nat = {at}\n{what}\n");
        let mut sim = sim("stop", &(BOT.to_owned() + &robot("r", "[0, 0]") + &thing));
        steps(&mut sim, 1);
        assert_eq!(reads(&sim, "r/hand", "beam")[0] == 1.0, taken, "beam: {what} at {at}");
        tell(&mut sim, "r/hand", "close", &[0.5]);
        steps(&mut sim, 1);
        assert_eq!(holds(&sim, "r/hand"), taken, "{what} at {at}");
    }
    let mut sim = sim("stop", &(BOT.to_owned() + &robot("r", "[0, 0]") + &robot("other", "[0.26, 0]")));
    tell(&mut sim, "r/hand", "close", &[1.0]);
    steps(&mut sim, 2);
    assert!(!holds(&sim, "r/hand"), "a robot is not a thing");
}

fn carrier_of(sim: &Sim, object: &str) -> Option<String> {
    let slot = sim.model().slot_of_path(object).expect("is there") as u32;
    let carry = sim.state().carried.iter().find(|c| c.object == slot)?;
    Some(sim.model().paths[carry.carrier as usize].to_string())
}

#[test]
fn of_two_things_the_nearer_is_taken_and_of_two_as_near_the_lower_uid() {
    for (a, expected) in [(0.085, "/obstacles/a"), (0.095, "/obstacles/b"), (0.09, "tie")] {
        let rest = BOT.to_owned()
            + &robot("r", "[0, 0]")
            + &puck("a", &format!("[0.15, {a}]"), "radius = 0.05")
            + &puck("b", "[0.15, -0.09]", "radius = 0.05");
        let mut sim = sim("stop", &rest);
        tell(&mut sim, "r/hand", "close", &[1.0]);
        steps(&mut sim, 1);
        let lower = if Uid::of_path("/obstacles/a") < Uid::of_path("/obstacles/b") { "a" } else { "b" };
        let expected = if expected == "tie" { format!("/obstacles/{lower}") } else { expected.to_owned() };
        assert_eq!(sim.state().carried.len(), 1);
        assert!(carrier_of(&sim, &expected).is_some(), "{a}: {expected}");
    }
}

#[test]
fn of_two_hands_the_nearer_gets_it_then_the_lower_uid_and_nobody_takes_what_is_held() {
    for (x, expected) in [(-0.01, "/robots/l"), (0.01, "/robots/r"), (0.0, "tie")] {
        let rest = BOT.to_owned()
            + &robot("l", "[-0.24, 0]")
            + &robot("r", "[0.24, 0, 3.141592653589793]")
            + &puck("p", &format!("[{x}, 0]"), "radius = 0.05");
        let mut sim = sim("stop", &rest);
        for hand in ["l/hand", "r/hand"] {
            tell(&mut sim, hand, "close", &[1.0]);
        }
        steps(&mut sim, 1);
        let (l, r) = (Uid::of_path("/robots/l"), Uid::of_path("/robots/r"));
        let lower = if l < r { "/robots/l" } else { "/robots/r" };
        let winner = if expected == "tie" { lower } else { expected };
        assert_eq!(carrier_of(&sim, "/obstacles/p").as_deref(), Some(winner), "{x}");
        let (won, lost) = if winner == "/robots/l" { ("l/hand", "r/hand") } else { ("r/hand", "l/hand") };
        assert!(holds(&sim, won) && !holds(&sim, lost));
        for close in [0.0, 1.0] {
            tell(&mut sim, lost, "close", &[close]);
            steps(&mut sim, 1);
            assert!(holds(&sim, won) && !holds(&sim, lost), "it is held already");
        }
        tell(&mut sim, won, "close", &[0.0]);
        steps(&mut sim, 1);
        tell(&mut sim, lost, "close", &[0.0]);
        steps(&mut sim, 1);
        tell(&mut sim, lost, "close", &[1.0]);
        steps(&mut sim, 1);
        assert!(!holds(&sim, won) && holds(&sim, lost), "it is free again");
    }
}

#[test]
fn jaws_that_closed_on_nothing_take_nothing_until_they_open() {
    let mut sim =
        sim("stop", &(BOT.to_owned() + &robot("r", "[0, 0]") + &puck("p", "[0.34, 0]", "radius = 0.05")));
    tell(&mut sim, "r/hand", "close", &[1.0]);
    drive(&mut sim, "r", 0.5, 0.5);
    steps(&mut sim, 2);
    drive(&mut sim, "r", 0.0, 0.0);
    steps(&mut sim, 2);
    assert!(!holds(&sim, "r/hand") && reads(&sim, "r/hand", "beam") == [0.0]);
    tell(&mut sim, "r/hand", "close", &[0.0]);
    steps(&mut sim, 1);
    assert_eq!(reads(&sim, "r/hand", "beam"), [1.0]);
    tell(&mut sim, "r/hand", "close", &[1.0]);
    steps(&mut sim, 1);
    assert!(holds(&sim, "r/hand"));
}

#[test]
fn jaws_may_close_by_themselves_and_a_halted_robot_without_them_lets_go() {
    let scene = |auto: bool| {
        format!("{BOT}auto = {auto}\n") + &robot("r", "[0, 0]") + &puck("p", "[0.3, 0]", "radius = 0.05")
    };
    let mut by_itself = sim("stop", &scene(true));
    drive(&mut by_itself, "r", 0.3, 0.3);
    steps(&mut by_itself, 2);
    assert!(!holds(&by_itself, "r/hand"), "0.3 m/s · 0.1 s is 7 cm away from it still: at 0.06 m");
    steps(&mut by_itself, 10);
    assert!(holds(&by_itself, "r/hand"));
    near(pose(&by_itself, "/robots/r").at, (0.36, 0.0), 1e-12);
    near(pose(&by_itself, "/obstacles/p").at, (0.36 - 0.06 + 0.3, 0.0), 1e-12);
    tell(&mut by_itself, "r/hand", "close", &[-1.0]);
    steps(&mut by_itself, 1);
    assert!(!holds(&by_itself, "r/hand"));
    let mut told = sim("stop", &scene(false));
    drive(&mut told, "r", 0.6, 0.6);
    steps(&mut told, 1);
    tell(&mut told, "r/hand", "close", &[1.0]);
    steps(&mut told, 1);
    assert!(holds(&told, "r/hand"));
    told.halt("/robots/r", true).expect("is there");
    steps(&mut told, 1);
    assert!(!holds(&told, "r/hand"), "commands of a halted robot are zero: its jaws open");
}

/// A door of 30 cm: the robot of 20 cm fits, a disc of 40 cm before it does not. That one touches the
/// ends of the door, at ±0.15, when its middle is √(0.2² − 0.15²) = 0.132288 before the wall.
#[test]
fn a_loaded_robot_is_stopped_by_a_door_the_bare_one_fits_through() {
    let scene = BOT.to_owned()
        + &robot("r", "[0, 0]")
        + &puck("p", "[0.31, 0]", "radius = 0.2")
        + "[[wall]]\nname = \"left\"\npoints = [[1, 0.15], [1, 3]]\n[[wall]]\nname = \"right\"\npoints = [[1, -0.15], [1, -3]]\n";
    let scene = scene.replace("opening = 0.3", "opening = 0.5");
    let mut loaded = sim("stop", &scene);
    tell(&mut loaded, "r/hand", "close", &[1.0]);
    drive(&mut loaded, "r", 0.5, 0.5);
    steps(&mut loaded, 60);
    let x = 1.0 - 0.132_287_565_553;
    let p = pose(&loaded, "/obstacles/p").at;
    assert!(p.x < x && p.x > x - 5e-5 && p.y.abs() < 1e-9, "{p:?}");
    assert!((pose(&loaded, "/robots/r").at.x - (p.x - 0.31)).abs() < 1e-12, "the robot stands as well");
    assert!(loaded.twist("/robots/r").expect("is there").is_rest());
    assert_eq!(reads(&loaded, "r/hand", "touching"), [1.0]);
    drive(&mut loaded, "r", -0.5, -0.5);
    steps(&mut loaded, 10);
    assert!((pose(&loaded, "/robots/r").at.x - (p.x - 0.31 - 0.5)).abs() < 1e-9, "and may go back");
    assert_eq!(reads(&loaded, "r/hand", "touching"), [0.0]);
    let mut bare = sim("stop", &scene.replace("at = [0.31, 0]", "at = [0.31, 2]"));
    drive(&mut bare, "r", 0.5, 0.5);
    steps(&mut bare, 60);
    near(pose(&bare, "/robots/r").at, (3.0, 0.0), 1e-12);
}

/// A thousand quanta of turning and driving, and the load is where it was taken.
#[test]
fn what_is_carried_does_not_drift() {
    let mut sim = sim(
        "stop",
        &(BOT.to_owned() + &robot("r", "[0, 0]") + &puck("p", "[0.2, 0.06, 0.5]", "size = [0.1, 0.1]")),
    );
    tell(&mut sim, "r/hand", "close", &[1.0]);
    let mut dice = Dice::new(9);
    for _ in 0..1000 {
        drive(&mut sim, "r", dice.between(-1.0, 1.0), dice.between(-1.0, 1.0));
        steps(&mut sim, 1);
        let (r, p) = (pose(&sim, "/robots/r"), pose(&sim, "/obstacles/p"));
        near(r.rot().unapply(p.at - r.at), (0.2, 0.06), 1e-13);
        assert!(math::wrap_angle(p.heading - r.heading - 0.5).abs() < 1e-13);
    }
}

#[test]
fn an_arm_that_cannot_be_is_refused() {
    for (keys, word) in [
        ("links = [0.3, 0.2]\nlimits = [-1, 1, -1]", "wrong-length"),
        ("links = [0.3]\nlimits = [1, -1]", "out-of-range"),
        ("links = [-0.3]", "out-of-range"),
        ("links = []", "out-of-range"),
    ] {
        let why =
            Sim::from_text(&format!("format = 1\n{}", arm(keys, ""))).err().expect("is refused").to_string();
        assert!(why.contains(word), "{why}");
    }
}

/// 3 kg and 1 kg at 1 m/s meet 4 kg at rest, elastic and straight: they swap.
#[test]
fn an_impulse_on_the_load_is_taken_by_both() {
    let scene = BOT.to_owned()
        + &robot("r", "[0, 0]")
        + &puck("p", "[0.24, 0]", "radius = 0.05\nmass = 1")
        + &puck("ball", "[0.60, 0]", "radius = 0.1\nmass = 4");
    let mut sim = sim("impulse", &scene);
    tell(&mut sim, "r/hand", "close", &[1.0]);
    drive(&mut sim, "r", 1.0, 1.0);
    while sim.state().accounts.contacts == 0 {
        steps(&mut sim, 1);
    }
    let speed = |path: &str| sim.twist(path).expect("is there").forward;
    assert!((speed("/obstacles/ball") - 1.0).abs() < 1e-12);
    assert!(speed("/robots/r").abs() < 1e-12 && speed("/obstacles/p").abs() < 1e-12);
}

/// The ball comes from the left side onto the load of a robot that stands. By hand: the whole has
/// 4 kg, its centre 0.06 m ahead of the robot's, the moment of inertia
/// 3·0.1²/2 + 0.05²/2 + 3·0.06² + 0.18² = 0.05945; the arm is 0.18 m; the impulse of a ball of 1 kg at
/// 2 m/s is 2·2 / (1/4 + 1 + 0.18²/0.05945) = 2.2284175 N s.
#[test]
fn an_impulse_beside_the_centre_turns_the_whole_about_it() {
    let scene = BOT.to_owned()
        + &robot("r", "[0, 0]")
        + &puck("p", "[0.24, 0]", "radius = 0.05\nmass = 1")
        + &puck("ball", "[0.24, 0.6]", "radius = 0.1\nmass = 1\nvelocity = [0, -2]");
    let mut sim = sim("impulse", &scene);
    tell(&mut sim, "r/hand", "close", &[1.0]);
    while sim.state().accounts.contacts == 0 {
        steps(&mut sim, 1);
    }
    let is = |x: f64, y: f64| assert!((x - y).abs() < 1e-6, "{x} is not {y}");
    let j = 4.0 / (1.25 + 0.0324 / 0.05945);
    is(j, 2.228_417_5);
    let twist = |path: &str| sim.twist(path).expect("is there");
    is(twist("/robots/r").spin, -0.18 * j / 0.05945);
    is(twist("/obstacles/p").spin, -0.18 * j / 0.05945);
    is(twist("/obstacles/ball").left, -2.0 + j);
    // The centre of mass goes straight down from (0.06, 0) at j/4.
    let (r, p) = (pose(&sim, "/robots/r"), pose(&sim, "/obstacles/p"));
    let centre = r.at * 0.75 + p.at * 0.25;
    is(centre.x, 0.06);
    let moved = (0.45 - SKIN) / 2.0;
    is(centre.y, -j / 4.0 * (0.3 - moved));
    is((p.at - r.at).norm(), 0.24);
}

const SKIN: f64 = swarmyard_motion::SKIN_M;

fn totals(sim: &Sim) -> (Vec2, f64, f64) {
    let (mut p, mut l, mut e) = (Vec2::ZERO, 0.0, 0.0);
    for slot in 0..sim.model().len() {
        let body = sim.model().body(slot);
        let (pose, twist) = (sim.state().pose[slot], sim.state().twist[slot]);
        let v = pose.rot().apply(twist.linear());
        p = p + v * (1.0 / body.inverse_mass);
        l += pose.at.cross(v) / body.inverse_mass + twist.spin / body.inverse_inertia;
        e += 0.5 * v.norm2() / body.inverse_mass + 0.5 * twist.spin * twist.spin / body.inverse_inertia;
    }
    (p, l, e)
}

/// Carriers without a drive, with a load before and behind them, hit by a ball: what there was of
/// momentum, angular momentum and energy is there afterwards, quantum after quantum.
#[test]
fn carriers_keep_momentum_and_create_no_energy() {
    let mut dice = Dice::new(31);
    let (mut hits, mut worst_p, mut worst_l, mut worst_gain) = (0, 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..300 {
        let restitution = dice.pick(&[0.0, 0.5, 1.0]);
        let shape = |dice: &mut Dice| match dice.below(2) {
            0 => format!("radius = {}\nmass = {}", dice.between(0.05, 0.15), dice.scale(0.1, 5.0)),
            _ => format!("size = [0.2, {}]\nmass = {}", dice.between(0.1, 0.3), dice.scale(0.1, 5.0)),
        };
        let hand = |name: &str, at: f64| {
            format!(
                "[[type.c.part]]\nname = \"{name}\"\nclass = \"gripper\"\nmount = [{at}, 0]\nreach = 0.3\nopening = 1\nmax_mass = 10\nauto = true\n"
            )
        };
        let text = format!(
            "format = 1\n[run]\nquantum = \"100ms\"\ncontact = \"impulse\"\nfloor_friction = 0\nrest_speed = 0\n\
             [surface.s]\nrestitution = {restitution}\nfriction = {}\n[type.c]\nradius = 0.2\nmass = {}\nsurface = \"s\"\n{}{}\
             [[robot]]\nname = \"c\"\ntype = \"c\"\nat = [0, 0, 0.3]\n{}{}{}",
            dice.pick(&[0.0, 0.4]),
            dice.scale(0.5, 20.0),
            hand("front", 0.3),
            hand("tail", -0.3),
            puck("a", &format!("[0.42, {}]", dice.between(0.0, 0.2)), &shape(&mut dice)),
            puck("b", &format!("[-0.42, {}]", dice.between(-0.2, 0.0)), &shape(&mut dice)),
            puck(
                "ball",
                &format!("[{}, 1]", dice.between(-0.5, 0.5)),
                &format!(
                    "{}\nvelocity = [{}, -3]\nspin = {}",
                    shape(&mut dice),
                    dice.between(-0.3, 0.3),
                    dice.between(-3.0, 3.0)
                )
            ),
        );
        let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let before = totals(&sim);
        let mut limited = false;
        for _ in 0..15 {
            let frame = sim.step().expect("steps");
            limited |= frame.events.iter().any(|e| matches!(e, RunEvent::ImpactLimit(_)));
        }
        assert_eq!(sim.state().carried.len(), 2, "{text}");
        if limited {
            continue;
        }
        let after = totals(&sim);
        let size = (2.0 * before.2 * 20.0).sqrt();
        worst_p = math::max(worst_p, (after.0 - before.0).norm() / size);
        worst_l = math::max(worst_l, (after.1 - before.1).abs() / size);
        worst_gain = math::max(worst_gain, (after.2 - before.2) / before.2);
        hits += usize::from(sim.state().accounts.contacts > 0);
    }
    println!(
        "{hits} hits; worst relative errors: momentum {worst_p:e}, angular {worst_l:e}, energy gained {worst_gain:e}"
    );
    assert!(hits > 100 && worst_p < 1e-9 && worst_l < 1e-9 && worst_gain < 1e-9);
}

fn arm(part: &str, rest: &str) -> String {
    format!(
        "[type.bot]\nradius = 0.2\n[[type.bot.part]]\nname = \"arm\"\nclass = \"arm\"\n{part}\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n{rest}"
    )
}

/// 0.5 rad/s for 0.1 s is 0.05 rad a quantum; the limits are ±0.8 rad.
#[test]
fn joints_keep_their_speed_and_their_limits() {
    let mut sim =
        sim("stop", &arm("links = [0.3, 0.25]\nmount = [0.1, 0]\nspeed = 0.5\nlimits = [-0.8, 0.8]", ""));
    tell(&mut sim, "r/arm", "joint", &[1.0, -2.0]);
    for quantum in 1..=20_u32 {
        steps(&mut sim, 1);
        let angle = math::min(0.05 * f64::from(quantum), 0.8);
        let (a, tip) = (reads(&sim, "r/arm", "angle"), reads(&sim, "r/arm", "tip"));
        assert!((a[0] - angle).abs() < 1e-12 && (a[1] + angle).abs() < 1e-12, "{quantum}: {a:?}");
        // The second angle undoes the first, so the second link stays straight ahead.
        near(Vec2::new(tip[0], tip[1]), (0.1 + 0.3 * math::cos(angle) + 0.25, 0.3 * math::sin(angle)), 1e-12);
        assert_eq!(reads(&sim, "r/arm", "at_target")[0] == 1.0, quantum >= 16, "{quantum}");
    }
}

/// Links of 0.6 m and 0.4 m reach a puck at (1, 0). With the joints at a and b it is at the tip, turned
/// by a + b; and when the robot drives, it does that as well.
#[test]
fn an_arm_moves_what_it_holds_with_its_tip() {
    let drive_part = "[[type.bot.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n";
    let scene = arm("links = [0.6, 0.4]\nspeed = 100", &puck("p", "[1, 0]", "size = [0.1, 0.1]"));
    let mut sim = sim("stop", &scene.replace("[[robot]]", &format!("{drive_part}[[robot]]")));
    tell(&mut sim, "r/arm", "close", &[1.0]);
    for (a, b, forward) in
        [(0.3, 0.2, 0.0), (-0.5, 0.9, 0.0), (1.2, -0.4, 1.0), (1.0, -0.3, -0.8), (1.0, -0.3, 0.4)]
    {
        tell(&mut sim, "r/arm", "joint", &[a, b]);
        drive(&mut sim, "r", forward, forward);
        let x = pose(&sim, "/robots/r").at.x + 0.1 * forward;
        steps(&mut sim, 1);
        let p = pose(&sim, "/obstacles/p");
        near(
            p.at,
            (x + 0.6 * math::cos(a) + 0.4 * math::cos(a + b), 0.6 * math::sin(a) + 0.4 * math::sin(a + b)),
            1e-12,
        );
        assert!((p.heading - (a + b)).abs() < 1e-12);
        assert_eq!(reads(&sim, "r/arm", "at_target"), [1.0]);
    }
    tell(&mut sim, "r/arm", "joint", &[0.0, 0.0]);
    tell(&mut sim, "r/arm", "close", &[0.0]);
    let before = pose(&sim, "/obstacles/p");
    steps(&mut sim, 5);
    assert_eq!(pose(&sim, "/obstacles/p"), before, "what is let go stays");
}

/// A link of one metre swings a disc of 10 cm to a wall at y = 0.5: its middle comes to y = 0.4, where
/// the angle is asin 0.4 = 0.411517. A tenth of a radian of arc leaves its chord by 1.25 mm, no more.
#[test]
fn joints_stop_where_the_load_meets_something_and_go_back_from_there() {
    for rule in ["stop", "impulse"] {
        let wall = "[[wall]]\nname = \"w\"\npoints = [[-3, 0.5], [3, 0.5]]\n";
        let scene = arm("links = [1]\nspeed = 1", &(puck("p", "[1, 0]", "radius = 0.1\nmass = 0.5") + wall));
        let scene = scene.replace("radius = 0.2\n", "radius = 0.2\nmass = 1e6\n");
        let mut sim = sim(rule, &scene);
        tell(&mut sim, "r/arm", "close", &[1.0]);
        tell(&mut sim, "r/arm", "joint", &[1.5]);
        for quantum in 1..=30_u32 {
            steps(&mut sim, 1);
            let (angle, p) = (reads(&sim, "r/arm", "angle")[0], pose(&sim, "/obstacles/p").at);
            assert!(p.y < 0.4, "{rule} {quantum}: {p:?}");
            if quantum <= 4 {
                assert!((angle - 0.1 * f64::from(quantum)).abs() < 1e-12, "{rule} {quantum}: {angle}");
            } else {
                assert!((angle - 0.411_517).abs() < 2e-3, "{rule} {quantum}: {angle}");
                assert_eq!(reads(&sim, "r/arm", "at_target"), [0.0]);
                assert!((p.y - 0.4).abs() < 1e-3, "{rule} {quantum}: {p:?}");
            }
        }
        assert_eq!(reads(&sim, "r/arm", "touching"), [1.0], "{rule}");
        tell(&mut sim, "r/arm", "joint", &[0.0]);
        steps(&mut sim, 6);
        assert_eq!(reads(&sim, "r/arm", "angle"), [0.0], "{rule}");
        near(pose(&sim, "/obstacles/p").at, (1.0, 0.0), 5e-3);
    }
}

/// The load of 1 kg goes from (1, 0) to (cos 0.1, sin 0.1) in 0.1 s and turns at 1 rad/s: that is the
/// momentum and angular momentum there is, also after it has met a ball, whoever has them then.
#[test]
fn a_swung_load_hands_over_its_momentum() {
    let scene = arm(
        "links = [1]\nspeed = 1",
        &(puck("p", "[1, 0]", "radius = 0.05\nmass = 1")
            + &puck("ball", "[1.02, 0.16]", "radius = 0.05\nmass = 2")),
    );
    let mut sim = sim("impulse", &scene);
    tell(&mut sim, "r/arm", "close", &[1.0]);
    tell(&mut sim, "r/arm", "joint", &[0.1]);
    steps(&mut sim, 1);
    assert_eq!(sim.state().accounts.contacts, 1);
    let velocity = Vec2::new(math::cos(0.1) - 1.0, math::sin(0.1)) * 10.0;
    let (momentum, angular, _) = totals(&sim);
    assert!((momentum - velocity).norm() < 1e-12, "{momentum:?}");
    let turning = 0.5 * 0.05 * 0.05;
    assert!((angular - (velocity.y + turning)).abs() < 1e-12, "{angular}");
    let angle = reads(&sim, "r/arm", "angle")[0];
    assert!(angle > 0.05 && angle < 0.07, "the joint locked when they met, after about 0.06 s: {angle}");
}

/// Folded, the tip is over the robot: there it cannot let go, and does so as soon as it is clear.
#[test]
fn an_arm_does_not_let_go_over_its_own_robot() {
    let mut sim =
        sim("stop", &arm("links = [0.4, 0.4]\nspeed = 100", &puck("p", "[0.8, 0]", "radius = 0.05")));
    tell(&mut sim, "r/arm", "close", &[1.0]);
    tell(&mut sim, "r/arm", "joint", &[0.0, 3.0]);
    steps(&mut sim, 1);
    assert!(holds(&sim, "r/arm") && pose(&sim, "/obstacles/p").at.norm() < 0.1);
    tell(&mut sim, "r/arm", "close", &[0.0]);
    steps(&mut sim, 2);
    assert!(holds(&sim, "r/arm") && reads(&sim, "r/arm", "jammed") == [1.0]);
    tell(&mut sim, "r/arm", "joint", &[0.0, 1.0]);
    steps(&mut sim, 1);
    assert!(holds(&sim, "r/arm"), "at the start of that quantum it was over the robot still");
    steps(&mut sim, 1);
    assert!(!holds(&sim, "r/arm") && reads(&sim, "r/arm", "jammed") == [0.0]);
    near(pose(&sim, "/obstacles/p").at, (0.4 + 0.4 * math::cos(1.0), 0.4 * math::sin(1.0)), 1e-12);
}

/// Rays of the carrier go through what it holds; those of another end at it.
#[test]
fn the_carrier_does_not_see_what_it_holds_and_others_do() {
    let eye = "[[type.bot.part]]\nname = \"eye\"\nclass = \"range-rays\"\nrays = 1\nrange = 10\n\
        [[type.bot.part]]\nname = \"sonar\"\nclass = \"sonar\"\nrange = 10\ncone_angle = 0.1\n\
        [[type.bot.part]]\nname = \"bumper\"\nclass = \"bumper\"\n";
    let wall = "[[wall]]\nname = \"w\"\npoints = [[-3, -3], [-3, 3], [3, 3], [3, -3]]\n";
    let scene = BOT.to_owned()
        + eye
        + &robot("r", "[0, 0]")
        + &robot("other", "[0.24, 1, -1.5707963267948966]")
        + &puck("p", "[0.150015, 0]", "radius = 0.05")
        + wall;
    let mut sim = sim("stop", &scene);
    let ahead = |sim: &Sim, who: &str| {
        (reads(sim, &format!("{who}/eye"), "range")[0], reads(sim, &format!("{who}/sonar"), "range")[0])
    };
    drive(&mut sim, "r", 0.01, 0.01);
    steps(&mut sim, 2);
    drive(&mut sim, "r", 0.0, 0.0);
    assert!((ahead(&sim, "r").0 - 0.1).abs() < 1e-4 && (ahead(&sim, "r").1 - 0.1).abs() < 1e-4);
    assert_eq!(reads(&sim, "r/bumper", "pressed")[0], 1.0, "it touches the puck");
    tell(&mut sim, "r/hand", "close", &[1.0]);
    steps(&mut sim, 2);
    assert!(
        (ahead(&sim, "r").0 - 3.0).abs() < 1e-3 && (ahead(&sim, "r").1 - 3.0).abs() < 1e-3,
        "{:?}",
        ahead(&sim, "r")
    );
    assert_eq!(reads(&sim, "r/bumper", "pressed")[0], 0.0, "what it holds is no contact");
    drive(&mut sim, "r", 0.5, 0.5);
    steps(&mut sim, 2);
    drive(&mut sim, "r", 0.0, 0.0);
    steps(&mut sim, 2);
    let x = pose(&sim, "/obstacles/p").at.x - 0.24;
    let expected = 1.0 - (0.05_f64 * 0.05 - x * x).sqrt();
    assert!((ahead(&sim, "other").0 - expected).abs() < 1e-9, "{:?}", ahead(&sim, "other"));
}

/// Counts of 1/1024 rad in 16 bits: 512 is 0.5 rad, −256 is −0.25 rad.
#[test]
fn set_points_of_joints_are_registers_like_any_other() {
    let map = "[[type.bot.register]]\npart = \"arm\"\nchannel = \"joint\"\nat = 16\nsigned = true\nscale = 0.0009765625\n";
    let scene = arm("links = [0.3, 0.3]\nspeed = 100", "").replace("[[robot]]", &format!("{map}[[robot]]"));
    let mut sim = sim("stop", &scene);
    for (address, value) in [(16, 512), (18, 0xff00)] {
        assert!(sim.poke("/robots/r", address, 2, value).expect("is there").is_none());
    }
    steps(&mut sim, 1);
    assert_eq!(reads(&sim, "r/arm", "angle"), [0.5, -0.25]);
}

#[test]
fn a_body_has_one_drive_and_any_number_of_hands() {
    let hands = "[[type.bot.part]]\nname = \"second\"\nclass = \"gripper\"\n[[type.bot.part]]\nname = \"arm\"\nclass = \"arm\"\nlinks = [0.3]\n";
    steps(&mut sim("stop", &(BOT.to_owned() + hands + &robot("r", "[0, 0]"))), 2);
    let two = "[[type.bot.part]]\nname = \"second\"\nclass = \"diff-drive\"\n";
    let text = format!("format = 1\n[surface.s]\n{BOT}{two}{}", robot("r", "[0, 0]"));
    let why = Sim::from_text(&text).err().expect("is refused").to_string();
    assert!(why.contains("two-drives"), "{why}");
}

/// Jaws 10 cm to each side, 5 cm when they hold something; a line through all joints.
#[test]
fn hands_and_links_are_drawn() {
    let mut sim =
        sim("stop", &arm("links = [0.3, 0.2]\nopening = 0.2", &puck("p", "[0.5, 0]", "radius = 0.05")));
    for (close, apart) in [(0.0, 0.1), (1.0, 0.05)] {
        tell(&mut sim, "r/arm", "close", &[close]);
        steps(&mut sim, 1);
        let marks = sim.marks("/robots/r");
        let [("arm", marks)] = &marks[..] else { panic!("{marks:?}") };
        let lines: Vec<&Vec<Vec2>> = marks
            .iter()
            .map(|m| if let MarkShape::Line(l) = &m.shape { l } else { panic!("{m:?}") })
            .collect();
        assert_eq!(lines[0].len(), 3);
        near(lines[0][2], (0.5, 0.0), 1e-12);
        assert!((lines[1][0].y + apart).abs() < 1e-12 && (lines[2][0].y - apart).abs() < 1e-12);
    }
}
