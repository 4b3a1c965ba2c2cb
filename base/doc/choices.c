#include "base/doc/choices.h"

#include <string.h>

const char *choices_name(const struct choices *choices, size_t i)
{
	const void *row = (const char *)choices->first + i * choices->stride;

	return *(const char *const *)row;
}

int choices_find(const struct choices *choices, const char *text)
{
	for (size_t i = 0; i < choices->n; i++)
		if (strcmp(choices_name(choices, i), text) == 0)
			return (int)i;
	return -1;
}

void choices_list(const struct choices *choices, struct strbuf *sb)
{
	for (size_t i = 0; i < choices->n; i++)
		strbuf_addf(sb, "%s%s",
		            i == 0                ? ""
		            : i + 1 == choices->n ? " or "
		                                  : ", ",
		            choices_name(choices, i));
}
