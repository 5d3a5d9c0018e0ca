//! Registers for a program that runs elsewhere, where the parts behind them are not.
//!
//! In: the places of a map and a latched image. Out: what was poked there, as plain data that is laid over the registers
//! here. Ports are not in an image: whoever stands behind them there asks, or knows, what they answer.

use super::{Access, Behind, MOST_BAD, MOST_BYTES, Port, Register, RegisterFile, RegisterMap};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Where the bytes of a register are, and what may be done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Address of its first byte.
    pub at: u32,
    /// Bytes of one number: 1, 2 or 4.
    pub bytes: u32,
    /// Numbers in it.
    pub count: u32,
    /// What it reaches.
    pub reaches: Reaches,
}

/// What a register reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reaches {
    /// A reading.
    Reading,
    /// A command.
    Command,
    /// A port.
    Port,
}

/// What was done to a robot's registers in one quantum, but for ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pokes {
    /// Bytes that were poked: place in the image, and the last value.
    bytes: Vec<(u32, u8)>,
    /// Accesses that did less than they said.
    bad: Vec<Access>,
}

impl RegisterMap {
    /// Where its registers are.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let place = |r: &Register| Place {
            at: r.at,
            bytes: r.bytes,
            count: r.count,
            reaches: match r.behind {
                Behind::Reading => Reaches::Reading,
                Behind::Command => Reaches::Command,
                Behind::Port(_) => Reaches::Port,
            },
        };
        self.registers.iter().map(place).collect()
    }

    /// A map of registers at these places; `port` stands behind all ports. `None` for places that no map has.
    #[must_use]
    pub fn of_places(places: &[Place], port: impl Fn(&Place) -> Arc<dyn Port>) -> Option<RegisterMap> {
        let mut sorted = places.to_vec();
        sorted.sort_by_key(|p| p.at);
        let end = |p: &Place| u64::from(p.at) + u64::from(p.bytes) * u64::from(p.count);
        let is_sound = |p: &Place| [1, 2, 4].contains(&p.bytes) && p.at.is_multiple_of(p.bytes);
        let is_apart = sorted.windows(2).all(|two| end(&two[0]) <= u64::from(two[1].at));
        let bytes = sorted.iter().try_fold(0_u64, |sum, p| sum.checked_add(end(p) - u64::from(p.at)))?;
        if !sorted.iter().all(is_sound) || !is_apart || bytes > MOST_BYTES || sorted.len() as u64 > MOST_BYTES
        {
            return None;
        }
        let register = |p: &Place| Register {
            name: String::new(),
            at: p.at,
            bytes: p.bytes,
            count: p.count,
            signed: false,
            scale: 1.0,
            offset: 0.0,
            part: 0,
            first: 0,
            behind: match p.reaches {
                Reaches::Reading => Behind::Reading,
                Reaches::Command => Behind::Command,
                Reaches::Port => Behind::Port(port(p)),
            },
            unit: "",
            summary: "",
            image: 0,
        };
        Some(RegisterMap::new(sorted.iter().map(register).collect()))
    }
}

impl RegisterFile {
    /// Takes an image that was latched elsewhere for the same places; ports have no state. Tells whether it fits.
    #[must_use]
    pub fn show(&mut self, image: &[u8]) -> bool {
        let len = self.map.len;
        if image.len() != len {
            return false;
        }
        self.bad.clear();
        self.bytes[..len].copy_from_slice(image);
        self.bytes[len..2 * len].copy_from_slice(image);
        self.bytes[2 * len..].fill(0);
        self.bring_ports(|_| &[]);
        true
    }

    /// What was poked since the latch.
    #[must_use]
    pub fn pokes(&self) -> Pokes {
        let (written, poked) = self.bytes[self.map.len..].split_at(self.map.len);
        let bytes = written.iter().zip(poked).enumerate().filter(|(_, (_, poked))| **poked == 1);
        Pokes { bytes: bytes.map(|(k, (byte, _))| (k as u32, *byte)).collect(), bad: self.bad.clone() }
    }

    /// Lays over these registers what was poked elsewhere. Tells whether it fits; nothing has changed when not.
    #[must_use]
    pub fn take(&mut self, pokes: &Pokes) -> bool {
        let len = self.map.len;
        let is_command = |place: u32| (place as usize) < len && self.map.owner(place as usize).is_command();
        if pokes.bad.len() > MOST_BAD || !pokes.bytes.iter().all(|(place, _)| is_command(*place)) {
            return false;
        }
        for (place, byte) in &pokes.bytes {
            self.bytes[len + *place as usize] = *byte;
            self.bytes[2 * len + *place as usize] = 1;
        }
        self.bad.clone_from(&pokes.bad);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Seven;

    impl Port for Seven {
        fn read(&self, _: &mut [f64]) -> u32 {
            7
        }
        fn write(&self, _: &mut [f64], _: u32) {}
    }

    fn place(at: u32, bytes: u32, count: u32, reaches: Reaches) -> Place {
        Place { at, bytes, count, reaches }
    }

    fn file(places: &[Place]) -> Option<RegisterFile> {
        RegisterMap::of_places(places, |_| Arc::new(Seven)).map(|map| RegisterFile::new(Arc::new(map)))
    }

    #[test]
    fn what_is_poked_elsewhere_is_what_would_have_been_poked_here() {
        let places = [
            place(0x10, 1, 2, Reaches::Reading),
            place(0x12, 2, 1, Reaches::Command),
            place(0x20, 4, 1, Reaches::Port),
        ];
        let (mut here, mut there) = (file(&places).unwrap(), file(&places).unwrap());
        assert_eq!(here.map().places(), places);
        for registers in [&mut here, &mut there] {
            assert!(registers.show(&[1, 2, 3, 4, 0, 0, 0, 0]));
        }
        let work = |registers: &mut RegisterFile| {
            registers.poke(0x12, 2, 0xabcd);
            registers.poke(0x10, 1, 9);
            registers.peek(0x30, 4);
            (registers.peek(0x12, 2), registers.peek(0x20, 4))
        };
        assert_eq!(work(&mut there), (0x0403, 7));
        let pokes = there.pokes();
        let mut told = here.clone();
        assert!(told.take(&pokes));
        work(&mut here);
        let both =
            [here, told].map(|r| (r.bytes.clone(), r.bad().to_vec(), r.commands().collect::<Vec<_>>()));
        assert_eq!(both[0], both[1]);
        assert_eq!((both[0].1.len(), &both[0].2), (2, &vec![(0, 0, f64::from(0xabcd))]));
    }

    #[test]
    fn places_and_pokes_that_cannot_be_are_refused() {
        for wrong in [
            &[place(1, 2, 1, Reaches::Reading)][..],
            &[place(0, 3, 1, Reaches::Reading)],
            &[place(0, 4, 2, Reaches::Reading), place(4, 4, 1, Reaches::Port)],
            &[place(0, 4, u32::MAX, Reaches::Command)],
        ] {
            assert!(file(wrong).is_none(), "{wrong:?}");
        }
        let mut registers =
            file(&[place(0, 1, 1, Reaches::Reading), place(1, 1, 1, Reaches::Command)]).unwrap();
        assert!(!registers.show(&[1]) && registers.show(&[1, 2]));
        for wrong in [0, 2, u32::MAX] {
            assert!(!registers.take(&Pokes { bytes: vec![(1, 5), (wrong, 5)], bad: Vec::new() }));
        }
        assert_eq!(registers.commands().count(), 0);
    }
}
