//! The state hash: a commutative sum of one hash per item, each with its owner's uid inside.
//!
//! Because the sum commutes, neither the visiting order nor the cut into threads or machines can
//! change it. −0 counts as 0 and every NaN as the same NaN.

use crate::Uid;

/// Version of the hash and of the arithmetic it covers. Bump with a *Numerics* line in the changelog.
pub const NUMERICS_VERSION: u32 = 3;

/// The finaliser of SplitMix64: every input bit reaches every output bit.
#[inline]
#[must_use]
pub const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The bits of a number, with −0 read as 0 and every NaN as one NaN.
#[inline]
#[must_use]
pub fn canonical_bits(x: f64) -> u64 {
    // Adding +0 turns −0 into +0 and leaves everything else alone.
    let x = x + 0.0;
    if x.is_nan() { 0x7ff8_0000_0000_0000 } else { x.to_bits() }
}

const LANES: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xd6e8_feb8_6659_fd93];

/// Hash of one item: its owner, what it is, and its numbers.
///
/// Four independent lanes keep the multiplications from waiting for one another: this runs for
/// every robot at every quantum.
#[inline]
#[must_use]
pub fn item_hash(owner: Uid, what: u64, numbers: &[f64]) -> u64 {
    let start = owner.0 ^ mix64(what.wrapping_add(LANES[0]));
    let mut lane = [start ^ LANES[0], start ^ LANES[1], start ^ LANES[2], start ^ LANES[3]];
    let mut chunks = numbers.chunks_exact(4);
    for four in &mut chunks {
        for k in 0..4 {
            let h = (lane[k] ^ canonical_bits(four[k])).wrapping_mul(LANES[k]);
            lane[k] = h ^ (h >> 29);
        }
    }
    for (k, &x) in chunks.remainder().iter().enumerate() {
        let h = (lane[k] ^ canonical_bits(x)).wrapping_mul(LANES[k]);
        lane[k] = h ^ (h >> 29);
    }
    let halves =
        mix64(lane[0] ^ lane[1].rotate_left(21)).wrapping_add(mix64(lane[2] ^ lane[3].rotate_left(43)));
    mix64(halves ^ numbers.len() as u64)
}

/// Hash of a run of bytes (scenario text, part names).
#[must_use]
pub fn bytes_hash(bytes: &[u8]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for &b in bytes {
        h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix64(h ^ bytes.len() as u64)
}

/// Checksum of a long run of bytes, eight at a time in four lanes: for messages, where [`bytes_hash`] would take longer
/// than sending them.
#[must_use]
pub fn block_hash(bytes: &[u8]) -> u64 {
    let mut lane = LANES;
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        stir(&mut lane, block);
    }
    if !rest.is_empty() {
        // What is missing counts as zeros; the length below tells them from real ones.
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        stir(&mut lane, &last);
    }
    let halves =
        mix64(lane[0] ^ lane[1].rotate_left(21)).wrapping_add(mix64(lane[2] ^ lane[3].rotate_left(43)));
    mix64(halves ^ bytes.len() as u64)
}

/// One block of 32 bytes goes into the lanes.
#[inline]
fn stir(lane: &mut [u64; 4], block: &[u8; 32]) {
    let (words, _) = block.as_chunks::<8>();
    for k in 0..4 {
        let h = (lane[k] ^ u64::from_le_bytes(words[k])).wrapping_mul(LANES[k]);
        lane[k] = h ^ (h >> 29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_zero_and_nan_are_canonical() {
        let uid = Uid(7);
        assert_eq!(item_hash(uid, 1, &[0.0, 1.0]), item_hash(uid, 1, &[-0.0, 1.0]));
        assert_eq!(item_hash(uid, 1, &[f64::NAN]), item_hash(uid, 1, &[-f64::NAN]));
    }

    #[test]
    fn every_place_and_every_bit_counts() {
        let uid = Uid(7);
        let base = [1.0; 9];
        let before = item_hash(uid, 1, &base);
        for place in 0..9 {
            for bit in 0..64 {
                let mut other = base;
                other[place] = f64::from_bits(other[place].to_bits() ^ (1 << bit));
                assert_ne!(item_hash(uid, 1, &other), before, "place {place} bit {bit}");
            }
        }
        assert_ne!(item_hash(uid, 2, &base), before);
        assert_ne!(item_hash(Uid(8), 1, &base), before);
        assert_ne!(item_hash(uid, 1, &base[..8]), before);
    }

    #[test]
    fn every_bit_and_the_length_of_a_block_count() {
        for length in [0, 1, 7, 8, 31, 32, 33, 100] {
            let bytes = vec![0; length];
            let before = block_hash(&bytes);
            assert_ne!(block_hash(&vec![0; length + 1]), before, "length {length}");
            for bit in 0..length * 8 {
                let mut other = bytes.clone();
                other[bit / 8] ^= 1 << (bit % 8);
                assert_ne!(block_hash(&other), before, "length {length} bit {bit}");
            }
        }
    }

    #[test]
    fn the_checksum_of_a_block_stays_what_it_is() {
        // It travels between machines of different builds: a change needs another version of the envelope.
        assert_eq!(
            block_hash(b"one bit more or less, and it is another message"),
            17_025_097_359_894_561_187
        );
    }
}
