/* swarm.h - an algorithm of a robot that lives by events, in C, for the simulator's sandbox.
 *
 *   #include "swarm.h"
 *   void robot_event(int kind, int a, double x, double y)
 *   {
 *       if (kind == SWARM_START || kind == SWARM_FINISHED)
 *           swarm_move_to(swarm_uniform(0, 10), swarm_uniform(0, 10), 0.5, 1.0);
 *   }
 *
 * The simulator calls `robot_event` for everything that happens to the robot; nothing happens between. Globals
 * are the robot's own: every robot has its own copy of the program. C99 or C++11, no libc. Metres, seconds, radians.
 *
 * Sensors, chance and timers answer at once. Motions, messages and switching push sensors happen when
 * `robot_event` has returned, at the same moment. Motions, timers and watches are numbered together, from 1.
 * A pointer that leads out of the program's memory ends the program. docs/cooperative-programs.md says the rest.
 */
#ifndef SWARM_H
#define SWARM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWARM_FROM(name) __attribute__((import_module("swarm"), import_name(name)))

/* What happens (`kind`), and what `a`, `x` and `y` are then. */
enum {
    SWARM_START = 0,     /* the run begins, or the robot starts again */
    SWARM_FINISHED = 1,  /* motion `a` has arrived */
    SWARM_COLLIDED = 2,  /* motion `a` has ended in a contact at (x, y), with robot swarm_other() */
    SWARM_REPLACED = 3,  /* motion `a` made room for another one, was halted, or could not be done */
    SWARM_SWALLOWED = 4, /* motion `a` has ended in a hole: the last thing this robot hears */
    SWARM_MESSAGE = 5,   /* `x` bytes came from robot `a` over the link: swarm_message */
    SWARM_BROADCAST = 6, /* `x` bytes came from robot `a` over the broadcast: swarm_message */
    SWARM_TIMER = 7,     /* timer `a` has run out */
    SWARM_PUSHED = 8,    /* watch `a` has fired: the nearest thing is at (x, y), robot swarm_other(); swarm_numbers */
    SWARM_PASSED = 9,    /* motion `a` passes an event of its pattern, and goes on: its name, swarm_message */

    /* Of the protocols that the scenario names for the algorithm (`consensus = "paxos"`); nothing of others. */
    SWARM_DECIDED = 10,   /* consensus: instance `a` (in full `y`) is decided: swarm_message, a value of `x` bytes */
    SWARM_SUSPECTED = 11, /* detector: robot `a` seems to have failed */
    SWARM_TRUSTED = 12,   /* detector: robot `a` does not seem so any more */
    SWARM_LEADS = 13,     /* leader: robot `a` leads now */
    SWARM_ENTERED = 14,   /* mutex: it is alone until swarm_leave */
    SWARM_VIEW = 15,      /* membership: view `a` of the group, of `x` robots: swarm_numbers */
    SWARM_CAST = 16,      /* membership: `x` bytes came from robot `a` in the group: swarm_message */
    SWARM_CLOCK = 17,     /* clock: it shows `x` seconds, and is off by at most `y`; -1 while it cannot say */
    SWARM_CUSTOM = 18     /* custom: `x` bytes of the protocol there: swarm_message */
};

void robot_event(int kind, int a, double x, double y); /* yours */

/* A thing that was seen; `robot` is -1 when it is none. */
typedef struct {
    double x, y;
    int32_t robot;
    int32_t light;
} swarm_seen;

/* Something that is going to happen; a conditional one only if nothing comes between. A collision has the number of the
 * `robot` that it is with; -1 when there is none. */
typedef struct {
    double at;
    int32_t conditional;
    int32_t robot;
    char what[48]; /* "collision with /robots/b", "finish turn", "pass NAME", "timer", "message", ... */
} swarm_coming;

/* ---- Who and when ---- */
SWARM_FROM("now") double swarm_now(void);     /* seconds since the start of the run */
SWARM_FROM("me") int swarm_me(void);          /* number of this robot, from 0 */
SWARM_FROM("robots") int swarm_robots(void);  /* how many there are */
SWARM_FROM("other") int swarm_other(void);    /* the other robot of this event, or -1 */

