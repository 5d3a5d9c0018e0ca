/* rio_compat.h - for old sources that reach registers through pointers or PEEK/POKE.
 *
 * SPREAD (section 5.2): only the statements that read and write memory change, the rest of the
 * source is the same in the simulator and on the robot. So
 *
 *     volatile unsigned char *motor = (unsigned char *)0x20;   *motor = 40;
 * becomes
 *     POKE(0x20, 40);
 *
 * The plain names are 8 bits wide, as on the machines they come from; the others say their width.
 */
#ifndef RIO_COMPAT_H
#define RIO_COMPAT_H

#include "rio.h"

#define PEEK(address)          rio_peek8((rio_addr)(address))
#define POKE(address, value)   rio_poke8((rio_addr)(address), (uint8_t)(value))
#define PEEKB(address)         rio_peek8((rio_addr)(address))
#define POKEB(address, value)  rio_poke8((rio_addr)(address), (uint8_t)(value))
#define PEEKW(address)         rio_peek16((rio_addr)(address))
#define POKEW(address, value)  rio_poke16((rio_addr)(address), (uint16_t)(value))
#define PEEKL(address)         rio_peek32((rio_addr)(address))
#define POKEL(address, value)  rio_poke32((rio_addr)(address), (uint32_t)(value))

#endif
