/* rio_process.c - rio.h for a native process beside the simulator.
 *
 * The simulator says in the environment how to talk: RIO_TRANSPORT is "shared" (shared memory, whose
 * file is RIO_FD) or "pipes" (stdin and stdout). Both carry the same records of three words; what
 * they mean stands in docs/native-controllers.md. Compile it with your controller:
 *
 *     cc -O2 -o wander wander.c rio_process.c
 */
#define _GNU_SOURCE
#include "rio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#endif

#define WEAK __attribute__((weak))

/* Program -> simulator. */
enum { HELLO = 1, POKE = 2, BAD_PEEK = 3, PEEK = 4, LOG = 5, DONE = 6 };
/* Simulator -> program. */
enum { TABLE = 16, QUANTUM = 17, VALUE = 18, STOP = 19, MORE = 20 };
/* Words of the shared header; crates/agents/src/process/memory.rs has the same list. */
enum {
    H_MAGIC = 0, H_VERSION = 1, H_WORDS = 2, H_TICK_US = 3, H_SPANS = 4, H_IMAGE_BYTES = 5, H_OUTBOX = 6,
    H_OUTBOX_WORDS = 7, H_KIND = 8, H_TICK_LOW = 9, H_VALUE = 11, H_TO_PROGRAM = 16,
    H_TO_SIMULATOR = 32, H_THEIR_VERSION = 33, H_FILLED = 34, HEADER = 48
};
enum { READING = 0, COMMAND = 1, PORT = 2 };
enum { RECORD = 3, LONGEST_LOG = 1024, PIPE_WORDS = 4096 };

struct span { uint32_t address, bytes, offset, access; };

static volatile uint32_t *shared; /* NULL: pipes */
static int in_fd = -1, out_fd = -1;
static const struct span *spans;
static uint32_t span_count;
static uint8_t *image;
static uint32_t image_bytes;
static uint32_t *outbox; /* records that wait to be handed over */
static uint32_t outbox_words, filled;
static uint32_t tick, tick_us;
static uint32_t seen;              /* hand-overs of the simulator that were noticed */
static int ready, running, over, finished; /* initialised; inside a tick; told to stop; rio_done was called */

static void give_up(const char *why)
{
    fprintf(stderr, "rio: %s\n", why);
    exit(3);
}

/* ---- Hand-over, shared memory ------------------------------------------------------------------ */

#ifdef __linux__
static pid_t keeper; /* the process that waits for this one */

