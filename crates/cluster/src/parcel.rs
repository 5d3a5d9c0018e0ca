//! What is too long for one message: a slip says how long it is and what it adds up to, and whoever it is for asks for one piece
//! after another.
//!
//! In: bytes, who they are for, and the number they are about. Out: a slip for that one; and pieces, as often as they are asked for, until
//! the next epoch begins or they are needed no more. On the other side: in a slip, out the same bytes.
//!
//! What never happens: that a piece which comes twice, late, or from an epoch that is over is used, since each is the answer to one
//! question and sealed together with it ([`crate::door`]); that more is kept of a parcel than its slip says, or more than has come.

use crate::door::Door;
use crate::message::{piece_key, read, write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use swarmyard_base::hash::bytes_hash;
use swarmyard_fabric::{Fabric, Handle, Lost};

/// The longest parcel: some ten million plain robots.
pub(crate) const MOST_BYTES: u64 = 4 << 30;
/// The most pieces of one.
const MOST_PIECES: u64 = 1 << 20;
/// How long one piece is waited for at first.
const PATIENCE: Duration = Duration::from_millis(500);
/// And at last: where a way is so slow, who is lost is not noticed any sooner.
const LONGEST: Duration = Duration::from_secs(120);
/// When a question is put again that nobody took.
const AGAIN: Duration = Duration::from_millis(2);
/// After so many questions without an answer the next may take twice as long.
const TRIES: u32 = 2;

/// What is sent as one message, and in which pieces everything longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// The longest message, in bytes.
    pub whole: u32,
    /// The length of a piece.
    pub piece: u32,
}

impl Default for Lengths {
    /// A piece crosses a way of 20 Mbit/s before anybody loses patience.
    fn default() -> Lengths {
        Lengths { whole: 16 << 20, piece: 1 << 20 }
    }
}

impl Lengths {
    /// Whether so many bytes go in pieces.
    pub(crate) fn divides(self, bytes: usize) -> bool {
        bytes > self.whole as usize
    }
}

/// What is said of a parcel instead of sending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slip {
    bytes: u64,
    piece: u32,
    sum: u64,
}

impl Slip {
    fn of(bytes: &[u8], piece: u32) -> Slip {
        Slip { bytes: bytes.len() as u64, piece: piece.max(1), sum: bytes_hash(bytes) }
    }

    fn is_sound(&self) -> bool {
        let pieces = self.bytes.div_ceil(u64::from(self.piece.max(1)));
        self.piece > 0 && self.bytes <= MOST_BYTES && pieces <= MOST_PIECES
    }
}

/// Which parcel: for whom, of which epoch, and what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Name {
    pub(crate) epoch: u32,
    pub(crate) to: u32,
    pub(crate) number: u64,
}

/// A question for a piece.
#[derive(Serialize, Deserialize)]
struct Want {
    name: Name,
    piece: u64,
}

/// Parcels of a member that are to be fetched.
pub(crate) struct Depot {
    kept: Arc<Mutex<Kept>>,
    _answers: Handle,
}

/// How long pieces are, and all of it.
type Parcel = (u32, Arc<Vec<u8>>);

#[derive(Default)]
struct Kept {
    epoch: u32,
    /// By whom they are for, and number.
    parcels: BTreeMap<(u32, u64), Parcel>,
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Depot {
    /// Gives pieces to those who ask `me`.
    pub(crate) fn open(fabric: &dyn Fabric, door: &Arc<Door>, run: u64, me: u32) -> Result<Depot, Lost> {
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let asked = Arc::clone(&kept);
        let answers =
            fabric.answer(&piece_key(run, me), door.replier(move |question| give(&asked, question)))?;
        Ok(Depot { kept, _answers: answers })
    }

    /// Another epoch begins: nothing of the one before is given any more.
    pub(crate) fn begin(&self, epoch: u32) {
        *lock(&self.kept) = Kept { epoch, parcels: BTreeMap::new() };
    }

    /// Keeps a parcel of the present epoch until it is fetched.
    pub(crate) fn put(&self, to: u32, number: u64, bytes: Vec<u8>, piece: u32) -> Slip {
        let slip = Slip::of(&bytes, piece);
        lock(&self.kept).parcels.insert((to, number), (slip.piece, Arc::new(bytes)));
        slip
    }

    /// Those for somebody that are about numbers below this one are needed no more.
    pub(crate) fn drop_below(&self, to: u32, number: u64) {
        lock(&self.kept).parcels.retain(|(whose, about), _| *whose != to || *about >= number);
    }

    /// How many are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        lock(&self.kept).parcels.len()
    }
}

