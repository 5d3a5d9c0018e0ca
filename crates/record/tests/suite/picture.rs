//! The picture of a run: complete, bounded in size, and the same for the same run.

use crate::world::{Setup, open, record};
use swarmyard_record::to_svg;

fn picture(setup: &Setup, steps: usize) -> String {
    let mut out = Vec::new();
    to_svg(&open(record(setup, steps).0), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    // To look at them: SWARMYARD_PICTURES=/tmp cargo test -p swarmyard-record --test suite picture
    #[expect(clippy::disallowed_methods, reason = "a test may leave its pictures for a person")]
    if let Ok(folder) = std::env::var("SWARMYARD_PICTURES") {
        std::fs::write(format!("{folder}/picture-{}.svg", setup.robots), &text).unwrap();
    }
    text
}

#[test]
fn one_robot_is_drawn_with_its_trail_start_end_and_a_scale() {
    let text = picture(&Setup { robots: 1, spin: 0.4, ..Setup::default() }, 300);
    assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
    for needed in
        ["A small yard", "1 robot ·", "30 s simulated", "seed 7", "<use href=\"#b0\"", " m</text>", "start"]
    {
        assert!(text.contains(needed), "`{needed}` is missing");
    }
}

#[test]
fn a_beacon_is_a_lighthouse_with_its_code_and_its_cone_of_light() {
    let text = picture(&Setup { robots: 1, ..Setup::default() }, 3);
    assert!(text.contains(">42</text>") && text.contains("beacon × 1"));
    assert!(text.contains("fill=\"#facc15\""), "its light");
    let bare = picture(&Setup { robots: 1, furnished: false, ..Setup::default() }, 3);
    assert!(!bare.contains("beacon") && !bare.contains("#facc15"));
}

#[test]
fn forty_robots_each_have_a_colour() {
    let setup =
        Setup { robots: 40, spin: 0.35, mixed: true, contact: "impulse", spacing: 1.1, ..Setup::default() };
    let text = picture(&setup, 300);
    assert!(text.contains("#e11d48") && text.contains("#059669"));
    assert!(text.contains("with a robot"), "they meet");
    assert_eq!(text, picture(&setup, 300), "the same run, the same picture");
}

#[test]
fn a_thousand_robots_stay_below_three_megabytes() {
    let setup = Setup { robots: 1000, spin: 0.3, mixed: true, spacing: 0.9, ..Setup::default() };
    let text = picture(&setup, 120);
    assert!(text.len() < 3_000_000, "{}", text.len());
}

#[test]
fn a_crowd_is_drawn_in_part_and_says_so() {
    let setup = Setup { robots: 9_000, spin: 0.3, mixed: true, ..Setup::default() };
    let text = picture(&setup, 6);
    assert!(text.len() < 3_000_000, "{}", text.len());
    assert!(text.contains("drawn"));
}
