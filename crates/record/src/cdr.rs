//! ROS 2 messages as bytes: CDR, little endian. Alignment counts from after the four-byte head.

use swarmyard_base::{Pose3, Time, Twist2};

/// A message being written.
#[derive(Default)]
pub(crate) struct Cdr(Vec<u8>);

impl Cdr {
    /// Empties the buffer and writes the encapsulation header: CDR, little endian, no options.
    pub(crate) fn start(&mut self) -> &mut Cdr {
        self.0.clear();
        self.0.extend_from_slice(&[0, 1, 0, 0]);
        self
    }

    /// The message so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn align(&mut self, to: usize) {
        let past = (self.0.len() - 4) % to;
        if past != 0 {
            self.0.resize(self.0.len() + to - past, 0);
        }
    }

    pub(crate) fn u8(&mut self, v: u8) -> &mut Cdr {
        self.0.push(v);
        self
    }

    pub(crate) fn u32(&mut self, v: u32) -> &mut Cdr {
        self.align(4);
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    pub(crate) fn f32(&mut self, v: f64) -> &mut Cdr {
        self.align(4);
        self.0.extend_from_slice(&(v as f32).to_le_bytes());
        self
    }

    pub(crate) fn f64(&mut self, v: f64) -> &mut Cdr {
        self.align(8);
        self.0.extend_from_slice(&v.to_le_bytes());
        self
    }

    pub(crate) fn f64s(&mut self, values: &[f64]) -> &mut Cdr {
        for v in values {
            self.f64(*v);
        }
        self
    }

    /// Length with the final zero, the text, the zero.
    pub(crate) fn text(&mut self, text: &str) -> &mut Cdr {
        self.u32(text.len() as u32 + 1);
        self.0.extend_from_slice(text.as_bytes());
        self.u8(0)
    }

    /// `std_msgs/Header`.
    pub(crate) fn header(&mut self, now: Time, frame: &str) -> &mut Cdr {
        let (s, ns) = (now.0.div_euclid(1_000_000_000), now.0.rem_euclid(1_000_000_000));
        // The stamp's seconds have 32 bits; runs past 68 years keep the last of them.
        self.u32(i32::try_from(s).unwrap_or(i32::MAX).cast_unsigned()).u32(ns as u32).text(frame)
    }

    /// `nav_msgs/Odometry`.
    pub(crate) fn odometry(&mut self, now: Time, child: &str, pose: Pose3, twist: Twist2) {
        const EXACT: [f64; 36] = [0.0; 36];
        self.start().header(now, WORLD).text(child);
        self.f64s(&pose.position).f64s(&pose.quaternion_xyzw).f64s(&EXACT);
        self.f64s(&[twist.forward, twist.left, 0.0, 0.0, 0.0, twist.spin]).f64s(&EXACT);
    }

    /// `tf2_msgs/TFMessage`.
    pub(crate) fn transforms<'a>(&mut self, now: Time, all: impl ExactSizeIterator<Item = (&'a str, Pose3)>) {
        self.start().u32(all.len() as u32);
        for (child, pose) in all {
            self.header(now, WORLD).text(child).f64s(&pose.position).f64s(&pose.quaternion_xyzw);
        }
    }

    /// `sensor_msgs/LaserScan`.
    pub(crate) fn scan(
        &mut self,
        now: Time,
        frame: &str,
        angles: (f64, f64),
        limits: (f64, f64),
        ranges: &[f64],
    ) {
        let (first, step) = angles;
        let last = first + step * ranges.len().saturating_sub(1) as f64;
        self.start().header(now, frame).f32(first).f32(last).f32(step).f32(0.0).f32(0.0);
        self.f32(limits.0).f32(limits.1).u32(ranges.len() as u32);
        for range in ranges {
            self.f32(*range);
        }
        self.u32(0);
    }

    /// `sensor_msgs/Range`.
    pub(crate) fn range(&mut self, now: Time, frame: &str, limits: (f64, f64), range: f64) {
        const INFRARED: u8 = 1;
        self.start().header(now, frame).u8(INFRARED).f32(0.0).f32(limits.0).f32(limits.1).f32(range);
    }

    /// `std_msgs/Float64MultiArray`; the channels are its labelled dimensions.
    pub(crate) fn numbers(&mut self, channels: &[(&str, usize)], values: &[f64]) {
        self.start().u32(channels.len() as u32);
        for (name, len) in channels {
            self.text(name).u32(*len as u32).u32(*len as u32);
        }
        self.u32(0).u32(values.len() as u32).f64s(values);
    }
}

/// The frame everything stands in.
pub(crate) const WORLD: &str = "world";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_from_after_the_head() {
        let mut cdr = Cdr::default();
        cdr.start().u8(7).f64(1.0);
        assert_eq!(cdr.bytes().len(), 4 + 8 + 8);
        assert_eq!(&cdr.bytes()[..5], &[0, 1, 0, 0, 7]);
        assert_eq!(&cdr.bytes()[12..], &1.0_f64.to_le_bytes());
    }

    #[test]
    fn texts_carry_their_length_and_a_zero() {
        let mut cdr = Cdr::default();
        cdr.start().text("ab").u32(1);
        assert_eq!(cdr.bytes(), [0, 1, 0, 0, 3, 0, 0, 0, b'a', b'b', 0, 0, 1, 0, 0, 0]);
    }
}
