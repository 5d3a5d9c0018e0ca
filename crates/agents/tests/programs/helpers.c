/* The small helpers of rio.h against libm; answers how many are wrong. */
#include "rio_compat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static char last[100];

/* In place of a simulator. */
uint8_t rio_peek8(rio_addr a) { return a == 1 ? 0xfb : 0; }
uint16_t rio_peek16(rio_addr a) { return a == 2 ? 0xfffb : 0; }
uint32_t rio_peek32(rio_addr a) { return a == 4 ? 0xfffffffbu : 0; }
void rio_poke8(rio_addr a, uint8_t v) { (void)a; (void)v; }
void rio_poke16(rio_addr a, uint16_t v) { (void)a; (void)v; }
void rio_poke32(rio_addr a, uint32_t v) { (void)a; (void)v; }
void rio_log(const char *text) { strncpy(last, text, sizeof last - 1); }

static int wrong;

static void check(int holds, const char *what)
{
    if (!holds) { fprintf(stderr, "%s\n", what); wrong++; }
}

int main(void)
{
    int32_t k;
    for (k = 0; k < 70000; k++) {
        uint32_t v = (uint32_t)k * (uint32_t)k;
        check(rio_sqrt((uint32_t)k) == (uint32_t)sqrt((double)k), "rio_sqrt");
        if (k > 0 && k < 65536) check(rio_sqrt(v) == (uint32_t)k && rio_sqrt(v - 1u) == (uint32_t)k - 1u, "rio_sqrt of squares");
    }
    check(rio_sqrt(UINT32_MAX) == 65535, "the greatest root");
    for (k = 0; k < 6283; k++) {
        double x = 30000.0 * cos(k / 1000.0), y = 30000.0 * sin(k / 1000.0);
        double apart = rio_atan2((int32_t)y * 50, (int32_t)x * 50) / 1000.0 - atan2(y, x);
        if (apart > 3.0) apart -= 6.283185307;
        if (apart < -3.0) apart += 6.283185307;
        check(fabs(apart) < 0.003, "rio_atan2");
    }
    check(rio_atan2(0, 0) == 0 && rio_atan2(0, -5) == 3142 && rio_atan2(INT32_MIN, 0) == -1571, "axes");
    check(rio_abs(-3) == 3 && rio_abs(INT32_MIN) == INT32_MAX, "rio_abs");
    check(rio_clamp(5, -3, 3) == 3 && rio_clamp(-5, -3, 3) == -3 && rio_clamp(1, -3, 3) == 1, "rio_clamp");
    check(rio_peeks8(1) == -5 && rio_peeks16(2) == -5 && rio_peeks32(4) == -5, "signed");
    check(PEEK(1) == 0xfb && PEEKW(2) == 0xfffb && PEEKL(4) == 0xfffffffbu, "compat");
    POKE(1, 300);
    rio_log_int("x", INT32_MIN);
    check(strcmp(last, "x -2147483648") == 0, last);
    rio_log_int("x", 0);
    check(strcmp(last, "x 0") == 0, last);
    return wrong != 0;
}
