#include "builder/trust/rules.h"

#include <string.h>

#include "base/crypto/digest.h"
#include "base/text.h"
#include "builder/trust/settings.h"

/* In the order of enum admission_kind (k8s/fleet/admission.h). */
const struct choices trust_policy_choices =
	CHOICE_TEXTS("kyverno", "kyverno-clusterpolicy", "policy-controller");

const struct choices trust_severity_choices = CHOICE_TEXTS("low", "medium", "high", "critical");

/* ---- patterns ---- */

/* Ends in "/" and any rest. */
static bool is_folder(const char *pattern)
{
	return text_has_suffix(pattern, "/*");
}

/* What a pattern names; of one for all below a folder, something in it. */
static bool parse_pattern(const char *text, struct arena *a, struct ref *ret)
{
	size_t len = strlen(text);
	struct err ignored = {0};

	if (is_folder(text))
		text = arena_printf(a, "%.*sx", (int)(len - 1), text);
	return strchr(text, '*') == NULL && ref_parse(text, a, ret, &ignored) == 0 &&
	       ret->kind == REF_REGISTRY && ret->tag == NULL && !ret->has_digest;
}

const char *trust_pattern_check(const char *text, const char **ret_hint)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref;

	*ret_hint = "write HOST/NAME, or HOST/NAME/* for all below it, without tag or digest";
	if (strcmp(text, "*") == 0)
		return NULL;
	if (!parse_pattern(text, &a, &ref))
		return "is not the name of repositories";
	if (is_folder(text) && ref.host_implied) {
		*ret_hint = "begin it with the registry's host, as in docker.io/library/*";
		return "names no registry";
	}
	return NULL;
}

static bool matches(const char *pattern, const struct ref *image)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref;

	if (strcmp(pattern, "*") == 0)
		return true;
	if (!parse_pattern(pattern, &a, &ref) || strcmp(ref.host, image->host) != 0)
		return false;
	if (!is_folder(pattern))
		return strcmp(ref.repository, image->repository) == 0;
	/* Without the "x" that stands for any name. */
	return strncmp(ref.repository, image->repository, strlen(ref.repository) - 1) == 0;
}

const char *trust_pattern_prefix(const char *pattern, struct arena *a, bool *ret_below)
{
	struct ref ref;
	const char *text;

	*ret_below = strcmp(pattern, "*") == 0 || is_folder(pattern);
	if (strcmp(pattern, "*") == 0 || !parse_pattern(pattern, a, &ref))
		return "";
	text = arena_printf(a, "%s/%s", ref.host, ref.repository);
	/* Without the "x" that stands for any name. */
	return *ret_below ? arena_strndup(a, text, strlen(text) - 1) : text;
}

bool trust_rule_covers(const struct trust_rule *rule, const struct ref *image)
{
	for (size_t i = 0; i < rule->images.n; i++)
		if (matches(rule->images.at[i], image))
			return true;
	return rule->images.n == 0;
}

bool trust_builder_matches(const char *pattern, const char *text)
{
	size_t len = strlen(pattern);

	return len > 0 && pattern[len - 1] == '*' ? strncmp(pattern, text, len - 1) == 0
	                                          : strcmp(pattern, text) == 0;
}

const struct strlist *trust_statement_keys(const struct trust_rule *rule)
{
	return rule->provenance.keys.n > 0 ? &rule->provenance.keys : &rule->keys;
}

/* ---- what is written ---- */

#define URI_LETTERS                                                                                \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!$&()*+,;=%"

static const char *digest_text_check(const char *text, const char **ret_hint)
{
	struct digest digest;
	struct err ignored = {0};

	*ret_hint = "write sha256: and 64 hex digits; `slipway inspect IMAGE` prints it first";
	return digest_parse(text, &digest, &ignored) == 0 ? NULL : "is not a digest";
}

static const char *builder_check(const char *text, const char **ret_hint)
{
	const char *star = strchr(text, '*');

	*ret_hint = "write the builder's ID, a URI as https://github.com/actions/runner/"
		    "github-hosted; a `*` may end it";
	if (text[0] == '\0' || text[0] == '*')
		return "names no builder";
	/* RFC 3986, section 2, but for the apostrophe: policies quote IDs. */
	if (strspn(text, URI_LETTERS) != strlen(text))
		return "is not a URI";
	return star == NULL || star[1] == '\0' ? NULL : "has a `*` before its end";
}

static void problem(struct fields_context *c, struct srcpos at, const char *hint, const char *text)
{
	diags_error(c->diags, at, hint, "trust: %s", text);
}

