/* junction.h - walk over a network of tracks, from one corner, junction or end to the next.
 *
 * The robot has (worlds/parts/surveyor.robot): what line.h asks for, with a row wide enough that its
 * outermost sensors see nothing of the track the robot follows; and wheels that count their way
 * (ODOMETER_LEFT, ODOMETER_RIGHT, mm). Tracks meet at right angles.
 *
 * The idea: an outermost sensor that sees a track has found a branch, and a row that sees nothing has
 * come to an end. Which ways there are is only known a little later, when the row has crossed the
 * place and the robot's axle stands on it:
 *
 *            ahead
 *              |                 no way at all                     an END
 *     left ----+---- right       only left or only right           a CORNER
 *              |                 ahead and a side, or both sides   a JUNCTION
 *            robot
 *
 * Use: call walk() once per tick. When it answers that a place was reached, way_left, way_ahead and
 * way_right say where tracks go on from here; say turn_to(...), and go on calling walk().
 */
#ifndef JUNCTION_H
#define JUNCTION_H

#include "line.h"

#define SPEED   250 /* mm/s */
#define BASE    160 /* mm from wheel to wheel */
#define TO_AXLE 88  /* mm from where the row meets a branch until the axle stands on its middle */
#define LEAVE   40  /* mm after a turn in which branches are not looked for: it is still the same place */

enum place { ON_THE_WAY, CORNER, JUNCTION, END };
enum { AHEAD = 0, BACK = 2 }; /* turns, besides LEFT and RIGHT of line.h */

static int way_left, way_ahead, way_right; /* which ways go on from the place that was reached */

/* FOLLOWING a track; CROSSING a place, to see which ways there are; SPINNING to another track there;
 * LEAVING the place. */
enum phase { FOLLOWING, CROSSING, SPINNING, LEAVING };

static enum phase phase = LEAVING;
static int32_t phase_left, phase_right; /* what the wheels had counted when the phase began */
static int32_t spin_side, spin_least;   /* where to turn, and how far at least, in mm of both wheels */

static inline void begin(enum phase next)
{
    phase = next;
    phase_left = rio_peeks32(ODOMETER_LEFT);
    phase_right = rio_peeks32(ODOMETER_RIGHT);
}

/* How far the robot came since the phase began, in mm. */
static inline int32_t gone_mm(void)
{
    return (rio_peeks32(ODOMETER_LEFT) - phase_left + rio_peeks32(ODOMETER_RIGHT) - phase_right) / 2;
}

/* How far one wheel turned against the other; a whole turn of the robot is 2 * pi * BASE. */
static inline int32_t turned_mm(void)
{
    return rio_abs((rio_peeks32(ODOMETER_RIGHT) - phase_right) - (rio_peeks32(ODOMETER_LEFT) - phase_left));
}

/* Turns on the spot until the row lies across another track: LEFT, RIGHT or BACK; or goes AHEAD. */
static inline void turn_to(int32_t where)
{
    spin_side = where == RIGHT ? RIGHT : LEFT;
    spin_least = (where == BACK ? 2 : 1) * BASE; /* an angle of 1 is 57 degrees */
    begin(where == AHEAD ? LEAVING : SPINNING);
}

/* Whether the row lies with its middle on a track. */
static inline int centred(void)
{
    return eye(EYES / 2) && rio_abs(line_offset()) < 40;
}

/* One tick on the way. */
static inline enum place walk(void)
{
    switch (phase) {
    case FOLLOWING:
        follow_line(SPEED);
        if (eye(0) || eye(EYES - 1) || eyes_on_line() == 0) {
            way_left = way_right = 0;
            begin(CROSSING);
        }
        break;
    case CROSSING:
        drive(SPEED, 0);
        way_left |= eye(0);
        way_right |= eye(EYES - 1);
        if (gone_mm() < TO_AXLE) break;
        way_ahead = eye(EYES / 2 - 1) || eye(EYES / 2) || eye(EYES / 2 + 1);
        begin(LEAVING);
        drive(0, 0);
        if (way_left + way_ahead + way_right == 0) return END;
        if (way_left + way_right == 0) break; /* nothing but the track itself */
        return way_left + way_ahead + way_right == 1 ? CORNER : JUNCTION;
    case SPINNING:
        drive(0, spin_side * SPEED / 3);
        if (turned_mm() > spin_least && centred()) begin(LEAVING);
        break;
    case LEAVING:
        follow_line(SPEED);
        if (gone_mm() > LEAVE) begin(FOLLOWING);
        break;
    }
    return ON_THE_WAY;
}

#endif
