/* rio.h - Robot I/O: one controller source, four places to run it.
 *
 *   clang --target=wasm32     sandboxed in the simulator (imports from module "rio")
 *   cc ... rio_process.c      a native process beside the simulator
 *   -DRIO_MMIO                a real robot: peek and poke are loads and stores at RIO_BASE + address
 *   -DRIO_BOARD=\"board.h\"   a real robot of another kind: board.h supplies rio_peek8 ... rio_poke32
 *
 * C99 or C++11. No libc, no malloc, no floating point. How to build: README.md.
 *
 * A robot has registers: bytes at addresses, little-endian, read and written 8, 16 or 32 bits at a
 * time, at addresses that are a multiple of the width. Time goes in ticks:
 *
 *   - what you peek is how things stood when the tick began, all tick long;
 *   - what you poke takes effect when the tick ends, in the order in which you poked;
 *   - ports (register kind "port") are the exception: each poke counts, each peek asks anew.
 *
 * An access where nothing is mapped, or misaligned, reads zero or writes nothing, and is reported.
 */
#ifndef RIO_H
#define RIO_H

#define RIO_API_VERSION 1

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Address of a byte in the robot's register file. */
typedef uint32_t rio_addr;

/* Where a function comes from: in WebAssembly, from the simulator. */
#if defined(__wasm__) && !defined(RIO_MMIO) && !defined(RIO_BOARD)
#  define RIO_FROM(name) __attribute__((import_module("rio"), import_name(name)))
#else
#  define RIO_FROM(name)
#endif

/* ---- Registers ------------------------------------------------------------------------------- */

#if defined(RIO_BOARD)
#  include RIO_BOARD
#elif defined(RIO_MMIO)
#  ifndef RIO_BASE
#    define RIO_BASE 0u
#  endif
/* Compilers warn of low addresses (they look like null pointers), unless they cannot see them. */
static inline uintptr_t rio_place(rio_addr a)
{
    uintptr_t place = (uintptr_t)RIO_BASE + (uintptr_t)a;
#  if defined(__GNUC__)
    __asm__("" : "+r"(place));
#  endif
    return place;
}
#  define RIO_REG(type, address) (*(volatile type *)rio_place(address))
static inline uint8_t  rio_peek8 (rio_addr a)             { return RIO_REG(uint8_t,  a); }
static inline uint16_t rio_peek16(rio_addr a)             { return RIO_REG(uint16_t, a); }
static inline uint32_t rio_peek32(rio_addr a)             { return RIO_REG(uint32_t, a); }
static inline void     rio_poke8 (rio_addr a, uint8_t  v) { RIO_REG(uint8_t,  a) = v; }
static inline void     rio_poke16(rio_addr a, uint16_t v) { RIO_REG(uint16_t, a) = v; }
static inline void     rio_poke32(rio_addr a, uint32_t v) { RIO_REG(uint32_t, a) = v; }
#else
RIO_FROM("peek8")  uint8_t  rio_peek8 (rio_addr a);
RIO_FROM("peek16") uint16_t rio_peek16(rio_addr a);
RIO_FROM("peek32") uint32_t rio_peek32(rio_addr a);
RIO_FROM("poke8")  void     rio_poke8 (rio_addr a, uint8_t  v);
RIO_FROM("poke16") void     rio_poke16(rio_addr a, uint16_t v);
RIO_FROM("poke32") void     rio_poke32(rio_addr a, uint32_t v);
#endif

/* The same for signed registers (two's complement): motor speeds, odometer steps. */
static inline int8_t  rio_peeks8 (rio_addr a)            { return (int8_t) rio_peek8 (a); }
static inline int16_t rio_peeks16(rio_addr a)            { return (int16_t)rio_peek16(a); }
static inline int32_t rio_peeks32(rio_addr a)            { return (int32_t)rio_peek32(a); }
static inline void    rio_pokes8 (rio_addr a, int8_t  v) { rio_poke8 (a, (uint8_t) v); }
static inline void    rio_pokes16(rio_addr a, int16_t v) { rio_poke16(a, (uint16_t)v); }
static inline void    rio_pokes32(rio_addr a, int32_t v) { rio_poke32(a, (uint32_t)v); }

