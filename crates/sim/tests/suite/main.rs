//! Runs in the hand of a program, above all of robots that live by events: each file states facts of one kind.

mod acting;
mod applications;
mod bounces;
mod events;
mod faults;
mod gps;
mod judged;
mod live;
mod near;
mod outside;
mod push;
mod services;
mod thesis;
