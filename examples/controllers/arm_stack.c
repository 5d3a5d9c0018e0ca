/* arm_stack.c - an arm with three joints moves boxes from known places to others.
 *
 * The robot has an arm: set-points of the joints (ARM_JOINT, milliradians, each from the direction of
 * the link before), jaws (ARM_CLOSE), and it tells when every joint is at its set-point (ARM_AT_TARGET),
 * whether it holds something, and where its tip is (ARM_TIP, mm). The wheels are left alone.
 *
 * The idea: to have the hand at a place and pointing in a direction, the wrist must be one hand's length
 * behind that place. Shoulder, elbow and wrist are a triangle with known sides, so the law of cosines
 * gives the elbow's angle, and then the shoulder's: inverse kinematics, here in whole numbers.
 *
 * What the hand holds must not run into other boxes. So there are two ways to move: LINE goes straight,
 * in small steps, to a box and back from it; SWING just sets the angles and lets every joint turn as fast
 * as it can. Nobody knows the way of the hand in between, but it is far from all boxes then.
 */
#include "rio.h"
#include "registers.h"

enum {
    UPPER = 300, FORE = 250, HAND = 100, /* lengths of the links, mm */
    BEFORE = 130, /* mm before a box where a line begins */
    STEP = 5,     /* mm per tick on a line */
    BOXES = 4
};

/* Where the hand is or shall be: a place in mm, and a direction as a vector of length 1000. */
struct hand { int32_t x, y, dx, dy; };

static const struct { int32_t x, y; } from[BOXES] = { { 129, 483 }, { -142, 531 }, { -354, 354 }, { -531, 142 } };
static const struct { int32_t x, y; } to[BOXES] = { { 400, -210 }, { 400, -140 }, { 400, -70 }, { 400, 0 } };

static int32_t wrapped(int32_t angle)
{
    while (angle > 3142) angle -= 6283;
    while (angle < -3142) angle += 6283;
    return angle;
}

/* Sets the joints so that the hand comes to `h`. */
static void set_joints(struct hand h)
{
    int32_t x = h.x - HAND * h.dx / 1000, y = h.y - HAND * h.dy / 1000; /* the wrist */
    /* Cosine and sine of the elbow's angle, in thousandths: r^2 = a^2 + b^2 + 2 a b cos. */
    int32_t cosine = (x * x + y * y - UPPER * UPPER - FORE * FORE) / (2 * UPPER * FORE / 1000);
    int32_t clamped = rio_clamp(cosine, -1000, 1000); /* out of reach: as near as it can */
    int32_t sine = (int32_t)rio_sqrt((uint32_t)(1000000 - clamped * clamped));
    int32_t elbow = rio_atan2(sine, clamped);
    int32_t shoulder = rio_atan2(y, x) - rio_atan2(FORE * sine, UPPER * 1000 + FORE * clamped);
    int32_t wrist = rio_atan2(h.dy, h.dx) - shoulder - elbow;

    rio_pokes16(ARM_JOINT_AT(0u), (int16_t)wrapped(shoulder));
    rio_pokes16(ARM_JOINT_AT(1u), (int16_t)wrapped(elbow));
    rio_pokes16(ARM_JOINT_AT(2u), (int16_t)wrapped(wrist));
}

/* The hand `back` mm before the place where a box lies, pointing away from the shoulder ... */
static struct hand at_source(int box, int32_t back)
{
    struct hand h;
    int32_t r = (int32_t)rio_sqrt((uint32_t)(from[box].x * from[box].x + from[box].y * from[box].y));
    h.dx = 1000 * from[box].x / r;
    h.dy = 1000 * from[box].y / r;
    h.x = from[box].x - back * h.dx / 1000;
    h.y = from[box].y - back * h.dy / 1000;
    return h;
}

/* ... and `back` mm before the place where it belongs, pointing ahead. */
static struct hand at_goal(int box, int32_t back)
{
    struct hand h;
    h.dx = 1000;
    h.dy = 0;
    h.x = to[box].x - back;
    h.y = to[box].y;
    return h;
}

/* For each box these, one after the other. */
enum { SWING_THERE, LINE_IN, TAKE, LINE_OUT, SWING_ROUND, LINE_UP, LEAVE, LINE_BACK, DONE };

static int box, state;
static int32_t back; /* mm that the hand is before the box */
static int waited;   /* ticks in this state */

static void next_state(void)
{
    waited = 0;
    if (++state == DONE) {
        state = SWING_THERE;
        box++;
    }
}

/* Readings are one tick old: only from the third tick on they speak of this state's set-points. */
static int arrived(void) { return waited > 2 && rio_peek8(ARM_AT_TARGET); }

/* One more step on the line to `end`; it is there when the arm is. */
static void line(int32_t end)
{
    if (back == end) {
        if (arrived()) next_state();
        return;
    }
    back += rio_clamp(end - back, -STEP, STEP);
    set_joints(state <= LINE_OUT ? at_source(box, back) : at_goal(box, back));
    waited = 0;
}

void robot_step(void)
{
    if (box == BOXES) return; /* all done: the arm keeps its last set-points */
    waited++;
    switch (state) {
    case SWING_THERE:
    case SWING_ROUND:
        back = BEFORE;
        set_joints(state == SWING_THERE ? at_source(box, back) : at_goal(box, back));
        if (arrived()) next_state();
        break;
    case LINE_IN:
    case LINE_UP:
        line(0);
        break;
    case LINE_OUT:
    case LINE_BACK:
        line(BEFORE);
        break;
    default: /* TAKE and LEAVE: give the jaws two ticks */
        rio_poke8(ARM_CLOSE, state == TAKE);
        if (waited <= 2) break;
        if (rio_peek8(ARM_HOLDING) != (state == TAKE)) rio_log_int("in vain: box", box + 1);
        if (state == LEAVE) rio_log_int("box", box + 1);
        next_state();
        break;
    }
}
