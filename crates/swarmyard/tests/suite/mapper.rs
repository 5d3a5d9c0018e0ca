//! Maps that robots make: walls where they are, free floor where it is.

use swarmyard::base::Vec2;
use swarmyard::occupancy::Grid;
use swarmyard::{Mapper, Sim};

/// Half the side of the room, in metres.
const HALF: f64 = 2.0;

/// A square room with one robot off its middle, with a part, that drives as told (left, right in m/s).
fn room(part: &str, (left, right): (f64, f64)) -> Sim {
    let text = format!(
        "format = 1\n[world]\nmin = [-{HALF}, -{HALF}]\nmax = [{HALF}, {HALF}]\n[type.t]\nradius = 0.1\n\
         [[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nbase = 0.2\nmax_speed = 5\n\
         [[type.t.part]]\nname = \"eye\"\n{part}\n\
         [type.t.controller]\nclass = \"cruise\"\nleft = {left}\nright = {right}\n\
         [[robot]]\nname = \"r1\"\ntype = \"t\"\nat = [-0.53, 0.31, 0.2]\n"
    );
    Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"))
}

fn grid(cell: f64) -> Grid {
    Grid::new(Vec2::new(-2.5, -2.5), Vec2::new(2.5, 2.5), cell).unwrap()
}

fn mapped(sim: &mut Sim, cell: f64, steps: usize) -> Grid {
    let mut mapper = Mapper::new(sim, "/robots/r1", grid(cell)).unwrap();
    for _ in 0..steps {
        sim.step().unwrap();
        mapper.look(sim);
    }
    mapper.grid().clone()
}

/// Middles of the cells whose probability is as wanted.
fn cells(grid: &Grid, wanted: impl Fn(f64) -> bool) -> Vec<Vec2> {
    let (columns, rows) = grid.size();
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
    all.filter(|cell| wanted(grid.probability(*cell))).map(|cell| grid.middle(cell)).collect()
}

/// How far a point is from the nearest wall; negative inside of the room.
fn outside(p: Vec2) -> f64 {
    p.x.abs().max(p.y.abs()) - HALF
}

const RAYS: &str = "class = \"range-rays\"\nrays = 36\nrange = 6\nstart = 0.1";

#[test]
fn a_robot_that_turns_in_a_square_room_maps_its_walls_and_its_floor() {
    // Sides that divide the room and sides that do not.
    for cell in [0.1, 0.07] {
        let map = mapped(&mut room(RAYS, (-0.02, 0.02)), cell, 120);
        let (occupied, free) = (cells(&map, |p| p > 0.5), cells(&map, |p| p < 0.5));
        for p in &occupied {
            assert!(outside(*p).abs() <= cell, "{p:?} is occupied, in cells of {cell}");
        }
        for p in &free {
            assert!(outside(*p) < cell / 2.0, "{p:?} is free, in cells of {cell}");
        }
        // And it knows nearly all: the floor but for what the robot covers, and the walls around.
        let floor = (2.0 * HALF / cell) * (2.0 * HALF / cell);
        assert!(free.len() as f64 > 0.9 * floor, "{} of {floor}", free.len());
        let walls = 4.0 * 2.0 * HALF / cell;
        assert!(occupied.len() as f64 > 0.8 * walls, "{} of {walls}", occupied.len());
    }
}

#[test]
fn readings_belong_to_where_the_robot_was() {
    // At 1 m/s it moves two cells in a quantum: one ray ahead must end in the same cells all the time.
    let one = "class = \"range-rays\"\nrays = 1\nrange = 6";
    let mut sim = room(one, (1.0, 1.0));
    let map = mapped(&mut sim, 0.05, 15);
    let occupied = cells(&map, |p| p > 0.5);
    assert_eq!(occupied.len(), 1, "{occupied:?}");
    assert!(outside(occupied[0]).abs() <= 0.05, "{occupied:?}");
}

#[test]
fn a_reading_counts_once() {
    let slow = format!("{RAYS}\nperiod = \"500ms\"");
    let first = mapped(&mut room(&slow, (0.0, 0.0)), 0.1, 1);
    assert!(!cells(&first, |p| p != 0.5).is_empty());
    assert_eq!(mapped(&mut room(&slow, (0.0, 0.0)), 0.1, 5), first, "nothing new was measured");
    assert_ne!(mapped(&mut room(&slow, (0.0, 0.0)), 0.1, 6), first);
    // Steps that were not seen are left out.
    let mut sim = room(RAYS, (0.3, 0.4));
    let mut mapper = Mapper::new(&sim, "/robots/r1", grid(0.1)).unwrap();
    sim.step().unwrap();
    sim.step().unwrap();
    mapper.look(&sim);
    mapper.look(&sim);
    assert_eq!(*mapper.grid(), grid(0.1));
    assert!(Mapper::new(&sim, "/robots/r2", grid(0.1)).is_err());
}

#[test]
fn sonars_map_the_room_less_sharply() {
    let ring = "class = \"sonar\"\ncount = 8\nring = 0.1\ncone_angle = \"15deg\"\nrange = 5";
    let map = mapped(&mut room(ring, (-0.02, 0.02)), 0.1, 120);
    let (walls, free) = (cells(&map, |p| p > 0.9), cells(&map, |p| p < 0.1));
    assert!(walls.len() > 40 && free.len() > 1000, "{} {}", walls.len(), free.len());
    // The arc bulges beyond a flat wall and, seen aslant, ends before it.
    for p in &walls {
        assert!(outside(*p).abs() <= 0.4, "{p:?} is occupied");
    }
    for p in &free {
        assert!(outside(*p) <= 0.0, "{p:?} is free");
    }
}
