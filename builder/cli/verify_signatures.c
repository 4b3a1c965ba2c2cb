#include "builder/cli/verify_signatures.h"

#include <string.h>

#include "builder/cli/verify_sbom.h"
#include "builder/oci/mediatype.h"
#include "builder/trust/signatures.h"

/* What is to be vouched for: the image, and what it names. */
struct vouch {
	struct cli *cli;
	const struct image *image;
	struct descriptor root;
	struct descriptor *platforms; /* manifests that an index names */
	size_t n_platforms;
	cJSON *doc;
};

static int read_platforms(struct vouch *v, const char *platform, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct arena *a = &v->cli->arena;
	struct platform want;
	struct index index;

	if (platform != NULL && platform_parse(platform, &want, err) != 0)
		return err_wrap(err, "--platform");
	if (!media_is_index(v->root.media_type))
		return 0;
	if (store_read(v->image->store, &v->root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    index_parse(text.ptr, text.len, v->root.media_type, a, &index, err) != 0)
		return -1;
	const struct descriptor *only = platform != NULL ? index_choose(&index, &want) : NULL;

	if (platform != NULL && only == NULL)
		return err_set(err, ERR_NOT_FOUND, "the image has no platform %s", platform);
	v->platforms = arena_calloc(a, index.n_manifests, sizeof(*v->platforms));
	for (size_t i = 0; i < index.n_manifests; i++)
		if (only == NULL ? descriptor_is_image(&index.manifests[i])
		                 : only == &index.manifests[i])
			v->platforms[v->n_platforms++] = index.manifests[i];
	return 0;
}

/* ---- what was found ---- */

static void add_good(cJSON *array, const struct signature *s)
{
	cJSON *obj = cJSON_CreateObject(), *map;
	char digest[DIGEST_TEXT_MAX];

	json_add_string(obj, "form", signature_form_name(s->form));
	json_add_string(obj, "manifest", digest_text(&s->manifest, digest));
	if (s->reference[0] != '\0')
		json_add_string(obj, "signed_as", s->reference);
	map = json_add_object(obj, "annotations");
	for (size_t i = 0; i < s->annotations.n; i++)
		json_add_string(map, s->annotations.at[i].key, s->annotations.at[i].value);
	json_push(array, obj);
}

static void say_why_not(struct cli *cli, const struct digest *subject, const struct signature *s)
{
	char carrier[DIGEST_TEXT_MAX], about[DIGEST_TEXT_MAX];

	diags_add(&cli->diags, DIAG_ERROR, (struct srcpos){0}, "%s %s on %s: %s",
	          s->form == SIGNATURE_BUNDLE ? "bundle" : "signature of tag",
	          digest_text(&s->manifest, carrier), digest_text(subject, about), s->why_not);
}

static int not_signed(struct cli *cli, const struct trust_key *key, const struct digest *subject,
                      const struct signatures *all, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < all->n; i++)
		if (!all->at[i].good)
			say_why_not(cli, subject, &all->at[i]);
	digest_text(subject, digest);
	if (all->n == 0) {
		err_set(err, ERR_CHECK, "%s is not signed", digest);
		return err_hint(err, "slipway sign --key KEY signs it; signatures lie in the "
		                     "image's own repository");
	}
	return err_set(err, ERR_CHECK,
	               "%s is not signed by key SHA256:%s as required: none of its %zu "
	               "signature%s counts",
	               digest, trust_key_fingerprint(key), all->n, all->n == 1 ? "" : "s");
}

static int check_one(struct vouch *v, const struct signature_wish *wish,
                     const struct digest *subject, cJSON *array, struct err *err)
{
	struct signatures all;

	if (signatures_verify(v->image->store, subject, wish, &v->cli->arena, &all, err) != 0)
		return -1;
	if (all.n_good == 0)
		return not_signed(v->cli, wish->key, subject, &all, err);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i].good)
			add_good(array, &all.at[i]);
	return 0;
}

