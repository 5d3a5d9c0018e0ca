/* SPREAD's infrared track sensor (section 8 of the paper), with the keys of its configuration file.
 *
 *      o  sensor, Height above the floor
 *      |\\         axis inclined by Inclination from the vertical,
 *      | \ \       cone of light of Cone Angle
 *    __|__(==)__   its ellipse on the floor, cut into Precision segments of equal light
 *
 * A segment is covered when its centre lies on a track. More than Coverage percent of them are a
 * detection; the value is their share of Max Value, off by up to Error Level percent either way.
 * Besides the paper's keys: Count sensors in a row from left to right, Spacing [cm] apart.
 *
 * The simulator's own `track-sensor` computes the same, to the bit.
 */
#include "part.h"

#define MOST_SEGMENTS 1024
#define MOST_EYES 64

static double height, inclination, half_angle;          /* the cone: h, alpha, and half of beta */
static double centre_x[MOST_SEGMENTS], centre_y[MOST_SEGMENTS];
static double eye_x[MOST_EYES], eye_y[MOST_EYES];
static double axis_x, axis_y, ring;
static double coverage, max_value, error_level;
static int count, precision, detected, value;

void part_describe(void)
{
    count = (int)part_param("Count", 1);
    max_value = part_param("Max Value", 255);
    if (count < 1 || count > MOST_EYES) part_refuse("Count is from 1 to 64");
    detected = part_reading("detected", count, "", 0, 1, "1 for each sensor that detects a track.");
    value = part_reading("value", count, "", 0, max_value, "Reading of each sensor.");
}

/* Sine of the widest angle out of the plane at `off` from the axis that belongs to the cone. */
static double widest(double off)
{
    double share = part_cos(half_angle) / part_cos(off);
    return part_sqrt(part_max(1 - share * share, 0));
}

static double arc(double x) { return part_asin(part_clamp(x, -1, 1)); }

/* Half of the light between the middle plane and the one at `off` from the axis, as a solid angle. */
static double light_up_to(double off)
{
    return arc(part_sin(off) / part_sin(half_angle))
         - part_cos(half_angle) * arc(part_tan(off) / part_tan(half_angle));
}

/* The plane in front of which lies this share of the light. */
static double plane_at(double share)
{
    double wanted = PART_PI / 2 * (1 - part_cos(half_angle)) * (2 * share - 1);
    double low = -half_angle, high = half_angle;
    int round;
    for (round = 0; round < 60; round++) {
        double middle = (low + high) / 2;
        if (light_up_to(middle) < wanted) low = middle; else high = middle;
    }
    return (low + high) / 2;
}

/* Planes across the view cut the light into equal strips, and every strip is cut likewise. */
static void cut_into_segments(const part_pose *mount)
{
    int across = 1, d, strip, k, n = 0;
    for (d = 1; d * d <= precision; d++) if (precision % d == 0) across = d;
    for (strip = 0; strip < precision / across; strip++) {
        double off = plane_at((strip + 0.5) / (precision / across));
        for (k = 0; k < across; k++, n++) {
            double sine = ((2.0 * k + 1) / across - 1) * widest(off);
            double down = inclination + off, aside = sine / part_sqrt(1 - sine * sine);
            double x = height * part_tan(down), y = height * aside / part_cos(down);
            centre_x[n] = mount->cos * x - mount->sin * y;
            centre_y[n] = mount->sin * x + mount->cos * y;
        }
    }
}

void part_setup(void)
{
    part_pose mount;
    double spacing = part_param_in("Spacing", "cm", 2), foot;
    int k;

    height = part_param_in("Height", "cm", 8);
    inclination = part_param_in("Inclination", "deg", 45);
    half_angle = part_param_in("Cone Angle", "deg", 30) / 2;
    precision = (int)part_param("Precision", 16);
    coverage = part_param("Coverage", 15);
    error_level = part_param("Error Level", 0);
    if (precision < 1 || precision > MOST_SEGMENTS) part_refuse("Precision is from 1 to 1024");
    if (inclination + half_angle >= PART_PI / 2 - 1e-6) part_refuse("the cone does not end on the floor");

    part_mount(&mount);
    for (k = 0; k < count; k++) {
        double aside = ((count - 1) / 2.0 - k) * spacing;
        eye_x[k] = mount.x + (mount.cos * 0.0 - mount.sin * aside);
        eye_y[k] = mount.y + (mount.sin * 0.0 + mount.cos * aside);
    }
    foot = height * part_tan(inclination);
    axis_x = mount.cos * foot - mount.sin * 0.0;
    axis_y = mount.sin * foot + mount.cos * 0.0;
    ring = height * part_tan(half_angle) / 2;
    cut_into_segments(&mount);
}

/* How bright the floor is at a point of the robot's frame. */
static double lit(const part_body *me, double x, double y)
{
    return part_reflectivity(me->x + (me->cos * x - me->sin * y), me->y + (me->sin * x + me->cos * y));
}

void part_step(void)
{
    part_body me;
    int k, n, full = part_detail() != PART_COARSE;

    part_self(&me);
    part_chance(PART_CHANCE_TRACK);
    for (k = 0; k < count; k++) {
        double share = 0, noise = 0;
        if (full) {
            for (n = 0; n < precision; n++) share += lit(&me, eye_x[k] + centre_x[n], eye_y[k] + centre_y[n]);
            share /= precision;
            if (error_level > 0) noise = -1 + 2 * part_uniform((unsigned)k);
        } else {
            share = lit(&me, eye_x[k] + axis_x, eye_y[k] + axis_y);
        }
        part_out(detected, k, 100 * share > coverage);
        part_out(value, k, part_clamp(part_round((share + noise * error_level / 100) * max_value), 0, max_value));
    }
}

/* Two small concentric circles where a track is detected, as in the paper (8.3). */
void part_marks(void)
{
    int k;
    for (k = 0; k < count; k++) {
        if (part_reading_value(detected, k) == 0) continue;
        part_mark_circle(detected, k, eye_x[k] + axis_x, eye_y[k] + axis_y, ring);
        part_mark_circle(detected, k, eye_x[k] + axis_x, eye_y[k] + axis_y, 0.5 * ring);
    }
}

void part_cleanup(void) {}
