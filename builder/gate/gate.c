#include "builder/gate/gate.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/gate/gate_internal.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"
#include "builder/trust/settings.h"

void gate_done(struct gate *g)
{
	for (size_t i = 0; i < g->keys.n; i++)
		trust_key_free(g->keys.at[i].key);
	vec_done(&g->keys);
}

int gate_key(struct gate *g, const char *ref, struct trust_key **ret_key, struct err *err)
{
	struct gate_key k = {.ref = ref};

	for (size_t i = 0; i < g->keys.n; i++)
		if (strcmp(g->keys.at[i].ref, ref) == 0) {
			*ret_key = g->keys.at[i].key;
			return 0;
		}
	if (g->outside->open_key(g->outside, trust_spec_ref(ref, g->spec_dir, g->arena), &k.key,
	                         err) != 0) {
		err_hint(err, "The public key of who signs belongs there: a file beside the spec, "
		              "env://VARIABLE or awskms:///alias/NAME.");
		return -1;
	}
	vec_push(&g->keys, k);
	*ret_key = k.key;
	return 0;
}

int gate_vouchers(struct gate_view *v, struct vouchers *ret_by, struct err *err)
{
	const struct strlist *refs = trust_statement_keys(v->rule);
	struct trust_key **keys = arena_calloc(v->gate->arena, refs->n, sizeof(struct trust_key *));

	for (size_t i = 0; i < refs->n; i++)
		if (gate_key(v->gate, refs->at[i], &keys[i], err) != 0)
			return -1;
	*ret_by = (struct vouchers){keys, refs->n, &v->bundles};
	return 0;
}

const char *gate_name(const struct gate_view *v, const struct descriptor *manifest)
{
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	digest_text(&manifest->digest, digest);
	if (manifest->platform.os[0] == '\0')
		return arena_strdup(v->gate->arena, digest);
	return arena_printf(v->gate->arena, "%s %s", platform_text(&manifest->platform, platform),
	                    digest);
}

/* ---- what a node may run ---- */

/* An entry that calls itself an artifact and has an image's configuration is run all the same. */
static int is_run(const struct gate_view *v, const struct descriptor *d, bool *ret_run,
                  struct err *err)
{
	struct manifest m;

	*ret_run = descriptor_is_image(d);
	if (*ret_run || descriptor_is_attestation(d))
		return 0;
	if (artifact_open(v->image->store, d, v->gate->arena, &m, err) != 0)
		return -1;
	*ret_run = media_is_config(m.config.media_type);
	return 0;
}

static int add_platforms(struct gate_view *v, const struct index *index, struct err *err)
{
	v->platforms = arena_calloc(v->gate->arena, index->n_manifests, sizeof(*v->platforms));
	for (size_t i = 0; i < index->n_manifests; i++) {
		const struct descriptor *d = &index->manifests[i];
		bool run;

		if (media_is_index(d->media_type))
			return err_set(err, ERR_UNSUPPORTED,
			               "its index names another index, which nobody can look "
			               "through");
		if (is_run(v, d, &run, err) != 0)
			return -1;
		if (!run)
			continue;
		if (v->n_platforms == GATE_PLATFORMS_MAX)
			return err_set(err, ERR_LIMIT, "its index names more than %d images",
			               GATE_PLATFORMS_MAX);
		v->platforms[v->n_platforms++] = *d;
	}
	return v->n_platforms > 0 ? 0 : err_set(err, ERR_CHECK, "its index names no image");
}

