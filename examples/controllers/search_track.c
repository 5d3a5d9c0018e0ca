/* search_track.c - finds a network of tracks and searches all of it.
 *
 * The robot has (worlds/parts/surveyor.robot): a row of seven track sensors that look straight down,
 * and two wheels that count their way. How it walks from place to place is in junction.h.
 *
 * The idea is depth-first search. At a junction the robot takes the rightmost way, at an end it turns
 * round; so it comes back to every junction once for each of its ways. A stack remembers how many
 * ways are still to come for each junction between the start and here:
 *
 *   a new junction             is put on the stack with the number of its ways onward
 *   back from one of its ways  one less; at zero the junction is done and taken off the stack
 *
 * The search starts in the middle of a track, which has two sides. When both are done, everything is.
 * All this asks for a network without loops: in a loop the robot would take an old junction for a
 * new one, and never end.
 */
#include "junction.h"

#define DEPTH 16 /* junctions between the start and the farthest end, at most */

static enum { SEARCH, ONTO, SURVEY, DONE } state = SEARCH;

static int32_t to_come[DEPTH]; /* the stack: ways still to come, for each junction */
static int32_t depth;
static int32_t sides = 2;      /* sides of the start still to come */
static int coming_back;        /* whether everything behind the robot, up to the last junction, is done */
static int32_t corners, junctions, ends;

/* Everything ahead of here is done: back, unless it was the last. */
static void branch_done(void)
{
    coming_back = 1;
    if (depth == 0) sides--;
    if (sides > 0) return;
    state = DONE;
    rio_log_int("searched everything: ends", ends);
    rio_log_int("junctions", junctions);
}

static void at_end(void)
{
    rio_log_int("end", ++ends);
    branch_done();
    turn_to(BACK);
}

static void at_corner(void)
{
    rio_log_int("corner, passed so far", ++corners);
    turn_to(way_right ? RIGHT : LEFT);
}

static void at_junction(void)
{
    if (coming_back && depth > 0) {
        to_come[depth - 1]--;
        rio_log_int("back at a junction, ways to come", to_come[depth - 1]);
    } else if (depth < DEPTH) {
        to_come[depth++] = way_left + way_ahead + way_right;
        rio_log_int("junction", ++junctions);
    } else {
        rio_log("more junctions on end than the stack holds, giving up");
        state = DONE;
    }
    coming_back = 0;
    if (to_come[depth - 1] == 0) {
        depth--;
        branch_done();
    }
    turn_to(way_right ? RIGHT : way_ahead ? AHEAD : LEFT);
}

static void survey(void)
{
    switch (walk()) {
    case END: at_end(); break;
    case CORNER: at_corner(); break;
    case JUNCTION: at_junction(); break;
    case ON_THE_WAY: break;
    }
}

void robot_step(void)
{
    switch (state) {
    case SEARCH: /* straight on, until there is a track */
        drive(SPEED, 0);
        begin(LEAVING);
        if (eyes_on_line() > 0) state = ONTO;
        break;
    case ONTO: /* until the axle stands on it */
        drive(SPEED, 0);
        if (gone_mm() < TO_AXLE) break;
        rio_log("found a track");
        turn_to(RIGHT);
        state = SURVEY;
        break;
    case SURVEY:
        survey();
        break;
    case DONE:
        drive(0, 0);
        break;
    }
}
