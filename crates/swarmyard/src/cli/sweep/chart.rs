//! A chart of means with their spread, as SVG.
//!
//! Readable on a light and on a dark page: the picture asks which of the two is wanted. Everything has its
//! place from the numbers alone, so the same sweep draws the same bytes.

use super::summary::{Stats, short};
use std::fmt::Write as _;
use swarmyard::base::math;

/// Lines over one axis.
pub(super) struct Chart {
    pub(super) title: String,
    /// Name of the scenario.
    pub(super) file: String,
    /// What the axis shows.
    pub(super) x: String,
    /// Whether the axis is logarithmic.
    pub(super) log: bool,
    pub(super) ticks: Ticks,
    /// Whether a line joins the means; those of values by chance stand for themselves.
    pub(super) joined: bool,
    /// Whether values are shares, so that the chart goes from 0 to 1.
    pub(super) share: bool,
    /// What tells the lines apart; empty when there is one.
    pub(super) series: String,
    pub(super) lines: Vec<Line>,
}

/// Where the axis has words.
pub(super) enum Ticks {
    /// At these places, as many as there is room for.
    At(Vec<(f64, String)>),
    /// At round numbers.
    Chosen,
}

/// One line.
pub(super) struct Line {
    pub(super) name: String,
    /// From left to right.
    pub(super) spots: Vec<Spot>,
}

/// Mean and spread at one place.
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) stats: Stats,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right, bottom of the plot.
const BOX: [f64; 4] = [72.0, 64.0, 540.0, 350.0];
/// More lines than this have no bands: they would hide one another.
const MOST_BANDS: usize = 3;

/// Colours that keep apart on white and on near black, also for eyes that confuse red and green.
const STYLE: &str = "<style>\n\
    text{font:13px sans-serif;fill:#0f172a}.small{font-size:12px;fill:#475569}.title{font-size:15px}\
    .back{fill:#fff}.grid{stroke:#e2e8f0}.axis{stroke:#64748b}\n\
    .c0{color:#2563eb}.c1{color:#c2410c}.c2{color:#0f766e}.c3{color:#9333ea}.c4{color:#a16207}.c5{color:#be185d}.c6{color:#475569}.c7{color:#0e7490}\n\
    .line{fill:none;stroke:currentColor;stroke-width:2}.bar{stroke:currentColor;stroke-width:1.5}.dot{fill:currentColor}.band{fill:currentColor;fill-opacity:.12}\n\
    @media (prefers-color-scheme:dark){text{fill:#e2e8f0}.small{fill:#94a3b8}.back{fill:#0f172a}.grid{stroke:#1e293b}.axis{stroke:#94a3b8}\
    .c0{color:#60a5fa}.c1{color:#fb923c}.c2{color:#2dd4bf}.c3{color:#c084fc}.c4{color:#facc15}.c5{color:#f472b6}.c6{color:#cbd5e1}.c7{color:#22d3ee}}\n\
    </style>\n";

