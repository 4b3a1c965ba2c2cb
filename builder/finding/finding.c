#include "builder/finding/finding.h"

#include <string.h>
#include <strings.h>

static const char *const severities[SEVERITIES] = {"UNDEFINED", "INFORMATIONAL", "LOW",
                                                   "MEDIUM",    "HIGH",          "CRITICAL"};

const char *severity_name(enum severity s)
{
	return severities[s];
}

bool severity_parse(const char *text, enum severity *ret_severity)
{
	if (strcasecmp(text, "UNTRIAGED") == 0)
		text = "UNDEFINED";
	for (unsigned i = 0; i < SEVERITIES; i++)
		if (strcasecmp(severities[i], text) == 0) {
			*ret_severity = (enum severity)i;
			return true;
		}
	return false;
}

static int worst_first(const void *a, const void *b)
{
	const struct finding *p = a, *q = b;
	int order = (p->waived != NULL) - (q->waived != NULL);

	order = order != 0 ? order : (int)q->severity - (int)p->severity;
	order = order != 0 ? order : strcmp(p->name, q->name);
	return order != 0 ? order : strcmp(p->package, q->package);
}

struct findings findings_sorted(const struct finding *at, size_t n, struct arena *a)
{
	struct findings all = {.at = arena_calloc(a, n + 1, sizeof(*all.at)), .n = n};

	if (n > 0)
		memcpy(all.at, at, n * sizeof(*at));
	if (n > 1)
		qsort(all.at, n, sizeof(*all.at), worst_first);
	for (size_t i = 0; i < n; i++)
		all.counts[all.at[i].severity] += all.at[i].waived == NULL;
	return all;
}

int64_t findings_refused(const struct findings *f, enum severity threshold)
{
	int64_t n = 0;

	for (unsigned i = threshold; i < SEVERITIES; i++)
		n += f->counts[i];
	return n;
}
