/* collect_pucks.c - collects pucks and brings them home.
 *
 * The robot has two rows of nine eyes that look ahead (LOW_RANGE and HIGH_RANGE, in mm, from right to
 * left, 7.5 degrees apart), a gripper in front, an eye for the floor that tells the bright patch at
 * home, a beacon finder for the lamp above the patch (bearing in milliradians, left positive), a ring
 * of eight sonars (0 ahead, counter-clockwise, in mm), a bumper of eight sectors, and two wheels (mm/s).
 *
 * The idea: a puck is what the low eyes see and the high eyes overlook. There are five states:
 *   SEARCH    straight on; at a wall turn left, by a random amount
 *   APPROACH  steer at the nearest puck until it is between the jaws, then close them
 *   CARRY     steer at the lamp
 *   PUT       over the patch go on a little, so that the puck lies well inside, and open the jaws
 *   RETREAT   back off, turn away, and search again
 * Pucks that are at home already must stay there: nobody approaches anything while over the patch.
 */
#include "rio.h"
#include "registers.h"

enum { SEARCH, APPROACH, CARRY, PUT, RETREAT };

enum {
    FAST = 300, SLOW = 100, TURN = 120, /* mm/s of a wheel */
    NEAR_AHEAD = 250, NEAR_ASIDE = 150, /* mm of sonar: time to turn */
    FLAT = 60,        /* mm that a low eye must see less than the high one above it */
    EYE_ANGLE = 131,  /* milliradians from one eye to the next */
    HOMEWARD = 400,   /* milliradians either side of the lamp */
    PUT_TICKS = 30,   /* a tick is 50 ms: 15 cm at SLOW */
    BACK_TICKS = 24,
    PATIENCE = 200,
    NONE = -1
};

static int state = SEARCH;
static int timer;   /* ticks spent in this state */
static int backing; /* ticks to go backward, then ... */
static int turning; /* ... ticks to turn left, then ... */
static int leaving; /* ... ticks to go straight on, before the state decides again */

static void drive(int32_t speed, int32_t steer) /* steer > 0 turns left */
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}

static void enter(int next)
{
    state = next;
    timer = 0;
}

/* A number from 0 to limit - 1 that looks random: a linear congruential generator. */
static int random_below(int limit)
{
    static uint32_t seed = 1;
    seed = seed * 1664525u + 1013904223u + rio_peek16(SONAR_RANGE_AT(2u)); /* not the same for all robots */
    return (int)((seed >> 16) % (uint32_t)limit);
}

static int home_below(void) { return rio_peek8(FLOOR_DETECTED) != 0; }

static int32_t eye_bearing(int eye) { return (eye - 4) * EYE_ANGLE; }

/* Whether that is the way home: what lies there is most likely at home already. */
static int homeward(int32_t bearing)
{
    return rio_peek16(FINDER_COUNT) > 0 && rio_abs(bearing - rio_peeks16(FINDER_BEARING_AT(0u))) < HOMEWARD;
}

/* The eye that sees the nearest puck, or NONE. */
static int puck_eye(void)
{
    int found = NONE;
    int32_t nearest = 0;
    uint32_t k;
    for (k = 0; k < LOW_RANGE_COUNT; k++) {
        int32_t low = rio_peek16(LOW_RANGE_AT(k)), high = rio_peek16(HIGH_RANGE_AT(k));
        if (low + FLAT < high && (found == NONE || low < nearest) && !homeward(eye_bearing((int)k))) {
            found = (int)k;
            nearest = low;
        }
    }
    return found;
}

/* Whether something touches the robot or what it carries, in front or on a side. */
static int touched(void)
{
    uint32_t k;
    for (k = 0; k < BUMPER_PRESSED_COUNT; k++) {
        if ((k < 3 || k > 5) && rio_peek8(BUMPER_PRESSED_AT(k))) return 1;
    }
    return rio_peek8(GRIPPER_TOUCHING);
}

/* Reflexes come first, as in avoid.c. Returns whether one of them drives. */
static int reflex(void)
{
    int32_t ahead = rio_peek16(SONAR_RANGE_AT(0u));
    int32_t left = rio_peek16(SONAR_RANGE_AT(1u)), right = rio_peek16(SONAR_RANGE_AT(7u));

    if (touched() && backing == 0) {
        backing = 8;
        turning = 10 + random_below(10);
        leaving = 20;
    }
    if (backing > 0) {
        backing--;
        drive(-SLOW, 0);
    } else if (turning > 0) {
        turning--;
        drive(0, TURN);
    } else if (ahead < NEAR_AHEAD || left < NEAR_ASIDE || right < NEAR_ASIDE) {
        turning = 4 + random_below(16);
        leaving = 20;
        drive(0, TURN);
    } else if (leaving > 0 && state == CARRY) {
        leaving--;
        drive(FAST, 0);
    } else {
        return 0;
    }
    return 1;
}

static void search(void)
{
    if (puck_eye() != NONE && !home_below()) enter(APPROACH);
    drive(FAST, 0);
}

static void approach(void)
{
    int eye = puck_eye();
    int32_t bearing = eye_bearing(eye);

    if (rio_peek8(GRIPPER_HOLDING)) {
        enter(CARRY);
    } else if (home_below() || touched() || timer > PATIENCE) { /* it lies at home already, or behind something */
        rio_poke8(GRIPPER_CLOSE, 0);
        enter(RETREAT);
    } else if (rio_peek8(GRIPPER_BEAM)) {
        rio_poke8(GRIPPER_CLOSE, 1);
        drive(0, 0);
    } else if (eye == NONE) {
        rio_poke8(GRIPPER_CLOSE, 0); /* lost: it was moved, or somebody else took it */
        enter(SEARCH);
    } else {
        int32_t range = rio_peek16(LOW_RANGE_AT((uint32_t)eye));
        int32_t speed = range < 250 ? SLOW : FAST;
        drive(rio_abs(bearing) > 2 * EYE_ANGLE ? SLOW / 2 : speed, bearing / 6);
    }
}

static void carry(void)
{
    int32_t bearing = rio_peeks16(FINDER_BEARING_AT(0u));

    if (home_below()) {
        enter(PUT);
    } else if (rio_peek16(FINDER_COUNT) == 0) {
        drive(0, TURN); /* the lamp is behind */
    } else {
        drive(rio_abs(bearing) > 500 ? SLOW : FAST, rio_clamp(bearing / 4, -TURN, TURN));
    }
}

static void put(void)
{
    drive(SLOW, 0);
    if (timer > PUT_TICKS || rio_peek8(GRIPPER_TOUCHING)) { /* far enough, or another puck is in the way */
        rio_poke8(GRIPPER_CLOSE, 0);
        rio_log("one more at home");
        enter(RETREAT);
        drive(0, 0);
    }
}

static void retreat(void)
{
    if (timer <= BACK_TICKS) {
        drive(-FAST, 0);
    } else {
        turning = 35 + random_below(35); /* 120 to 240 degrees */
        enter(SEARCH);
    }
}

void robot_step(void)
{
    timer++;
    if ((state == SEARCH || state == CARRY) && reflex()) return;
    switch (state) {
    case SEARCH: search(); break;
    case APPROACH: approach(); break;
    case CARRY: carry(); break;
    case PUT: put(); break;
    default: retreat(); break;
    }
}
