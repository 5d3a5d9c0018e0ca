//! A small line chart as SVG.

use std::fmt::Write as _;

/// Lines over one axis; values are shares from 0 to 1.
pub(super) struct Chart {
    pub(super) title: String,
    /// What the axis shows.
    pub(super) x: String,
    /// Words under the axis.
    pub(super) ticks: Vec<String>,
    /// Where they stand.
    pub(super) at: Vec<f64>,
    /// What tells the lines apart.
    pub(super) series: String,
    /// Name and values of each line.
    pub(super) lines: Vec<(String, Vec<f64>)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Left, top, right, bottom of the plot.
const BOX: [f64; 4] = [64.0, 48.0, 540.0, 350.0];
const COLOURS: [&str; 6] = ["#2563eb", "#e8590c", "#0d9488", "#9333ea", "#ca8a04", "#be185d"];

impl Chart {
    pub(super) fn svg(&self) -> String {
        let [left, top, right, bottom] = BOX;
        let (low, high) = self.at.iter().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(*x), b.max(*x)));
        let x = |v: f64| left + (right - left) * if high > low { (v - low) / (high - low) } else { 0.5 };
        let y = |v: f64| bottom - (bottom - top) * v;
        let mut s = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n<text x=\"{left}\" y=\"26\" font-size=\"15\">{}</text>\n",
            escape(&self.title)
        );
        for k in 0..=4 {
            let share = f64::from(k) / 4.0;
            let at = y(share);
            let _ = writeln!(
                s,
                "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#e2e8f0\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                at + 4.0,
                share
            );
        }
        // Words that would run into one another are left out.
        let every = self.ticks.len().div_ceil(10).max(1);
        for (word, at) in self.ticks.iter().zip(&self.at).step_by(every) {
            let at = x(*at);
            let _ = writeln!(
                s,
                "<line x1=\"{at:.1}\" y1=\"{bottom}\" x2=\"{at:.1}\" y2=\"{:.1}\" stroke=\"#64748b\"/>\n\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 5.0,
                bottom + 20.0,
                escape(word)
            );
        }
        let _ = writeln!(
            s,
            "<line x1=\"{left}\" y1=\"{bottom}\" x2=\"{right}\" y2=\"{bottom}\" stroke=\"#64748b\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#475569\">{}</text>",
            (left + right) / 2.0,
            bottom + 44.0,
            escape(&self.x),
            right + 24.0,
            top + 4.0,
            escape(last_word(&self.series))
        );
        for (k, (name, values)) in self.lines.iter().enumerate() {
            let colour = COLOURS[k % COLOURS.len()];
            let points: Vec<String> =
                self.at.iter().zip(values).map(|(a, v)| format!("{:.1},{:.1}", x(*a), y(*v))).collect();
            let _ = writeln!(
                s,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            for (a, v) in self.at.iter().zip(values) {
                let _ = writeln!(
                    s,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
                    x(*a),
                    y(*v)
                );
            }
            if !name.is_empty() {
                let at = top + 26.0 + 22.0 * k as f64;
                let _ = writeln!(
                    s,
                    "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"3\"/>\n<text x=\"{:.1}\" y=\"{at:.1}\">{}</text>",
                    right + 24.0,
                    at - 4.0,
                    right + 48.0,
                    at - 4.0,
                    right + 56.0,
                    escape(name)
                );
            }
        }
        s += "</svg>\n";
        s
    }
}

fn last_word(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
