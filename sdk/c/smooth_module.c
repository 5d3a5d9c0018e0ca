/* A stream module in C: the interpolator between points of an arm (docs/modules.md).
 *
 *     cc -o smooth smooth_module.c -lm
 *     swarmyard simulate local 'trajectory points.txt' local ./smooth | swarmyard module display
 *
 * It reads lines `Sender Recipient Command [variables]` and writes such lines. Four things make a program a module:
 * it passes on what is not for it; it starts over at the reset, `0 0 0` and six numbers; it flushes after every line;
 * it ends at the end of its input, or at the termination sequence `0 0 65534`. In a chain of plain pipes nobody but the
 * module itself can switch it on and off, so it knows those commands too, and its parameters: 1 is the step of the
 * base, 2 that of everything else, 3 the change that is none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 0, MOVE = 10, SET = 65531, OFF = 65532, ON = 65533, END = 65534, MOST = 2048 };

struct point {
    float d[2];
    int flag;
    float v[5]; /* position and rotation of the base, three joints */
};

struct steps {
    float base, joints;
    double threshold;
};

static const struct steps usual = { 1.0f, 0.2f, .02 };

static int me = 2, display = 3, is_on = 1, has_point;
static struct point point;
static struct steps steps;

static void say(const struct point *p)
{
    printf("%d %d %d %f %f %f %d %f %f %f %f\n", me, display, MOVE, p->d[0], p->d[1], p->v[0], p->flag, p->v[1],
           p->v[2], p->v[3], p->v[4]);
}

static void start_over(void)
{
    memset(&point, 0, sizeof point);
    has_point = 0;
    steps = usual;
}

/* The values of a move, in either form; 0 when there are neither 5 nor 8, or one is too great. */
static int read_move(const char *text, struct point *p)
{
    float x[9];
    int n = sscanf(text, "%f %f %f %f %f %f %f %f %f", &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8]);
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    if (n == 5) {
        memcpy(p->v, x, sizeof p->v);
    } else if (n == 8 && fabsf(x[3]) < 1e6f) {
        p->d[0] = x[0], p->d[1] = x[1], p->v[0] = x[2], p->flag = (int)x[3];
        memcpy(p->v + 1, x + 4, 4 * sizeof *x);
    } else {
        return 0;
    }
    return 1;
}

/* Leads over to a point: the first value that has changed goes in steps. 0 when it is too far away. */
static int lead_over(const struct point *next)
{
    struct point between = *next;
    int i = 0;
    memcpy(between.v, point.v, sizeof between.v);
    while (i < 5 && !(fabs(next->v[i] - point.v[i]) > steps.threshold)) i++;
    if (i == 5) return 1;
    float size = i == 0 ? steps.base : steps.joints, sign = next->v[i] < point.v[i] ? -1.0f : 1.0f;
    if (!(fabs(next->v[i] - point.v[i]) / size <= 100000) || between.v[i] + sign * size == between.v[i] ||
        next->v[i] - sign * size == next->v[i]) {
        fprintf(stderr, "the point is too far away: %f\n", next->v[i]);
        return 0;
    }
    for (; sign * between.v[i] <= sign * next->v[i]; between.v[i] += sign * size) say(&between);
    return 1;
}

/* Goes to a point; 0 when it was the last. */
static int go_to(const struct point *next)
{
    if (next->flag == 1) {
        printf("%d %d %d 0. 0. 0. -1 0. 0. 0. 0.\n", me, display, MOVE);
        return 0;
    }
    if (!has_point)
        say(next);
    else if (!lead_over(next))
        return 1;
    point = *next;
    has_point = 1;
    return 1;
}

static void set(const char *text)
{
    int which = 0;
    double value = 0;
    if (sscanf(text, "%d %lf", &which, &value) != 2 || which < 1 || which > 3 || !((float)value > 0))
        fprintf(stderr, "parameters are 1 and 2 (steps), 3 (threshold), each greater than 0\n");
    else if (which == 1)
        steps.base = (float)value;
    else if (which == 2)
        steps.joints = (float)value;
    else
        steps.threshold = value;
}

int main(void)
{
    char line[MOST + 2];
    struct point next;
    const char *number = getenv("SWARMYARD_MODULE");
    if (number) me = atoi(number);
    setvbuf(stdout, NULL, _IOLBF, 0); /* into a pipe C would hold back what it prints */
    start_over();
    while (fgets(line, sizeof line, stdin)) {
        int sender, recipient, command, used = 0;
        if (sscanf(line, "%d %d %d%n", &sender, &recipient, &command, &used) != 3) {
            fprintf(stderr, "not a line: %s", line);
            continue;
        }
        if (recipient != me) fputs(line, stdout); /* for others, or for all: it goes on */
        if (recipient != me && recipient != 0) continue;
        if (sender == 0 && recipient == 0 && command == RESET) {
            start_over();
            say(&point);
        } else if (sender == 0 && recipient == 0 && command == END) {
            return 0;
        } else if (sender == 0 && (command == ON || command == OFF)) {
            is_on = command == ON;
        } else if (!is_on) {
            continue;
        } else if (sender == 0 && command == SET) {
            set(line + used);
        } else if (command == MOVE && read_move(line + used, &next) && !go_to(&next)) {
            return 0;
        }
    }
    return 0;
}
