/*
 * OpenSSL's memory.
 */
#ifndef SLIPWAY_BASE_CRYPTO_MEMORY_H
#define SLIPWAY_BASE_CRYPTO_MEMORY_H

/*
 * Makes OpenSSL allocate as base/mem.h does: it is not sound when its set-up meets an exhausted
 * machine (a lock that could not be made is taken). Call in main() before anything uses OpenSSL;
 * later it changes nothing.
 */
void crypto_use_mem(void);

#endif
