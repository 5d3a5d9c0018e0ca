/* Programs that do what they should not; the first argument says what. */
#include "rio.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char **arguments;

static int is(const char *name) { return strcmp(arguments[1], name) == 0; }
static long number(void) { return strtol(arguments[2], NULL, 0); }

/* ---- Before or without rio.h ---- */

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0) _exit(9);
}

static void flood(int fd, const char *text, long bytes)
{
    const long length = (long)strlen(text);
    long done;
    for (done = 0; bytes < 0 || done < bytes; done += length)
        if (write(fd, text, (size_t)length) < 0) _exit(9);
}

static void sleep_for_ever(void)
{
    for (;;) pause();
}

/* A line speaker that answers what it is told to. */
static void lines_only(void)
{
    char line[4096];
    say("rio 1\n");
    if (is("line-garbage")) say("\x01\xff hello world\n");
    if (is("line-long")) flood(1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 100000);
    if (is("line-flood")) flood(1, "log again and again\n", -1);
    if (is("line-twice")) say("done 0\ndone 0\n");
    if (is("line-future")) say("done 5\n");
    if (is("line-wide")) say("poke8 0x20 300\npoke8 0x21 -129\npoke8 0x21 255\n");
    if (is("line-not-a-port")) say("peek8 0x10\n");
    if (is("line-partial")) say("done");
    if (is("line-close")) { close(1); sleep_for_ever(); }
    if (is("line-deaf")) { close(0); say("done 0\n"); sleep_for_ever(); }
    if (is("line-wide")) say("done 0\n");
    while (fgets(line, sizeof line, stdin)) { if (strcmp(line, "stop\n") == 0) exit(0); }
    sleep_for_ever();
}

/* A record speaker. */
static void records_only(void)
{
    const uint32_t hello[3] = { 1, 1, 0 }, done[3] = { 6, 0, 0 };
    if (is("record-garbage")) flood(1, "\x7f garbage garbage ", 1000);
    if (is("record-rude")) { if (write(1, done, sizeof done) < 0) _exit(9); }
    if (write(1, hello, sizeof hello) < 0) _exit(9);
    if (is("record-twice") && (write(1, done, sizeof done) < 0 || write(1, done, sizeof done) < 0)) _exit(9);
    if (is("record-close")) { close(0); close(1); close(2); }
    sleep_for_ever();
}

/* Shared memory, without the SDK. */
static void scribble(void)
{
    struct stat about;
    const int fd = atoi(getenv("RIO_FD"));
    uint32_t *words;
    size_t count, k;
    uint32_t chance = (uint32_t)number();
    if (fstat(fd, &about) != 0) _exit(9);
    words = (uint32_t *)mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    count = (size_t)about.st_size / 4u;
    if (is("shrink")) { _exit(ftruncate(fd, 0) == 0 ? 1 : 42); }
    while (words[16] == 0) usleep(1000);
    if (is("scribble")) {
        for (k = 0; k < count; k++) {
            chance = chance * 1664525u + 1013904223u;
            words[k] = number() < 0 ? 0xffffffffu : chance;
        }
    }
    words[33] = 1;
    if (is("outbox")) { /* an honest hand-over of garbage */
        words[34] = (uint32_t)number();
        for (k = words[6]; k < count; k++) { chance = chance * 1664525u + 1013904223u; words[k] = chance; }
        words[32] = 1;
    }
    if (is("shared-twice")) { /* a good answer, then one that nobody asked for */
        words[words[6]] = 6;
        words[34] = 3;
        words[32] = 1;
        syscall(SYS_futex, &words[32], 1, 1, NULL, NULL, 0);
        while (words[16] == 1) usleep(1000);
        words[32] = 3;
    }
    syscall(SYS_futex, &words[32], 1, 1, NULL, NULL, 0);
    sleep_for_ever();
}

static void *idle(void *nothing)
{
    sleep_for_ever();
    return nothing;
}

