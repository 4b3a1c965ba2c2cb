/*
 * Many problems at once, each with a position: what parsers and checks fill instead of stopping at
 * the first. Formatting is pure; only the CLI prints.
 *
 *   slipway.yaml:12:15: error: image.user: 'root:' is not user or user:group
 *       user: root:
 *             ^~~~~
 *     hint: write a name or number, as in 65532:65532
 */
#ifndef SLIPWAY_BASE_DIAG_H
#define SLIPWAY_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/srcpos.h"
#include "base/strbuf.h"

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
	enum diag_severity severity;
	struct srcpos at;    /* at.file NULL = no position */
	const char *rule;    /* name of the check rule, NULL if none */
	const char *message; /* never NULL */
	const char *hint;    /* NULL if none */
};

struct diag_source {
	const char *file;
	const char *text;
	size_t len;
};

/* Kept of one list: nobody reads more, and hostile input has no end. */
enum { DIAGS_MAX = 1000 };

struct diags {
	struct arena arena; /* owns all texts */
	struct diag *at;
	size_t n, cap;
	size_t n_errors;   /* hidden ones too */
	size_t n_hidden;   /* beyond DIAGS_MAX: counted, not kept */
	struct diag spare; /* what diags_add returns for a hidden one */
	struct diag_source *sources;
	size_t n_sources, cap_sources;
};

void diags_done(struct diags *d);

/* Remembers (copies) a text, so that its lines can be quoted. */
void diags_add_source(struct diags *d, const char *file, const char *text, size_t len);

/* Adds one problem, unless the same one is there already; texts are copied, control bytes replaced.
 * Returns it, for diag_hint; valid until the next call. */
struct diag *diags_add(struct diags *d, enum diag_severity severity, struct srcpos at,
                       const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Adds an error with a hint (NULL = none). */
void diags_error(struct diags *d, struct srcpos at, const char *hint, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Sets the hint / the rule name of a problem. */
void diag_hint(struct diags *d, struct diag *diag, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_rule(struct diags *d, struct diag *diag, const char *rule);

/* Sorts by file, line, column; stable. */
void diags_sort(struct diags *d);

/* "error", "warning", "note" */
const char *diag_severity_name(enum diag_severity severity);

/* Appends all problems as text, with ANSI colours when asked; base/doc/diag_json.h has the form for
 * programs. */
void diags_text(const struct diags *d, bool colour, struct strbuf *sb);

#endif
