/* A board whose registers lie behind a bus of 16 bits. */
static inline uint16_t rio_peek16(rio_addr a) { return *(volatile uint16_t *)(uintptr_t)(0x4000u + a); }
static inline void rio_poke16(rio_addr a, uint16_t v) { *(volatile uint16_t *)(uintptr_t)(0x4000u + a) = v; }
static inline uint8_t rio_peek8(rio_addr a) { return (uint8_t)(rio_peek16(a & ~1u) >> (8u * (a & 1u))); }
static inline void rio_poke8(rio_addr a, uint8_t v) { rio_poke16(a, v); }
static inline uint32_t rio_peek32(rio_addr a) { return rio_peek16(a) | (uint32_t)rio_peek16(a + 2u) << 16; }
static inline void rio_poke32(rio_addr a, uint32_t v) { rio_poke16(a, (uint16_t)v); rio_poke16(a + 2u, (uint16_t)(v >> 16)); }
