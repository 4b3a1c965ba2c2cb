/*
 * What is recognised by its bytes, wherever they stand: one table. A row's anchor is a rare text
 * that every such secret has; the stream looks for anchors alone and asks the row's judge about
 * what stands around. Nobody outside this room includes it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_PATTERNS_H
#define SLIPWAY_BUILDER_CHECK_SECRET_PATTERNS_H

#include <stdint.h>

#include "builder/check/secret/kinds.h"
#include "builder/check/secret/window.h"

struct secret_pattern {
	/* At least 4 bytes, of which the first 4 are looked for; 3 are enough where a letter or a
	 * digit follows. */
	const char *anchor;
	uint8_t anchor_len, back; /* the secret begins `back` bytes before its anchor */
	enum secret_kind kind;
	/* p: where the secret begins. All that the anchor's row promises is to be checked. */
	bool (*judge)(const struct secret_window *w, const unsigned char *p,
	              const struct secret_pattern *row);
	unsigned classes;  /* tokens: of the characters behind the prefix, which is the anchor... */
	uint16_t min, max; /* ...and how many of them; max 0 = any number */
};

extern const struct secret_pattern secret_patterns[];
extern const size_t secret_pattern_count;

/* Judges that need a file of their own. pem.c: */
bool secret_judge_pem(const struct secret_window *w, const unsigned char *p,
                      const struct secret_pattern *row);
bool secret_judge_pem_base64(const struct secret_window *w, const unsigned char *p,
                             const struct secret_pattern *row);
bool secret_judge_pem_utf16(const struct secret_window *w, const unsigned char *p,
                            const struct secret_pattern *row);
bool secret_judge_ppk(const struct secret_window *w, const unsigned char *p,
                      const struct secret_pattern *row);
/* aws.c: */
bool secret_judge_aws_pair(const struct secret_window *w, const unsigned char *p,
                           const struct secret_pattern *row);
bool secret_judge_aws_assignment(const struct secret_window *w, const unsigned char *p,
                                 const struct secret_pattern *row);

#endif
