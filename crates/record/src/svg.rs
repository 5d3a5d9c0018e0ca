//! A whole run as one picture: where everybody went, and where they met.
//!
//! In: a recording. Out: a self-contained SVG, y up, at most about three megabytes whatever the
//! number of robots: trails are thinned, and of very many robots only some are drawn. Where the world
//! changed it is drawn as it was at the end, with the whole way of those who are in it then.

mod ink;
mod view;

use crate::bodies::{Bodies, Shape};
use crate::error::RecordError;
use crate::events::Event;
use crate::recording::Recording;
use ink::{Ink, escape};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write;
use swarmyard_base::math;
use view::{View, nice};

/// Points of all trails together.
const TRAIL_POINTS: usize = 120_000;
/// Points of one trail.
const TRAIL_MOST: usize = 4_000;
/// Bodies that are drawn; of more, every so many.
const MAX_DRAWN: usize = 8_000;
/// Up to this many bodies also their starts are drawn.
const MAX_STARTS: usize = 1_500;
/// Contact marks of one kind.
const MAX_MARKS: usize = 20_000;
/// Edges of walls and fixed obstacles.
const MAX_EDGES: usize = 20_000;
/// Beacons that are drawn.
const MAX_BEACONS: usize = 2_000;
/// A lighthouse that stands on the place of its beacon: tower, gallery, lamp and roof.
const LAMP: &str = "M-3.4 4L-2 -4H-3V-5.5H-2V-9L0 -11.5L2 -9V-5.5H3V-4H2L3.4 4z";
/// Pieces of a trail, from faint to strong.
const FADE: [f64; 5] = [0.16, 0.28, 0.42, 0.6, 0.85];

/// Writes the run as a picture.
///
/// # Errors
/// When the recording cannot be read or the picture cannot be written.
pub fn to_svg(recording: &Recording, out: &mut impl Write) -> Result<(), RecordError> {
    let run = Run::read(recording)?;
    let picture = draw(recording, &run);
    out.write_all(picture.as_bytes()).map_err(RecordError::Export)
}

/// One body that is drawn.
struct Drawn {
    /// Number of its type.
    ty: usize,
    /// Where it was first; it may have come later than others.
    start: Option<[f32; 3]>,
    end: [f32; 3],
    trail: Vec<[f32; 2]>,
}

/// Where the bodies that are drawn stand in each frame: those of the last frame, by path.
struct Places<'a> {
    recording: &'a Recording,
    every: usize,
    last: usize,
    era: Option<usize>,
    of: Vec<Option<usize>>,
}

impl Places<'_> {
    fn of(&mut self, frame: usize) -> &[Option<usize>] {
        let era = self.recording.era_of(frame);
        if self.era.replace(era) != Some(era) {
            let drawn = self.recording.bodies_of(self.last);
            self.of = if era == self.recording.era_of(self.last) {
                (0..drawn.len()).step_by(self.every).map(Some).collect()
            } else {
                let there = self.recording.bodies_of(frame).paths().enumerate();
                let there: BTreeMap<String, usize> = there.map(|(k, path)| (path, k)).collect();
                drawn.paths().step_by(self.every).map(|path| there.get(&path).copied()).collect()
            };
        }
        &self.of
    }
}

/// What is drawn.
struct Run {
    bodies: Vec<Drawn>,
    /// Contact points by kind, and how many were recorded one by one.
    contacts: [(Vec<[f64; 2]>, u64); 3],
    /// Contacts that were only counted.
    more: u64,
}

/// Kinds of contacts: the word in the recording, the words in the legend, the colour.
const KINDS: [(&str, &str, &str); 3] = [
    ("robot", "with a robot", "#dc2626"),
    ("wall", "with a wall", "#d97706"),
    ("obstacle", "with an obstacle", "#7c3aed"),
];

impl Run {
    /// Whether starts are drawn: in a crowd they would only add to it.
    fn has_starts(&self) -> bool {
        self.bodies.len() <= MAX_STARTS
    }

    fn read(recording: &Recording) -> Result<Run, RecordError> {
        let mut run = Run { bodies: Vec::new(), contacts: Default::default(), more: 0 };
        if let Some(last) = recording.len().checked_sub(1) {
            run.read_frames(recording, last)?;
        }
        run.read_contacts(recording);
        Ok(run)
    }

