/*
 * Descriptors 0, 1 and 2 as a program may take them for granted.
 */
#ifndef SLIPWAY_BASE_FDS_H
#define SLIPWAY_BASE_FDS_H

/*
 * Opens /dev/null for each standard descriptor that the caller of the program left closed: the next
 * file opened would else get its number, and an error message would be written into it. 0, or -1
 * when that cannot be done: then nothing may be opened. Call first in main().
 */
int fds_secure(void);

#endif