static int find_platforms(struct gate_view *v, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index;

	/* Read even where it is one image: what is not there is not deployed. */
	if (store_read(v->image->store, &v->root, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	if (media_is_index(v->root.media_type))
		return index_parse(text.ptr, text.len, v->root.media_type, v->gate->arena, &index,
		                   err) != 0
		               ? -1
		               : add_platforms(v, &index, err);
	v->platforms = &v->root;
	v->n_platforms = 1;
	return 0;
}

static int open_view(struct gate_view *v, struct image *image, const char *text, struct err *err)
{
	struct ref pinned;

	if (image_open(v->gate->remote, text, v->gate->arena, image, err) != 0 ||
	    image_root(image, v->gate->arena, &v->root, err) != 0)
		return -1;
	pinned = image->ref;
	pinned.has_digest = true;
	pinned.digest = v->root.digest;
	v->image = image;
	v->pinned = ref_text(&pinned, v->gate->arena);
	return find_platforms(v, err);
}

/* ---- the requirements ---- */

static int check_digests(struct gate_view *v, struct err *err)
{
	char text[DIGEST_TEXT_MAX];

	digest_text(&v->root.digest, text);
	if (strlist_has(&v->rule->digests, text))
		return 0;
	err_set(err, ERR_CHECK, "its digest %s is not among those of the rule", text);
	return err_hint(err, "Look at what has changed (`slipway diff`); if it is right, add the "
	                     "digest.");
}

enum { REQUIREMENTS = 5 };

/* In the order in which people read them. */
static void list_requirements(const struct trust_rule *r, struct gate_requirement ret[REQUIREMENTS])
{
	const struct gate_requirement all[REQUIREMENTS] = {
		{"digests", r->digests.n > 0, r->digests_at, check_digests},
		{"keys", r->keys.n > 0, r->keys_at, gate_check_keys},
		{"provenance", r->provenance.set, r->provenance.at, gate_check_provenance},
		{"sbom", r->sbom, r->sbom_at, gate_check_sbom},
		{"vulnerabilities", r->vulnerabilities.set, r->vulnerabilities.at,
	         gate_check_vulnerabilities},
	};

	memcpy(ret, all, sizeof(all));
}

/* ---- the verdict ---- */

static void refuse(struct gate *g, struct gate_verdict *verdict, struct srcpos at,
                   const char *asked, const struct err *why)
{
	verdict->refusals[verdict->n_refusals++] =
		(struct gate_refusal){.at = at,
	                              .asked = asked,
	                              .reason = arena_strdup(g->arena, why->msg),
	                              .next = arena_strdup(g->arena, why->hint)};
}

static int check_rule(struct gate_view *v, struct gate_verdict *verdict, struct err *err)
{
	struct gate_requirement all[REQUIREMENTS];

	list_requirements(v->rule, all);
	for (size_t i = 0; i < REQUIREMENTS; i++) {
		const struct gate_requirement *r = &all[i];
		struct err why = {0};

		if (!r->asked)
			continue;
		if (interrupt_check(err) != 0)
			return -1;
		if (r->check(v, &why) == 0) {
			if (!strlist_has(&verdict->has, r->name))
				verdict->has.at[verdict->has.n++] = r->name;
			continue;
		}
		if (why.code == ERR_INTERRUPTED) {
			*err = why;
			return -1;
		}
		refuse(v->gate, verdict, srcpos_or(r->at, v->rule->at), r->name, &why);
	}
	return 0;
}

/* What the reference names now, to be looked at and written down; NULL if nobody can say. */
static const char *digest_now(const struct gate *g, const char *text)
{
	AUTO(image) struct image image = {0};
	struct descriptor root;
	char digest[DIGEST_TEXT_MAX];
	struct err ignored = {0};

	if (image_open(g->remote, text, g->arena, &image, &ignored) != 0 ||
	    image_root(&image, g->arena, &root, &ignored) != 0)
		return NULL;
	return arena_strdup(g->arena, digest_text(&root.digest, digest));
}

static void no_rule(struct gate *g, const struct ref *ref, struct gate_verdict *verdict)
{
	struct err why = {0};
	const char *now = ref->kind == REF_REGISTRY ? digest_now(g, verdict->image) : NULL;

	err_set(&why, ERR_CHECK, "no rule of `trust` is for it");
	if (now != NULL)
		err_hint(&why,
		         "Add a rule for it: keys where somebody signs it, else what it names now, "
		         "if you trust that: - {images: [%s/%s], digests: [\"%s\"]}",
		         ref->host, ref->repository, now);
	else
		err_hint(&why, "Add a rule for it: keys where somebody signs it, else digests, as "
		               "in {images: [NAME], digests: [\"sha256:...\"]}.");
	refuse(g, verdict, (struct srcpos){0}, "", &why);
}

/* The first rule that is for it stands for all: without the image none can be looked at. */
static int unseen(struct gate *g, struct gate_verdict *verdict, const struct trust_rule *first,
                  const struct err *why, struct err *err)
{
	struct err told = *why;

	if (why->code == ERR_INTERRUPTED) {
		*err = *why;
		return -1;
	}
	err_hint(&told,
	         "Look whether the image is there and this machine may pull it: `slipway "
	         "inspect %s`.",
	         verdict->image);
	refuse(g, verdict, first->at, "", &told);
	return 0;
}

static const struct trust_rule *next_rule(const struct gate *g, const struct trust_rule *after,
                                          const struct ref *ref)
{
	const struct trust_rule *end = g->rules + g->n_rules;

	for (const struct trust_rule *r = after == NULL ? g->rules : after + 1; r < end; r++)
		if (trust_rule_covers(r, ref))
			return r;
	return NULL;
}

static int look(struct gate *g, const struct trust_rule *first, const struct ref *ref,
                struct gate_verdict *verdict, struct err *err)
{
	AUTO(image) struct image image = {0};
	struct gate_view v = {.gate = g};
	struct err why = {0};
	int result = 0;

	if (open_view(&v, &image, verdict->image, &why) != 0)
		return unseen(g, verdict, first, &why, err);
	verdict->pinned = v.pinned;
	v.bundles = (struct bundle_cache){.store = image.store, .arena = g->arena};
	for (v.rule = first; result == 0 && v.rule != NULL; v.rule = next_rule(g, v.rule, ref)) {
		verdict->n_rules++;
		result = check_rule(&v, verdict, err);
	}
	bundle_cache_done(&v.bundles);
	return result;
}

int gate_look(struct gate *g, const char *text, struct gate_verdict *ret_verdict, struct err *err)
{
	const size_t most = g->n_rules * REQUIREMENTS + 1;
	struct gate_verdict verdict = {.image = arena_strdup(g->arena, text)};
	const struct trust_rule *first;
	struct ref ref;

	verdict.refusals = arena_calloc(g->arena, most, sizeof(*verdict.refusals));
	verdict.has.at = arena_calloc(g->arena, REQUIREMENTS, sizeof(*verdict.has.at));
	if (ref_parse(text, g->arena, &ref, err) != 0)
		return -1;
	first = ref.kind == REF_REGISTRY ? next_rule(g, NULL, &ref) : NULL;
	if (first == NULL)
		no_rule(g, &ref, &verdict);
	else if (look(g, first, &ref, &verdict, err) != 0)
		return -1;
	*ret_verdict = verdict;
	return 0;
}
