/* track_pair.c - follows a track, and makes room for others on it.
 *
 * The robot has (worlds/parts/essex.robot): a row of five track sensors under its nose, eight sonars
 * around its body (0 looks ahead, then counter-clockwise: 1 ahead left ... 6 right, 7 ahead right),
 * and two wheels.
 *
 * The idea is that of Figure 9-3 of the SPREAD paper: two robots try to find and follow the same
 * track. When one of them sees the other ahead, it turns left to avoid it. If both do so they pass
 * each other on the right, like ships; nobody needs to be told who gives way.
 *
 *   SEARCH   straight on, until a sensor sees the track                        -> JOIN, to the right
 *   JOIN     onto the track, then turn until the row lies across it            -> FOLLOW
 *   FOLLOW   along the track, until somebody is ahead                          -> AVOID
 *   AVOID    turn left until the way is clear, then curve back to the right,
 *            until a sensor sees the track                                     -> JOIN, to the left
 */
#include "line.h"

#define SPEED  200 /* mm/s */
#define NEAR   500 /* mm: somebody this near ahead is to be avoided */
#define BESIDE 350 /* mm: somebody this near on the right is still passing */
#define OFF    10  /* ticks without the track until it counts as left behind */
#define ONTO   110 /* mm from where the sensors look to the axle */

enum state { SEARCH, JOIN, FOLLOW, AVOID };

static enum state state = SEARCH;
static uint32_t since;            /* the tick in which this state began */
static int32_t off_line;          /* ticks without the track */
static int32_t join_side = RIGHT; /* where to turn when the track is reached */

static void enter(enum state next, const char *why)
{
    rio_log(why);
    state = next;
    since = rio_ticks();
    off_line = 0;
}

/* Distance that sonar k measures, in mm. */
static int32_t sonar(uint32_t k)
{
    return rio_peek16(SONAR_RANGE_AT(k));
}

/* How far a robot at SPEED came since the state began, in mm. */
static int32_t way_mm(void)
{
    return (int32_t)((rio_ticks() - since) * (rio_tick_us() / 1000u)) * SPEED / 1000;
}

static int somebody_ahead(void)
{
    return sonar(0) < NEAR || sonar(1) < NEAR / 2 || sonar(7) < NEAR / 2;
}

static void join(void)
{
    if (way_mm() < ONTO) drive(SPEED, 0);
    else if (eye(EYES / 2)) enter(FOLLOW, "following the track");
    else drive(0, join_side * SPEED / 3);
}

static void avoid(void)
{
    int was_off = off_line > OFF;
    if (eyes_on_line() == 0) off_line++;

    if (somebody_ahead()) drive(0, SPEED / 2);       /* turn left until the way is clear */
    else if (sonar(6) < BESIDE) drive(SPEED, 0);     /* straight on while the other one passes */
    else drive(SPEED, -SPEED / 4);                   /* and back */

    if (was_off && eyes_on_line() > 0) {
        join_side = LEFT;
        enter(JOIN, "found the track again");
    }
}

void robot_step(void)
{
    if (state != AVOID && somebody_ahead()) enter(AVOID, "somebody is ahead, turning left");
    switch (state) {
    case SEARCH:
        drive(SPEED, 0);
        if (eyes_on_line() > 0) enter(JOIN, "found the track");
        break;
    case JOIN:
        join();
        break;
    case FOLLOW:
        follow_line(SPEED);
        break;
    case AVOID:
        avoid();
        break;
    }
}
