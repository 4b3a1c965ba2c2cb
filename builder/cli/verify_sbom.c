#include "builder/cli/verify_sbom.h"

#include "builder/image/image_sbom.h"

static void add(const struct descriptor *manifest, enum sbom_form form, const struct vouched *found,
                cJSON *array)
{
	cJSON *obj = cJSON_CreateObject();
	char text[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	json_add_string(obj, "form", sbom_forms[form].name);
	json_add_string(obj, "image", digest_text(&manifest->digest, text));
	json_add_string(obj, "platform", platform_text(&manifest->platform, platform));
	json_add_string(obj, "manifest", digest_text(&found->statement->manifest, text));
	json_push(array, obj);
}

/* Those of one form are enough to tell why none of a bundle counts. */
static void say_why_not(struct cli *cli, const struct signatures *all)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < all->n; i++)
		if (!all->at[i].good)
			diags_add(&cli->diags, DIAG_ERROR, (struct srcpos){0}, "bundle %s: %s",
			          digest_text(&all->at[i].manifest, digest), all->at[i].why_not);
}

static int check_manifest(struct cli *cli, const struct image *image,
                          const struct descriptor *manifest, const struct vouchers *by,
                          cJSON *array, struct err *err)
{
	struct vouched found = {0};
	char digest[DIGEST_TEXT_MAX];
	bool any = false;

	for (enum sbom_form form = SBOM_SPDX; form < SBOM_FORMS; form++) {
		AUTO(strbuf) struct strbuf document = STRBUF_INIT(SBOM_BYTES_MAX);

		if (image_sbom_signed(image->store, manifest, form, by, &cli->arena, &document,
		                      &found, err) != 0)
			return -1;
		if (found.statement == NULL)
			continue;
		add(manifest, form, &found, array);
		any = true;
	}
	if (any)
		return 0;
	say_why_not(cli, &found.all);
	err_set(err, ERR_CHECK, "key SHA256:%s has signed no bill of materials of %s",
	        trust_key_fingerprint(by->keys[0]), digest_text(&manifest->digest, digest));
	return err_hint(err, "`slipway sign --sbom --key KEY` signs those that are attached");
}

int verify_sboms(struct cli *cli, const struct sbom_subjects *about, struct trust_key *key,
                 cJSON *array, struct err *err)
{
	struct bundle_cache cache = {.store = about->image->store, .arena = &cli->arena};
	const struct vouchers by = {&key, 1, &cache};
	int result = 0;

	for (size_t i = 0; result == 0 && i < about->n; i++)
		result = check_manifest(cli, about->image, &about->manifests[i], &by, array, err);
	bundle_cache_done(&cache);
	return result;
}

void verify_sboms_print(struct cli *cli, const cJSON *array)
{
	const cJSON *s = NULL;

	cJSON_ArrayForEach (s, array) {
		fprintf(cli->out, "  %s of %s, bundle %s\n", json_string(s, "form"),
		        json_string(s, "image"), json_string(s, "manifest"));
	}
}
