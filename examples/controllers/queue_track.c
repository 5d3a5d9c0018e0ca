/* queue_track.c - follows a track among many others, and keeps its distance.
 *
 * The robot has (worlds/many-on-a-track.toml): a row of five track sensors under its nose, one sonar
 * that looks ahead (SONAR_RANGE, mm), and two wheels.
 *
 * The idea: follow the track at a speed that fits the gap to the one ahead: none below STAND, and
 * above it GAIN times as fast as the gap is wide, up to CRUISE. Like a driver, a robot dawdles now and
 * then for no reason at all. One robot that slows down makes the one behind slow down, and so on: when
 * the track is full, a queue runs backwards through the line although everybody drives forwards.
 *
 * Every robot runs this same program. That they dawdle at different times comes from the noise of
 * their track sensors, with which they start their random numbers.
 */
#include "line.h"

#define CRUISE  300  /* mm/s */
#define STAND   70   /* mm: stop when the gap is smaller */
#define GAIN    2    /* mm/s of speed for each mm of gap */
#define RARELY  3000 /* once in so many ticks a robot begins to dawdle */
#define DAWDLE  40   /* for so many ticks */

static uint32_t chance;
static int32_t dawdling; /* ticks left */

/* A random number from 0 to below `limit`: a linear congruential generator, its high bits. */
static uint32_t random_below(uint32_t limit)
{
    chance = chance * 1664525u + 1013904223u;
    return (chance >> 16) % limit;
}

void robot_setup(void)
{
    int32_t k;
    for (k = 0; k < EYES; k++) chance = chance * 31u + rio_peek8(EYES_VALUE_AT((uint32_t)k));
}

void robot_step(void)
{
    int32_t gap = rio_peek16(SONAR_RANGE);
    int32_t speed = rio_clamp((gap - STAND) * GAIN, 0, CRUISE);

    if (dawdling > 0) dawdling--;
    else if (random_below(RARELY) == 0) dawdling = DAWDLE;
    if (dawdling > 0) speed = 0;

    follow_line(speed);
}