/* ---- Motions: each takes the place of the one under way and answers its number ---- */
SWARM_FROM("move_to") int swarm_move_to(double x, double y, double speed, double turn_speed);
SWARM_FROM("turn") int swarm_turn(double by, double turn_speed);
SWARM_FROM("forward") int swarm_forward(double distance, double speed);
SWARM_FROM("velocity") int swarm_velocity(double vx, double vy, double for_s);
SWARM_FROM("arc") int swarm_arc(double speed, double spin, double for_s);
SWARM_FROM("pattern") int swarm_pattern(const char *name, const double *args, int count); /* of a motion module */
SWARM_FROM("halt") void swarm_halt(void);

/* ---- Sensors that are asked: how many were found, of which at most `most` are written; -1 without the sensor ---- */
SWARM_FROM("gps") int swarm_gps(double error, double *xy);
SWARM_FROM("gps_all") int swarm_gps_all(double error, swarm_seen *out, int most);
SWARM_FROM("view") int swarm_view(double range, swarm_seen *out, int most);
SWARM_FROM("proximity") int swarm_proximity(double range, double *distances, int most);
SWARM_FROM("proximity_points") int swarm_proximity_points(double range, swarm_seen *out, int most);
/* A sensor of your own, by the name of the part; a point is two numbers, a thing seen is x, y, robot, light. */
SWARM_FROM("sense") int swarm_sense(const char *sensor, const double *args, int count, double *out, int most);

/* ---- Push sensors; an interval of 0 is exact: it fires at the very moment. 0 when there are too many ---- */
SWARM_FROM("watch_near") int swarm_watch_near(double range, double interval);
SWARM_FROM("watch_contact") int swarm_watch_contact(double interval);
SWARM_FROM("watch_own") int swarm_watch_own(const char *sensor, double interval, const double *args, int count);
SWARM_FROM("unwatch") void swarm_unwatch(int watch);
/* The numbers of this event: what a push saw, as swarm_sense has it; who is in a view. */
SWARM_FROM("numbers") int swarm_numbers(double *out, int most);

/* ---- Messages; they, values and what is persisted have at most 16384 bytes ---- */
SWARM_FROM("send") void swarm_send(int to, const void *data, int bytes);
SWARM_FROM("send_all") void swarm_send_all(const void *data, int bytes);   /* to all others, one by one */
SWARM_FROM("broadcast") void swarm_broadcast(const void *data, int bytes); /* by the protocol at the port */
SWARM_FROM("message") int swarm_message(void *out, int most);              /* the one of this event: its length */

/* ---- Protocols that the scenario names for the algorithm: 1, or 0 when it names none. They answer by events ---- */
SWARM_FROM("propose") int swarm_propose(int instance, const void *value, int bytes); /* consensus */
SWARM_FROM("monitor") int swarm_monitor(void); /* detector; those of the library look out from the start */
SWARM_FROM("elect") int swarm_elect(void);     /* leader */
SWARM_FROM("enter") int swarm_enter(void);     /* mutex */
SWARM_FROM("leave") int swarm_leave(void);
SWARM_FROM("join") int swarm_join(void);       /* membership */
SWARM_FROM("quit") int swarm_quit(void);
SWARM_FROM("exclude") int swarm_exclude(int robot);
SWARM_FROM("cast") int swarm_cast(const void *data, int bytes); /* to all in the group */
SWARM_FROM("clock") int swarm_clock(void);     /* clock: what it shows now */
SWARM_FROM("clock_at") int swarm_clock_at(double reading); /* when it shows that */
SWARM_FROM("private") int swarm_private(const void *data, int bytes); /* custom: what your own protocol understands */

/* ---- Time and chance ---- */
SWARM_FROM("timer") int swarm_timer(double after_s); /* 0 when there are too many */
SWARM_FROM("cancel") void swarm_cancel(int timer);
SWARM_FROM("uniform") double swarm_uniform(double low, double high);
SWARM_FROM("uniforms") void swarm_uniforms(double *out, int n); /* in [0, 1), at most 1024 */

/* ---- The rest ---- */
SWARM_FROM("say") void swarm_say(const char *text); /* into the log; at most 200 characters */
SWARM_FROM("shine") void swarm_shine(int light);    /* 0 to 255, which others see */
SWARM_FROM("coming") int swarm_pending(int robot, swarm_coming *out, int most);
SWARM_FROM("persist") void swarm_persist(const void *data, int bytes); /* survives a crash of the robot */
SWARM_FROM("persisted") int swarm_persisted(void *out, int most);      /* the last: its length, or -1 */

#ifdef __cplusplus
}
#endif
#endif
