//! Runs in the hand of a program, above all of robots that live by events: each file states facts of one kind.

mod acting;
mod air;
mod applications;
mod bad;
mod bounces;
mod events;
mod faults;
mod files;
mod gps;
mod judged;
mod live;
mod near;
mod outside;
#[path = "../../../radio/tests/support/polite_mutex.rs"]
mod polite_mutex;
mod push;
mod schedulers;
mod services;
mod sight;
mod thesis;
mod zones;
