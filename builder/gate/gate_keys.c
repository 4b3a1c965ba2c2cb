/*
 * Who has signed the image, and who says how it was built.
 */
#include <string.h>

#include "base/doc/json.h"
#include "builder/gate/gate_internal.h"
#include "builder/provenance/statement.h"

enum { REASONS_TOLD = 3 };

const char *gate_why_none(const struct gate_view *v, const struct signatures *all)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(ERR_MSG_MAX / 2);
	size_t told = 0;

	for (size_t i = 0; i < all->n && told < REASONS_TOLD; i++) {
		const char *why = all->at[i].why_not;

		if (all->at[i].good || strstr(strbuf_str(&text), why) != NULL)
			continue;
		strbuf_addf(&text, "%s%s", told++ > 0 ? "; " : "", why);
	}
	return arena_strdup(v->gate->arena, strbuf_str(&text));
}

/* ---- signatures ---- */

static int not_signed(const struct gate_view *v, const char *ref, const struct trust_key *key,
                      const struct signatures *all, struct err *err)
{
	if (all->n == 0)
		err_set(err, ERR_CHECK, "it is not signed");
	else
		err_set(err, ERR_CHECK,
		        "it is not signed by '%s' (SHA256:%s) as the rule asks: of %zu signature%s "
		        "none counts: %s",
		        ref, trust_key_fingerprint(key), all->n, all->n == 1 ? "" : "s",
		        gate_why_none(v, all));
	return err_hint(err, "Who holds the private key signs it: `slipway sign --key KEY %s`.",
	                v->pinned);
}

int gate_check_keys(struct gate_view *v, struct err *err)
{
	for (size_t i = 0; i < v->rule->keys.n; i++) {
		struct signature_wish wish = {.annotations = v->rule->annotations,
		                              .forms = SIGNATURE_ANY,
		                              .cache = &v->bundles};
		const char *ref = v->rule->keys.at[i];
		struct trust_key *key;
		struct signatures all;

		if (gate_key(v->gate, ref, &key, err) != 0)
			return -1;
		wish.key = key;
		if (signatures_verify(v->image->store, &v->root.digest, &wish, v->gate->arena, &all,
		                      err) != 0)
			return -1;
		if (all.n_good == 0)
			return not_signed(v, ref, key, &all, err);
	}
	return 0;
}

/* ---- provenance ---- */

/* The versions of SLSA's predicate, and where each names the builder. */
static const struct predicate {
	const char *type;
	const char *path[3]; /* below predicate, NULL-terminated */
} predicates[] = {
	{PROVENANCE_TYPE, {"runDetails", "builder", NULL}},
	{"https://slsa.dev/provenance/v0.2", {"builder", NULL}},
};

/* Statements of all versions about one manifest, by one key. */
struct statements {
	size_t n;             /* that the key has signed */
	const char *other;    /* a builder that is not the one asked for; NULL = none named */
	const char *why_none; /* of bundles that do not count */
	bool found;           /* one by the right builder */
};

static void read_builder(const struct gate_view *v, const struct predicate *p,
                         const struct signature *s, struct statements *st)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};
	const char *id;

	if (json_parse("statement", s->statement, s->statement_len, &doc, &ignored) != 0)
		return;
	const cJSON *at = json_get(doc, "predicate");

	for (size_t i = 0; p->path[i] != NULL; i++)
		at = json_get(at, p->path[i]);
	id = json_string(at, "id");
	st->n++;
	if (id != NULL && trust_builder_matches(v->rule->provenance.id, id))
		st->found = true;
	else if (id != NULL && st->other == NULL)
		st->other = arena_strdup(v->gate->arena, id);
}

static int find_statements(struct gate_view *v, const struct descriptor *manifest,
                           const struct trust_key *key, struct statements *st, struct err *err)
{
	*st = (struct statements){.why_none = ""};
	for (size_t i = 0; i < ARRAY_LEN(predicates); i++) {
		const struct signature_wish wish = {.key = key,
		                                    .predicate_type = predicates[i].type,
		                                    .forms = SIGNATURE_BUNDLE,
		                                    .cache = &v->bundles};
		struct signatures all;

		if (signatures_verify(v->image->store, &manifest->digest, &wish, v->gate->arena,
		                      &all, err) != 0)
			return -1;
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k].good)
				read_builder(v, &predicates[i], &all.at[k], st);
		if (st->why_none[0] == '\0')
			st->why_none = gate_why_none(v, &all);
	}
	return 0;
}

static int no_builder(const struct gate_view *v, const char *name, const char *ref,
                      const struct statements *st, struct err *err)
{
	if (st->other != NULL) {
		err_set(err, ERR_CHECK, "%s was built by '%.200s', not by '%.200s'", name,
		        st->other, v->rule->provenance.id);
		return err_hint(err,
		                "Deploy the image that this builder made; `slipway inspect "
		                "--tree %s` lists what is attached.",
		                v->pinned);
	}
	err_set(err, ERR_CHECK, "%s has no provenance that '%s' has signed%s%s", name, ref,
	        st->why_none[0] != '\0' ? ": " : "", st->why_none);
	return err_hint(err, "Build it with image.provenance and image.sign: `slipway push` signs "
	                     "the statement with the image.");
}

int gate_check_provenance(struct gate_view *v, struct err *err)
{
	const struct strlist *keys = trust_statement_keys(v->rule);

	for (size_t i = 0; i < keys->n; i++)
		for (size_t k = 0; k < v->n_platforms; k++) {
			const struct descriptor *manifest = &v->platforms[k];
			struct trust_key *key;
			struct statements st;

			if (gate_key(v->gate, keys->at[i], &key, err) != 0 ||
			    find_statements(v, manifest, key, &st, err) != 0)
				return -1;
			if (!st.found)
				return no_builder(v, gate_name(v, manifest), keys->at[i], &st, err);
		}
	return 0;
}
