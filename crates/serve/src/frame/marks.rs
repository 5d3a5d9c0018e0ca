//! What the parts draw: kinds 3 and 4.
//!
//! All marks of a message stand in three columns (what they are, their numbers, their words), so that ten
//! thousand robots with a dozen rays each are three pieces of memory and not a quarter of a million.

use super::wire::{Reader, Unreadable, Writer};
use super::{Head, MARKS, MARKS_SINCE, angle, base, length};
use std::collections::BTreeMap;
use swarmyard_part_api::{Mark, MarkShape};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Lines from point to point: x, y of each.
    Line = 0,
    /// A circle: x, y, radius.
    Circle = 1,
    /// A piece of a circle: x, y, radius, from, to.
    Arc = 2,
    /// Words: x, y of their beginning.
    Text = 3,
}

/// One mark, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// What is drawn.
    pub shape: Shape,
    /// Number of the part, as in the world's types.
    pub part: u32,
    /// Number of the channel it shows.
    pub channel: u32,
    /// Which number of that channel.
    pub index: u32,
    /// How many numbers it has.
    pub numbers: u32,
    /// How many bytes of words.
    pub text: u32,
}

/// The marks of one robot: `numbers` and `text` hold those of all labels one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RobotMarks<'a> {
    /// Number of the body.
    pub body: u32,
    /// Its marks.
    pub labels: &'a [Label],
    /// Their numbers, in units, in the body's frame.
    pub numbers: &'a [i64],
    /// Their words.
    pub text: &'a str,
}

impl RobotMarks<'_> {
    fn is_drawn_as(&self, other: &RobotMarks<'_>) -> bool {
        self.body == other.body && self.labels == other.labels && self.text == other.text
    }
}

/// Where the marks of one robot end in the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    body: u32,
    labels: usize,
    numbers: usize,
    text: usize,
}

/// The marks of some robots at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Which message, which moment.
    pub head: Head,
    robots: Vec<Ends>,
    labels: Vec<Label>,
    numbers: Vec<i64>,
    text: String,
}

impl Marks {
    /// No marks yet.
    #[must_use]
    pub fn new(head: Head) -> Marks {
        Marks { head, ..Marks::default() }
    }

    /// Begins the next robot: what is added from now on is its own.
    pub fn add_robot(&mut self, body: u32) {
        let (labels, numbers, text) = (self.labels.len(), self.numbers.len(), self.text.len());
        self.robots.push(Ends { body, labels, numbers, text });
    }

    /// Adds a mark to the robot that was begun last; without one it is left out.
    pub fn add(&mut self, part: u32, channel: u32, mark: &Mark) {
        if self.robots.is_empty() {
            return;
        }
        let (numbers, text) = (self.numbers.len(), self.text.len());
        let shape = match &mark.shape {
            MarkShape::Line(points) => {
                self.numbers.extend(points.iter().flat_map(|p| [length(p.x), length(p.y)]));
                Shape::Line
            }
            MarkShape::Circle { centre, radius } => {
                self.numbers.extend([length(centre.x), length(centre.y), length(*radius)]);
                Shape::Circle
            }
            MarkShape::Arc { centre, radius, from, to } => {
                let round = [length(centre.x), length(centre.y), length(*radius)];
                self.numbers.extend(round);
                self.numbers.extend([angle(*from), angle(*to)]);
                Shape::Arc
            }
            MarkShape::Text { at, text } => {
                self.numbers.extend([length(at.x), length(at.y)]);
                self.text.push_str(text);
                Shape::Text
            }
        };
        self.labels.push(Label {
            shape,
            part,
            channel,
            index: mark.index as u32,
            numbers: (self.numbers.len() - numbers) as u32,
            text: (self.text.len() - text) as u32,
        });
        self.close();
    }

    /// Moves the end of the last robot to the end of the columns.
    fn close(&mut self) {
        if let Some(last) = self.robots.last_mut() {
            (last.labels, last.numbers, last.text) = (self.labels.len(), self.numbers.len(), self.text.len());
        }
    }

