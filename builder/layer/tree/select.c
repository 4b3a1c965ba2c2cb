/* See select.h. */
#include "builder/layer/tree/select.h"

#include <string.h>

#include "base/text.h"

enum { PATTERN_MAX = 4096 };

static bool pattern_matches(const char *pattern, const char *path, bool folder)
{
	size_t len = strlen(pattern);
	char plain[PATTERN_MAX + 1];

	if (len > 1 && pattern[len - 1] == '/') {
		if (!folder || len > PATTERN_MAX)
			return false;
		memcpy(plain, pattern, len - 1);
		plain[len - 1] = '\0';
		pattern = plain;
	}
	if (pattern[0] != '/')
		return text_glob(pattern, path);
	pattern++;
	return (strchr(pattern, '/') != NULL || strchr(path, '/') == NULL) &&
	       text_glob(pattern, path);
}

static bool any_matches(const struct strlist *patterns, const char *path, bool folder)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (pattern_matches(patterns->at[i], path, folder))
			return true;
	return false;
}

bool select_excludes(const struct selection *s, const char *path, bool folder)
{
	return any_matches(s->exclude, path, folder);
}

bool select_includes(const struct selection *s, const char *path, bool folder)
{
	return s->include->n == 0 || any_matches(s->include, path, folder);
}

bool select_path(const struct selection *s, const char *path, bool folder)
{
	char above[PATTERN_MAX + 1];
	bool included = select_includes(s, path, folder);

	if (select_excludes(s, path, folder))
		return false;
	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		size_t len = (size_t)(slash - path);

		if (len > PATTERN_MAX)
			return false;
		memcpy(above, path, len);
		above[len] = '\0';
		if (select_excludes(s, above, true))
			return false;
		included = included || select_includes(s, above, true);
	}
	return included;
}
