/* fuzzy.c - a hierarchical fuzzy controller, after Voudouris, Chernett, Wang and Callaghan (1995).
 *
 * The robot has a ring of eight sonars (0 ahead, counter-clockwise, in mm), a beacon finder (bearing
 * in milliradians, left positive) and two wheels (speeds in mm/s).
 *
 * The idea: three behaviours each know one thing, and each proposes a speed and a steering.
 *   avoid   keep off what is near
 *   seek    go to the beacon
 *   follow  go along the edge on the right, in order to find the beacon behind it
 * Every behaviour is a small base of rules, and one more base above them says how much each of them
 * counts just now. So nothing is switched: the robot is, say, 70 % seeking and 30 % avoiding.
 *
 * Truth is a number from 0 (not at all) to 255 (fully). A fuzzy set is a slope or a triangle; "and"
 * is the lesser, "or" the greater of two truths. What the rules of a base conclude is averaged,
 * each conclusion weighted by the truth of its condition.
 */
#include "rio.h"
#include "registers.h"

enum { TRUE = 255, FAST = 300, SLOW = 150, CREEP = 60, STAND = 0, LEFT = 100, RIGHT = -100, AHEAD = 0 };

/* ---- Fuzzy logic ------------------------------------------------------------------------------- */

/* TRUE up to `full`, nothing from `none` on, a slope between. */
static int32_t below(int32_t x, int32_t full, int32_t none)
{
    return rio_clamp((none - x) * TRUE / (none - full), 0, TRUE);
}

/* A triangle: nothing at `low` and `high`, TRUE at `peak`. */
static int32_t about(int32_t x, int32_t low, int32_t peak, int32_t high)
{
    return x < peak ? TRUE - below(x, low, peak) : below(x, peak, high);
}

static int32_t both(int32_t a, int32_t b) { return rio_min(a, b); }
static int32_t either(int32_t a, int32_t b) { return rio_max(a, b); }
static int32_t no(int32_t a) { return TRUE - a; }

/* Conclusions on their way to an average. */
struct base { int32_t truth, speed, steer; };

static void rule(struct base *b, int32_t truth, int32_t speed, int32_t steer)
{
    b->truth += truth;
    b->speed += truth * speed;
    b->steer += truth * steer;
}

static int32_t speed_of(const struct base *b) { return b->truth > 0 ? b->speed / b->truth : 0; }
static int32_t steer_of(const struct base *b) { return b->truth > 0 ? b->steer / b->truth : 0; }

/* ---- What the robot perceives, as truths --------------------------------------------------------- */

static int32_t near_ahead, near_left, near_right; /* something is near there */
static int32_t aside;                             /* mm to the edge on the right */
static int32_t edge;                              /* there was an edge, fading with time */
static int32_t seen, bearing;                     /* the beacon */
static int32_t arrived;

static int32_t sonar(uint32_t k)
{
    return rio_peek16(SONAR_RANGE_AT(k));
}

static void perceive(void)
{
    int32_t beacon_ahead;

    seen = rio_peek16(FINDER_COUNT) > 0 ? TRUE : 0;
    bearing = rio_peeks16(FINDER_BEARING_AT(0u));
    beacon_ahead = both(seen, below(rio_abs(bearing), 100, 300));
    arrived = both(beacon_ahead, below(sonar(0), 250, 300));

    /* What is ahead and does not hide the beacon is the beacon: no reason to turn away. */
    near_ahead = both(below(sonar(0), 250, 700), no(beacon_ahead));
    near_left = either(below(sonar(1), 150, 450), below(sonar(2), 80, 220));
    near_right = either(below(sonar(7), 150, 450), below(sonar(6), 80, 220));

    aside = rio_min(sonar(6), sonar(7) - 90);
    edge = rio_max(edge - 1, below(aside, 500, 700));
}

/* ---- The behaviours -------------------------------------------------------------------------------- */

static struct base avoid(void)
{
    struct base b = { 0, 0, 0 };
    rule(&b, both(near_left, no(near_right)), SLOW, RIGHT);
    rule(&b, both(near_right, no(near_left)), SLOW, LEFT);
    rule(&b, both(near_ahead, no(near_left)), CREEP, LEFT);
    rule(&b, both(near_ahead, near_left), STAND, RIGHT);
    return b;
}

static struct base seek(void)
{
    struct base b = { 0, 0, 0 };
    rule(&b, no(below(bearing, 0, 600)), CREEP, LEFT);
    rule(&b, about(bearing, -600, 0, 600), FAST, AHEAD);
    rule(&b, below(bearing, -600, 0), CREEP, RIGHT);
    return b;
}

static struct base follow(void)
{
    struct base b = { 0, 0, 0 };
    int32_t too_far = no(below(aside, 250, 400));
    rule(&b, below(aside, 100, 250), SLOW, LEFT);
    rule(&b, about(aside, 100, 250, 400), SLOW, AHEAD);
    rule(&b, both(too_far, edge), SLOW, RIGHT / 2);
    rule(&b, both(too_far, no(edge)), FAST, AHEAD);
    return b;
}

/* ---- The base above them ----------------------------------------------------------------------------- */

static void blend(struct base *all, int32_t truth, struct base behaviour)
{
    rule(all, truth, speed_of(&behaviour), steer_of(&behaviour));
}

void robot_step(void)
{
    struct base all = { 0, 0, 0 };
    int32_t danger, speed, steer;

    perceive();
    danger = both(either(near_ahead, either(near_left, near_right)), no(arrived));
    rule(&all, arrived, STAND, AHEAD);
    blend(&all, danger, avoid());
    blend(&all, both(both(seen, no(danger)), no(arrived)), seek());
    blend(&all, both(no(seen), no(danger)), follow());

    speed = speed_of(&all);
    steer = steer_of(&all);
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}
