/*
 * `trust` of the spec: what the images of the job's pods have to show before they are deployed. A
 * rule is for the repositories that it names, and each rule that is for an image has to be met.
 * Decoding and matching only; builder/gate looks at the images.
 */
#ifndef SLIPWAY_BUILDER_TRUST_RULES_H
#define SLIPWAY_BUILDER_TRUST_RULES_H

#include "base/arena.h"
#include "base/doc/fields.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "builder/oci/ref.h"

enum { TRUST_RULES_MAX = 64 };

/* `provenance`: a signed statement of who built the image. */
struct trust_builder {
	bool set;
	struct srcpos at;
	const char *id;      /* of the builder; a trailing `*` stands for any rest */
	struct strlist keys; /* each has to have signed such a statement; none: those of the rule */
	struct srcpos keys_at;
};

/* `vulnerabilities`: no finding of this severity or a worse one. */
struct trust_findings {
	bool set;
	struct srcpos at;
	const char *severity; /* one of trust_severity_choices */
	struct strlist db; /* databases for the offline scan; none: what the registry's scan says */
	struct strlist vex; /* OpenVEX documents that waive findings, with db */
};

struct trust_rule {
	struct srcpos at;
	struct strlist images; /* trust_pattern_check; none: every image */
	struct strlist keys;   /* each has to have signed the image */
	struct srcpos keys_at;
	struct strmap annotations; /* that such a signature has, among others */
	struct strlist digests;    /* the image is one of these */
	struct srcpos digests_at;
	struct trust_builder provenance;
	bool sbom; /* each platform's manifest has a bill of materials; with keys, a signed one */
	struct srcpos sbom_at;
	struct trust_findings vulnerabilities;
	struct strlist policies; /* trust_policy_choices: what admission controllers are told */
};

extern const struct field_table trust_rule_fields;
extern const struct choices trust_severity_choices, trust_policy_choices;

/* Is the rule for this image, a reference to a registry? */
bool trust_rule_covers(const struct trust_rule *rule, const struct ref *image);

/* "HOST/NAME"; "HOST/NAME/" or "HOST/" with a `*` behind it; "*": as a field_check. */
const char *trust_pattern_check(const char *text, const char **ret_hint);

/* True when text is the pattern, or begins with what stands before its trailing `*`. */
bool trust_builder_matches(const char *pattern, const char *text);

/* A pattern as HOST/NAME; *ret_below: everything below "HOST/NAME/", or all there is (""). */
const char *trust_pattern_prefix(const char *pattern, struct arena *a, bool *ret_below);

/* The keys whose statements count, of how the image was built and what is in it. */
const struct strlist *trust_statement_keys(const struct trust_rule *rule);

#endif
