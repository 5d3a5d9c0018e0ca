/* board.c - a Cortex-M3 that runs a controller against recorded registers.
 *
 * In: the register images of a run, one per tick (images.h, made by run.sh).
 * Out: on the UART, for each tick, its number and the command registers as the controller left them.
 *
 * The controller is compiled with -DRIO_MMIO -DRIO_BASE=0x20000000, so its peeks and pokes are plain
 * loads and stores. The linker script keeps that RAM free: it stands for the robot's hardware. Before
 * a tick the board puts the tick's image there, as the hardware would.
 *
 * Written for qemu's machine mps2-an385; on another one change the UART, the way to exit and
 * board.ld. Nothing here is needed on a robot whose hardware has real registers but reset().
 */
#include "rio.h"
#include "images.h" /* IMAGE_COUNT, IMAGE_BYTES, COMMAND_COUNT, TICK_US, images[], commands[] */

#define WEAK __attribute__((weak))

int main(void);
void reset(void);

/* ---- UART and the way out ------------------------------------------------------------------------ */

#define UART(offset) (*(volatile uint32_t *)(0x40004000u + (offset)))
enum { UART_DATA = 0x0, UART_STATE = 0x4, UART_CONTROL = 0x8, UART_DIVISOR = 0x10, TX_FULL = 1, TX_ON = 1 };

static void put(char c)
{
    while (UART(UART_STATE) & TX_FULL) { }
    UART(UART_DATA) = (uint32_t)c;
}

static void put_text(const char *text)
{
    while (*text != '\0') put(*text++);
}

static void put_hex(uint8_t byte)
{
    put("0123456789abcdef"[byte >> 4]);
    put("0123456789abcdef"[byte & 15]);
}

static void put_number(uint32_t number)
{
    char digits[10];
    int count = 0;
    do {
        digits[count++] = (char)('0' + (int)(number % 10u));
        number /= 10u;
    } while (number != 0u);
    while (count > 0) put(digits[--count]);
}

/* Semihosting: ends qemu, with exit code 0 or 1. */
__attribute__((noreturn)) static void leave(int well)
{
    register uint32_t operation __asm__("r0") = 0x18;
    register uint32_t reason __asm__("r1") = well ? 0x20026u : 0x20023u;
    for (;;) __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason) : "memory");
}

/* ---- The robot's registers -------------------------------------------------------------------------- */

extern volatile uint8_t registers[]; /* board.ld: at RIO_BASE */

static uint32_t tick;  /* ticks begun */
static int in_a_tick;

static void load_image(uint32_t number)
{
    uint32_t k;
    for (k = 0; k < IMAGE_BYTES; k++) registers[k] = images[number][k];
}

static void print_commands(uint32_t number)
{
    uint32_t k;
    put_number(number);
    put(' ');
    for (k = 0; k < COMMAND_COUNT; k++) put_hex(registers[commands[k]]);
    put('\n');
}

/* ---- What rio.h promises ------------------------------------------------------------------------------ */

uint32_t rio_ticks(void) { return tick - 1u; }
uint32_t rio_tick_us(void) { return TICK_US; }
int rio_init(void) { return 1; }
void rio_done(void) { }

int rio_wait(void)
{
    if (in_a_tick) print_commands(tick - 1u);
    in_a_tick = tick < IMAGE_COUNT;
    if (in_a_tick) load_image(tick++);
    return in_a_tick;
}

void rio_log(const char *text)
{
    put_text("# ");
    put_text(text);
    put('\n');
}

/* Style A; a controller of style B has its own main(). */
WEAK void robot_setup(void) { }
WEAK void robot_step(void) { }
WEAK void robot_stop(void) { }

WEAK int main(void)
{
    rio_init();
    while (rio_wait()) {
        if (tick == 1u) robot_setup();
        robot_step();
    }
    robot_stop();
    rio_done();
    return 0;
}

/* ---- From reset to main() ----------------------------------------------------------------------------- */

extern uint32_t data_from[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[]; /* board.ld */

void reset(void)
{
    uint32_t *to, *from = data_from;
    for (to = data_begin; to < data_end; ) *to++ = *from++;
    for (to = bss_begin; to < bss_end; ) *to++ = 0;
    UART(UART_DIVISOR) = 16;
    UART(UART_CONTROL) = TX_ON;
    main();
    leave(1);
}

static void fault(void)
{
    rio_log("fault");
    leave(0);
}

typedef void (*handler)(void);

__attribute__((section(".vectors"), used)) static const struct {
    uint32_t *stack;
    handler handlers[15];
} vectors = { stack_top, { reset, fault, fault, fault, fault, fault } };

/* ---- What the compiler may call, for want of a libc --------------------------------------------------- */

void *memcpy(void *to, const void *from, uint32_t bytes);
void *memset(void *to, int value, uint32_t bytes);
void __aeabi_memcpy(void *to, const void *from, uint32_t bytes);
void __aeabi_memcpy4(void *to, const void *from, uint32_t bytes);
void __aeabi_memclr(void *to, uint32_t bytes);
void __aeabi_memclr4(void *to, uint32_t bytes);
void __aeabi_memset(void *to, uint32_t bytes, int value);
void __aeabi_memset4(void *to, uint32_t bytes, int value);

void *memcpy(void *to, const void *from, uint32_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    while (bytes-- > 0u) *t++ = *f++;
    return to;
}

void *memset(void *to, int value, uint32_t bytes)
{
    uint8_t *t = to;
    while (bytes-- > 0u) *t++ = (uint8_t)value;
    return to;
}

void __aeabi_memcpy(void *to, const void *from, uint32_t bytes) { memcpy(to, from, bytes); }
void __aeabi_memcpy4(void *to, const void *from, uint32_t bytes) { memcpy(to, from, bytes); }
void __aeabi_memclr(void *to, uint32_t bytes) { memset(to, 0, bytes); }
void __aeabi_memclr4(void *to, uint32_t bytes) { memset(to, 0, bytes); }
void __aeabi_memset(void *to, uint32_t bytes, int value) { memset(to, value, bytes); }
void __aeabi_memset4(void *to, uint32_t bytes, int value) { memset(to, value, bytes); }
