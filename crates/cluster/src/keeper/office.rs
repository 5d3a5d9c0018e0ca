//! Where workers are hired and dismissed: on a thread of its own, since a host may take long to answer and a run does not
//! wait for that.
//!
//! In: wishes of the keeper. Out: news of who was hired, and why somebody was not. Wishes are followed one after another, so
//! the slot of one who was dismissed is free for the next.

use super::Staff;
use crate::staff::Hired;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use swarmyard_fabric::Lost;

/// What the keeper wants.
enum Wish {
    /// Workers with these numbers; none after one who could not be had.
    Hire(std::ops::Range<u32>),
    Dismiss(u32),
}

/// What came of it.
pub(super) enum News {
    Hired {
        number: u32,
        /// As far as it may be told.
        hired: Option<Hired>,
        /// Where it is: the name of its host, and what that can do.
        places: Vec<String>,
    },
    /// Nobody was found for this number.
    Nobody { number: u32, why: String },
    /// All of a wish to hire is done.
    HiringDone,
    /// Somebody was dismissed.
    Dismissed,
}

/// The keeper's side.
pub(super) struct Office {
    wishes: Sender<Wish>,
    news: Receiver<News>,
    hiring: bool,
    /// Dismissals that are not done.
    leaving: u32,
}

impl Office {
    /// Opens it. Whom `staff` has hired is dismissed when the office is gone, and everything that was begun before is done.
    pub(super) fn open(staff: Box<dyn Staff>) -> Result<Office, Lost> {
        let ((wishes, wanted), (tell, news)) = (channel(), channel());
        let thread = std::thread::Builder::new().name("office".into());
        let failed = |e: std::io::Error| Lost::Failed { what: "start a thread".into(), why: e.to_string() };
        thread.spawn(move || follow(staff, &wanted, &tell)).map_err(failed)?;
        Ok(Office { wishes, news, hiring: false, leaving: 0 })
    }

    /// Hires workers with these numbers; not before an earlier wish to hire is done.
    pub(super) fn hire(&mut self, numbers: std::ops::Range<u32>) {
        self.hiring = self.wishes.send(Wish::Hire(numbers)).is_ok();
    }

    pub(super) fn dismiss(&mut self, number: u32) {
        self.leaving += u32::from(self.wishes.send(Wish::Dismiss(number)).is_ok());
    }

    /// Whether somebody is being hired.
    pub(super) fn is_hiring(&self) -> bool {
        self.hiring
    }

    /// The next news, when there are any.
    pub(super) fn news(&mut self) -> Option<News> {
        self.news.try_recv().ok().inspect(|news| self.note(news))
    }

    /// Waits until everything is done, but no longer than this.
    pub(super) fn close(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.hiring || self.leaving > 0 {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(news) = self.news.recv_timeout(left) else { return };
            self.note(&news);
        }
    }

    fn note(&mut self, news: &News) {
        match news {
            News::HiringDone => self.hiring = false,
            News::Dismissed => self.leaving = self.leaving.saturating_sub(1),
            News::Hired { .. } | News::Nobody { .. } => {}
        }
    }
}

/// Follows wishes until nobody has any. What is left of the staff ends with it.
fn follow(mut staff: Box<dyn Staff>, wanted: &Receiver<Wish>, tell: &Sender<News>) {
    while let Ok(wish) = wanted.recv() {
        let done = match wish {
            Wish::Dismiss(number) => {
                staff.dismiss(number);
                News::Dismissed
            }
            Wish::Hire(numbers) => {
                for number in numbers {
                    let came = staff.hire(number);
                    let is_over = came.is_err();
                    let news = match came {
                        Ok(()) => {
                            News::Hired { number, hired: staff.hired(number), places: staff.places(number) }
                        }
                        Err(why) => News::Nobody { number, why },
                    };
                    if tell.send(news).is_err() || is_over {
                        break;
                    }
                }
                News::HiringDone
            }
        };
        if tell.send(done).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// Hires and dismisses slowly, and has no more than three.
    struct Slow(Arc<Mutex<Vec<String>>>);

    impl Staff for Slow {
        fn hire(&mut self, number: u32) -> Result<(), String> {
            std::thread::sleep(Duration::from_millis(100));
            if number == 3 {
                return Err("nobody is left".to_owned());
            }
            self.0.lock().expect("no panic").push(format!("hired {number}"));
            Ok(())
        }

        fn dismiss(&mut self, number: u32) {
            std::thread::sleep(Duration::from_millis(100));
            self.0.lock().expect("no panic").push(format!("dismissed {number}"));
        }
    }

    #[test]
    fn wishes_are_followed_in_order_and_nobody_waits_for_them() {
        let done: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut office = Office::open(Box::new(Slow(Arc::clone(&done)))).expect("a thread");
        office.dismiss(7);
        office.hire(1..6);
        assert!(done.lock().expect("no panic").is_empty(), "somebody waited");
        assert!(office.is_hiring());
        office.close(Duration::from_secs(60));
        assert_eq!(*done.lock().expect("no panic"), ["dismissed 7", "hired 1", "hired 2"]);
        assert!(!office.is_hiring() && office.leaving == 0);
    }
}