/// A piece, for a member that asks for it.
fn give(kept: &Mutex<Kept>, question: &[u8]) -> Option<Vec<u8>> {
    let Want { name, piece } = read(question)?;
    let (length, bytes) = {
        let kept = lock(kept);
        if kept.epoch != name.epoch {
            return None;
        }
        kept.parcels.get(&(name.to, name.number)).cloned()?
    };
    let at = usize::try_from(piece).ok()?;
    Some(bytes.chunks(length as usize).nth(at)?.to_vec())
}

/// A parcel that is being fetched.
pub(crate) struct Coming {
    from: u32,
    name: Name,
    slip: Slip,
    came: Vec<u8>,
    /// Questions in a row that were not answered.
    silent: u32,
}

impl Coming {
    /// Begins to fetch what somebody announced.
    pub(crate) fn new(from: u32, name: Name, slip: Slip) -> Result<Coming, String> {
        if !slip.is_sound() {
            return Err(format!(
                "worker {from} announced {} bytes in pieces of {}; at most {MOST_BYTES} are taken",
                slip.bytes, slip.piece
            ));
        }
        Ok(Coming { from, name, slip, came: Vec::new(), silent: 0 })
    }

    /// Asks for the next piece. Answers whether it came; it is asked for again the next time if not.
    pub(crate) fn ask(&mut self, (fabric, door): (&dyn Fabric, &Door), run: u64) -> bool {
        let at = self.came.len() as u64;
        let want = Want { name: self.name, piece: at / u64::from(self.slip.piece) };
        let patience = (PATIENCE * 2_u32.saturating_pow((self.silent / TRIES).min(16))).min(LONGEST);
        let piece = door.ask_bytes(fabric, &piece_key(run, self.from), &want, patience).ok().flatten();
        let length = (self.slip.bytes - at).min(u64::from(self.slip.piece));
        match piece.filter(|piece| piece.len() as u64 == length) {
            Some(piece) => {
                self.came.extend_from_slice(&piece);
                self.silent = 0;
                true
            }
            None => {
                self.silent += 1;
                std::thread::sleep(AGAIN);
                false
            }
        }
    }

    /// Whether all of it is here.
    pub(crate) fn is_here(&self) -> bool {
        self.came.len() as u64 == self.slip.bytes
    }

    /// All of it.
    pub(crate) fn open(self) -> Result<Vec<u8>, String> {
        if self.is_here() && bytes_hash(&self.came) == self.slip.sum {
            return Ok(self.came);
        }
        Err(format!("what worker {} sent in pieces does not add up: a machine is faulty", self.from))
    }
}

/// A message itself, or where the pieces of it are.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Letter<T> {
    Here(T),
    Pieces(Slip),
}

