/* plan_route.c - plans the shortest route over a known network of tracks, and drives it.
 *
 * The robot has (worlds/parts/surveyor.robot): a row of seven track sensors that look straight down,
 * and two wheels that count their way. How it walks from place to place is in junction.h.
 *
 * The map is in this source: every corner, junction and end of the network is a place with a letter,
 * and every track between two of them has a length in decimetres (worlds/route.toml):
 *
 *             F                              north
 *             | 6                              |
 *             E ---11--- G               west -+- east
 *             | 6        | 6                   |
 *  A -6- C-10-D          H --9-- J -6- B     south
 *        |               | 7     |
 *        14              I       14
 *        |                       |
 *        K ----------30--------- L
 *
 * The idea: Dijkstra's algorithm, started at the goal, gives each place its distance to the goal and
 * the direction in which to leave it. Driving is then easy: at each place the robot knows which way it
 * looks and which way to leave, and the difference is the turn. It counts places, not metres, so slip
 * of the wheels does not matter. There are fewer places on the way past K and L, but it is longer.
 */
#include "junction.h"

enum { A, B, C, D, E, F, G, H, I, J, K, L, PLACES };
enum { EAST, NORTH, WEST, SOUTH, DIRECTIONS }; /* counter-clockwise, as turns count */

#define START A
#define GOAL  B
#define FAR   30000 /* longer than any route */

/* A track from one place to another, and where it goes. */
struct track {
    int32_t from, to, direction, length;
};

static const struct track MAP[] = {
    {A, C, EAST, 6},  {C, D, EAST, 10},   {D, E, NORTH, 6},  {E, F, NORTH, 6},
    {E, G, EAST, 11}, {G, H, SOUTH, 6},   {H, I, SOUTH, 7},  {H, J, EAST, 9},
    {J, B, EAST, 6},  {C, K, SOUTH, 14},  {K, L, EAST, 30},  {L, J, NORTH, 14},
};
#define TRACKS ((int32_t)(sizeof MAP / sizeof MAP[0]))

static int32_t to_goal[PLACES]; /* distance to the goal, in decimetres */
static int32_t leave[PLACES];   /* direction in which the route leaves each place */
static int32_t next[PLACES];    /* and the place where it then arrives */

static int32_t here = START; /* the place the robot was at last */
static int32_t facing = EAST;
static int done;

/* One end of a track has a distance: does that give the other end, `from`, a shorter one? */
static void improve(int32_t from, int32_t to, int32_t direction, int32_t length)
{
    if (to_goal[to] + length >= to_goal[from]) return;
    to_goal[from] = to_goal[to] + length;
    leave[from] = direction;
    next[from] = to;
}

/* The nearest place to the goal that was not looked at yet. */
static int32_t nearest(const int *looked_at)
{
    int32_t place, best = -1;
    for (place = 0; place < PLACES; place++) {
        if (!looked_at[place] && (best < 0 || to_goal[place] < to_goal[best])) best = place;
    }
    return best;
}

static void plan(void)
{
    static int looked_at[PLACES];
    int32_t place, k;
    for (place = 0; place < PLACES; place++) to_goal[place] = FAR;
    to_goal[GOAL] = 0;
    while ((place = nearest(looked_at)) >= 0) {
        looked_at[place] = 1;
        for (k = 0; k < TRACKS; k++) {
            const struct track *t = &MAP[k];
            int32_t back = (t->direction + 2) % DIRECTIONS;
            if (t->to == place) improve(t->from, place, t->direction, t->length);
            if (t->from == place) improve(t->to, place, back, t->length);
        }
    }
}

/* Says a text that ends with the letter of a place. */
static void say_place(char *text, int32_t place)
{
    int end = 0;
    while (text[end + 1] != '\0') end++;
    text[end] = (char)('A' + place);
    rio_log(text);
}

/* Turns from where the robot looks to where the route goes. */
static void leave_place(void)
{
    static const int32_t TURNS[DIRECTIONS] = {AHEAD, LEFT, BACK, RIGHT};
    turn_to(TURNS[(leave[here] - facing + DIRECTIONS) % DIRECTIONS]);
    facing = leave[here];
}

void robot_setup(void)
{
    static char then[] = "then ?";
    int32_t place;
    plan();
    if (to_goal[START] == FAR) {
        rio_log("there is no route");
        done = 1;
        return;
    }
    rio_log_int("the route in decimetres", to_goal[START]);
    for (place = START; place != GOAL; place = next[place]) say_place(then, next[place]);
    leave_place();
}

void robot_step(void)
{
    static char at[] = "at ?";
    if (done) {
        drive(0, 0);
        return;
    }
    if (walk() == ON_THE_WAY) return;
    here = next[here];
    say_place(at, here);
    if (here == GOAL) done = 1;
    else leave_place();
}