/* By what was written: a value that is wrong is another problem. */
static bool asks(const struct yaml_node *node, const struct trust_rule *rule)
{
	static const char *const keys[] = {"keys", "digests", "provenance", "vulnerabilities"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (yaml_get(node, keys[i]) != NULL)
			return true;
	return rule->sbom;
}

/* An empty list would read as if something were asked for. */
static void check_list(struct fields_context *c, const struct yaml_node *mapping, const char *key)
{
	const struct yaml_node *list =
		mapping != NULL && mapping->kind == YAML_MAPPING ? yaml_get(mapping, key) : NULL;

	if (list != NULL && list->kind == YAML_SEQUENCE && list->n_items == 0)
		problem(c, list->at, "name what is trusted, or leave the key out",
		        "an empty list asks for nothing");
}

static void check_rule(struct fields_context *c, const struct yaml_node *node, void *object)
{
	const struct trust_rule *rule = object;
	size_t before = c->diags->n_errors;

	check_list(c, node, "keys");
	check_list(c, node, "digests");
	check_list(c, yaml_get(node, "provenance"), "keys");
	if (c->diags->n_errors != before)
		return;
	if (!asks(node, rule))
		problem(c, node->at,
		        "add keys, digests, provenance, sbom or vulnerabilities: what an image "
		        "has to show",
		        "the rule asks for nothing");
	if (rule->annotations.n > 0 && rule->keys.n == 0)
		problem(c, node->at, "add keys: annotations are part of a signature",
		        "annotations without keys");
	if (rule->provenance.set && trust_statement_keys(rule)->n == 0)
		problem(c, rule->provenance.at,
		        "add keys, to the rule or to provenance: without a signature a statement "
		        "proves nothing",
		        "provenance without keys");
	if (rule->vulnerabilities.vex.n > 0 && rule->vulnerabilities.db.n == 0)
		problem(c, rule->vulnerabilities.at, "add db: the registry's scan knows no waivers",
		        "vex without db");
	if (rule->policies.n > 0 && rule->keys.n == 0)
		problem(c, rule->at, "add keys, or leave policies out",
		        "policies without keys: admission controllers check signatures");
}

static const struct field builder_rows[] = {
	FIELD_STRING(struct trust_builder, id, "builder",
                     "ID of the builder (runDetails.builder.id); a `*` at its end stands for any "
                     "rest.",
                     .flags = FIELD_REQUIRED | FIELD_LITERAL, .check = builder_check),
	FIELD_STRINGS(struct trust_builder, keys, "keys",
                      "Whose signature the statement has to have: each of these keys.",
                      .flags = FIELD_LITERAL, .check = trust_key_check,
                      .fallback_doc = "the rule's keys",
                      .pos_offset = offsetof(struct trust_builder, keys_at)),
};
static const struct field_table builder_fields = FIELD_TABLE(
	struct trust_builder, "provenance", builder_rows,
	"A signed statement of who built the image (SLSA provenance).", .shorthand = "builder",
	.has_pos = true, .pos_offset = offsetof(struct trust_builder, at));

static const struct field findings_rows[] = {
	FIELD_STRING(struct trust_findings, severity, "severity",
                     "Refuse an image with a finding of this severity or a worse one.",
                     .flags = FIELD_LITERAL, .choices = &trust_severity_choices,
                     .fallback_text = "high"),
	FIELD_STRINGS(struct trust_findings, db, "db",
                      "Databases for `slipway scan --db`, which are files. Without one, Amazon "
                      "ECR's scan is asked.",
                      .flags = FIELD_LITERAL, .fallback_doc = "ECR's scan"),
	FIELD_STRINGS(struct trust_findings, vex, "vex",
                      "OpenVEX documents that waive findings of db, with a reason.",
                      .flags = FIELD_LITERAL),
};
static const struct field_table findings_fields =
	FIELD_TABLE(struct trust_findings, "vulnerabilities", findings_rows,
                    "What is known against the image's packages.", .shorthand = "severity",
                    .has_pos = true, .pos_offset = offsetof(struct trust_findings, at));

static const struct field rows[] = {
	FIELD_STRINGS(struct trust_rule, images, "images",
                      "Repositories that the rule is for: HOST/NAME, or HOST/NAME/* for all below "
                      "it.",
                      .flags = FIELD_LITERAL, .check = trust_pattern_check,
                      .fallback_doc = "every image"),
	FIELD_STRINGS(struct trust_rule, keys, "keys",
                      "Each of these keys has to have signed the image: a public key's file, "
                      "env://VARIABLE or awskms:///alias/NAME.",
                      .flags = FIELD_LITERAL, .check = trust_key_check,
                      .pos_offset = offsetof(struct trust_rule, keys_at)),
	FIELD_MAP(struct trust_rule, annotations, "annotations",
                  "What each of these signatures has to say besides the digest.",
                  .flags = FIELD_LITERAL),
	FIELD_STRINGS(struct trust_rule, digests, "digests",
                      "The image has to be one of these: for images that nobody signs.",
                      .flags = FIELD_LITERAL, .check = digest_text_check,
                      .pos_offset = offsetof(struct trust_rule, digests_at)),
	FIELD_OBJECT(struct trust_rule, provenance, struct trust_builder, &builder_fields,
                     "provenance", "Who has to have built it, by a signed statement.",
                     .set_offset = offsetof(struct trust_rule, provenance.set)),
	FIELD_BOOL(struct trust_rule, sbom, "sbom",
                   "Each platform's manifest has to have a bill of materials: one that the keys of "
                   "provenance, or else those of the rule, have signed; in a rule without keys, "
                   "any that is attached.",
                   .pos_offset = offsetof(struct trust_rule, sbom_at)),
	FIELD_OBJECT(struct trust_rule, vulnerabilities, struct trust_findings, &findings_fields,
                     "vulnerabilities", "Which findings are too severe.",
                     .set_offset = offsetof(struct trust_rule, vulnerabilities.set)),
	FIELD_STRINGS(struct trust_rule, policies, "policies",
                      "Objects for admission controllers that `slipway render` writes: kyverno, "
                      "kyverno-clusterpolicy, policy-controller.",
                      .flags = FIELD_LITERAL, .choices = &trust_policy_choices),
};

const struct field_table trust_rule_fields = FIELD_TABLE(
	struct trust_rule, "trust", rows, "What images have to show before they are deployed.",
	.has_pos = true, .pos_offset = offsetof(struct trust_rule, at), .check = check_rule);
