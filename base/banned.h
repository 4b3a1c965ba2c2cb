/*
 * Functions nobody here calls: each has a safe replacement in base/. Included before every file.
 */
#ifndef SLIPWAY_BASE_BANNED_H
#define SLIPWAY_BASE_BANNED_H

/* The system headers first, so that their own declarations are not poisoned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strtok gets
#pragma GCC poison atoi atol localtime gmtime system popen

#endif