impl Chart {
    pub(super) fn svg(&self) -> String {
        let frame = Frame::of(self);
        let [left, ..] = BOX;
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n<title>{}</title>\n{STYLE}\
             <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n\
             <text class=\"title\" x=\"{left}\" y=\"26\">{}</text>\n<text class=\"small\" x=\"{left}\" y=\"46\">{}</text>\n",
            escape(&self.title),
            escape(&cut(&self.title, 70)),
            escape(&self.caption())
        );
        self.grid(&mut s, &frame);
        for (k, line) in self.lines.iter().enumerate() {
            self.line(&mut s, &frame, k, line);
        }
        self.legend(&mut s);
        s += "</svg>\n";
        s
    }

    /// What the marks mean.
    fn caption(&self) -> String {
        let spots = || self.lines.iter().flat_map(|l| &l.spots);
        let most = spots().map(|s| s.stats.n).max().unwrap_or(0);
        let least = spots().map(|s| s.stats.n).min().unwrap_or(0);
        let runs = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let file = cut(&self.file, 30);
        if most < 2 {
            return format!("{file}: single runs");
        }
        let band = if self.has_bands() { "; band: least to greatest" } else { "" };
        format!("{file}: mean of {runs} runs; bars: standard error{band}")
    }

    fn has_bands(&self) -> bool {
        self.joined && !self.share && self.lines.len() <= MOST_BANDS
    }

    fn grid(&self, s: &mut String, frame: &Frame) {
        let [left, top, right, bottom] = BOX;
        for value in round_numbers(frame.y) {
            let at = frame.y(value);
            let _ = writeln!(
                s,
                "<line class=\"grid\" x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\"/>\
                 <text class=\"small\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                at + 4.0,
                short(value)
            );
        }
        let ticks = match &self.ticks {
            Ticks::At(ticks) => fitting(ticks, frame),
            Ticks::Chosen if self.log => powers(frame.x).into_iter().map(|x| (x, short(x))).collect(),
            Ticks::Chosen => round_numbers(frame.x).into_iter().map(|x| (x, short(x))).collect(),
        };
        for (value, word) in ticks {
            let at = frame.x(value);
            let _ = writeln!(
                s,
                "<line class=\"axis\" x1=\"{at:.1}\" y1=\"{bottom}\" x2=\"{at:.1}\" y2=\"{:.1}\"/>\
                 <text class=\"small\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 5.0,
                bottom + 20.0,
                escape(&cut(&word, 14))
            );
        }
        let scale = if self.log { " (logarithmic)" } else { "" };
        let _ = writeln!(
            s,
            "<line class=\"axis\" x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\"/>\
             <line class=\"axis\" x1=\"{left}\" y1=\"{top}\" x2=\"{left}\" y2=\"{bottom}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}{scale}</text>",
            (left + right) / 2.0,
            bottom + 44.0,
            escape(&cut(&self.x, 60))
        );
    }

    fn line(&self, s: &mut String, frame: &Frame, k: usize, line: &Line) {
        let place = |x: f64, y: f64| format!("{:.1},{:.1}", frame.x(x), frame.y(y));
        let _ = writeln!(s, "<g class=\"c{}\">", k % 8);
        if self.has_bands() && line.spots.iter().any(|p| p.stats.max > p.stats.min) {
            let over = line.spots.iter().map(|p| place(p.x, p.stats.max));
            let under = line.spots.iter().rev().map(|p| place(p.x, p.stats.min));
            let points: Vec<String> = over.chain(under).collect();
            let _ = writeln!(s, "<polygon class=\"band\" points=\"{}\"/>", points.join(" "));
        }
        if self.joined {
            let points: Vec<String> = line.spots.iter().map(|p| place(p.x, p.stats.mean)).collect();
            let _ = writeln!(s, "<polyline class=\"line\" points=\"{}\"/>", points.join(" "));
        }
        for spot in &line.spots {
            let x = frame.x(spot.x);
            if let Some(error) = spot.stats.error.filter(|e| *e > 0.0) {
                let (low, high) = (frame.y(spot.stats.mean - error), frame.y(spot.stats.mean + error));
                let (a, b) = (x - 4.0, x + 4.0);
                let _ = writeln!(
                    s,
                    "<path class=\"bar\" d=\"M{x:.1} {low:.1}V{high:.1}M{a:.1} {low:.1}H{b:.1}M{a:.1} {high:.1}H{b:.1}\"/>"
                );
            }
            let _ = writeln!(
                s,
                "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.5\"/>",
                frame.y(spot.stats.mean)
            );
        }
        *s += "</g>\n";
    }

    fn legend(&self, s: &mut String) {
        let [_, top, right, _] = BOX;
        if self.series.is_empty() {
            return;
        }
        let name = self.series.rsplit('.').next().unwrap_or(&self.series);
        let x = right + 24.0;
        let _ = writeln!(
            s,
            "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            top + 4.0,
            escape(&cut(name, 20))
        );
        for (k, line) in self.lines.iter().enumerate() {
            let y = top + 26.0 + 22.0 * k as f64;
            let _ = writeln!(
                s,
                "<g class=\"c{}\"><line class=\"line\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>\
                 <text x=\"{:.1}\" y=\"{y:.1}\">{}</text></g>",
                k % 8,
                y - 4.0,
                x + 24.0,
                y - 4.0,
                x + 32.0,
                escape(&cut(&line.name, 16))
            );
        }
    }
}

/// What the box shows.
struct Frame {
    x: (f64, f64),
    y: (f64, f64),
    log: bool,
}

impl Frame {
    fn of(chart: &Chart) -> Frame {
        let spots = || chart.lines.iter().flat_map(|l| &l.spots);
        let bands = chart.has_bands();
        let ends = |s: &Stats| {
            let error = s.error.unwrap_or(0.0);
            if bands {
                (s.min.min(s.mean - error), s.max.max(s.mean + error))
            } else {
                (s.mean - error, s.mean + error)
            }
        };
        let y = if chart.share { (0.0, 1.0) } else { around(spots().map(|s| ends(&s.stats))) };
        let x =
            spots().map(|s| s.x).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let x = if x.0.is_finite() { x } else { (0.0, 1.0) };
        Frame { x, y, log: chart.log }
    }

