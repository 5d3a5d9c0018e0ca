/* home_beacon.c - visits beacons in the order of their codes.
 *
 * The robot has a beacon finder (for each beacon in sight its code and its bearing in milliradians,
 * left positive, lowest code first; code -1 is an empty slot), a ring of eight sonars (0 ahead,
 * counter-clockwise, in mm) and two wheels (speeds in mm/s).
 *
 * The idea: a finder knows no distance, so the robot drives at the beacon until the sonar ahead
 * meets what it stands on. It has three states:
 *   SEARCH  turn on the spot until a beacon is in sight whose code is higher than the last one
 *   HOME    steer at it; slower, the more it is off the middle
 *   REST    a whole turn and a half, and nothing new in sight: that was the last one
 */
#include "rio.h"
#include "registers.h"

enum { SEARCH, HOME, REST };

enum {
    SPEED = 300,     /* mm/s */
    TURN = 100,      /* mm/s of each wheel when searching: one radian per second */
    ARRIVED = 250,   /* mm of sonar 0 */
    CLEARANCE = 150, /* mm of sonars 1 and 7 */
    IN_FRONT = 200,  /* milliradians either way */
    PATIENCE = 200   /* ticks of searching: ten seconds */
};

static int state = SEARCH;
static int last = -1;    /* code of the beacon visited last */
static int searched;     /* ticks spent in SEARCH */

static void drive(int32_t speed, int32_t steer) /* steer > 0 turns left */
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}

static int32_t sonar(uint32_t k)
{
    return rio_peek16(SONAR_RANGE_AT(k));
}

/* The slot of the next beacon to visit, or -1. */
static int next_beacon(void)
{
    uint32_t k;
    for (k = 0; k < FINDER_ID_COUNT; k++) {
        if (rio_peeks16(FINDER_ID_AT(k)) > last) return (int)k;
    }
    return -1;
}

static void home(int slot)
{
    int32_t bearing = rio_peeks16(FINDER_BEARING_AT((uint32_t)slot));
    int32_t speed = rio_max(0, SPEED - rio_abs(bearing) / 2);
    int32_t steer = rio_clamp(bearing / 4, -TURN, TURN);

    if (sonar(0) < ARRIVED && rio_abs(bearing) < IN_FRONT) {
        last = rio_peeks16(FINDER_ID_AT((uint32_t)slot));
        rio_log_int("visited", last);
        drive(0, 0);
        return;
    }
    if (sonar(1) < CLEARANCE) steer -= TURN; /* keeps off corners on the way */
    if (sonar(7) < CLEARANCE) steer += TURN;
    drive(speed, steer);
}

void robot_step(void)
{
    int slot = next_beacon();

    if (slot >= 0) {
        state = HOME;
        searched = 0;
    } else if (searched < PATIENCE) {
        state = SEARCH;
        searched++;
    } else {
        state = REST;
    }

    switch (state) {
    case HOME: home(slot); break;
    case SEARCH: drive(0, TURN); break;
    default: drive(0, 0); break;
    }
}