    fn read_frames(&mut self, recording: &Recording, last: usize) -> Result<(), RecordError> {
        let bodies = recording.bodies_of(last);
        let every = bodies.len().div_ceil(MAX_DRAWN).max(1);
        let last_frame = recording.frame(last)?;
        for (ty, range) in bodies.ranges().into_iter().enumerate() {
            for k in range.filter(|k| k % every == 0) {
                let end = last_frame.poses[k];
                self.bodies.push(Drawn { ty, start: None, end, trail: Vec::new() });
            }
        }
        let mut places = Places { recording, every, last, era: None, of: Vec::new() };
        let points = (TRAIL_POINTS / self.bodies.len().max(1)).clamp(2, TRAIL_MOST).min(last + 1);
        for p in 0..points {
            let k = if points > 1 { p * last / (points - 1) } else { 0 };
            let frame = recording.frame(k)?;
            let poses = places.of(k).iter().map(|place| place.and_then(|p| frame.poses.get(p)));
            for (body, pose) in self.bodies.iter_mut().zip(poses) {
                let Some(pose) = pose else { continue };
                body.start.get_or_insert(*pose);
                if pose[0].is_finite() && pose[1].is_finite() {
                    body.trail.push([pose[0], pose[1]]);
                }
            }
        }
        Ok(())
    }

    /// Events that cannot be read are left out: a picture without some marks is better than none.
    fn read_contacts(&mut self, recording: &Recording) {
        for event in recording.events().filter_map(Result::ok).flat_map(|e| e.events) {
            let c = match event {
                Event::Contact(c) => c,
                Event::MoreContacts { count } => {
                    self.more = self.more.saturating_add(count);
                    continue;
                }
                _ => continue,
            };
            let Some(kind) = KINDS.iter().position(|k| k.0 == c.with) else { continue };
            let (points, count) = &mut self.contacts[kind];
            *count += 1;
            if points.len() < 4 * MAX_MARKS && c.x.is_finite() && c.y.is_finite() {
                points.push([c.x, c.y]);
            }
        }
    }
}