static void fork_away(int times)
{
    if (fork() == 0) {
        setsid();
        if (times > 1) { fork_away(times - 1); _exit(0); }
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        sleep_for_ever();
    }
}

/* Forks, but no more than some thousand times and for some seconds in all processes together: the
 * machine must survive a test whose keeper does not work. */
static void bomb(int away)
{
    int *count = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const time_t start = time(NULL);
    while (time(NULL) < start + 8) {
        if (__atomic_add_fetch(count, 1, __ATOMIC_RELAXED) > 4000) usleep(10000);
        else if (fork() == 0 && away) setsid();
    }
    _exit(0);
}

static void *bomb_thread(void *nothing)
{
    bomb(0);
    return nothing;
}

/* ---- In the first tick ---- */

static void in_a_tick(void)
{
    static volatile int *nowhere;
    if (is("hang")) for (;;) {}
    if (is("segfault")) *nowhere = 1;
    if (is("abort")) { rio_poke8(0x20, 1); fprintf(stderr, "the wheel came off\n"); abort(); }
    if (is("exit")) exit((int)number());
    if (is("returns")) { rio_poke8(0x20, 1); rio_done(); exit(0); }
    if (is("flood")) flood((int)number(), "all work and no play\n", -1);
    if (is("flood-some")) flood((int)number(), "all work and no play\n", 2000000);
    if (is("no-newline")) flood(2, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 2000000);
    if (is("children")) { fork_away(1); fork_away(1); }
    if (is("daemon")) fork_away(3);
    if (is("bomb")) bomb(0);
    if (is("bomb-thread")) { pthread_t one; pthread_create(&one, NULL, bomb_thread, NULL); sleep_for_ever(); }
    if (is("bomb-away")) bomb(1);
    if (is("threads")) for (;;) { /* bounded by the address space it is given */ pthread_t one; if (pthread_create(&one, NULL, idle, NULL)) usleep(1000); }
    if (is("allocate")) {
        for (;;) {
            char *more = (char *)malloc(1 << 20);
            if (!more) { fprintf(stderr, "no memory\n"); exit(7); }
            memset(more, 1, 1 << 20);
        }
    }
    if (is("file")) { FILE *f = tmpfile(); for (;;) fputs("all work and no play\n", f); }
    if (is("cpu")) for (;;) {}
    if (is("stubborn")) { signal(SIGTERM, SIG_IGN); }
    if (is("close-all")) { int fd; for (fd = 0; fd < 256; fd++) close(fd); }
    if (is("stop-itself")) raise(SIGSTOP);
    if (is("pokes")) { long k; for (k = 0; k < number(); k++) rio_poke32(0x24, (uint32_t)k); }
    if (is("bad-peeks")) for (;;) (void)rio_peek8(0x99);
    if (is("logs")) for (;;) rio_log("again");
    if (is("prints")) { printf("out %u\n", rio_ticks()); fflush(stdout); fprintf(stderr, "err %u\n", rio_ticks()); }
    if (is("thinks")) {
        struct timespec now;
        static long before;
        long spent;
        do {
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
            spent = now.tv_sec * 1000000000L + now.tv_nsec;
        } while (spent - before < 20000000L);
        before = spent;
    }
    if (is("fds")) {
        int fd, open_ones = 0;
        struct stat about;
        for (fd = 3; fd < 1024; fd++) open_ones += fstat(fd, &about) == 0;
        rio_log_int("open", open_ones);
    }
}

int main(int count, char **argv)
{
    arguments = argv;
    if (count < 2) return 9;
    if (is("exit-at-once")) return 0;
    if (is("never-speaks")) sleep_for_ever();
    if (strncmp(argv[1], "line-", 5) == 0) lines_only();
    if (strncmp(argv[1], "record-", 7) == 0) records_only();
    if (is("scribble") || is("outbox") || is("shrink") || is("shared-twice")) scribble();
    rio_init();
    while (rio_wait()) in_a_tick();
    if (is("stubborn")) sleep_for_ever();
    rio_done();
    return 0;
}
