/* part.h - new hardware for the simulator: a sensor or a drive, modelled in C.
 *
 * C99 or C++11, freestanding: no libc, no malloc. The simulator compiles your file to WebAssembly and
 * runs it in a sandbox (classes `sensor-model` and `drive-model`). How to: docs/new-hardware.md.
 *
 * You write four functions:
 *
 *   part_describe   which channels there are, and how many numbers you keep. Once, when the world is read.
 *   part_setup      parameters, the things that never move, the length of the quantum. Once per run, and
 *                   again when somebody changes the quantum or the level of detail.
 *   part_step       the model itself: at the start of each quantum, for each robot that has the part.
 *   part_cleanup    at the end. May be left out, as may part_setup.
 *
 * and, for a sensor that wants to show itself on displays, a fifth: part_marks.
 *
 * One thing to know: your static variables are as part_setup left them at the beginning of EVERY step.
 * What has to last from one step to the next, for each robot, goes through part_set_state. That is why
 * a run gives the same bits on one processor and on eight, and why it can be saved and continued.
 *
 * Metres, seconds, radians; x forward or east, y left or north, angles counter-clockwise.
 */
#ifndef PART_H
#define PART_H

#define PART_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__wasm__)
#  define PART_FROM(name) __attribute__((import_module("part"), import_name(name)))
#else
#  define PART_FROM(name)
#endif

/* ---- You write these ---------------------------------------------------------------------------- */

void part_describe(void);
void part_setup(void);
void part_step(void);
void part_cleanup(void);
void part_marks(void);

/* ---- In part_describe --------------------------------------------------------------------------- */

/* A channel that controllers read: its name (small letters, digits, _), how many numbers, their SI unit
 * ("", "m", "s", "rad", "m/s", "rad/s", "m/s2", "kg", "Hz", ...), their range, and what they mean.
 * Answers the channel's number, for part_out. At most 64 channels and 4096 numbers in all. */
PART_FROM("reading") int part_reading(const char *name, int count, const char *unit,
                                      double least, double most, const char *meaning);

/* A channel that controllers write. Only drives have them. Answers its number, for part_in. */
PART_FROM("command") int part_command(const char *name, int count, const char *unit,
                                      double least, double most, const char *meaning);

/* How many numbers you keep from step to step, for each robot. They begin as 0. */
PART_FROM("keep") void part_keep(int numbers);

/* For a fan of rays: direction of the first, and from each to the next. Controllers ask for it. */
PART_FROM("bearings") void part_bearings(double first, double step);

/* For a drive with two wheels: their distance. Controllers and odometers ask for it. */
PART_FROM("wheel_base") void part_wheel_base(double distance);

/* The range of a channel that can be anything. */
#define PART_LEAST (-1.7976931348623157e308)
#define PART_MOST 1.7976931348623157e308

/* ---- In part_describe and part_setup: the configuration ------------------------------------------ */

/* The number behind a key, as it is written; `otherwise` when the key is not there. Case and the kind
 * of blanks do not matter: "Cone Angle" is cone_angle. A key that nobody asks for is an error. */
PART_FROM("param") double part_param(const char *key, double otherwise);

/* The same in SI: a plain number is in `unit` ("cm", "deg", "%", "cm/s", ...), as is `otherwise`; one
 * written with a unit is taken by that. */
PART_FROM("param_in") double part_param_in(const char *key, const char *unit, double otherwise);

/* Whether the key is there. */
PART_FROM("has") int part_has(const char *key);

/* Where the part is fixed on the body, with cosine and sine of the heading. */
typedef struct part_pose {
    double x, y, heading, cos, sin;
} part_pose;
PART_FROM("mount") void part_mount(part_pose *mount);

/* Gives up, with the reason: in part_describe and part_setup the world is not loaded, in part_step the
 * step is a fault. Can be called anywhere. */
PART_FROM("refuse") __attribute__((noreturn)) void part_refuse(const char *why);

/* How far the sensor sees, from the body's centre: the scenario's `reach`. */
PART_FROM("reach") double part_reach(void);

/* ---- In part_setup and part_step: time and what never moves --------------------------------------- */

/* Length of the quantum in seconds. */
PART_FROM("quantum_s") double part_quantum_s(void);

PART_FROM("gravity") double part_gravity(void);

/* Level of detail that is wanted: PART_COARSE leaves out noise and limits. */
#define PART_COARSE 0
#define PART_NORMAL 1
#define PART_FINE 2
PART_FROM("detail") int part_detail(void);

/* Kinds of things. */
#define PART_WALL 1
#define PART_ROBOT 2
#define PART_OBSTACLE 3

/* A straight piece of a wall or obstacle, from a to b, solid between two heights. */
typedef struct part_edge {
    double ax, ay, bx, by;
    double low, high;
    int kind;
} part_edge;

/* All of them. */
PART_FROM("fixed_count") int part_fixed_count(void);
PART_FROM("fixed") void part_fixed(int k, part_edge *edge);

/* Marks on the floor: bands along a line of points, or areas with corners (width 0). */
typedef struct part_track {
    double width;
    double reflectivity;
    int points;
} part_track;
PART_FROM("track_count") int part_track_count(void);
PART_FROM("track") void part_track_at(int k, part_track *track);
PART_FROM("track_x") double part_track_x(int k, int point);
PART_FROM("track_y") double part_track_y(int k, int point);

/* Share of light the floor gives back at a point of the world: that of the brightest mark, or 0. */
PART_FROM("reflectivity") double part_reflectivity(double x, double y);

