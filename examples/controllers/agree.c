/* agree.c - robots that elect a leader and agree on where to meet, for as long as a majority lives.
 *
 *   leads ME ──▶ propose K (X, Y)        decided K (X, Y) ──▶ go there, each to its place in the row
 *
 * Whoever is told that it leads proposes the next meeting place; when it has been there for a while it proposes another
 * one. Where they meet is what consensus decides, not what was proposed: two who both believe that they lead do no harm.
 * When the leader crashes, the detector below the election notices, and the next one goes on with the tour.
 *
 * World: worlds/c-agree.toml, which names the two protocols: leader = "election", consensus = "paxos".
 * Metres, seconds, radians.
 */
#include "swarm.h"

#define SIDE 3.0 /* m: meetings are within a square of twice that side */
#define GAP 0.5  /* m between two in the row */
#define STAY 4.0 /* s at a meeting */
#define SPEED 1.5
#define TURN_SPEED 3.0

static int meetings; /* how many are decided: the number of the next */
static int leads;    /* whether this robot does */

static void propose(void)
{
    double place[2] = {swarm_uniform(-SIDE, SIDE), swarm_uniform(-SIDE, SIDE)};
    if (!swarm_propose(meetings, place, sizeof place))
        swarm_say("this algorithm needs a consensus");
}

void robot_event(int kind, int a, double x, double y)
{
    (void)x, (void)y;
    double place[2];
    if (kind == SWARM_LEADS) {
        leads = a == swarm_me();
        if (leads) {
            swarm_say("I lead");
            propose();
        }
    } else if (kind == SWARM_DECIDED && a == meetings && swarm_message(place, sizeof place) == sizeof place) {
        meetings++;
        swarm_move_to(place[0] + GAP * swarm_me(), place[1], SPEED, TURN_SPEED);
    } else if (kind == SWARM_FINISHED && leads) {
        swarm_timer(STAY);
    } else if (kind == SWARM_TIMER && leads) {
        propose();
    }
}
