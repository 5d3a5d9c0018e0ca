/* board.h - a robot whose registers are an array on this computer (-DRIO_BOARD). See board.c. */
#ifndef HOST_BOARD_H
#define HOST_BOARD_H

uint8_t  rio_peek8 (rio_addr a);
uint16_t rio_peek16(rio_addr a);
uint32_t rio_peek32(rio_addr a);
void     rio_poke8 (rio_addr a, uint8_t  v);
void     rio_poke16(rio_addr a, uint16_t v);
void     rio_poke32(rio_addr a, uint32_t v);

#endif