    /// Number of robots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.robots.len()
    }

    /// Whether it shows no robot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.robots.is_empty()
    }

    /// The robots, in the order in which they were added.
    pub fn robots(&self) -> impl Iterator<Item = RobotMarks<'_>> {
        (0..self.robots.len()).filter_map(|k| self.robot(k))
    }

    fn robot(&self, k: usize) -> Option<RobotMarks<'_>> {
        let end = self.robots.get(k)?;
        let start = if k == 0 { Ends::default() } else { self.robots[k - 1] };
        Some(RobotMarks {
            body: end.body,
            labels: &self.labels[start.labels..end.labels],
            numbers: &self.numbers[start.numbers..end.numbers],
            text: &self.text[start.text..end.text],
        })
    }

    /// The marks of these bodies alone, in this order.
    #[must_use]
    pub fn only(&self, bodies: &[u32]) -> Marks {
        let places: BTreeMap<u32, usize> = self.robots.iter().enumerate().map(|(k, r)| (r.body, k)).collect();
        let mut marks = Marks::new(self.head);
        for robot in bodies.iter().filter_map(|body| self.robot(*places.get(body)?)) {
            marks.add_robot(robot.body);
            marks.labels.extend_from_slice(robot.labels);
            marks.numbers.extend_from_slice(robot.numbers);
            marks.text.push_str(robot.text);
            marks.close();
        }
        marks
    }

    /// The message by itself.
    #[must_use]
    pub fn encode_full(&self) -> Vec<u8> {
        let mut w = Writer::with_room(64 + self.labels.len() * 4 + self.numbers.len() * 3);
        self.head.put(&mut w, MARKS, None);
        w.whole(self.robots.len() as u64);
        for robot in self.robots() {
            put_robot(&mut w, robot);
        }
        w.0
    }

    /// The message as differences; none when `earlier` belongs to another world.
    #[must_use]
    pub fn encode_since(&self, earlier: &Marks) -> Option<Vec<u8>> {
        if earlier.head.revision != self.head.revision {
            return None;
        }
        let mut w = Writer::with_room(64 + self.numbers.len() * 2);
        self.head.put(&mut w, MARKS_SINCE, Some(earlier.head.serial));
        w.whole(self.robots.len() as u64);
        for (k, robot) in self.robots().enumerate() {
            match earlier.robot(k).filter(|before| robot.is_drawn_as(before)) {
                Some(before) => {
                    w.byte(0);
                    for (now, before) in robot.numbers.iter().zip(before.numbers) {
                        w.signed(now - before);
                    }
                }
                None => {
                    w.byte(1);
                    put_robot(&mut w, robot);
                }
            }
        }
        Some(w.0)
    }

    /// Reads either message; `earlier` is the one of this sort that came before it.
    ///
    /// # Errors
    /// When the bytes are no such message, or build on another than `earlier`.
    pub fn decode(bytes: &[u8], earlier: Option<&Marks>) -> Result<Marks, Unreadable> {
        let mut r = Reader::new(bytes);
        let builds_on = match r.byte()? {
            MARKS => false,
            MARKS_SINCE => true,
            _ => return Err(Unreadable { at: 0, what: "the message does not hold marks" }),
        };
        let (head, since) = Head::take(&mut r, builds_on)?;
        let earlier = base(&r, earlier, |e: &Marks| e.head, (head, since))?;
        let mut marks = Marks::new(head);
        for k in 0..r.count(1)? {
            match if builds_on { r.byte()? } else { 1 } {
                0 => {
                    let same = earlier.and_then(|e| e.robot(k));
                    marks.take_moved(&mut r, same)?;
                }
                1 => marks.take_robot(&mut r)?,
                _ => return Err(r.wrong("a robot's marks are neither moved nor new")),
            }
        }
        r.end()?;
        Ok(marks)
    }

    /// The marks of a robot as before, with other numbers.
    fn take_moved(&mut self, r: &mut Reader<'_>, before: Option<RobotMarks<'_>>) -> Result<(), Unreadable> {
        let Some(before) = before else {
            return Err(r.wrong("a robot's marks move that were not there before"));
        };
        self.add_robot(before.body);
        self.labels.extend_from_slice(before.labels);
        self.text.push_str(before.text);
        for &number in before.numbers {
            self.numbers.push(r.measure(number)?);
        }
        self.close();
        Ok(())
    }

    fn take_robot(&mut self, r: &mut Reader<'_>) -> Result<(), Unreadable> {
        let body = r.small()?;
        self.add_robot(body);
        for _ in 0..r.count(5)? {
            let shape = match r.byte()? {
                0 => Shape::Line,
                1 => Shape::Circle,
                2 => Shape::Arc,
                3 => Shape::Text,
                _ => return Err(r.wrong("a mark has no known shape")),
            };
            let (part, channel, index) = (r.small()?, r.small()?, r.small()?);
            let numbers = match shape {
                Shape::Line => 2 * r.count(2)?,
                Shape::Circle => 3,
                Shape::Arc => 5,
                Shape::Text => 2,
            };
            for _ in 0..numbers {
                self.numbers.push(r.measure(0)?);
            }
            let mut text = 0;
            if shape == Shape::Text {
                text = r.count(1)?;
                let words = str::from_utf8(r.bytes(text)?).map_err(|_| r.wrong("words are not UTF-8"))?;
                self.text.push_str(words);
            }
            let (numbers, text) = (numbers as u32, text as u32);
            self.labels.push(Label { shape, part, channel, index, numbers, text });
        }
        self.close();
        Ok(())
    }
}

fn put_robot(w: &mut Writer, robot: RobotMarks<'_>) {
    w.whole(robot.body.into());
    w.whole(robot.labels.len() as u64);
    let (mut numbers, mut text) = (robot.numbers, robot.text);
    for label in robot.labels {
        w.byte(label.shape as u8);
        for number in [label.part, label.channel, label.index] {
            w.whole(number.into());
        }
        if label.shape == Shape::Line {
            w.whole((label.numbers / 2).into());
        }
        let own;
        (own, numbers) = numbers.split_at(label.numbers as usize);
        for &number in own {
            w.signed(number);
        }
        if label.shape == Shape::Text {
            let own;
            (own, text) = text.split_at(label.text as usize);
            w.whole(own.len() as u64);
            w.bytes(own.as_bytes());
        }
    }
}
