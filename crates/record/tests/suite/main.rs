//! Recordings: what goes in comes out again, files may be damaged, other people's readers open them, and pictures are made of them.

mod damage;
mod picture;
mod python;
mod recording;
mod world;
