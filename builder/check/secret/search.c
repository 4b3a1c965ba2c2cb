#include "builder/check/secret/search.h"

#include <string.h>

#define BUDGET_LEAST (INT64_C(8) << 20)
#define BUDGET_MOST  (INT64_C(1) << 30)
enum { BUDGET_RATIO = 32 };

static void keep_findings(struct secret_search *s, const struct secret_scanner *from,
                          bool in_archive)
{
	if (memchr(from->found, true, sizeof(from->found)) == NULL)
		return;
	for (int kind = 0; kind < SECRET_KINDS; kind++) {
		if (!from->found[kind] || s->findings.n == SECRET_FINDINGS_MAX)
			continue;
		struct secret_finding f = {.kind = (enum secret_kind)kind,
		                           .offset = from->offset[kind],
		                           .in_archive = in_archive};

		if (in_archive)
			memcpy(f.inner, s->inner, sizeof(f.inner));
		vec_push(&s->findings, f);
	}
}

static void member_begins(void *ctx, const char *name)
{
	struct secret_search *s = ctx;

	snprintf(s->inner, sizeof(s->inner), "%s", name);
	secret_begin(&s->member, name);
}

static void member_bytes(void *ctx, const void *bytes, size_t len)
{
	struct secret_search *s = ctx;

	secret_feed(&s->member, bytes, len);
}

static void member_ends(void *ctx)
{
	struct secret_search *s = ctx;

	secret_end(&s->member);
	keep_findings(s, &s->member, true);
}

void secret_search_init(struct secret_search *s, int64_t packed_bytes)
{
	const struct archive_events events = {member_begins, member_bytes, member_ends, s};

	*s = (struct secret_search){.archive = secret_archive_new(&events)};
	secret_init(&s->file);
	secret_init(&s->member);
	s->budget = packed_bytes < (BUDGET_MOST - BUDGET_LEAST) / BUDGET_RATIO
	                    ? BUDGET_LEAST + packed_bytes * BUDGET_RATIO
	                    : BUDGET_MOST;
}

void secret_search_done(struct secret_search *s)
{
	secret_done(&s->file);
	secret_done(&s->member);
	secret_archive_free(s->archive);
	vec_done(&s->findings);
	s->archive = NULL;
}

void secret_search_begin(struct secret_search *s, const char *path)
{
	s->began = s->is_archive = false;
	s->findings.n = 0;
	secret_begin(&s->file, path);
}

void secret_search_feed(struct secret_search *s, const void *bytes, size_t len)
{
	if (!s->began)
		s->is_archive = secret_archive_begin(s->archive, bytes, len, &s->budget);
	s->began = true;
	secret_feed(&s->file, bytes, len);
	if (s->is_archive)
		secret_archive_feed(s->archive, bytes, len);
}

void secret_search_end(struct secret_search *s)
{
	enum archive_result result = ARCHIVE_WHOLE;

	secret_end(&s->file);
	keep_findings(s, &s->file, false);
	if (s->is_archive)
		result = secret_archive_end(s->archive);
	s->n_too_large += result == ARCHIVE_TOO_LARGE;
	s->n_unreadable += result == ARCHIVE_UNREADABLE;
}
