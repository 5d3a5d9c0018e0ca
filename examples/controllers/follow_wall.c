/* follow_wall.c - follows the wall on its right, around corners of both kinds.
 *
 * The robot has a ring of eight sonars (0 ahead, counter-clockwise, in mm; so 6 looks right and 7 half
 * right) and two wheels (speeds in mm/s).
 *
 * The idea: sonar 6 tells how far the wall is, sonar 7 what it will be soon. Steer so that both
 * show what they would beside a straight wall at the wanted distance. Where the wall ahead comes
 * near there is an inner corner: turn left on the spot. Where both sonars lose the wall there is an
 * outer corner or its end: drive a circle to the right until they find it again.
 *
 * This program has its own loop (style B of rio.h): it owns main() and asks for each tick.
 */
#include "rio.h"
#include "registers.h"

enum {
    SPEED = 200,      /* mm/s */
    ASIDE = 250,      /* wanted reading of sonar 6, mm */
    HALF_AHEAD = 340, /* reading of sonar 7 at that distance */
    LOST = 600,       /* beyond this there is no wall to follow */
    NEAR_AHEAD = 280, /* an inner corner */
    STEER_MOST = 100, /* mm/s added to one wheel, taken from the other */
    CIRCLE = -55      /* steering of a circle of 37 cm: wanted distance and half the robot */
};

static void drive(int32_t speed, int32_t steer) /* steer > 0 turns left */
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}

static int32_t sonar(uint32_t k)
{
    return rio_peek16(SONAR_RANGE_AT(k));
}

/* Goes straight on until there is something to follow. */
static int found_wall;

static void one_tick(void)
{
    int32_t ahead = sonar(0), aside = sonar(6), half = sonar(7);

    if (ahead < NEAR_AHEAD) {
        found_wall = 1;
        drive(0, STEER_MOST);
    } else if (!found_wall) {
        drive(SPEED, 0);
    } else if (aside > LOST && half > LOST) {
        drive(SPEED, CIRCLE);
    } else {
        int32_t too_near = (ASIDE - aside) + (HALF_AHEAD - half);
        drive(SPEED, rio_clamp(too_near * 3 / 5, CIRCLE, STEER_MOST));
    }
}

int main(void)
{
    rio_init();
    while (rio_wait()) one_tick();
    rio_done();
    return 0;
}
