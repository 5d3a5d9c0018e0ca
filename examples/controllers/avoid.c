/* avoid.c - reflexes: turn left on impact, and before it.
 *
 * The robot has a ring of eight sonars (0 ahead, counter-clockwise, in mm), a bumper of eight
 * sectors in the same order, and two wheels (speeds in mm/s).
 *
 * The idea: there is no plan and no map, only reflexes, the most urgent first.
 *   1. Touched in front: back off a little, then turn left. Touched on a side: turn left.
 *   2. Something near in front: turn left on the spot until the way is free.
 *   3. Otherwise: straight on.
 * A reflex may last longer than its cause, so two counters remember how many ticks it still has.
 */
#include "rio.h"
#include "registers.h"

enum {
    CRUISE = 300,      /* mm/s */
    TURN = 150,        /* mm/s of each wheel, against each other */
    NEAR_AHEAD = 300,  /* mm */
    NEAR_ASIDE = 180,  /* mm, half left and half right */
    BACK_TICKS = 8,
    TURN_TICKS = 12
};

static int backing; /* ticks to go backward */
static int turning; /* ticks to turn after that */

static void drive(int16_t left, int16_t right)
{
    rio_pokes16(DRIVE_LEFT, left);
    rio_pokes16(DRIVE_RIGHT, right);
}

static int touched(uint32_t sector)
{
    return rio_peek8(BUMPER_PRESSED_AT(sector)) != 0;
}

static int near_in_front(void)
{
    return rio_peek16(SONAR_RANGE_AT(0u)) < NEAR_AHEAD
        || rio_peek16(SONAR_RANGE_AT(1u)) < NEAR_ASIDE
        || rio_peek16(SONAR_RANGE_AT(7u)) < NEAR_ASIDE;
}

void robot_step(void)
{
    if (touched(0) || touched(1) || touched(7)) {
        backing = BACK_TICKS;
        turning = TURN_TICKS;
    }
    if (touched(2) || touched(6)) turning = TURN_TICKS;
    if (touched(3) || touched(4) || touched(5)) backing = 0;

    if (backing > 0) {
        backing--;
        drive(-TURN, -TURN);
    } else if (turning > 0) {
        turning--;
        drive(-TURN, TURN);
    } else if (near_in_front()) {
        drive(-TURN, TURN);
    } else {
        drive(CRUISE, CRUISE);
    }
}
