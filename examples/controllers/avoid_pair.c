/* avoid_pair.c - two robots that meet head-on pass each other, each on its right.
 *
 * The robot has a compass (milliradians, counter-clockwise), wheel counters (one count is one
 * millimetre), a ring of eight sonars (0 ahead, counter-clockwise, in mm) and two wheels (mm/s).
 *
 * The idea: both run this same program, and neither can talk. So the side on which to pass must be
 * agreed beforehand, as in traffic: keep right. Each robot has a line to follow, from where it
 * stands straight ahead to its goal WAY millimetres further. Compass and counters tell how far it
 * is along the line and how far to the left of it (dead reckoning). When something appears in front
 * the robot follows a second lane to the right of the line. If the other one does the same they meet
 * halfway, so after the whole distance it is past, and the robot goes back to the line and on to its goal.
 */
#include "rio.h"
#include "registers.h"
#include "angles.h"

enum {
    WAY = 4000,        /* mm from start to goal */
    SPEED = 250,       /* mm/s */
    SEEN = 1800,       /* mm; who is nearer than this is in the way */
    LANE = -400,       /* mm, to the left of the line; so to the right of it */
    LOOK_AHEAD = 500,  /* mm; shorter comes back to the line faster, and sways more */
    SAMPLES = 16       /* compass readings to average before setting off */
};

static int32_t samples, turned;     /* compass readings so far; the sum of their differences from the first */
static int32_t course;              /* direction of the line, milliradians */
static int32_t first;               /* the very first reading: the others are counted from there */
static int32_t along_um, left_um;   /* place on the line and beside it, micrometres */
static int32_t counted_left, counted_right;
static int32_t lane_until_um;       /* keeps right up to this place on the line */

static void drive(int32_t speed, int32_t steer) /* steer > 0 turns left */
{
    rio_pokes16(DRIVE_LEFT, (int16_t)(speed - steer));
    rio_pokes16(DRIVE_RIGHT, (int16_t)(speed + steer));
}

static int32_t sonar(uint32_t k)
{
    return rio_peek16(SONAR_RANGE_AT(k));
}

static int32_t cosine(int32_t angle)
{
    return sine(angle + 1571);
}

/* The direction off the line, milliradians. */
static int32_t off_course(void)
{
    return wrapped(rio_peeks16(COMPASS_HEADING) - course);
}

static void reckon(void)
{
    int32_t left = rio_peeks32(ODOMETER_LEFT), right = rio_peeks32(ODOMETER_RIGHT);
    int32_t moved = (left - counted_left) + (right - counted_right); /* twice the way of the middle */
    int32_t direction = off_course();
    counted_left = left;
    counted_right = right;
    along_um += moved * cosine(direction) / 2;
    left_um += moved * sine(direction) / 2;
}

/* Stands still and averages the compass, because a line that begins 1 degree wrong ends 7 cm wrong. */
static int found_course(void)
{
    if (samples == SAMPLES) return 1;
    if (samples == 0) first = rio_peeks16(COMPASS_HEADING);
    turned += wrapped(rio_peeks16(COMPASS_HEADING) - first);
    samples++;
    course = wrapped(first + turned / samples);
    return 0;
}

static void look_out(void)
{
    int32_t ahead = sonar(0);
    if (ahead < SEEN) lane_until_um = rio_max(lane_until_um, along_um + ahead * 1000);
}

void robot_step(void)
{
    int32_t lane, wanted;

    if (!found_course()) return;
    reckon();
    if (along_um >= WAY * 1000) {
        drive(0, 0);
        return;
    }
    look_out();
    lane = along_um < lane_until_um ? LANE : 0;
    wanted = rio_atan2(lane - left_um / 1000, LOOK_AHEAD);
    drive(SPEED, rio_clamp((wanted - off_course()) / 4, -100, 100));
}
