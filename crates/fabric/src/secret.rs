//! What only the members of a run know, and the seals that are made with it.
//!
//! In: a secret and bytes. Out: 64 bits that nobody can find who does not know the secret, however many seals of other bytes
//! he has seen; so who may listen to a run and has no part in it can change nothing.
//!
//! How: every kilobyte is folded to 16 bytes by sums of products with a secret key (the hash NH of the code UMAC, with words of
//! 64 bits: two different blocks meet in one case of 2⁶⁴), and what is left goes through SipHash-2-4, under another key. Folding
//! takes a multiplication for 16 bytes, so a seal is no slower than a checksum.

use std::sync::Arc;

/// Bytes of a secret.
pub const SECRET_BYTES: usize = 16;
/// Words that are folded into one.
const BLOCK: usize = 128;

/// A run, as its members know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey {
    /// Its number, which everybody may know.
    pub number: u64,
    /// What only its members know.
    pub secret: Secret,
}

impl From<u64> for RunKey {
    /// A run whose secret everybody knows: its seals are checksums.
    fn from(number: u64) -> RunKey {
        RunKey { number, secret: Secret::default() }
    }
}

/// What only the members of a run know.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<Keys>);

#[derive(PartialEq, Eq)]
struct Keys {
    fold: [u64; BLOCK],
    sign: [u64; 2],
}

impl Default for Secret {
    /// The one that everybody knows.
    fn default() -> Secret {
        Secret::of([0; SECRET_BYTES])
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The secret with these bytes, which should be as good as random.
    #[must_use]
    pub fn of(bytes: [u8; SECRET_BYTES]) -> Secret {
        let (words, _) = bytes.as_chunks::<8>();
        let root = [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])];
        let derived = |k: u64| Sip::new(root).with(k).end(8);
        let fold = std::array::from_fn(|k| derived(k as u64));
        Secret(Arc::new(Keys { fold, sign: [derived(BLOCK as u64), derived(BLOCK as u64 + 1)] }))
    }

    /// The seal of these pieces. Where one ends and the next begins counts.
    #[must_use]
    pub fn seal(&self, pieces: &[&[u8]]) -> u64 {
        let (mut sip, mut words) = (Sip::new(self.0.sign), 0_usize);
        for piece in pieces {
            sip = sip.with(piece.len() as u64);
            words += 1;
            for block in piece.chunks(8 * BLOCK) {
                let folded = self.fold(block);
                sip = sip.with(folded as u64).with((folded >> 64) as u64);
                words += 2;
            }
        }
        sip.end(8 * words)
    }

    /// Folds at most a block; what is missing of the last pair of words counts as zeros.
    fn fold(&self, block: &[u8]) -> u128 {
        let (pairs, rest) = block.as_chunks::<16>();
        let (keys, _) = self.0.fold.as_chunks::<2>();
        let product = |pair: &[u8; 16], key: &[u64; 2]| {
            let (words, _) = pair.as_chunks::<8>();
            let one = u64::from_le_bytes(words[0]).wrapping_add(key[0]);
            let other = u64::from_le_bytes(words[1]).wrapping_add(key[1]);
            u128::from(one) * u128::from(other)
        };
        let mut sum = pairs.iter().zip(keys).fold(0_u128, |sum, (p, k)| sum.wrapping_add(product(p, k)));
        if !rest.is_empty() {
            let mut last = [0; 16];
            last[..rest.len()].copy_from_slice(rest);
            sum = sum.wrapping_add(product(&last, &keys[pairs.len()]));
        }
        sum
    }
}

/// SipHash-2-4, word by word.
struct Sip([u64; 4]);

impl Sip {
    fn new(key: [u64; 2]) -> Sip {
        Sip([
            key[0] ^ 0x736f_6d65_7073_6575,
            key[1] ^ 0x646f_7261_6e64_6f6d,
            key[0] ^ 0x6c79_6765_6e65_7261,
            key[1] ^ 0x7465_6462_7974_6573,
        ])
    }

