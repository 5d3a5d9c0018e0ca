/* follow_track.c - finds a track, follows it, and goes round what stands on it.
 *
 * The robot has (worlds/parts/essex.robot): a row of five track sensors under its nose, eight sonars
 * around its body (0 looks ahead, then counter-clockwise: 1 ahead left, 2 left, 3 back left ...), and
 * two wheels.
 *
 * The idea is a machine of four states, as in Figure 7-2 of the SPREAD paper:
 *
 *   SEARCH   straight on, until a sensor sees the track                          -> JOIN
 *   JOIN     onto the track, then turn right until the row lies across it        -> FOLLOW
 *   FOLLOW   along the track, until something stands ahead                       -> EDGE
 *   EDGE     round the obstacle with its edge at the left hand, until a sensor
 *            sees the track again                                                -> JOIN
 *
 * The robot in the paper had a mistake: it never left EDGE, and circled the obstacle for ever.
 * follow_track_bug.c is this program with that mistake (NEVER_REVERT).
 */
#include "line.h"

#define SPEED   250 /* mm/s */
#define AHEAD   300 /* mm: nearer than this, something ahead is an obstacle */
#define GAP     200 /* mm: distance to keep from its edge */
#define OFF     10  /* ticks without the track until it counts as left behind */
#define ONTO    130 /* mm from where the sensors look to the axle */

enum state { SEARCH, JOIN, FOLLOW, EDGE };

static enum state state = SEARCH;
static uint32_t since;   /* the tick in which this state began */
static int32_t off_line; /* ticks without the track */

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

static int obstacle_ahead(void)
{
    return sonar(0) < AHEAD || sonar(1) < AHEAD / 2 || sonar(7) < AHEAD / 2;
}

static void join(void)
{
    if (way_mm() < ONTO) {
        drive(SPEED, 0);
    } else if (eye(EYES / 2)) {
        enter(FOLLOW, "following the track");
    } else {
        drive(0, -SPEED / 3);
    }
}

/* Keeps the edge on the left at a distance of GAP. The distance alone would make the robot swing to
 * and fro; so it also steers by where the edge goes: away when the sonar ahead left sees it nearer
 * than the one back left, towards it when it is the other way round. */
static void follow_edge(void)
{
    int32_t ahead = rio_min(sonar(1), 2 * GAP), back = rio_min(sonar(3), 2 * GAP);
    int32_t nearest = rio_min(sonar(2), rio_min(ahead, back));
    int32_t turn = (nearest - GAP) + (ahead - back) / 2;
    if (sonar(0) < AHEAD) drive(0, -SPEED / 2);
    else drive(SPEED, rio_clamp(turn, -GAP, GAP) * SPEED / (2 * GAP));
}

/* The track crosses below the obstacle: it counts as found again only after it was left. */
static int track_found_again(void)
{
#ifdef NEVER_REVERT
    return 0;
#else
    int was_off = off_line > OFF;
    if (eyes_on_line() == 0) off_line++;
    return was_off && eyes_on_line() > 0;
#endif
}

void robot_step(void)
{
    switch (state) {
    case SEARCH:
        drive(SPEED, 0);
        if (eyes_on_line() > 0) enter(JOIN, "found the track");
        else if (obstacle_ahead()) enter(EDGE, "met an obstacle");
        break;
    case JOIN:
        join();
        break;
    case FOLLOW:
        follow_line(SPEED);
        if (obstacle_ahead()) enter(EDGE, "met an obstacle");
        break;
    case EDGE:
        follow_edge();
        if (track_found_again()) enter(JOIN, "found the track again");
        break;
    }
}
