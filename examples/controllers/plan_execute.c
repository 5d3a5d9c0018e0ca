/* plan_execute.c - plans its way through a maze while it is already driving.
 *
 * The robot has a compass (milliradians, counter-clockwise from east), wheel counters (one count is
 * one millimetre), a ring of eight sonars (0 ahead, counter-clockwise, in mm), a bumper of eight
 * sectors in the same order, and two wheels (mm/s). It starts in the middle of cell (0, 0).
 *
 * The idea: the map is a grid of cells, at first all free as far as the robot knows. The planner is
 * A*: it looks for the shortest way to the goal, cell by cell. It may only look at a few cells per
 * tick, because a robot that thinks must not stand in the way meanwhile. So the driver does not
 * wait for it: it follows the plan so far, which leads to the most promising cell found yet. When a
 * sonar or the bumper shows that a cell is blocked it is marked on the map, and if that concerns
 * the plan, the planner starts anew from where the robot is; what it found out about distances it
 * keeps (Adaptive A*). Cells that nobody has seen count as free, so that the robot explores
 * whatever might be shorter.
 */
#include "rio.h"
#include "registers.h"
#include "angles.h"

enum {
    COLUMNS = 10, ROWS = 7, CELLS = COLUMNS * ROWS, GOAL = CELLS - 1,
    CELL = 600,       /* mm */
    EXPANSIONS = 2,   /* cells the planner may look at per tick */
    SPEED = 400, TURN = 200, /* mm/s */
    REACHED = 30,     /* mm from the middle of a cell */
    BLOCKED = 400,    /* mm; from the middle of a cell to a blocked neighbour it is 180 */
    NONE = -1
};

static uint8_t blocked[CELLS]; /* the map */

/* ---- Where am I: dead reckoning ----------------------------------------------------------------- */

static int32_t x_um = CELL * 500, y_um = CELL * 500; /* micrometres */
static int32_t heading;
static int32_t counted_left, counted_right;

static void reckon(void)
{
    int32_t left = rio_peeks32(ODOMETER_LEFT), right = rio_peeks32(ODOMETER_RIGHT);
    int32_t moved = (left - counted_left) + (right - counted_right); /* twice the way of the middle */
    counted_left = left;
    counted_right = right;
    heading = rio_peeks16(COMPASS_HEADING);
    x_um += moved * sine(heading + 1571) / 2;
    y_um += moved * sine(heading) / 2;
}

static int32_t mm_to_x(int32_t cell) { return (cell % COLUMNS) * CELL + CELL / 2 - x_um / 1000; }
static int32_t mm_to_y(int32_t cell) { return (cell / COLUMNS) * CELL + CELL / 2 - y_um / 1000; }

static int32_t mm_to(int32_t cell)
{
    return rio_max(rio_abs(mm_to_x(cell)), rio_abs(mm_to_y(cell)));
}

/* The neighbour of a cell in direction 0 east, 1 north, 2 west, 3 south; NONE beyond the border. */
static int32_t neighbour(int32_t cell, int32_t direction)
{
    int32_t column = cell % COLUMNS, row = cell / COLUMNS;
    switch (direction & 3) {
    case 0: return column + 1 < COLUMNS ? cell + 1 : NONE;
    case 1: return row + 1 < ROWS ? cell + COLUMNS : NONE;
    case 2: return column > 0 ? cell - 1 : NONE;
    default: return row > 0 ? cell - COLUMNS : NONE;
    }
}

/* ---- The planner: A*, a few cells per tick --------------------------------------------------------- */

enum { NEW, OPEN, CLOSED };

static uint8_t mark[CELLS];  /* NEW, OPEN or CLOSED */
static int16_t cost[CELLS];  /* steps from where the plan begins */
static int16_t parent[CELLS];
static int32_t best;         /* where the plan leads so far: the goal, or the most promising cell */
static int finished;
static int16_t hint[CELLS];  /* steps from there to the goal, at least */

static int32_t steps_if_free(int32_t cell)
{
    return rio_abs(GOAL % COLUMNS - cell % COLUMNS) + rio_abs(GOAL / COLUMNS - cell / COLUMNS);
}

static void open_cell(int32_t cell, int32_t from, int32_t steps)
{
    mark[cell] = OPEN;
    cost[cell] = (int16_t)steps;
    parent[cell] = (int16_t)from;
}