/* Lights with a code. */
typedef struct part_beacon {
    double x, y, heading;
    double aperture, range, height;
    int id;
} part_beacon;
PART_FROM("beacon_count") int part_beacon_count(void);
PART_FROM("beacon") void part_beacon_at(int k, part_beacon *beacon);

/* ---- In part_step --------------------------------------------------------------------------------- */

/* Seconds since the start of the run. */
PART_FROM("now_s") double part_now_s(void);

/* Something that can move. Velocities and what it did since the last quantum are in its own frame. */
typedef struct part_body {
    double x, y, heading, cos, sin;
    double forward, left, spin;                   /* velocity now, after whatever it ran into */
    double moved_forward, moved_left, moved_spin; /* what it really did in the last quantum */
    double radius;                                /* its farthest point from its centre */
    double round;                                 /* radius of a disc, 0 for a polygon */
    double low, high;                             /* heights between which it is solid */
    int kind;
    int corners;                                  /* 1 for a disc: its centre */
    int self;                                     /* whether it is the robot that has the part */
} part_body;

/* The robot that has the part: the pose here is the resolved one, contacts and all. */
PART_FROM("self") void part_self(part_body *body);

/* Everything that can move and has a piece within part_reach() of the robot's centre, itself too, in
 * an order that is always the same. A drive sees only its own robot. */
PART_FROM("body_count") int part_body_count(void);
PART_FROM("body") void part_body_at(int k, part_body *body);
/* A corner of it, in its own frame. */
PART_FROM("corner_x") double part_corner_x(int k, int corner);
PART_FROM("corner_y") double part_corner_y(int k, int corner);

/* Pieces of walls and obstacles within part_reach() of the robot's centre. Only for sensors. */
PART_FROM("near_count") int part_near_count(void);
PART_FROM("near") void part_near(int k, part_edge *edge);

/* Writes a number of a reading. Those that are not written are 0. */
PART_FROM("out") void part_out(int channel, int index, double value);

/* Reads a number of a command. */
PART_FROM("in") double part_in(int channel, int index);

/* The numbers you keep. */
PART_FROM("state") double part_state(int k);
PART_FROM("set_state") void part_set_state(int k, double value);

/* For a drive: the motion it wants for this quantum, in the robot's frame; if it is not called, rest.
 * What came of it is in part_self of the next step. */
PART_FROM("motion") void part_motion(double forward, double left, double spin);

/* Chance: each index is a draw of its own, new in each step; the same for the same seed. */
PART_FROM("uniform") double part_uniform(unsigned index); /* from 0 to below 1 */
PART_FROM("normal") double part_normal(unsigned index);   /* mean 0, standard deviation 1 */

/* From here on to the end of the step, draws that a part of the simulator's own would get. Only for
 * those who model such a part again and want the same bits. */
#define PART_CHANCE_OWN 0
#define PART_CHANCE_RANGE 2
#define PART_CHANCE_WHEEL_SLIP 3
#define PART_CHANCE_ODOMETER 5
#define PART_CHANCE_SONAR 20
#define PART_CHANCE_BEARING 21
#define PART_CHANCE_COMPASS 22
#define PART_CHANCE_TRACK 23
PART_FROM("chance") void part_chance(int purpose);

/* ---- In part_marks: what displays draw, in the robot's frame --------------------------------------- */

/* A number of a reading, as it was taken. */
PART_FROM("reading_value") double part_reading_value(int channel, int index);

/* Each mark says which number it shows. */
PART_FROM("mark_line") void part_mark_line(int channel, int index, double ax, double ay, double bx, double by);
PART_FROM("mark_circle") void part_mark_circle(int channel, int index, double x, double y, double radius);
PART_FROM("mark_arc") void part_mark_arc(int channel, int index, double x, double y, double radius,
                                         double from, double to);
PART_FROM("mark_text") void part_mark_text(int channel, int index, double x, double y, const char *text);

/* ---- Everywhere: mathematics with the same bits on every machine ----------------------------------- */

PART_FROM("sin") double part_sin(double x);
PART_FROM("cos") double part_cos(double x);
PART_FROM("tan") double part_tan(double x);
PART_FROM("asin") double part_asin(double x);
PART_FROM("acos") double part_acos(double x);
PART_FROM("atan2") double part_atan2(double y, double x);
PART_FROM("hypot") double part_hypot(double x, double y);
PART_FROM("exp") double part_exp(double x);
PART_FROM("ln") double part_ln(double x);
PART_FROM("pow") double part_pow(double x, double y);
/* The same angle between -pi and pi. */
PART_FROM("wrap") double part_wrap(double angle);

#define PART_PI 3.14159265358979323846

static inline double part_sqrt(double x) { return __builtin_sqrt(x); }
static inline double part_floor(double x) { return __builtin_floor(x); }
static inline double part_abs(double x) { return __builtin_fabs(x); }
static inline double part_min(double a, double b) { return a < b ? a : b; }
static inline double part_max(double a, double b) { return a > b ? a : b; }
static inline double part_clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}
/* To the nearest whole number, halves away from zero. */
static inline double part_round(double x)
{
    double whole = __builtin_trunc(x);
    return part_abs(x - whole) >= 0.5 ? whole + __builtin_copysign(1.0, x) : whole;
}
/* Moves a value towards a target, by at most a step. */
static inline double part_approach(double value, double target, double step)
{
    double gap = target - value;
    return part_abs(gap) <= step ? target : value + __builtin_copysign(step, gap);
}

#ifdef __cplusplus
}
#endif
#endif
