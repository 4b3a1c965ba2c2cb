/*
 * How often each function of a stand-in was asked for: what a test that makes them fail one after
 * the other goes by. STANDIN_USES names a file that gets a line "NAME USES" for each when the
 * process ends.
 */
#ifndef SLIPWAY_TESTS_CUDA_USES_H
#define SLIPWAY_TESTS_CUDA_USES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USES_MAX = 96 };

struct uses {
	const char *name[USES_MAX]; /* of the functions' own __func__ */
	size_t times[USES_MAX], n;
};

static inline void uses_count(struct uses *u, const char *name)
{
	size_t i = 0;

	while (i < u->n && strcmp(u->name[i], name) != 0)
		i++;
	if (i == USES_MAX)
		abort();
	u->n += i == u->n;
	u->name[i] = name;
	u->times[i]++;
}

static inline void uses_report(const struct uses *u)
{
	const char *path = getenv("STANDIN_USES");
	FILE *f = path != NULL && u->n > 0 ? fopen(path, "a") : NULL;

	if (f == NULL)
		return;
	for (size_t i = 0; i < u->n; i++)
		fprintf(f, "%s %zu\n", u->name[i], u->times[i]);
	(void)fclose(f);
}

#endif
