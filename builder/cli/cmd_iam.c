/*
 * slipway iam: the least IAM policy for the spec's repository.
 */
#include <string.h>

#include "builder/aws/iam.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/spec_option.h"
#include "builder/spec/spec_iam.h"
#include "builder/trust/key.h"

struct iam_options {
	struct spec_options spec;
	const char *ecr_region;
	struct strlist key;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct iam_options, spec, "The spec that names the repository",
                     "Override one value of the spec"),
	ECR_REGION_OPTION(struct iam_options, ecr_region),
	LIST_OPTION(struct iam_options, key, "key", 'k', "awskms:///KEY",
                    "sign, verify: the key in KMS, instead of the spec's; verify takes several"),
};

/* A key that is a file needs no policy. */
static int add_key(struct cli *cli, const char *key, struct iam_request *r, struct err *err)
{
	struct kms_ref *keys = arena_calloc(&cli->arena, r->n_keys + 1, sizeof(*keys));

	if (!trust_key_is_kms(key))
		return 0;
	for (size_t i = 0; i < r->n_keys; i++)
		keys[i] = r->keys[i];
	if (kms_ref_parse(key, &cli->arena, &keys[r->n_keys], err) != 0)
		return err_wrap(err, "key '%s'", key);
	r->keys = keys;
	r->n_keys++;
	return 0;
}

static int set_keys(struct cli *cli, const struct strlist *keys, struct iam_request *r,
                    struct err *err)
{
	if (keys->n == 0)
		return 0;
	if (keys->n > 1 && r->purpose != IAM_VERIFY)
		return err_set(err, ERR_USAGE, "one key signs; only verify takes several");
	r->n_keys = 0;
	for (size_t i = 0; i < keys->n; i++)
		if (add_key(cli, keys->at[i], r, err) != 0)
			return -1;
	return 0;
}

static int from_spec(struct cli *cli, const struct spec_options *o, struct iam_request *r,
                     struct ref *to, struct err *err)
{
	struct spec *spec;

	if (spec_from_options(cli, o, &spec, err) != 0 || spec_need_image(spec, err) != 0)
		return -1;
	if (!spec->image_known) {
		err_set(err, ERR_USAGE, "%s has several images, and no job names one", spec->file);
		return err_hint(err, "name the repository: slipway iam push HOST/NAME");
	}
	if (spec->image.repository == NULL) {
		err_set(err, ERR_SPEC, "%s has no image.repository", spec->file);
		return err_hint(err, "add it, or name the repository: slipway iam push HOST/NAME");
	}
	if (ref_parse(spec->image.repository, &cli->arena, to, err) != 0)
		return err_wrap(err, "image.repository");
	r->settings = &spec->image.ecr;
	r->bases = spec_iam_bases(&spec->image, to, &cli->arena);
	if (r->purpose == IAM_VERIFY)
		spec_iam_trust(spec, &cli->arena, r);
	return r->purpose == IAM_SIGN && spec->image.sign.key != NULL
	               ? add_key(cli, spec->image.sign.key, r, err)
	               : 0;
}

static int find_host(struct cli *cli, const char *region, const struct ref *to,
                     struct iam_request *r, struct err *err)
{

	if (region != NULL && !aws_region_valid(region))
		return err_set(err, ERR_USAGE, "--ecr-region: '%s' is not an AWS region", region);
	if (to->kind == REF_REGISTRY && region != NULL) {
		r->host.region = region;
	} else if (to->kind != REF_REGISTRY || !ecr_host_parse(to->host, &cli->arena, &r->host)) {
		err_set(err, ERR_USAGE, "'%s' is not a registry of Amazon ECR",
		        to->kind == REF_REGISTRY ? to->host : "a local image");
		return err_hint(err, "name one like 123456789012.dkr.ecr.us-west-2.amazonaws.com/"
		                     "NAME, or pass --ecr-region");
	}
	r->repository = to->repository;
	return 0;
}

static int cmd_iam_run(struct cli *cli, struct err *err)
{
	const struct iam_options *o = cli->options;
	struct iam_request r = {0};
	struct ref to = {0};

	if (!iam_purpose_parse(cli->args.at[0], &r.purpose)) {
		err_set(err, ERR_USAGE, "no policy is called '%s'", cli->args.at[0]);
		return err_hint(err, "choose push, pull, create, scan, sign or verify");
	}
	if ((cli->args.n == 2 ? ref_parse(cli->args.at[1], &cli->arena, &to, err)
	                      : from_spec(cli, &o->spec, &r, &to, err)) != 0 ||
	    find_host(cli, o->ecr_region, &to, &r, err) != 0 ||
	    set_keys(cli, &o->key, &r, err) != 0)
		return -1;
	if (r.purpose == IAM_SCAN && r.host.is_public)
		return err_set(err, ERR_USAGE, "ECR Public does not scan images");
	AUTO(json) cJSON *policy = iam_policy(&r);

	cli_print_json(cli, policy);
	return 0;
}

const struct command cmd_iam = {
	.name = "iam",
	.summary = "Print the least IAM policy for a repository in Amazon ECR",
	.synopsis = "push|pull|create|scan|sign|verify [HOST/NAME]",
	.details =
		"Without HOST/NAME the policy is for the spec's repository; base images in "
		"the same registry\n"
		"may then be pulled too. `create` allows what `push` does, and to create the "
		"repository\n"
		"as image.ecr says. `sign` allows to attach signatures, and to use the key if it "
		"is in KMS;\n"
		"`verify` what a deploy asks that holds images against `trust`.\n",
	.examples = "slipway iam push\tThe policy of a CI job's role\n"
		    "slipway iam create > policy.json\tThe policy of a first push\n",
	.options = OPTION_TABLE(struct iam_options, options),
	.min_args = 1,
	.max_args = 2,
	.arg_choices = iam_purposes,
	.run = cmd_iam_run,
};
