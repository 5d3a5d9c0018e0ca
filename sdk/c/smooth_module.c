/* A stream module in C: the interpolator between points of an arm (docs/modules.md).
 *
 *     cc -o smooth smooth_module.c -lm
 *     swarmyard simulate local 'trajectory points.txt' local ./smooth | swarmyard module display
 *
 * It reads lines `Sender Recipient Command [variables]` and writes such lines. Four things make a program a module:
 * it passes on what is not for it; it starts over at the reset, `0 0 0` and six numbers; it flushes after every line;
 * it ends at the end of its input, or at the termination sequence `0 0 65534`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 0, MOVE = 10, END = 65534, MOST = 2048 };

static int me = 2, display = 3;

struct point {
    float d[2];
    int flag;
    float v[5]; /* position and rotation of the base, three joints */
};

static void say(const struct point *p)
{
    printf("%d %d %d %f %f %f %d %f %f %f %f\n", me, display, MOVE, p->d[0], p->d[1], p->v[0], p->flag, p->v[1],
           p->v[2], p->v[3], p->v[4]);
}

/* The values of a move, in either form; 0 when there are neither 5 nor 8. */
static int read_move(const char *text, struct point *p)
{
    float x[9];
    int n = sscanf(text, "%f %f %f %f %f %f %f %f %f", &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8]);
    memset(p, 0, sizeof *p);
    if (n == 5) {
        memcpy(p->v, x, sizeof p->v);
    } else if (n == 8) {
        p->d[0] = x[0], p->d[1] = x[1], p->v[0] = x[2], p->flag = (int)x[3];
        memcpy(p->v + 1, x + 4, 4 * sizeof *x);
    }
    return n == 5 || n == 8;
}

/* Leads over from the old point to the new one: the first value that has changed goes in steps. */
static void lead_over(const struct point *old, const struct point *new)
{
    struct point between = *new;
    int i = 0;
    memcpy(between.v, old->v, sizeof between.v);
    while (i < 5 && !(fabs(new->v[i] - old->v[i]) > .02)) i++;
    if (i == 5) return;
    float size = i == 0 ? 1.0f : 0.2f, sign = new->v[i] < old->v[i] ? -1.0f : 1.0f;
    if (fabs(new->v[i] - old->v[i]) / size > 100000) {
        fprintf(stderr, "the point is too far away: %f\n", new->v[i]);
        return;
    }
    for (; sign * between.v[i] <= sign * new->v[i]; between.v[i] += sign * size) say(&between);
}

int main(void)
{
    char line[MOST + 2];
    struct point point, next;
    int has_point = 0;
    const char *number = getenv("SWARMYARD_MODULE");
    if (number) me = atoi(number);
    setvbuf(stdout, NULL, _IOLBF, 0); /* into a pipe C would hold back what it prints */
    while (fgets(line, sizeof line, stdin)) {
        int sender, recipient, command, used = 0;
        if (sscanf(line, "%d %d %d%n", &sender, &recipient, &command, &used) != 3) {
            fprintf(stderr, "not a line: %s", line);
            continue;
        }
        if (recipient != me) fputs(line, stdout); /* for others, or for all: it goes on */
        if (sender == 0 && recipient == 0 && command == RESET) {
            memset(&point, 0, sizeof point);
            has_point = 0;
            say(&point);
        } else if (sender == 0 && recipient == 0 && command == END) {
            return 0;
        } else if (recipient == me && command == MOVE && read_move(line + used, &next)) {
            if (next.flag == 1) {
                printf("%d %d %d 0. 0. 0. -1 0. 0. 0. 0.\n", me, display, MOVE);
                return 0;
            }
            if (has_point)
                lead_over(&point, &next);
            else
                say(&next);
            point = next;
            has_point = 1;
        }
    }
    return 0;
}
