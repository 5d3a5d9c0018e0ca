//! The error of a `gps` against the distribution that its sheet states: normal, independent in each coordinate, for each
//! robot, for whoever asks and whenever.

use crate::acting::{Act, add};
use std::sync::{Arc, Mutex};
use swarmyard_base::Vec2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Answer, Cx, Query};
use swarmyard_sim::{Options, Sim, standard_registry};

const ERROR_M: f64 = 0.75;
const PLACES: [Vec2; 2] = [Vec2::new(3.0, -2.0), Vec2::new(-40.0, 7.0)];
const LOOKS: usize = 10_000;

/// Errors in units of the stated deviation, by who asked and about whom; the third is one's own place.
type Errors = Arc<Mutex<[[Vec<Vec2>; 3]; 2]>>;

#[derive(Clone)]
struct Surveyor(Errors);

impl Act for Surveyor {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.timer(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        let me = cx.me() as usize;
        let all = cx.pull(&Query::GpsAll { error: ERROR_M });
        let own = cx.pull(&Query::Gps { error: ERROR_M });
        let errors = &mut self.0.lock().expect("one thread")[me];
        if errors[2].len() == LOOKS {
            return;
        }
        let (Ok(Answer::Seen(all)), Ok(Answer::Point(own))) = (all, own) else { return };
        for (k, seen) in all.iter().enumerate() {
            errors[k].push((seen.at - PLACES[k]) * (1.0 / ERROR_M));
        }
        errors[2].push((own - PLACES[me]) * (1.0 / ERROR_M));
        cx.set_timer(0.001);
    }
}

fn errors() -> [[Vec<Vec2>; 3]; 2] {
    let errors = Errors::default();
    let mut registry = standard_registry();
    add(&mut registry, "surveyor", Surveyor(Arc::clone(&errors)));
    let mut text = String::from(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"12s\"\n[type.r]\nradius = 0.1\n[[type.r.part]]\nname = \"gps\"\n\
         class = \"gps\"\n[type.r.algorithm]\nclass = \"surveyor\"\n",
    );
    for (k, at) in PLACES.iter().enumerate() {
        text.push_str(&format!("[[robot]]\nname = \"r{k}\"\ntype = \"r\"\nat = [{}, {}]\n", at.x, at.y));
    }
    let sim = Sim::read("gps.toml", &text, &NoFiles, &registry, &Options::default());
    sim.unwrap_or_else(|e| panic!("{e}")).run_until(12.0).expect("runs");
    errors.lock().expect("one thread").clone()
}

/// The standard normal distribution function, by its series.
fn normal(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for k in 1..200 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Greatest distance between the distribution of numbers and the normal one.
fn kolmogorov_smirnov(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let apart = |(k, x): (usize, &f64)| {
        let p = normal(*x);
        (p - k as f64 / n).abs().max(((k + 1) as f64 / n - p).abs())
    };
    sorted.iter().enumerate().map(apart).fold(0.0, f64::max)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |s: &[f64]| s.iter().sum::<f64>() / s.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product = |(x, y): (&f64, &f64)| (x - ma) * (y - mb);
    let (sa, sb) = (
        a.iter().map(|x| (x - ma) * (x - ma)).sum::<f64>(),
        b.iter().map(|y| (y - mb) * (y - mb)).sum::<f64>(),
    );
    a.iter().zip(b).map(product).sum::<f64>() / (sa * sb).sqrt()
}

/// All series of errors, each with a name.
fn series() -> Vec<(String, Vec<f64>)> {
    let mut all = Vec::new();
    for (asker, of) in errors().iter().enumerate() {
        for (about, list) in of.iter().enumerate() {
            let name = |axis: &str| format!("{axis} of {about} by {asker}");
            all.push((name("x"), list.iter().map(|e| e.x).collect()));
            all.push((name("y"), list.iter().map(|e| e.y).collect()));
        }
    }
    all
}

/// Of each of twelve series of 10 000 numbers: mean and deviation within four standard errors, and the
/// Kolmogorov–Smirnov distance below its 0.1 % bound, 1.95 / √n; and the same for each coordinate over all.
#[test]
fn the_error_is_normal_with_the_stated_deviation() {
    let all = series();
    assert_eq!(all.len(), 12);
    let pooled = |axis: &str| {
        let own = all.iter().filter(|s| s.0.starts_with(axis));
        (format!("all {axis}"), own.flat_map(|s| s.1.clone()).collect::<Vec<f64>>())
    };
    for (name, numbers) in all.iter().cloned().chain([pooled("x"), pooled("y")]) {
        let n = numbers.len() as f64;
        assert!(numbers.len() >= LOOKS, "{name}: {n}");
        let mean = numbers.iter().sum::<f64>() / n;
        let deviation = (numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt();
        let distance = kolmogorov_smirnov(&numbers);
        println!("{name}: mean {mean:.4}, deviation {deviation:.4}, KS √n·D = {:.3}", distance * n.sqrt());
        assert!(mean.abs() < 4.0 / n.sqrt(), "{name}: mean {mean}");
        assert!((deviation - 1.0).abs() < 4.0 / (2.0 * n).sqrt(), "{name}: deviation {deviation}");
        assert!(distance < 1.95 / n.sqrt(), "{name}: distance {distance}");
    }
}

/// No two series go together, nor does any with itself one look later: 78 correlations, each within 4.5 / √n.
#[test]
fn errors_are_independent_of_each_other_and_of_earlier_ones() {
    let all = series();
    let bound = 4.5 / (LOOKS as f64).sqrt();
    let mut worst: f64 = 0.0;
    for (k, (name, a)) in all.iter().enumerate() {
        for (other, b) in &all[k + 1..] {
            let r = correlation(a, b);
            worst = worst.max(r.abs());
            assert!(r.abs() < bound, "{name} and {other}: {r}");
        }
        let r = correlation(&a[1..], &a[..a.len() - 1]);
        worst = worst.max(r.abs());
        assert!(r.abs() < bound, "{name} and itself: {r}");
    }
    println!("worst correlation {worst:.4}, bound {bound:.4}");
}
