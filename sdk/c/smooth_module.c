/* A stream module in C: the interpolator between points of an arm (docs/modules.md).
 *
 *     cc -o smooth smooth_module.c -lm
 *     swarmyard simulate local 'trajectory points.txt' local ./smooth | swarmyard module display
 *
 * It reads lines `Sender Recipient Command [variables]` and writes such lines. Four things make a program a module:
 * it passes on what is not for it; it starts over at the reset, `0 0 0` and six numbers; it flushes after every line;
 * it ends at the end of its input, or at the termination sequence `0 0 65534`. In a chain of plain pipes nobody but the
 * module itself can switch it on and off, so it knows those commands too, and its parameters: 1 is the step of the
 * base, 2 that of everything else, 3 the change that is none. What is no line is told on stderr and goes nowhere.
 * It speaks to the next number, or to that of the environment variable DISPLAY_MODULE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESET = 0, MOVE = 10, SET = 65531, OFF = 65532, ON = 65533, END = 65534, NOBODY = 65535 };
enum { MOST_BYTES = 2048, MOST_VALUES = 64, MOST_STEPS = 50000 }; /* of a line, and of a way to a point */

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

static int me = 2, display, is_on = 1, has_point;
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

/* Reads a line, without its newline; answers its length, or -1 at the end of the input. Of one that is too long only the
 * beginning is kept. */
static int get_line(char *line)
{
    int n = 0, c;
    while ((c = getchar()) != EOF && c != '\n')
        if (n < MOST_BYTES + 2) line[n++] = (char)c;
    if (c == EOF && n == 0) return -1;
    if (n > 0 && line[n - 1] == '\r') n--;
    line[n] = 0;
    return n;
}

/* Reads the words of a line: three whole numbers up to 65535, then numbers. Answers how many of those there are, -1 when
 * this is no line. */
static int read_words(const char *line, int head[3], double values[MOST_VALUES])
{
    int n = 0;
    for (line += strspn(line, " \t"); *line; n++) {
        size_t length = strcspn(line, " \t");
        char *end;
        double x = strtod(line, &end);
        /* strtod would take `inf` and `0x10`, which are no numbers here. */
        if (strspn(line, n < 3 ? "0123456789" : "0123456789+-.eE") < length || end != line + length) return -1;
        if (n == 3 + MOST_VALUES || !isfinite(x) || (n < 3 && x > 65535)) return -1;
        if (n < 3)
            head[n] = (int)x;
        else
            values[n - 3] = x;
        line += length;
        line += strspn(line, " \t");
    }
    return n < 3 || head[0] == NOBODY ? -1 : n - 3;
}

/* The values of a move, in either form; 0 when there are neither 5 nor 8, or one is too great. */
static int read_move(const double *values, int n, struct point *p)
{
    float x[8];
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n && i < 8; i++) {
        if (fabs(values[i]) > 3.4e38) n = 0;
        x[i] = (float)values[i];
    }
    if (n == 5) {
        memcpy(p->v, x, sizeof p->v);
    } else if (n == 8 && fabsf(x[3]) < 1e6f) {
        p->d[0] = x[0], p->d[1] = x[1], p->v[0] = x[2], p->flag = (int)x[3];
        memcpy(p->v + 1, x + 4, 4 * sizeof *x);
    } else {
        fprintf(stderr, "a move has 5 or 8 values, not too great ones\n");
        return 0;
    }
    return 1;
}

/* Whether steps lead from one value to another. On the way they may get lost: where numbers get greater, a step may be too
 * small to change them. */
static int arrives(float from, float to, float step)
{
    for (int n = 0; step < 0 ? from >= to : from <= to; n++) {
        float next = from + step;
        if (next == from || n > MOST_STEPS) return 0;
        from = next;
    }
    return 1;
}

/* Leads over to a point: the first value that has changed goes in steps. 0 when it is too far away. */
static int lead_over(const struct point *next)
{
    struct point between = *next;
    int i = 0;
    memcpy(between.v, point.v, sizeof between.v);
    while (i < 5 && !(fabsf(next->v[i] - point.v[i]) > steps.threshold)) i++;
    if (i == 5) return 1;
    float size = i == 0 ? steps.base : steps.joints, sign = next->v[i] < point.v[i] ? -1.0f : 1.0f;
    if (!arrives(point.v[i], next->v[i], sign * size)) {
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

static void set(const double *values, int n)
{
    int which = n == 2 ? (int)values[0] : 0;
    if (n != 2 || which != values[0] || which < 1 || which > 3 || values[1] > 3.4e38 || !((float)values[1] > 0))
        fprintf(stderr, "parameters are 1 and 2 (steps), 3 (threshold), each greater than 0\n");
    else if (which == 1)
        steps.base = (float)values[1];
    else if (which == 2)
        steps.joints = (float)values[1];
    else
        steps.threshold = values[1];
}

int main(void)
{
    char line[MOST_BYTES + 3];
    const char *number = getenv("SWARMYARD_MODULE"), *to = getenv("DISPLAY_MODULE");
    if (number) me = atoi(number);
    display = to ? atoi(to) : me + 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* into a pipe C would hold back what it prints */
    start_over();
    for (int length; (length = get_line(line)) >= 0;) {
        struct point next;
        double values[MOST_VALUES];
        int head[3] = { 0 }, n = read_words(line, head, values);
        int sender = head[0], recipient = head[1], command = head[2];
        if (n < 0 || length > MOST_BYTES || strlen(line) != (size_t)length) {
            fprintf(stderr, "not a line: %.120s\n", line);
            continue;
        }
        if (recipient != me) puts(line); /* for others, or for all: it goes on */
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
            set(values, n);
        } else if (command == MOVE && read_move(values, n, &next) && !go_to(&next)) {
            return 0;
        }
    }
    return 0;
}
