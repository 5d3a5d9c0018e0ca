//! A network that decides when a message arrives as soon as it is sent, for each receiver by itself: it has no memory.

use swarmyard_part_api::{Air, Message, Network};

/// Such a network, by the seconds that a message takes to a robot.
pub(super) struct Prompt<D>(pub(super) D);

impl<D: Fn(&dyn Air, &Message, u32) -> f64 + Send> Network for Prompt<D> {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        let now = air.now();
        for robot in to {
            let delay_s = (self.0)(air, message, *robot);
            air.deliver(message, *robot, now.plus(delay_s));
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        if image.is_empty() { Ok(()) } else { Err("this network has no memory, and here is one".to_owned()) }
    }
}
