//! What programs elsewhere cost: answers, the time they were waited for, bytes.
//!
//! Nothing of it enters a state. All meters of a run write into one table, by place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What one place cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Answers that came, but for the first of each process, which takes as long as it takes to start.
    pub answers: u64,
    /// The sum of the times from each question to its answer.
    pub waited: Duration,
    /// Bytes of questions.
    pub sent: u64,
    /// Bytes of answers.
    pub received: u64,
}

/// What each place cost so far, by what robots call it: the name of a host, or what it can do. Copies are one table.
#[derive(Clone, Debug, Default)]
pub struct Prices(Arc<Mutex<BTreeMap<String, Price>>>);

impl PartialEq for Prices {
    fn eq(&self, other: &Prices) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Prices {}

impl Prices {
    /// The table: place and price.
    #[must_use]
    pub fn all(&self) -> Vec<(String, Price)> {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.iter().map(|(place, price)| (place.clone(), *price)).collect()
    }

    /// The table since this was last asked for.
    #[must_use]
    pub fn take(&self) -> Vec<(String, Price)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }

    /// Who counts for a place.
    pub(crate) fn meter(&self, place: &str) -> Meter {
        Meter { prices: self.clone(), place: place.to_owned() }
    }
}

/// Counts for one place.
#[derive(Clone, Debug)]
pub struct Meter {
    prices: Prices,
    place: String,
}

impl Meter {
    /// So many bytes went there.
    pub(crate) fn sent(&self, bytes: usize) {
        self.note(|price| price.sent += bytes as u64);
    }

    /// So many bytes came from there.
    pub(crate) fn received(&self, bytes: usize) {
        self.note(|price| price.received += bytes as u64);
    }

    /// An answer came, so long after its question.
    pub(crate) fn answered(&self, waited: Duration) {
        self.note(|price| {
            price.answers += 1;
            price.waited += waited;
        });
    }

    fn note(&self, change: impl FnOnce(&mut Price)) {
        let mut table = self.prices.0.lock().unwrap_or_else(PoisonError::into_inner);
        match table.get_mut(&self.place) {
            Some(price) => change(price),
            None => change(table.entry(self.place.clone()).or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_of_a_place_write_into_one_line_of_the_table() {
        let prices = Prices::default();
        let (a, b) = (prices.meter("alpha"), prices.clone().meter("alpha"));
        a.sent(10);
        b.sent(5);
        b.received(3);
        for (meter, ms) in [(&a, 2), (&b, 4)] {
            meter.answered(Duration::from_millis(ms));
        }
        prices.meter("beta").answered(Duration::ZERO);
        let alpha = Price { answers: 2, waited: Duration::from_millis(6), sent: 15, received: 3 };
        let beta = Price { answers: 1, ..Price::default() };
        let right = [("alpha".to_owned(), alpha), ("beta".to_owned(), beta)];
        assert!(prices.all() == right && prices.take() == right && prices.all().is_empty());
    }
}
