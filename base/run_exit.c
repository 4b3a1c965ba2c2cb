#include "base/run_exit.h"

#include <stddef.h>

#include "base/attr.h"

#define RUN_EXIT_ROW(name, status, hopeless, meaning) {status, hopeless, meaning},
static const struct run_exit_row rows[] = {RUN_EXIT_ROWS(RUN_EXIT_ROW)};
#undef RUN_EXIT_ROW

const struct run_exit_row *run_exit_at(unsigned i)
{
	return i < ARRAY_LEN(rows) ? &rows[i] : NULL;
}

const struct run_exit_row *run_exit_find(int status)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].status == status)
			return &rows[i];
	return NULL;
}
