/* Sections: findings, kinds of inputs, inputs, parameters. */
#include "builder/provenance/compare.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "builder/oci/mediatype.h"

void provenance_findings_done(struct provenance_findings *f)
{
	vec_done(&f->all);
}

static void differ(struct provenance_findings *out, const char *what, const char *stated,
                   const char *here)
{
	vec_push(&out->all, ((struct provenance_finding){true, what, stated, here, NULL}));
	out->n_differ++;
}

static void remark(struct provenance_findings *out, const char *what, const char *text)
{
	vec_push(&out->all, ((struct provenance_finding){.what = what, .remark = text}));
}

static bool same_text(const char *a, const char *b)
{
	return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void compare_text(struct provenance_findings *out, const char *what, const char *stated,
                         const char *here)
{
	if (!same_text(stated, here))
		differ(out, what, stated, here);
}

/* ---- kinds of inputs ---- */

enum input_kind {
	INPUT_COMMIT,
	INPUT_DEB,
	INPUT_LAYER,
	INPUT_BASE,
	INPUT_PACKAGE,
	INPUT_FILE,
	INPUT_KINDS
};

static bool is_commit(const struct provenance_input *in)
{
	return in->algorithm != NULL && strcmp(in->algorithm, "gitCommit") == 0;
}

static bool is_deb(const struct provenance_input *in)
{
	return same_text(in->media_type, MEDIA_DEB);
}

static bool is_layer(const struct provenance_input *in)
{
	return same_text(in->media_type, MEDIA_LAYER);
}

static bool is_package(const struct provenance_input *in)
{
	return in->uri != NULL;
}

static bool is_any(const struct provenance_input *in)
{
	(void)in;
	return true;
}

/* By the first row that knows it. `early`: it is known before the build. */
static const struct {
	bool (*is)(const struct provenance_input *in);
	const char *title;
	bool early;
} kinds[] = {
	[INPUT_COMMIT] = {is_commit, "git commit", true},
	[INPUT_DEB] = {is_deb, "package ", true},
	[INPUT_LAYER] = {is_layer, "", false},
	[INPUT_BASE] = {provenance_is_base, "base image ", false},
	[INPUT_PACKAGE] = {is_package, "installed package ", false},
	[INPUT_FILE] = {is_any, "file ", true},
};
_Static_assert(ARRAY_LEN(kinds) == INPUT_KINDS, "kinds: one row per kind");

static enum input_kind kind_of(const struct provenance_input *in)
{
	unsigned k = 0;

	while (!kinds[k].is(in))
		k++;
	return (enum input_kind)k;
}

/* "layer top (app, root)" */
static const char *what_of(const struct provenance_input *in, struct arena *a)
{
	enum input_kind kind = kind_of(in);
	const char *text = kind == INPUT_COMMIT
	                           ? kinds[kind].title
	                           : arena_printf(a, "%s%s", kinds[kind].title, in->name);

	for (size_t i = 0; i < in->sources.n; i++)
		text = arena_printf(a, "%s%s%s", text, i == 0 ? " (" : ", ", in->sources.at[i]);
	return in->sources.n > 0 ? arena_printf(a, "%s)", text) : text;
}

/* What an input is, for a person: of packages the URI, which has the version. */
static const char *value_of(const struct provenance_input *in, struct arena *a)
{
	if (in == NULL)
		return NULL;
	if (in->algorithm == NULL)
		return in->uri != NULL ? in->uri : in->name;
	if (is_commit(in))
		return arena_printf(a, "%s%s", in->digest,
		                    in->modified ? ", with changes that are not in it" : "");
	return arena_printf(a, "%s:%s", in->algorithm, in->digest);
}

/* ---- inputs ---- */

/* Where the commit comes from, the CI system says; the sources of a layer follow from the spec. */
static bool same_input(const struct provenance_input *x, const struct provenance_input *y)
{
	bool commit = is_commit(x);

	return same_text(x->name, y->name) && (commit || same_text(x->uri, y->uri)) &&
	       same_text(x->algorithm, y->algorithm) && same_text(x->digest, y->digest) &&
	       same_text(x->media_type, y->media_type) && x->modified == y->modified;
}

struct pairing {
	const struct provenance *stated, *here;
	bool *stated_done, *here_done;
	bool whole;
	struct arena *arena;
	struct provenance_findings *out;
};

static bool counts(const struct pairing *p, const struct provenance_input *in)
{
	return p->whole || kinds[kind_of(in)].early;
}

/* An input that is not paired yet and is this one (`exactly`), or has its kind and name. */
static size_t find_input(const struct pairing *p, const struct provenance_input *in, bool exactly)
{
	for (size_t i = 0; i < p->here->inputs.n; i++) {
		const struct provenance_input *other = &p->here->inputs.at[i];

		if (!p->here_done[i] &&
		    (exactly ? same_input(in, other)
		             : kind_of(in) == kind_of(other) && same_text(in->name, other->name)))
			return i;
	}
	return p->here->inputs.n;
}

static void pair_equal(struct pairing *p)
{
	for (size_t i = 0; i < p->stated->inputs.n; i++) {
		size_t k = find_input(p, &p->stated->inputs.at[i], true);

		if (k == p->here->inputs.n)
			continue;
		p->stated_done[i] = p->here_done[k] = true;
	}
}

/* Where no repository is, nothing contradicts the statement: what the layers hold decides. */
static void report_missing(struct pairing *p, const struct provenance_input *in)
{
	if (is_commit(in))
		remark(p->out, "git commit",
		       arena_printf(p->arena,
		                    "not compared: there is no git repository here that could say "
		                    "whether it is at %s",
		                    in->digest));
	else
		differ(p->out, what_of(in, p->arena), value_of(in, p->arena), NULL);
}

static void report_rest(struct pairing *p)
{
	for (size_t i = 0; i < p->stated->inputs.n; i++) {
		const struct provenance_input *in = &p->stated->inputs.at[i];
		size_t k = p->stated_done[i] || !counts(p, in) ? p->here->inputs.n
		                                               : find_input(p, in, false);

		if (p->stated_done[i] || !counts(p, in))
			continue;
		if (k == p->here->inputs.n) {
			report_missing(p, in);
			continue;
		}
		p->here_done[k] = true;
		differ(p->out, what_of(in, p->arena), value_of(in, p->arena),
		       value_of(&p->here->inputs.at[k], p->arena));
	}
	for (size_t k = 0; k < p->here->inputs.n; k++) {
		const struct provenance_input *in = &p->here->inputs.at[k];

		if (p->here_done[k] || !counts(p, in))
			continue;
		if (is_commit(in))
			remark(p->out, "git commit",
			       arena_printf(p->arena,
			                    "not compared: the statement names none; here it is %s",
			                    in->digest));
		else
			differ(p->out, what_of(in, p->arena), NULL, value_of(in, p->arena));
	}
}

static void remark_changes(const struct provenance *stated, struct provenance_findings *out)
{
	for (size_t i = 0; i < stated->inputs.n; i++)
		if (is_commit(&stated->inputs.at[i]) && stated->inputs.at[i].modified)
			remark(out, "git commit",
			       "the image was built with changes that no commit holds");
}

static void compare_inputs(const struct provenance *stated, const struct provenance *here,
                           bool whole, struct arena *a, struct provenance_findings *out)
{
	struct pairing p = {.stated = stated,
	                    .here = here,
	                    .stated_done = arena_calloc(a, stated->inputs.n + 1, sizeof(bool)),
	                    .here_done = arena_calloc(a, here->inputs.n + 1, sizeof(bool)),
	                    .whole = whole,
	                    .arena = a,
	                    .out = out};

	pair_equal(&p);
	report_rest(&p);
	remark_changes(stated, out);
}

/* ---- parameters ---- */

/* Values that options wrote over the spec are in no statement. */
static void compare_overrides(const struct provenance *stated, const struct provenance *here,
                              struct arena *a, struct provenance_findings *out)
{
	for (size_t i = 0; i < stated->overrides.n; i++) {
		const char *key = stated->overrides.at[i];
		const char *what = arena_printf(a, "option over %s", key);

		if (!strlist_has(&here->overrides, key))
			differ(out, what, "given; the statement does not hold its value", NULL);
		else
			remark(out, what,
			       "the statement does not hold its value: the one given now was "
			       "taken");
	}
	for (size_t i = 0; i < here->overrides.n; i++)
		if (!strlist_has(&stated->overrides, here->overrides.at[i]))
			differ(out, arena_printf(a, "option over %s", here->overrides.at[i]), NULL,
			       "given");
}

static void compare_environment(const struct provenance *stated, const struct provenance *here,
                                struct arena *a, struct provenance_findings *out)
{
	for (size_t i = 0; i < stated->environment.n; i++) {
		const char *name = stated->environment.at[i];

		if (strlist_has(&here->environment, name))
			remark(out, arena_printf(a, "environment variable %s", name),
			       "the statement does not hold its value: the one it has now was "
			       "taken");
		else
			differ(out, arena_printf(a, "environment variable %s", name),
			       "used by the spec", NULL);
	}
	for (size_t i = 0; i < here->environment.n; i++)
		if (!strlist_has(&stated->environment, here->environment.at[i]))
			differ(out,
			       arena_printf(a, "environment variable %s", here->environment.at[i]),
			       NULL, "used by the spec");
}

static void compare_git(const struct provenance *stated, const struct provenance *here,
                        struct arena *a, struct provenance_findings *out)
{
	for (size_t i = 0; i < stated->git.n; i++)
		compare_text(out, arena_printf(a, "${%s}", stated->git.at[i].key),
		             stated->git.at[i].value,
		             strmap_get(&here->git, stated->git.at[i].key));
	for (size_t i = 0; i < here->git.n; i++)
		if (strmap_get(&stated->git, here->git.at[i].key) == NULL)
			differ(out, arena_printf(a, "${%s}", here->git.at[i].key), NULL,
			       here->git.at[i].value);
}

static const char *digest_in(const struct digest *d, struct arena *a)
{
	char text[DIGEST_TEXT_MAX];

	return arena_strdup(a, digest_text(d, text));
}

static void compare_version(const struct provenance *stated, const struct provenance *here,
                            struct arena *a, struct provenance_findings *out)
{
	if (!same_text(stated->version, here->version))
		remark(out, "slipway",
		       arena_printf(a, "the image was built by version %.60s, this is %s",
		                    stated->version != NULL ? stated->version : "(not said)",
		                    here->version));
}

void provenance_compare(const struct provenance *stated, const struct provenance *here, bool whole,
                        struct arena *a, struct provenance_findings *out)
{
	compare_text(out, arena_printf(a, "spec %s", here->spec_path), digest_in(&stated->spec, a),
	             digest_in(&here->spec, a));
	compare_text(out, "image of the spec", stated->image, here->image);
	compare_text(out, "format of layers", stated->format, here->format);
	if (stated->epoch != here->epoch)
		differ(out, "SOURCE_DATE_EPOCH", arena_printf(a, "%lld", (long long)stated->epoch),
		       arena_printf(a, "%lld", (long long)here->epoch));
	compare_overrides(stated, here, a, out);
	compare_environment(stated, here, a, out);
	compare_git(stated, here, a, out);
	compare_version(stated, here, a, out);
	compare_inputs(stated, here, whole, a, out);
}
