/*
 * slipway sign: a key vouches for an image, where the image is.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/signing_option.h"
#include "builder/image/attest_sbom.h"
#include "builder/image/image.h"
#include "builder/image/sign.h"

struct sign_options {
	struct signing_options signing;
	bool provenance, sbom;
	struct remote_options remote;
};

static const struct option options[] = {
	SIGNING_OPTIONS(struct sign_options, signing),
	FLAG_OPTION(struct sign_options, provenance, "provenance", 0,
                    "Sign the attached statements of how it was built, too"),
	FLAG_OPTION(struct sign_options, sbom, "sbom", 0,
                    "Sign the attached bills of materials, too"),
	REMOTE_OPTIONS(struct sign_options, remote),
};

/* Where an image is that can be signed; the layout is open for writing then. */
struct sign_place {
	struct image image;
	struct attach_place attach;
};

static void sign_place_done(struct sign_place *p)
{
	layout_close(p->attach.layout);
	image_done(&p->image);
}

static void print_result(struct cli *cli, const struct trust_key *key,
                         const struct descriptor *root, const struct sign_result *result)
{
	char digest[DIGEST_TEXT_MAX];

	digest_text(&root->digest, digest);
	if (!cli_json(cli)) {
		fprintf(cli->out, "%zu signature%s made, %zu already there, by key SHA256:%s\n%s\n",
		        result->n_signed, result->n_signed == 1 ? "" : "s", result->n_there,
		        trust_key_fingerprint(key), digest);
		return;
	}
	AUTO(json) cJSON *doc = cJSON_CreateObject();

	json_add_string(doc, "digest", digest);
	json_add_string(doc, "key", trust_key_fingerprint(key));
	json_add_int(doc, "signed", (int64_t)result->n_signed);
	json_add_int(doc, "already_there", (int64_t)result->n_there);
	cli_print_json(cli, doc);
}

/* What is signed beside the image: what anybody may have attached is vouched for from then on. */
struct sign_attached {
	bool wanted;
	int (*sign)(const struct attest_opts *opts, struct arena *a, struct attest_result *ret,
	            struct err *err);
	const char *what, *key; /* its name for people, and in the spec */
};

static int sign_attached(struct cli *cli, const struct sign_place *place, struct trust_key *key,
                         const struct descriptor *root, const struct sign_attached *kind,
                         struct err *err)
{
	const struct attest_opts opts = {place->image.store, root, &place->attach,
	                                 place->image.store, key};
	struct attest_result result;

	if (kind->sign(&opts, &cli->arena, &result, err) != 0)
		return -1;
	if (result.n_without > 0) {
		err_set(err, ERR_NOT_FOUND, "%zu of its images have no %s", result.n_without,
		        kind->what);
		return err_hint(err,
		                "build with image.%s; `slipway inspect --tree` shows what is "
		                "attached",
		                kind->key);
	}
	progress_note(cli->progress, "%s: %zu signed, %zu already there", kind->what,
	              result.n_signed, result.n_there);
	return 0;
}

static int sign_all_attached(struct cli *cli, const struct sign_options *o,
                             const struct sign_place *place, struct trust_key *key,
                             const struct descriptor *root, struct err *err)
{
	const struct sign_attached kinds[] = {
		{o->provenance, image_attest, "provenance", "provenance"},
		{o->sbom, image_attest_sboms, "bill of materials", "sbom"}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].wanted && sign_attached(cli, place, key, root, &kinds[i], err) != 0)
			return -1;
	return 0;
}

static int sign(struct cli *cli, const struct sign_options *o, const struct sign_place *place,
                struct trust_key *key, struct err *err)
{
	const struct ref *ref = &place->image.ref;
	struct descriptor root;
	struct sign_result result = {0};
	struct image_signing signing = {.key = key};
	struct sign_opts opts = {.place = &place->attach,
	                         .store = place->image.store,
	                         .root = &root,
	                         .key = key,
	                         .reference = ref->kind == REF_REGISTRY
	                                              ? arena_printf(&cli->arena, "%s/%s",
	                                                             ref->host, ref->repository)
	                                              : ""};

	if (signing_parse(&o->signing, &cli->arena, &signing, err) != 0 ||
	    image_root(&place->image, &cli->arena, &root, err) != 0 ||
	    sign_all_attached(cli, o, place, key, &root, err) != 0)
		return -1;
	opts.forms = signing.forms;
	opts.annotations = signing.annotations;
	if (image_sign(&opts, &cli->arena, &result, err) != 0)
		return -1;
	print_result(cli, key, &root, &result);
	return 0;
}

static int cmd_sign_run(struct cli *cli, struct err *err)
{
	const struct sign_options *o = cli->options;
	AUTO(key_variables) struct key_variables variables = {0};
	AUTO(remote) struct remote remote = {0};
	AUTO(sign_place) struct sign_place place = {0};
	AUTO_TRUST_KEY struct trust_key *key = NULL;

	key_variables_take(&variables);
	if (o->signing.key == NULL) {
		err_set(err, ERR_USAGE, "--key says who signs");
		return err_hint(err, "openssl genpkey -algorithm EC -pkeyopt "
		                     "ec_paramgen_curve:P-256 -out key.pem makes one");
	}
	if (remote_from_options(cli, &o->remote, 0, cli->args.at[0], &remote, err) != 0 ||
	    key_open(&variables, &remote, o->signing.key, true, &key, err) != 0)
		return -1;
	if (image_open_argument(&remote, cli->args.at[0], &cli->arena, &place.image, err) != 0 ||
	    image_open_writing(&place.image, &place.attach, err) != 0 ||
	    sign(cli, o, &place, key, err) != 0)
		return err_wrap(err, "sign '%s'", cli->args.at[0]);
	return 0;
}

const struct command cmd_sign = {
	.name = "sign",
	.summary = "Sign an image in a registry or a layout with a key",
	.synopsis = "REF",
	.details =
		"Signs the index and each platform's manifest by digest, and stores the "
		"signatures beside the\n"
		"image, where `slipway verify --key` and cosign find them. What the same key has "
		"signed with the\n"
		"same annotations is not signed again. The password of an encrypted key is taken "
		"from\n"
		"COSIGN_PASSWORD, or asked for. No certificate, no transparency log: "
		"docs/TRUST.md.\n",
	.examples = "slipway sign --key key.pem registry.example.com/team/app:v1\tSign with a key "
		    "of openssl's\n"
		    "slipway sign --key awskms:///alias/release build/image\tSign before it is "
		    "pushed, in AWS KMS\n"
		    "slipway sign --key cosign.key --format bundle --format tag HOST/NAME:TAG\tFor "
		    "old readers, too\n",
	.options = OPTION_TABLE(struct sign_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_sign_run,
};