static int32_t most_promising(void)
{
    int32_t k, found = NONE;
    for (k = 0; k < CELLS; k++) {
        int32_t longer = found == NONE ? -1 : cost[k] + hint[k] - cost[found] - hint[found];
        if (mark[k] == OPEN && (longer < 0 || (longer == 0 && cost[k] > cost[found]))) found = k;
    }
    return found;
}

/* Before a plan is thrown away: it says that its beginning is so many steps from the goal, so a cell
 * near the beginning cannot be much nearer. Without this the robot would go back into the same
 * dead end each time the planner starts anew. */
static void learn(void)
{
    int32_t k, cell = mark[GOAL] == CLOSED ? GOAL : most_promising();
    if (cell == NONE) return;
    for (k = 0; k < CELLS; k++) {
        int32_t least = cost[cell] + hint[cell] - cost[k];
        if (mark[k] == CLOSED && hint[k] < least) hint[k] = (int16_t)least;
    }
}

static void plan_from(int32_t cell)
{
    int32_t k;
    learn();
    for (k = 0; k < CELLS; k++) mark[k] = NEW;
    best = cell;
    finished = 0;
    open_cell(cell, NONE, 0);
}

static void expand_one(void)
{
    int32_t cell = most_promising(), direction;
    if (cell == NONE || cell == GOAL) finished = 1; /* NONE: there is no way */
    if (cell == NONE) return;
    best = cell;
    mark[cell] = CLOSED;
    for (direction = 0; direction < 4; direction++) {
        int32_t next = neighbour(cell, direction);
        if (next == NONE || blocked[next] || mark[next] == CLOSED) continue;
        if (mark[next] == NEW || cost[cell] + 1 < cost[next]) open_cell(next, cell, cost[cell] + 1);
    }
}

/* Whether a cell is on the plan; `next` becomes the one after it. */
static int on_plan(int32_t cell, int32_t *next)
{
    int32_t k, after = best;
    for (k = best; k != NONE; k = parent[k]) {
        if (k == cell) {
            *next = after;
            return 1;
        }
        after = k;
    }
    return 0;
}

/* ---- The map ------------------------------------------------------------------------------------------ */

static int32_t here, target; /* the cell where it is, and the one to which it goes: the same, or next to it */

static void found_blocked(int32_t cell)
{
    int32_t unused;
    if (cell == NONE || blocked[cell]) return;
    blocked[cell] = 1;
    if (cell == target) target = here; /* back to the middle of this one */
    if (!finished || on_plan(cell, &unused)) plan_from(target);
}

/* In the middle of a cell, and in line with the grid: what do the sonars of the four sides say? */
static void look(void)
{
    int32_t quarters = (heading + 4 * 1571 + 785) / 1571; /* quarter turns, to the nearest */
    int32_t k;
    if (mm_to(here) > 80 || rio_abs(wrapped(heading - quarters * 1571)) > 150) return;
    for (k = 0; k < 4; k++) {
        if (rio_peek16(SONAR_RANGE_AT(2u * (uint32_t)k)) < BLOCKED) found_blocked(neighbour(here, quarters + k));
    }
}

static int touched(uint32_t sector)
{
    return rio_peek8(BUMPER_PRESSED_AT(sector)) != 0;
}

static void feel(void)
{
    if (target != here && (touched(0) || touched(1) || touched(7))) found_blocked(target);
}

/* ---- The driver ------------------------------------------------------------------------------------------ */

static void drive(int32_t speed, int32_t steer) /* steer > 0 turns left */
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}

static void drive_to_target(void)
{
    int32_t error = wrapped(rio_atan2(mm_to_y(target), mm_to_x(target)) - heading);
    int32_t speed = rio_abs(error) > 250 ? 0 : rio_min(SPEED, 150 + 2 * mm_to(target));
    drive(speed, rio_clamp(error / 3, -TURN, TURN));
}

static void choose_target(void)
{
    int32_t next = here;
    if (on_plan(here, &next)) target = next;
    else if (finished) plan_from(here);
}

void robot_setup(void)
{
    int32_t k;
    for (k = 0; k < CELLS; k++) hint[k] = (int16_t)steps_if_free(k);
    plan_from(here);
}

void robot_step(void)
{
    int k;
    reckon();
    look();
    feel();
    for (k = 0; k < EXPANSIONS && !finished; k++) expand_one();

    if (mm_to(target) < REACHED) {
        here = target;
        choose_target();
    }
    if (mm_to(target) < REACHED) drive(0, 0); /* at the goal, or the plan does not lead on yet */
    else drive_to_target();
}
