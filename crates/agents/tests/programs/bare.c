/* A bare futex ping-pong between two processes: what a hand-over costs at the very least.
 * Prints nanoseconds per round trip; the argument is how often each side looks before it sleeps. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 20000 };
static long spin;

static void raise_and_wake(uint32_t *word)
{
    __atomic_fetch_add(word, 1u, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void await(uint32_t *word, uint32_t seen)
{
    long k;
    for (k = 0; k < spin && __atomic_load_n(word, __ATOMIC_ACQUIRE) == seen; k++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen)
        syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
}

int main(int count, char **arguments)
{
    uint32_t *words = (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t k;
    struct timespec begin, end;
    spin = count > 1 ? atol(arguments[1]) : 0;
    if (fork() == 0) {
        for (k = 0; k < ROUNDS; k++) { await(&words[0], k); raise_and_wake(&words[64]); }
        _exit(0);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (k = 0; k < ROUNDS; k++) { raise_and_wake(&words[0]); await(&words[64], k); }
    clock_gettime(CLOCK_MONOTONIC, &end);
    wait(NULL);
    printf("%ld\n", ((end.tv_sec - begin.tv_sec) * 1000000000L + (end.tv_nsec - begin.tv_nsec)) / ROUNDS);
    return 0;
}