static void raise_counter(void)
{
    shared[H_FILLED] = filled;
    __atomic_fetch_add(&shared[H_TO_SIMULATOR], 1u, __ATOMIC_RELEASE);
    syscall(SYS_futex, &shared[H_TO_SIMULATOR], FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Waits until the simulator hands over; answers what kind of message it left. */
static uint32_t await_simulator(void)
{
    uint32_t now;
    while ((now = __atomic_load_n(&shared[H_TO_PROGRAM], __ATOMIC_ACQUIRE)) == seen) {
        const struct timespec longest = { 1, 0 };
        syscall(SYS_futex, &shared[H_TO_PROGRAM], FUTEX_WAIT, seen, &longest, NULL, 0);
        if (getppid() != keeper) _exit(4); /* the simulator is gone */
    }
    seen = now;
    return shared[H_KIND];
}

static void open_shared(void)
{
    struct stat about;
    const char *name = getenv("RIO_FD");
    const int fd = name ? atoi(name) : -1;
    void *start;
    if (fstat(fd, &about) != 0) give_up("RIO_FD names no open file");
    start = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) give_up("the shared memory cannot be mapped");
    close(fd);
    keeper = getppid();
    shared = (volatile uint32_t *)start;
    shared[H_THEIR_VERSION] = RIO_API_VERSION;
    if (memcmp(start, "RIOS", 4) != 0) give_up("the shared memory is not a simulator's");
    if (shared[H_VERSION] != RIO_API_VERSION) give_up("the simulator speaks another version of rio.h");
    tick_us = shared[H_TICK_US];
    span_count = shared[H_SPANS];
    image_bytes = shared[H_IMAGE_BYTES];
    spans = (const struct span *)((uint32_t *)start + HEADER);
    image = (uint8_t *)start + 4u * (HEADER + 4u * span_count);
    outbox = (uint32_t *)start + shared[H_OUTBOX];
    outbox_words = shared[H_OUTBOX_WORDS];
}
#else
static void raise_counter(void) {}
static uint32_t await_simulator(void) { return STOP; }
static void open_shared(void) { give_up("shared memory needs Linux; use pipes"); }
#endif

/* ---- Hand-over, pipes -------------------------------------------------------------------------- */

static void write_all(void)
{
    const uint8_t *bytes = (const uint8_t *)outbox;
    size_t rest = 4u * (size_t)filled;
    while (rest > 0) {
        const ssize_t n = write(out_fd, bytes, rest);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(4); /* the simulator is gone */
        bytes += n;
        rest -= (size_t)n;
    }
    filled = 0;
}

static int read_all(void *place, size_t rest)
{
    uint8_t *bytes = (uint8_t *)place;
    while (rest > 0) {
        const ssize_t n = read(in_fd, bytes, rest);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        bytes += n;
        rest -= (size_t)n;
    }
    return 1;
}

static void open_pipes(void)
{
    uint32_t head[RECORD], sizes[2];
    struct span *table;
    /* What the controller itself prints must not get between the records. */
    in_fd = dup(0);
    out_fd = dup(1);
    if (in_fd < 0 || out_fd < 0 || dup2(2, 1) < 0) give_up("stdin or stdout is not open");
    outbox = (uint32_t *)malloc(4u * PIPE_WORDS);
    outbox_words = PIPE_WORDS;
    if (!outbox || !read_all(head, sizeof head) || head[0] != TABLE) give_up("this is no simulator");
    outbox[0] = HELLO;
    outbox[1] = RIO_API_VERSION;
    outbox[2] = 0;
    filled = RECORD;
    write_all();
    if (head[1] != RIO_API_VERSION) give_up("the simulator speaks another version of rio.h");
    if (!read_all(sizes, sizeof sizes)) give_up("the simulator is gone");
    tick_us = sizes[0];
    image_bytes = sizes[1];
    span_count = head[2];
    table = (struct span *)malloc(sizeof *table * (span_count + 1u));
    image = (uint8_t *)calloc(1, image_bytes + 1u);
    if (!table || !image || !read_all(table, sizeof *table * span_count)) give_up("the simulator is gone");
    spans = table;
}

/* ---- Records ----------------------------------------------------------------------------------- */

/* Makes room for some words, and always leaves room for one record more. */
static void make_room(uint32_t words)
{
    if (filled + words + RECORD <= outbox_words) return;
    if (!shared) {
        write_all();
        return;
    }
    if (!running) give_up("too many pokes outside of a tick");
    raise_counter();
    (void)await_simulator(); /* MORE */
    filled = 0;
}

static void put(uint32_t operation, uint32_t width, uint32_t a, uint32_t b)
{
    outbox[filled] = operation | width << 8;
    outbox[filled + 1u] = a;
    outbox[filled + 2u] = b;
    filled += RECORD;
}

/* Hands over and waits for the answer. */
static uint32_t exchange(uint32_t *value)
{
    uint32_t head[RECORD];
    if (shared) {
        const uint32_t kind = (raise_counter(), await_simulator());
        filled = 0;
        *value = shared[H_VALUE];
        return kind;
    }
    write_all();
    if (!read_all(head, sizeof head)) return STOP;
    *value = head[1];
    if (head[0] == QUANTUM && !read_all(image, image_bytes)) return STOP;
    if (head[0] == QUANTUM) tick = head[1];
    return head[0];
}

/* ---- rio.h ------------------------------------------------------------------------------------- */

int rio_init(void)
{
    const char *transport = getenv("RIO_TRANSPORT");
    if (ready || finished) return ready;
    if (transport && strcmp(transport, "shared") == 0) open_shared();
    else if (transport && strcmp(transport, "pipes") == 0) open_pipes();
    else give_up("this is a robot's controller: start it from the simulator (transport shared or pipes)");
    ready = 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* lines belong to the tick in which they were printed */
    return 1;
}

int rio_wait(void)
{
    uint32_t kind, value;
    if (!rio_init() || over) return 0;
    if (running) {
        fflush(stdout);
        put(DONE, 0, tick, 0);
        kind = exchange(&value);
    } else if (shared) {
        kind = await_simulator(); /* what was poked so far stays for the first tick */
    } else {
        kind = exchange(&value);
    }
    running = kind == QUANTUM;
    over = !running;
    if (shared && running) tick = shared[H_TICK_LOW];
    return running;
}

void rio_done(void)
{
    if (!ready) return;
    fflush(stdout);
    put(DONE, 0, tick, 0);
    if (shared) raise_counter();
    else write_all();
    running = ready = 0;
    finished = 1;
}

/* The span that holds a byte. */
static const struct span *find(uint32_t address)
{
    uint32_t low = 0, high = span_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2u;
        if (spans[middle].address <= address) low = middle + 1u;
        else high = middle;
    }
    if (low == 0 || address - spans[low - 1u].address >= spans[low - 1u].bytes) return NULL;
    return &spans[low - 1u];
}