    fn x(&self, value: f64) -> f64 {
        let [left, _, right, _] = BOX;
        let on = |v: f64| if self.log { math::ln(v) } else { v };
        let (low, high) = (on(self.x.0), on(self.x.1));
        // The outermost points stand clear of the frame.
        let (left, right) = (left + 12.0, right - 12.0);
        left + (right - left) * if high > low { (on(value) - low) / (high - low) } else { 0.5 }
    }

    /// Outside of the box is its edge: an error bar of a share may reach beyond 1.
    fn y(&self, value: f64) -> f64 {
        let [_, top, _, bottom] = BOX;
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        bottom - (bottom - top) * share.clamp(0.0, 1.0)
    }
}

/// Ends around all, a little wider; from 0 when that is near.
fn around(ends: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (c, d)| (a.min(c), b.max(d)));
    if !low.is_finite() || !high.is_finite() {
        return (0.0, 1.0);
    }
    if high <= low {
        let half = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        return (low - half, high + half);
    }
    let margin = (high - low) * 0.06;
    let near_zero = low >= 0.0 && low < (high - low) * 0.5;
    (if near_zero { 0.0 } else { low - margin }, high + margin)
}

/// Four to eight round numbers between two ends.
fn round_numbers((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    if !(rough > 0.0 && rough.is_finite()) {
        return vec![low];
    }
    let power = math::pow(10.0, (math::ln(rough) / math::ln(10.0)).floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= rough * 0.999).unwrap_or(power);
    let first = (low / step - 1e-9).ceil();
    (0..20).map(|k| (first + f64::from(k)) * step).take_while(|x| *x <= high + step * 1e-9).collect()
}

/// Round numbers for a logarithmic axis: powers of ten, and twice and five times them where there are few.
fn powers((low, high): (f64, f64)) -> Vec<f64> {
    let log10 = |x: f64| math::ln(x) / math::ln(10.0);
    let (first, last) = (log10(low).floor(), log10(high).ceil());
    let every = ((last - first) / 8.0).ceil().max(1.0);
    let factors: &[f64] = if last - first <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = (0..10).map(|k| math::pow(10.0, first + every * f64::from(k)));
    let all = decades.flat_map(|decade| factors.iter().map(move |f| f * decade));
    all.filter(|x| *x >= low * (1.0 - 1e-9) && *x <= high * (1.0 + 1e-9)).collect()
}

/// The words that do not run into the one before.
fn fitting(ticks: &[(f64, String)], frame: &Frame) -> Vec<(f64, String)> {
    let mut sorted = ticks.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut shown: Vec<(f64, String)> = Vec::new();
    let mut free = f64::NEG_INFINITY;
    for (x, word) in sorted {
        let half = cut(&word, 14).chars().count() as f64 * 3.5 + 4.0;
        if frame.x(x) - half >= free {
            free = frame.x(x) + half;
            shown.push((x, word));
        }
    }
    shown
}

/// At most so many letters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside() {
        let shown = |ends| round_numbers(ends).into_iter().map(short).collect::<Vec<_>>().join(" ");
        assert_eq!(shown((0.0, 1.0)), "0 0.2 0.4 0.6 0.8 1");
        assert_eq!(shown((-3.0, 47.0)), "0 10 20 30 40");
        assert_eq!(shown((0.00012, 0.00031)), "0.00015 0.0002 0.00025 0.0003");
        let logs = |ends| powers(ends).into_iter().map(short).collect::<Vec<_>>().join(" ");
        assert_eq!(logs((0.001, 1.0)), "0.001 0.01 0.1 1");
        assert_eq!(logs((0.103, 0.985)), "0.2 0.5");
    }

    #[test]
    fn a_logarithmic_axis_gives_every_decade_the_same_room() {
        let frame = Frame { x: (0.01, 10.0), y: (0.0, 1.0), log: true };
        let decade = frame.x(0.1) - frame.x(0.01);
        assert!((frame.x(1.0) - frame.x(0.1) - decade).abs() < 1e-9);
        assert!((frame.x(10.0) - frame.x(1.0) - decade).abs() < 1e-9);
    }
}