/* ---- Time and messages -----------------------------------------------------------------------
 * On a real robot (RIO_MMIO, RIO_BOARD) the board's own code supplies the functions from here on
 * down to rio_done. */

/* The number of this tick, from 0. Never the clock on the wall, so that runs repeat exactly. */
RIO_FROM("ticks") uint32_t rio_ticks(void);

/* The length of a tick in microseconds. */
RIO_FROM("tick_us") uint32_t rio_tick_us(void);

/* Says something: on the simulator's console, or on a UART. Zero-terminated. */
RIO_FROM("log") void rio_log(const char *text);

/* ---- Your program, style A: you write these, nobody writes main() ------------------------------ */

void robot_setup(void); /* once, in the first tick, before its robot_step; may be left out */
void robot_step(void);  /* once per tick; must return */
void robot_stop(void);  /* once, at the end; may be left out */

/* ---- Your program, style B: you write main() ---------------------------------------------------
 *   int main(void)
 *   {
 *       rio_init();
 *       while (rio_wait()) { ...one tick... }
 *       rio_done();
 *       return 0;
 *   }
 */

RIO_FROM("init") int  rio_init(void); /* nonzero: ready */
RIO_FROM("wait") int  rio_wait(void); /* ends this tick, waits for the next; 0: it is over */
RIO_FROM("done") void rio_done(void); /* hands over what was poked last */

/* ---- Small helpers, for want of a libc -------------------------------------------------------- */

static inline int32_t rio_min(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int32_t rio_max(int32_t a, int32_t b) { return a > b ? a : b; }
static inline int32_t rio_abs(int32_t a) { return a < 0 ? (a == INT32_MIN ? INT32_MAX : -a) : a; }

static inline int32_t rio_clamp(int32_t value, int32_t low, int32_t high)
{
    return rio_max(low, rio_min(value, high));
}

/* The square root, rounded down. */
static inline uint32_t rio_sqrt(uint32_t value)
{
    uint32_t root = 0, bit;
    for (bit = UINT32_C(1) << 15; bit != 0; bit >>= 1) {
        uint32_t next = root | bit;
        if (next * next <= value) root = next;
    }
    return root;
}

/* The angle of the point (x, y) in milliradians, -3142 to 3142, counter-clockwise from the x axis;
 * within 3 milliradians. Mind the order: y first, as in C's atan2. */
static inline int32_t rio_atan2(int32_t y, int32_t x)
{
    int32_t ax = rio_abs(x), ay = rio_abs(y), ratio, angle;
    while (ax > 32767 || ay > 32767) { ax >>= 1; ay >>= 1; }
    if (ax == 0 && ay == 0) return 0;
    /* In one eighth of the circle: atan(r) is about r * (pi/4 + (1 - r) * (0.2447 + 0.0663 * r)).
     * Here r counts in 1/32768, and angles in eighths of a milliradian until the last line. */
    ratio = (rio_min(ax, ay) * 32768) / rio_max(ax, ay);
    angle = ((32768 - ratio) * (1958 + (530 * ratio) / 32768)) / 32768;
    angle = ((ratio * (6283 + angle)) / 32768 + 4) / 8;
    if (ay > ax) angle = 1571 - angle;
    if (x < 0) angle = 3142 - angle;
    return y < 0 ? -angle : angle;
}

/* rio_log of a text and a number: rio_log_int("front mm", 312) says "front mm 312". */
static inline void rio_log_int(const char *text, int32_t number)
{
    char line[80];
    char digits[10];
    uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    int length = 0, count = 0;
    while (text[length] != '\0' && length < 64) {
        line[length] = text[length];
        length++;
    }
    line[length++] = ' ';
    if (number < 0) line[length++] = '-';
    do {
        digits[count++] = (char)('0' + (int)(rest % 10u));
        rest /= 10u;
    } while (rest != 0u);
    while (count > 0) line[length++] = digits[--count];
    line[length] = '\0';
    rio_log(line);
}

#ifdef __cplusplus
}
#endif
#endif