static uint32_t peek(uint32_t address, uint32_t width)
{
    uint32_t k, value = 0;
    int bad = address % width != 0, port = 0;
    if (!ready) return 0;
    for (k = 0; k < width && !bad; k++) {
        const struct span *span = find(address + k);
        if (!span) bad = 1;
        else if (span->access == PORT) port = 1;
    }
    if (port && running) {
        make_room(RECORD);
        put(PEEK, width, address, 0);
        if (exchange(&value) != VALUE) over = 1;
        return value;
    }
    if (bad) {
        make_room(RECORD);
        put(BAD_PEEK, width, address, 0);
        if (address % width != 0) return 0;
    }
    for (k = 0; k < width; k++) {
        const struct span *span = find(address + k);
        if (span && span->access != PORT)
            value |= (uint32_t)image[span->offset + (address + k - span->address)] << (8u * k);
    }
    return value;
}

static void poke(uint32_t address, uint32_t width, uint32_t value)
{
    if (!rio_init()) return;
    make_room(RECORD);
    put(POKE, width, address, value);
}

uint8_t  rio_peek8 (rio_addr a)             { return (uint8_t) peek(a, 1); }
uint16_t rio_peek16(rio_addr a)             { return (uint16_t)peek(a, 2); }
uint32_t rio_peek32(rio_addr a)             { return peek(a, 4); }
void     rio_poke8 (rio_addr a, uint8_t  v) { poke(a, 1, v); }
void     rio_poke16(rio_addr a, uint16_t v) { poke(a, 2, v); }
void     rio_poke32(rio_addr a, uint32_t v) { poke(a, 4, v); }
uint32_t rio_ticks(void)                    { return tick; }
uint32_t rio_tick_us(void)                  { return tick_us; }

void rio_log(const char *text)
{
    size_t length = strlen(text);
    uint32_t words;
    if (!rio_init()) return;
    if (length > LONGEST_LOG) length = LONGEST_LOG;
    words = ((uint32_t)length + 3u) / 4u;
    make_room(RECORD + words);
    put(LOG, 0, (uint32_t)length, 0);
    if (words > 0) outbox[filled + words - 1u] = 0;
    memcpy(&outbox[filled], text, length);
    filled += words;
}

/* ---- Style A ----------------------------------------------------------------------------------- */

WEAK void robot_setup(void) {}
WEAK void robot_stop(void) {}
WEAK void robot_step(void) { give_up("this program has neither robot_step() nor main()"); }

WEAK int main(void)
{
    int started = 0;
    rio_init();
    while (rio_wait()) {
        if (!started) robot_setup();
        started = 1;
        robot_step();
    }
    if (started) robot_stop();
    rio_done();
    return 0;
}