/// The bytes of a message to somebody, or of a slip in its place when it is too long.
pub(crate) fn letter<T: Serialize>(
    depot: &Depot,
    (to, number): (u32, u64),
    message: &T,
    lengths: Lengths,
) -> (Vec<u8>, usize) {
    let bytes = write(&Letter::Here(message));
    let length = bytes.len();
    if !lengths.divides(length) {
        return (bytes, length);
    }
    let slip = depot.put(to, number, bytes, lengths.piece);
    (write(&Letter::<()>::Pieces(slip)), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_fabric::RunKey;
    use swarmyard_fabric::local::{Member, Switchboard};

    const RUN: u64 = 9;
    const NAME: Name = Name { epoch: 3, to: 1, number: 7 };

    fn sides(board: &Switchboard) -> (Member, Member, Arc<Door>, Depot) {
        let (sends, asks) = (board.member("sends"), board.member("asks"));
        let door = Arc::new(Door::new(RunKey::from(RUN)));
        let depot = Depot::open(&sends, &door, RUN, 0).expect("a depot");
        depot.begin(3);
        (sends, asks, door, depot)
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count).map(|k| (k * k / 7) as u8).collect()
    }

    #[test]
    fn what_is_fetched_in_pieces_is_what_was_put() {
        let board = Switchboard::default();
        let (_sends, asks, door, depot) = sides(&board);
        for count in [0, 1, 99, 100, 101, 1000, 1001] {
            let slip = depot.put(1, 7, bytes(count), 100);
            let mut coming = Coming::new(0, NAME, slip).expect("a sound slip");
            let mut asked = 0;
            while !coming.is_here() {
                assert!(coming.ask((&asks, &door), RUN));
                asked += 1;
            }
            assert_eq!((asked, coming.open()), (count.div_ceil(100), Ok(bytes(count))));
        }
    }

    #[test]
    fn of_an_epoch_that_is_over_and_of_what_is_done_nothing_is_given() {
        let board = Switchboard::default();
        let (_sends, asks, door, depot) = sides(&board);
        let slip = depot.put(1, 7, bytes(300), 100);
        let mut coming = Coming::new(0, NAME, slip).expect("a sound slip");
        assert!(coming.ask((&asks, &door), RUN));
        let gives = |name| {
            let want = Want { name, piece: 1 };
            give(&depot.kept, &write(&want)).is_some()
        };
        assert!(gives(NAME));
        for other in [Name { epoch: 2, ..NAME }, Name { to: 2, ..NAME }, Name { number: 8, ..NAME }] {
            assert!(!gives(other), "{other:?}");
        }
        depot.drop_below(2, 100);
        depot.drop_below(1, 7);
        assert!(gives(NAME) && depot.len() == 1);
        depot.drop_below(1, 8);
        assert!(!gives(NAME) && depot.len() == 0);
        let slip = depot.put(1, 7, bytes(300), 100);
        depot.begin(4);
        assert!(!gives(NAME));
        // The same bytes once more, in the next epoch: who is still in the one before gets none of them.
        assert_eq!(depot.put(1, 7, bytes(300), 100), slip);
        assert!(!coming.ask((&asks, &door), RUN) && !coming.is_here());
    }

    #[test]
    fn a_piece_that_is_lost_is_asked_for_again_and_one_that_comes_twice_counts_once() {
        let board = Switchboard::default();
        let (_sends, asks, door, depot) = sides(&board);
        let slip = depot.put(1, 7, bytes(1000), 100);
        let mut coming = Coming::new(0, NAME, slip).expect("a sound slip");
        let mut missed = 0;
        for k in 0.. {
            match k {
                3 => board.lose("swarm/run/*/workers/piece/*", 1),
                6 => board.double("swarm/run/*/workers/piece/*", 1),
                _ => {}
            }
            missed += u32::from(!coming.ask((&asks, &door), RUN));
            if coming.is_here() {
                break;
            }
        }
        assert_eq!((missed, coming.open()), (1, Ok(bytes(1000))));
    }

    #[test]
    fn a_slip_that_says_too_much_is_refused_before_anything_is_kept() {
        let slip = Slip::of(&bytes(1000), 100);
        assert!(Coming::new(0, NAME, slip).is_ok());
        for wrong in [
            Slip { bytes: MOST_BYTES + 1, piece: 1 << 20, ..slip },
            Slip { bytes: u64::MAX, ..slip },
            Slip { piece: 0, ..slip },
            Slip { bytes: MOST_BYTES, piece: 100, ..slip },
        ] {
            assert!(Coming::new(0, NAME, wrong).is_err(), "{wrong:?}");
        }
        let greatest = Slip { bytes: MOST_BYTES, piece: 1 << 20, ..slip };
        let coming = Coming::new(0, NAME, greatest).expect("it may be so long");
        assert_eq!(coming.came.capacity(), 0, "room is made for what comes, not for what is announced");
    }

    #[test]
    fn pieces_that_do_not_add_up_are_no_parcel() {
        let board = Switchboard::default();
        let (_sends, asks, door, depot) = sides(&board);
        let slip = depot.put(1, 7, bytes(300), 100);
        let mut coming = Coming::new(0, NAME, Slip { sum: slip.sum ^ 1, ..slip }).expect("a sound slip");
        while !coming.is_here() {
            assert!(coming.ask((&asks, &door), RUN));
        }
        assert!(coming.open().expect_err("another sum").contains("does not add up"));
        // Shorter than it should be: its sender has put something else under the same name.
        let slip = depot.put(1, 7, bytes(300), 100);
        depot.put(1, 7, bytes(250), 100);
        let mut coming = Coming::new(0, NAME, slip).expect("a sound slip");
        assert!(coming.ask((&asks, &door), RUN) && coming.ask((&asks, &door), RUN));
        assert!(!coming.ask((&asks, &door), RUN), "a piece of another length");
    }
}