fn draw(recording: &Recording, run: &Run) -> String {
    let bodies = recording.bodies_of(recording.len().saturating_sub(1));
    let points = run.bodies.iter().flat_map(|b| b.trail.iter().map(|p| [f64::from(p[0]), f64::from(p[1])]));
    let reach = bodies.types.iter().map(|t| reach(&t.outline)).fold(0.0, math::max);
    let view = View::new(bodies, points, reach);
    let ink = Ink::new(bodies);
    let mut out = String::new();
    view.open(&mut out, &title(recording));
    symbols(&mut out, run, bodies, &view);
    view.floor(&mut out);
    let _ = writeln!(out, r#"<g clip-path="url(#floor)">"#);
    tracks(&mut out, bodies, &view);
    lights(&mut out, bodies, &view);
    fixed(&mut out, bodies, &view);
    trails(&mut out, run, bodies, &view, &ink);
    poses(&mut out, run, bodies, &ink, &view);
    lamps(&mut out, bodies, &view);
    marks(&mut out, run, &view);
    out.push_str("</g>\n");
    view.frame(&mut out);
    words(&mut out, recording, run, &view, &ink);
    out.push_str("</svg>\n");
    out
}

fn title(recording: &Recording) -> String {
    let header = recording.header();
    let name = if header.title.is_empty() { &header.scenario } else { &header.title };
    escape(if name.is_empty() { "A run" } else { name })
}

fn reach(shape: &Shape) -> f64 {
    let far = |c: &[f64; 2]| swarmyard_base::math::hypot(c[0], c[1]);
    let reach = shape.corners.iter().map(far).fold(0.0, math::max) + shape.round;
    if reach.is_finite() { reach } else { 0.0 }
}

/// One symbol per type, heading to the right; small ones are enlarged until they can be seen.
fn symbols(out: &mut String, run: &Run, bodies: &Bodies, view: &View) {
    out.push_str("<defs>\n");
    let drawn: BTreeSet<usize> = run.bodies.iter().map(|b| b.ty).collect();
    for t in drawn {
        let ty = &bodies.types[t];
        let size = math::max(reach(&ty.outline), 1e-9);
        let scale = view.scale * math::max(2.2 / (size * view.scale), 1.0);
        let line = (0.16 * size * scale).clamp(0.6, 2.0);
        let _ = write!(out, r#"<g id="b{t}" stroke-width="{line:.2}" stroke-linejoin="round">"#);
        let front = if let [_] = ty.outline.corners[..] {
            let _ = write!(out, r#"<circle r="{:.2}"/>"#, ty.outline.round * scale);
            ty.outline.round
        } else {
            out.push_str(r#"<path d=""#);
            for (k, c) in ty.outline.corners.iter().enumerate() {
                let _ =
                    write!(out, "{}{:.2} {:.2}", if k == 0 { "M" } else { "L" }, c[0] * scale, -c[1] * scale);
            }
            out.push_str(r#"z"/>"#);
            ty.outline.corners.iter().map(|c| c[0]).fold(0.0, math::max)
        };
        if ty.kind == "robot" {
            let _ =
                write!(out, r#"<path d="M0 0H{:.2}" stroke-linecap="round" fill="none"/>"#, front * scale);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</defs>\n");
}

fn tracks(out: &mut String, bodies: &Bodies, view: &View) {
    for track in bodies.tracks.iter().take(2_000) {
        let dark = 0xe6 - (track.reflectivity.clamp(0.0, 1.0) * 30.0) as u8;
        let colour = format!("#{dark:02x}{dark:02x}{:02x}", dark - 12);
        let mut d = String::new();
        for (k, p) in track.points.iter().take(10_000).enumerate() {
            let (x, y) = view.px(*p);
            let _ = write!(d, "{}{x:.1} {y:.1}", if k == 0 { "M" } else { "L" });
        }
        let _ = match track.width {
            Some(width) => writeln!(
                out,
                r#"<path d="{d}" fill="none" stroke="{colour}" stroke-width="{:.1}" stroke-linejoin="round" stroke-linecap="round"/>"#,
                (width * view.scale).clamp(1.0, 400.0)
            ),
            None => writeln!(out, r#"<path d="{d}z" fill="{colour}"/>"#),
        };
    }
}

/// The light of each beacon: a pale cone as far as it is seen, or a circle.
fn lights(out: &mut String, bodies: &Bodies, view: &View) {
    for beacon in bodies.beacons.iter().take(MAX_BEACONS) {
        let [x, y, heading] = beacon.pose;
        let (px, py) = view.px([x, y]);
        let radius = (beacon.range * view.scale).clamp(1.0, 1e5);
        let style =
            r##"fill="#facc15" fill-opacity=".13" stroke="#eab308" stroke-opacity=".45" stroke-width=".8""##;
        let half = beacon.aperture / 2.0;
        if !(half > 0.0 && half < std::f64::consts::PI - 1e-6) {
            let _ = writeln!(out, r#"<circle cx="{px:.1}" cy="{py:.1}" r="{radius:.1}" {style}/>"#);
            continue;
        }
        let rim = |angle: f64| {
            let (s, c) = swarmyard_base::math::sin_cos(angle);
            (px + radius * c, py - radius * s)
        };
        let ((ax, ay), (bx, by)) = (rim(heading - half), rim(heading + half));
        let large = u8::from(half > std::f64::consts::FRAC_PI_2);
        let _ = writeln!(
            out,
            r#"<path d="M{px:.1} {py:.1}L{ax:.1} {ay:.1}A{radius:.1} {radius:.1} 0 {large} 0 {bx:.1} {by:.1}z" {style}/>"#
        );
    }
}

/// Each beacon as a little lighthouse with its code.
fn lamps(out: &mut String, bodies: &Bodies, view: &View) {
    for beacon in bodies.beacons.iter().take(MAX_BEACONS) {
        let (x, y) = view.px([beacon.pose[0], beacon.pose[1]]);
        let _ = writeln!(
            out,
            r##"<g transform="translate({x:.1} {y:.1})scale(1.25)"><path d="{LAMP}" fill="#ca8a04" stroke="#fff" stroke-width=".9" stroke-linejoin="round"/><text x="8" y="-5" font-size="11" font-weight="600" fill="#854d0e">{}</text></g>"##,
            beacon.id
        );
    }
}

/// Walls as lines, fixed obstacles as areas.
fn fixed(out: &mut String, bodies: &Bodies, view: &View) {
    let mut paths = [String::new(), String::new()];
    let mut last: Option<(u32, [f64; 2])> = None;
    for edge in bodies.edges.iter().take(MAX_EDGES) {
        let d = &mut paths[usize::from(edge.kind == "obstacle")];
        if last != Some((edge.owner, edge.a)) {
            let (x, y) = view.px(edge.a);
            let _ = write!(d, "M{x:.1} {y:.1}");
        }
        let (x, y) = view.px(edge.b);
        let _ = write!(d, "L{x:.1} {y:.1}");
        last = Some((edge.owner, edge.b));
    }
    let [walls, obstacles] = paths;
    let style = r##"stroke="#334155" stroke-linecap="round" stroke-linejoin="round""##;
    if !obstacles.is_empty() {
        let _ = writeln!(out, r##"<path d="{obstacles}" fill="#cbd5e1" {style} stroke-width="1.2"/>"##);
    }
    if !walls.is_empty() {
        let _ = writeln!(out, r#"<path d="{walls}" fill="none" {style} stroke-width="3"/>"#);
    }
}

/// One path per colour and piece: within a path overlaps do not add up, so crowds stay readable.
fn trails(out: &mut String, run: &Run, bodies: &Bodies, view: &View, ink: &Ink) {
    let drawn = run.bodies.len().max(1) as f64;
    let widest = bodies.types.iter().map(|t| reach(&t.outline)).fold(0.0, math::max) * view.scale;
    let width = (0.3 * widest).clamp(0.8, 2.6) * if drawn > 300.0 { 0.8 } else { 1.0 };
    let strength = if drawn > 300.0 { 0.75 } else { 1.0 };
    let mut paths: Vec<[String; FADE.len()]> = vec![Default::default(); ink.len()];
    for (k, body) in run.bodies.iter().enumerate() {
        let colour = ink.number(k, body.ty);
        let line = view.polyline(&body.trail);
        for (piece, d) in paths[colour].iter_mut().enumerate() {
            let (from, to) = (piece * line.len() / FADE.len(), (piece + 1) * line.len() / FADE.len());
            // Pieces overlap by a point, so that they join.
            view::path(d, &line[from..(to + 1).min(line.len())]);
        }
    }
    let _ = writeln!(
        out,
        r#"<g transform="scale(.1)" fill="none" stroke-width="{:.1}" stroke-linejoin="round" stroke-linecap="butt">"#,
        10.0 * width
    );
    for (piece, opacity) in FADE.iter().enumerate() {
        for (colour, pieces) in paths.iter().enumerate().filter(|(_, p)| !p[piece].is_empty()) {
            let (colour, opacity) = (ink.colour(colour), opacity * strength);
            let _ = writeln!(
                out,
                r#"<path d="{}" stroke="{colour}" stroke-opacity="{opacity:.2}"/>"#,
                pieces[piece]
            );
        }
    }
    out.push_str("</g>\n");
}

/// Starts as hollow outlines, ends as filled ones; both with a line towards the front.
fn poses(out: &mut String, run: &Run, bodies: &Bodies, ink: &Ink, view: &View) {
    let place = |out: &mut String, ty: usize, pose: [f32; 3], style: &str| {
        if pose.iter().all(|v| v.is_finite()) {
            let (x, y) = view.px([f64::from(pose[0]), f64::from(pose[1])]);
            let turn = -f64::from(pose[2]).to_degrees();
            let _ = writeln!(
                out,
                r##"<use href="#b{ty}" transform="translate({x:.1} {y:.1})rotate({turn:.0})"{style}/>"##
            );
        }
    };
    let moved = |b: &Drawn| b.start.is_some_and(|start| start[..2] != b.end[..2]);
    if run.has_starts() {
        out.push_str("<g fill=\"none\" stroke-opacity=\".55\">\n");
        for (k, body) in run.bodies.iter().enumerate().filter(|(_, b)| moved(b)) {
            place(
                out,
                body.ty,
                body.start.unwrap_or(body.end),
                &format!(r#" stroke="{}""#, ink.of(k, body.ty)),
            );
        }
        out.push_str("</g>\n");
    }
    for (k, body) in run.bodies.iter().enumerate() {
        let ty = &bodies.types[body.ty];
        let style = match ty.kind.as_str() {
            // A white line needs room to be seen; without, it would only make the body smaller.
            "robot" if reach(&ty.outline) * view.scale < 3.0 => format!(r#" fill="{}""#, ink.of(k, body.ty)),
            "robot" => format!(r##" fill="{}" stroke="#fff""##, ink.of(k, body.ty)),
            _ => r##" fill="#cbd5e1" stroke="#475569""##.to_owned(),
        };
        place(out, body.ty, body.end, &style);
    }
}

/// Contacts as dots; many at one place are one.
fn marks(out: &mut String, run: &Run, view: &View) {
    for ((points, _), (_, _, colour)) in run.contacts.iter().zip(KINDS) {
        let cells: BTreeSet<(i32, i32)> =
            points.iter().map(|p| view.tenths(*p)).map(|(x, y)| (x / 12, y / 12)).collect();
        if cells.is_empty() {
            continue;
        }
        let every = cells.len().div_ceil(MAX_MARKS);
        let mut d = String::new();
        for (x, y) in cells.iter().step_by(every) {
            let _ = write!(d, "M{} {}h0", x * 12 + 6, y * 12 + 6);
        }
        let (width, opacity) = if cells.len() > 500 { (24, 0.5) } else { (40, 0.75) };
        let _ = writeln!(
            out,
            r#"<path transform="scale(.1)" d="{d}" stroke="{colour}" stroke-width="{width}" stroke-opacity="{opacity}" stroke-linecap="round"/>"#
        );
    }
}

/// Title, counts, scale bar and legend.
fn words(out: &mut String, recording: &Recording, run: &Run, view: &View, ink: &Ink) {
    let bodies = recording.bodies_of(recording.len().saturating_sub(1));
    let end = recording.end();
    let time = end.map(|e| e.time).or(recording.hashes().last().map(|m| m.time)).unwrap_or_default();
    let seen = run.contacts.iter().fold(run.more, |sum, c| sum.saturating_add(c.1));
    let contacts = end.map_or(seen, |e| e.contacts);
    let one = |n: u64, word: &str| format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" });
    let mut line = format!(
        "{} · {time} simulated · {} · seed {}",
        one(bodies.robots() as u64, "robot"),
        one(contacts, "contact"),
        recording.header().seed
    );
    if end.is_none() {
        line.push_str(" · cut off");
    }
    if run.bodies.len() < bodies.len() {
        let _ = write!(line, " · {} drawn", grouped(run.bodies.len() as u64));
    }
    view.heading(out, &title(recording), &line);
    let bar = nice(140.0 / view.scale);
    view.scale_bar(out, bar);
    let mut entries: Vec<(String, String)> = Vec::new();
    for (t, ty) in bodies.types.iter().enumerate().filter(|(_, t)| t.kind == "robot").take(5) {
        let (r, c) = (ink.of_type(t), escape(&ty.name));
        entries
            .push((format!(r#"<circle r="5" cx="5" fill="{r}"/>"#), format!("{c} × {}", grouped(ty.count))));
    }
    if !bodies.beacons.is_empty() {
        let lamp = format!(r##"<path transform="translate(5 2.5)scale(.85)" d="{LAMP}" fill="#ca8a04"/>"##);
        entries.push((lamp, format!("beacon × {}", grouped(bodies.beacons.len() as u64))));
    }
    let hollow = r##"<circle r="4.5" cx="5" fill="none" stroke="#64748b" stroke-width="1.5"/>"##;
    if run.has_starts() {
        entries.push((hollow.to_owned(), "start".to_owned()));
    }
    for ((_, count), (_, text, colour)) in run.contacts.iter().zip(KINDS).filter(|(c, _)| c.1 > 0) {
        // When some were only counted, nobody knows of which kind they were.
        let text = if run.more > 0 {
            format!("contact {text}")
        } else {
            format!("{} {text}", one(*count, "contact"))
        };
        entries.push((format!(r#"<circle r="3" cx="5" fill="{colour}"/>"#), text));
    }
    view.legend(out, &entries);
}

/// A number with thin spaces between its thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}
