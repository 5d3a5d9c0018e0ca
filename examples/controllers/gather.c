/* gather.c - looks where all robots are, goes to the middle of them, and looks again.
 *
 * The cooperative-robots paper's second application, in C for the sandbox. It does what the built-in algorithm
 * `gathering` does, draw by draw, so both give the same poses to the bit (crates/sim/tests/suite/outside.rs).
 *
 * World: worlds/c-gathering.toml (metres, radians, seconds).
 */
#include "swarm.h"

#define MOST_ROBOTS 100
#define NEAR 0.01 /* m: who is that near the middle waits a second */
#define DEGREE 0.017453292519943295
static const double speed[2] = {3, 6};
static const double turn_speed[2] = {3 * DEGREE, 9 * DEGREE};

static swarm_seen all[MOST_ROBOTS];

static void look_and_go(void)
{
    int n = swarm_gps_all(0, all, MOST_ROBOTS);
    if (n < 1 || n > MOST_ROBOTS) {
        swarm_say("gathering needs a part of class `gps`, and at most 100 robots");
        return;
    }
    double x = 0, y = 0, own_x = 0, own_y = 0;
    for (int k = 0; k < n; k++) {
        x += all[k].x;
        y += all[k].y;
        if (all[k].robot == swarm_me()) {
            own_x = all[k].x;
            own_y = all[k].y;
        }
    }
    x *= 1.0 / n;
    y *= 1.0 / n;
    double dx = x - own_x, dy = y - own_y;
    if (__builtin_sqrt(dx * dx + dy * dy) < NEAR) {
        swarm_timer(1);
        return;
    }
    double draw[2];
    swarm_uniforms(draw, 2);
    swarm_move_to(x, y, speed[0] + (speed[1] - speed[0]) * draw[0],
                  turn_speed[0] + (turn_speed[1] - turn_speed[0]) * draw[1]);
}

void robot_event(int kind, int a, double x, double y)
{
    (void)a, (void)x, (void)y;
    if (kind == SWARM_START || kind == SWARM_FINISHED || kind == SWARM_TIMER)
        look_and_go();
    else if (kind == SWARM_COLLIDED || kind == SWARM_REPLACED)
        swarm_timer(1);
}