static int check_key(struct vouch *v, const struct signature_options *o, struct trust_key *key,
                     const struct strmap *annotations, cJSON *obj, struct err *err)
{
	const struct sbom_subjects about = {v->image, v->n_platforms > 0 ? v->platforms : &v->root,
	                                    v->n_platforms > 0 ? v->n_platforms : 1};
	const struct signature_wish wish = {
		.key = key, .annotations = *annotations, .forms = SIGNATURE_ANY};

	json_add_string(obj, "key", trust_key_fingerprint(key));
	json_add_string(obj, "kind", trust_key_kind(key));
	if (check_one(v, &wish, &v->root.digest, json_add_array(obj, "signatures"), err) != 0)
		return -1;
	cJSON *platforms = o->recursive ? json_add_array(obj, "platform_signatures") : NULL;

	for (size_t i = 0; o->recursive && i < v->n_platforms; i++) {
		cJSON *signatures = cJSON_CreateArray();

		json_push(platforms, signatures);
		if (check_one(v, &wish, &v->platforms[i].digest, signatures, err) != 0)
			return -1;
	}
	return o->sbom ? verify_sboms(v->cli, &about, key, json_add_array(obj, "sboms"), err) : 0;
}

/* ---- printing ---- */

static void print_signature(struct cli *cli, const cJSON *s)
{
	const cJSON *annotation = NULL;
	const char *as = json_string(s, "signed_as");

	fprintf(cli->out, "  %s %s", json_string(s, "form"), json_string(s, "manifest"));
	if (as != NULL)
		fprintf(cli->out, ", as %s", as);
	cJSON_ArrayForEach (annotation, json_get(s, "annotations")) {
		fprintf(cli->out, ", %s=%s", annotation->string, annotation->valuestring);
	}
	fprintf(cli->out, "\n");
}

static void print_text(const struct vouch *v)
{
	FILE *out = v->cli->out;
	const cJSON *key = NULL, *s = NULL;
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	cJSON_ArrayForEach (key, json_get(v->doc, "keys")) {
		fprintf(out, "signed by %s key SHA256:%s\n", json_string(key, "kind"),
		        json_string(key, "key"));
		cJSON_ArrayForEach (s, json_get(key, "signatures")) {
			print_signature(v->cli, s);
		}
		verify_sboms_print(v->cli, json_get(key, "sboms"));
	}
	for (size_t i = 0; i < v->n_platforms; i++)
		fprintf(out, "covers %s %s\n", platform_text(&v->platforms[i].platform, platform),
		        digest_text(&v->platforms[i].digest, digest));
	fprintf(out,
	        "vouched for: the bytes of this digest; not its tag, its repository or the "
	        "time of signing\n%s\n",
	        digest_text(&v->root.digest, digest));
}

static void add_platforms(const struct vouch *v)
{
	cJSON *array = json_add_array(v->doc, "covers");
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	for (size_t i = 0; i < v->n_platforms; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "platform",
		                platform_text(&v->platforms[i].platform, platform));
		json_add_string(obj, "digest", digest_text(&v->platforms[i].digest, digest));
		json_push(array, obj);
	}
}

int verify_signatures(struct cli *cli, const struct signature_options *o, struct trust_key **keys,
                      const struct image *image, struct err *err)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	struct vouch v = {.cli = cli, .image = image, .doc = doc};
	struct strmap annotations = {0};
	char digest[DIGEST_TEXT_MAX];

	if (key_annotations(&o->annotation, &cli->arena, &annotations, err) != 0 ||
	    image_root(image, &cli->arena, &v.root, err) != 0 ||
	    read_platforms(&v, o->platform, err) != 0)
		return -1;
	json_add_string(doc, "digest", digest_text(&v.root.digest, digest));
	cJSON *array = json_add_array(doc, "keys");

	for (size_t i = 0; i < o->key.n; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_push(array, obj);
		if (check_key(&v, o, keys[i], &annotations, obj, err) != 0)
			return -1;
	}
	add_platforms(&v);
	if (cli_json(cli))
		cli_print_json(cli, doc);
	else
		print_text(&v);
	return 0;
}