    #[inline]
    fn round(&mut self) {
        let Sip([a, b, c, d]) = self;
        *a = a.wrapping_add(*b);
        *c = c.wrapping_add(*d);
        *b = b.rotate_left(13) ^ *a;
        *d = d.rotate_left(16) ^ *c;
        *a = a.rotate_left(32);
        *c = c.wrapping_add(*b);
        *a = a.wrapping_add(*d);
        *b = b.rotate_left(17) ^ *c;
        *d = d.rotate_left(21) ^ *a;
        *c = c.rotate_left(32);
    }

    #[inline]
    fn with(mut self, word: u64) -> Sip {
        self.0[3] ^= word;
        self.round();
        self.round();
        self.0[0] ^= word;
        self
    }

    /// The hash of whole words, so many bytes.
    fn end(self, bytes: usize) -> u64 {
        let mut last = self.with((bytes as u64) << 56);
        last.0[2] ^= 0xff;
        for _ in 0..4 {
            last.round();
        }
        last.0.iter().fold(0, |all, word| all ^ word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::hash::mix64;

    #[test]
    fn siphash_is_the_published_one() {
        // Key 00 01 … 0f; messages 00 01 …, of 0, 8 and 16 bytes.
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(Sip::new(key).end(0), 0x726f_db47_dd0e_0e31);
        assert_eq!(Sip::new(key).with(key[0]).end(8), 0x93f5_f579_9a93_2462);
        assert_eq!(Sip::new(key).with(key[0]).with(key[1]).end(16), 0x3f2a_cc7f_57c2_9bdb);
    }

    #[test]
    fn every_bit_counts_and_so_does_every_border() {
        let secret = Secret::of([7; SECRET_BYTES]);
        for length in [0, 1, 8, 15, 16, 17, 1023, 1024, 1025, 3000] {
            let bytes: Vec<u8> = (0..length).map(|k| mix64(k) as u8).collect();
            let seal = secret.seal(&[b"head", &bytes]);
            assert_eq!(secret.seal(&[b"head", &bytes]), seal);
            for bit in 0..bytes.len() * 8 {
                let mut other = bytes.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(secret.seal(&[b"head", &other]), seal, "{length} bytes, bit {bit}");
            }
            let longer = [bytes.as_slice(), &[0]].concat();
            assert_ne!(secret.seal(&[b"head", &longer]), seal, "{length} bytes and a zero");
            assert_ne!(secret.seal(&[b"hea", &[b"d", bytes.as_slice()].concat()]), seal);
            assert_ne!(secret.seal(&[&[b"head", bytes.as_slice()].concat()]), seal);
        }
    }

    #[test]
    fn blocks_that_change_places_are_another_message() {
        let secret = Secret::of([3; SECRET_BYTES]);
        let (one, other) = ([1_u8; 1024], [2_u8; 1024]);
        assert_ne!(secret.seal(&[&[one, other].concat()]), secret.seal(&[&[other, one].concat()]));
    }

    #[test]
    fn another_secret_makes_another_seal_and_none_is_shown() {
        let seals: std::collections::BTreeSet<u64> =
            (0..200).map(|k| Secret::of([k; SECRET_BYTES]).seal(&[b"the same"])).collect();
        assert_eq!(seals.len(), 200);
        assert_eq!(format!("{:?}", Secret::of([9; SECRET_BYTES])), "Secret");
        assert_eq!(Secret::default(), Secret::of([0; SECRET_BYTES]));
    }

    #[test]
    fn a_seal_stays_what_it_is() {
        // It travels between machines of different builds: a change needs another version of the envelope.
        let bytes: Vec<u8> = (0..5000_u64).map(|k| mix64(k) as u8).collect();
        assert_eq!(Secret::default().seal(&[b"head", &bytes]), 13_715_388_232_739_311_023);
    }
}
