//! How many modules a run is, counted as the SPREAD paper does in its table 10-1.

use swarmyard_engine::Model;
use swarmyard_part_api::BodyKind;

/// What every run has besides its robots.
pub const KERNEL: [&str; 6] = ["world", "collision control", "console", "display", "recorder", "referee"];

/// Modules of a run. SPREAD ran each as a process of its own; here they are parts of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modules {
    /// Those that every run has: [`KERNEL`].
    pub kernel: usize,
    /// Those of all robots together.
    pub robots: usize,
}

impl Modules {
    /// Counts them: of each robot its controllers, its registers (one module, if it has any) and each
    /// of its parts. Obstacles count nothing, even those with the type of a robot.
    #[must_use]
    pub fn of(model: &Model) -> Modules {
        let robots = model.types.iter().filter(|ty| ty.kind == BodyKind::Robot).map(|ty| {
            let registers = usize::from(!ty.registers.all().is_empty());
            ty.slots.len() * (ty.controllers.len() + registers + ty.parts.len())
        });
        Modules { kernel: KERNEL.len(), robots: robots.sum() }
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> usize {
        self.kernel + self.robots
    }
}
