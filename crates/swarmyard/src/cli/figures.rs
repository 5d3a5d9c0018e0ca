//! What the workers of a run did, in words and for programs: for `run`, `resume` and `info`.

use super::out::{bytes, count};
use serde_json::{Value, json};
use std::fmt::Write as _;
use swarmyard::{ElsewhereFigures, RobotFigures, Statistics, WorkerFigures};

/// Robots and links that are named one by one; a recording has all of them.
const NAMED: usize = 10;

/// A table of workers, then who told whom most, then what costs most.
pub(crate) fn text(s: &Statistics) -> String {
    let mut text = String::new();
    let lost = if s.lost.is_empty() { "none".to_owned() } else { s.lost.len().to_string() };
    let (epochs, again) = (count(s.epochs as usize, "epoch"), count(s.again as usize, "step"));
    let _ = writeln!(text, "  workers     {}, {lost} lost, {epochs}, {again} taken again", s.workers.len());
    let _ = writeln!(
        text,
        "    worker  bodies  work      wait      sent        handed on  widened  asked again  where"
    );
    for w in &s.workers {
        let (work, wait) = (format!("{:.3} s", w.work_s), format!("{:.3} s", w.wait_s));
        let WorkerFigures { worker, bodies, sent, handed_on, widened, asked_again, .. } = w;
        let _ = writeln!(
            text,
            "    {worker:<6}  {bodies:<6}  {work:<8}  {wait:<8}  {:<10}  {handed_on:<9}  {widened:<7}  {asked_again:<11}  {}",
            bytes(*sent),
            place(w, s.lost.contains(worker)),
        );
    }
    links(s, &mut text);
    let asked: u64 = s.workers.iter().map(|w| w.asked_home).sum();
    if asked > 0 {
        let seconds: f64 = s.workers.iter().map(|w| w.home_s).sum();
        let _ =
            writeln!(text, "  programs    {} over links, {seconds:.3} s", count(asked as usize, "decision"));
    }
    heaviest(s, &mut text);
    text
}

/// What costs most, and what for. Recordings of older versions do not say what for.
fn heaviest(s: &Statistics, text: &mut String) {
    let robots = s.heaviest(NAMED);
    if robots.is_empty() {
        return;
    }
    if robots.iter().all(|r| r.quanta == 0) {
        let all = robots.iter().map(|r| format!("{} {:.1}", r.path, r.cost_us));
        let _ = writeln!(text, "  heaviest    {} µs per tick", all.collect::<Vec<_>>().join(", "));
        return;
    }
    let width = robots.iter().map(|r| r.path.chars().count()).max().unwrap_or(0).max("µs per tick".len());
    let _ = writeln!(
        text,
        "  heaviest    {:width$}  worker        all      sense      think        act   contacts       fuel",
        "µs per tick"
    );
    for RobotFigures { path, worker, cost_us, sense_us, think_us, act_us, contact_us, fuel, .. } in robots {
        let _ = writeln!(
            text,
            "              {path:width$}  {worker:<6}  {cost_us:9.2}  {sense_us:9.2}  {think_us:9.2}  {act_us:9.2}  {contact_us:9.2}  {fuel:9.0}"
        );
    }
}

fn place(w: &WorkerFigures, is_lost: bool) -> String {
    let process = w.pid.map_or_else(|| "elsewhere".to_owned(), |pid| format!("process {pid}"));
    let host = w.host.as_ref().map_or_else(String::new, |host| format!(" on {host}"));
    format!("{process}{host}{}", if is_lost { ", lost" } else { "" })
}

/// The links that carried most, on one line.
fn links(s: &Statistics, text: &mut String) {
    let mut all: Vec<_> = s.links.iter().collect();
    all.sort_by_key(|l| std::cmp::Reverse(l.bytes));
    if all.is_empty() {
        return;
    }
    let named =
        all.iter().take(NAMED).map(|l| format!("{}→{} {} in {}", l.from, l.to, bytes(l.bytes), l.messages));
    let more = if all.len() > NAMED { format!(", and {} more", all.len() - NAMED) } else { String::new() };
    let _ = writeln!(text, "  links       {} messages{more}", named.collect::<Vec<_>>().join(", "));
}

/// The same for programs: all workers and links, and what costs most.
pub(crate) fn json(s: &Statistics) -> Value {
    let workers = s.workers.iter().map(|w| {
        let mut value = json!(w);
        value["lost"] = json!(s.lost.contains(&w.worker));
        value
    });
    json!({
        "undivided": s.undivided, "epochs": s.epochs, "lost": s.lost, "again": s.again,
        "workers": workers.collect::<Vec<_>>(), "links": s.links, "heaviest": s.heaviest(NAMED),
    })
}

/// What modules of robots on other hosts cost: a line for each host.
pub(crate) fn elsewhere(all: &[ElsewhereFigures]) -> String {
    let line = |e: &ElsewhereFigures| {
        let (answers, mean) = (count(e.answers as usize, "answer"), e.mean_us());
        let (sent, received) = (bytes(e.sent), bytes(e.received));
        format!("  elsewhere   {}: {answers} of {mean:.0} µs, {sent} out, {received} in\n", e.place)
    };
    all.iter().map(line).collect()
}

/// The same for programs.
pub(crate) fn elsewhere_json(all: &[ElsewhereFigures]) -> Value {
    let one = |e: &ElsewhereFigures| {
        let mut value = json!(e);
        value["mean_us"] = json!(e.mean_us());
        value
    };
    Value::Array(all.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_say_what_they_spend_it_on() {
        let robot = RobotFigures {
            path: "/robots/r17".to_owned(),
            worker: 1,
            cost_us: 12.5,
            sense_us: 2.0,
            think_us: 10.0,
            act_us: 0.25,
            contact_us: 0.25,
            fuel: 4000.0,
            quanta: 9,
        };
        let light = RobotFigures { path: "/robots/r2".to_owned(), quanta: 9, ..RobotFigures::default() };
        let text = text(&Statistics { robots: vec![light, robot], ..Statistics::default() });
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|l| l.starts_with("  heaviest")).expect("a table");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(
            words(lines[at]).join(" "),
            "heaviest µs per tick worker all sense think act contacts fuel",
            "{text}"
        );
        assert_eq!(
            words(lines[at + 1]),
            ["/robots/r17", "1", "12.50", "2.00", "10.00", "0.25", "0.25", "4000"]
        );
        assert!(lines[at + 2].contains("/robots/r2 "), "{text}");
        assert_eq!(lines[at].chars().count(), lines[at + 1].chars().count(), "{text}");
    }

    #[test]
    fn what_older_versions_recorded_is_shown_as_it_is() {
        let old = r#"{"epochs":1,"again":0,"lost":[],"undivided":null,"workers":[],"links":[],
            "robots":[{"path":"/robots/a","worker":0,"cost_us":3.06},{"path":"/robots/b","worker":1,"cost_us":4.0}]}"#;
        let old: Statistics = serde_json::from_str(old).expect("the old form is read");
        assert!(
            text(&old).contains("  heaviest    /robots/b 4.0, /robots/a 3.1 µs per tick\n"),
            "{}",
            text(&old)
        );
        assert_eq!(old.robots[0].known_us(), Some(3.06));
        assert_eq!(json(&old)["heaviest"][0]["cost_us"], 4.0);
    }
}
