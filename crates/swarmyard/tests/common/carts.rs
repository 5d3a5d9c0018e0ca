//! Worlds of carts: two wheels, some rays, a controller. A test says how many, where, and for how long.

/// What a world of carts has of its own.
pub(crate) struct Carts<'a> {
    /// Lines of `[run]`.
    pub(crate) run: &'a str,
    /// Half of the world's width and height, m.
    pub(crate) half_m: [u32; 2],
    /// How many rays a cart has.
    pub(crate) rays: u32,
    /// How far they reach.
    pub(crate) range: &'a str,
    /// Lines of the controller.
    pub(crate) controller: &'a str,
    /// The robots, of the type `cart`.
    pub(crate) robots: &'a str,
}

/// Carts that wander; how many, where and for how long is still to be said.
pub(crate) const WANDERERS: Carts<'static> =
    Carts { run: "", half_m: [4, 3], rays: 4, range: "1m", controller: "class = \"wander\"", robots: "" };

impl Carts<'_> {
    /// The scenario.
    pub(crate) fn text(&self) -> String {
        let Carts { run, half_m: [x, y], rays, range, controller, robots } = self;
        format!(
            r#"format = 1

[run]
{run}

[world]
min = [-{x}, -{y}]
max = [{x}, {y}]

[type.cart]
radius = 0.1

[[type.cart.part]]
name = "drive"
class = "diff-drive"

[[type.cart.part]]
name = "rays"
class = "range-rays"
rays = {rays}
range = "{range}"

[type.cart.controller]
{controller}

{robots}"#
        )
    }
}

/// Robots `r1`, `r2`, … of the type `cart`.
pub(crate) fn many(count: u32, layout: &str) -> String {
    format!("[[robot]]\nname = \"r\"\ntype = \"cart\"\ncount = {count}\nlayout = {{ {layout} }}\n")
}
