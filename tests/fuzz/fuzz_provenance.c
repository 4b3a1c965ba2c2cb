/*
 * Any bytes as a statement of how the image of the seeds was built. What is accepted is written, read alike, and holds
 * against itself without a difference.
 */
#include <string.h>

#include "builder/provenance/compare.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the seeds are about. */
#define SUBJECT "sha256:62c66a7a5dd70c3146618063c344e531e6d4b59e379808443ce962b3abd63c5a"

static void print_and_read(const struct provenance *p, const struct digest *subject,
                           struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATEMENT_BYTES_MAX);
	AUTO(strbuf) struct strbuf again = STRBUF_INIT(STATEMENT_BYTES_MAX);
	AUTO(provenance) struct provenance back = {0};
	struct err err = {0};

	provenance_print(p, &text);
	if (text.overflow)
		return;
	if (provenance_parse(strbuf_str(&text), text.len, subject, a, &back, &err) != 0)
		abort();
	provenance_print(&back, &again);
	if (strcmp(strbuf_str(&text), strbuf_str(&again)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(provenance) struct provenance p = {0};
	AUTO(provenance_findings) struct provenance_findings found = {0};
	struct digest subject;
	struct err err = {0};

	if (digest_parse(SUBJECT, &subject, &err) != 0)
		abort();
	if (provenance_parse((const char *)data, size, &subject, &a, &p, &err) != 0)
		return 0;
	provenance_compare(&p, &p, true, &a, &found);
	if (found.n_differ != 0)
		abort();
	print_and_read(&p, &subject, &a);
	return 0;
}
