/* A proximity sensor: how near the nearest thing is, robot or wall, and in which direction.
 *
 *        .--.           wall
 *       ( me )------------|     distance from my rim, up to Range; bearing from straight ahead
 *        '--'
 *
 * Keys: Range [cm], Noise [cm] (standard deviation of the distance).
 */
#include "part.h"

static int distance, bearing; /* numbers of the channels */
static double range, noise;

/* First function, part one: who am I? */
void part_describe(void)
{
    range = part_param_in("Range", "cm", 100);
    distance = part_reading("distance", 1, "m", 0, range, "Distance to the nearest thing.");
    bearing = part_reading("bearing", 1, "rad", -PART_PI, PART_PI, "Direction of the nearest thing.");
}

/* First function, part two: parameters, and whatever can be computed beforehand. */
void part_setup(void)
{
    noise = part_param_in("Noise", "cm", 0);
}

/* The point of a wall that is nearest to me. */
static void nearest_point(const part_edge *wall, const part_body *me, double *x, double *y)
{
    double dx = wall->bx - wall->ax, dy = wall->by - wall->ay, length2 = dx * dx + dy * dy, share = 0;
    if (length2 > 0) share = ((me->x - wall->ax) * dx + (me->y - wall->ay) * dy) / length2;
    share = part_clamp(share, 0, 1);
    *x = wall->ax + share * dx;
    *y = wall->ay + share * dy;
}

/* The model: called at the start of each quantum. */
void part_step(void)
{
    part_body me, other;
    part_edge wall;
    double nearest = range, towards = 0;
    int k;

    part_self(&me);
    for (k = 0; k < part_body_count(); k++) {
        part_body_at(k, &other);
        double dx = other.x - me.x, dy = other.y - me.y;
        double gap = part_hypot(dx, dy) - me.radius - other.radius;
        if (other.self || gap >= nearest) continue;
        nearest = gap;
        towards = part_wrap(part_atan2(dy, dx) - me.heading);
    }
    for (k = 0; k < part_near_count(); k++) {
        double x, y;
        part_near(k, &wall);
        nearest_point(&wall, &me, &x, &y);
        double gap = part_hypot(x - me.x, y - me.y) - me.radius;
        if (gap >= nearest) continue;
        nearest = gap;
        towards = part_wrap(part_atan2(y - me.y, x - me.x) - me.heading);
    }
    if (part_detail() != PART_COARSE) nearest += noise * part_normal(0);
    part_out(distance, 0, part_clamp(nearest, 0, range));
    part_out(bearing, 0, towards);
}

/* What displays draw: a line towards the thing, when there is one. */
void part_marks(void)
{
    double far = part_reading_value(distance, 0), angle = part_reading_value(bearing, 0);
    if (far < range) part_mark_line(distance, 0, 0, 0, far * part_cos(angle), far * part_sin(angle));
}

/* The last function: nothing to clean up here. */
void part_cleanup(void) {}
