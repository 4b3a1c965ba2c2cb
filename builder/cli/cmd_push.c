/*
 * slipway push: an image in a layout goes to a registry.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/result_file.h"
#include "builder/cli/spec_option.h"
#include "builder/image/push.h"

struct push_options {
	struct spec_options spec;
	struct strlist tag;
	bool by_digest;
	int64_t jobs;
	const char *digest_file;
	bool create_repository;
	struct remote_options remote;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct push_options, spec, "The spec that names repository and tags",
                     "Override one value of the spec"),
	LIST_OPTION(struct push_options, tag, "tag", 't', "TAG",
                    "Push under this tag instead of the reference's or the spec's"),
	FLAG_OPTION(struct push_options, by_digest, "by-digest", 0,
                    "Set no tag: only the digest names the image"),
	NUMBER_OPTION(struct push_options, jobs, "jobs", 'j', "N", "Blobs at a time (default 4)"),
	TEXT_OPTION(struct push_options, digest_file, "digest-file", 0, "FILE",
                    "Write the digest to this file", .complete = COMPLETE_FILE),
	CREATE_REPOSITORY_OPTION(struct push_options, create_repository),
	REMOTE_OPTIONS(struct push_options, remote),
};

/* Arguments: nothing = the spec's; DIR; DIR REF; REF alone pushes build/image there. */
static int split_arguments(const struct cli *cli, const char **ret_source, const char **ret_ref)
{
	const struct strlist *args = &cli->args;
	bool first_is_dir =
		args->n > 0 && (fs_exists(args->at[0]) || text_has_prefix(args->at[0], "oci:"));

	*ret_source = first_is_dir ? args->at[0] : "build/image";
	*ret_ref = args->n == 2 ? args->at[1] : args->n == 1 && !first_is_dir ? args->at[0] : NULL;
	return args->n == 2 && !first_is_dir ? -1 : 0;
}

static int target_from_ref(struct cli *cli, const char *text, struct image_target *t,
                           struct err *err)
{
	if (ref_parse(text, &cli->arena, &t->to, err) != 0)
		return -1;
	if (t->to.kind != REF_REGISTRY)
		return err_set(err, ERR_USAGE, "'%s' is not a registry reference", text);
	if (t->to.tag != NULL) {
		t->tags.at = arena_calloc(&cli->arena, 1, sizeof(*t->tags.at));
		t->tags.at[0] = t->to.tag;
		t->tags.n = 1;
	}
	return 0;
}

static int target_from_spec(struct cli *cli, const struct spec_options *o, struct image_target *t,
                            struct err *err)
{
	struct spec *spec;

	if (spec_from_options(cli, o, &spec, err) != 0)
		return -1;
	return image_target_of_spec(spec, &cli->arena, t, err);
}

static int find_target(struct cli *cli, const struct push_options *o, const char *ref,
                       struct image_target *t, struct err *err)
{
	if ((ref != NULL ? target_from_ref(cli, ref, t, err)
	                 : target_from_spec(cli, &o->spec, t, err)) != 0)
		return -1;
	if (o->tag.n > 0 && o->by_digest)
		return err_set(err, ERR_USAGE,
		               "--tag sets a tag and --by-digest sets none: choose one");
	if (o->tag.n > 0)
		t->tags = o->tag;
	for (size_t i = 0; i < t->tags.n; i++)
		if (!ref_tag_valid(t->tags.at[i]))
			return err_set(err, ERR_USAGE, "'%s' is not a tag", t->tags.at[i]);
	return 0;
}

/*
 * What to push: the reference's own tag or digest; without one, the image that the target's first
 * tag names in the layout; without that, the layout's only image.
 */
static int find_root(struct cli *cli, const struct image *source, const struct image_target *t,
                     struct descriptor *ret_root, struct err *err)
{
	struct err first = {0};

	if (source->ref.tag == NULL && !source->ref.has_digest && t->tags.n > 0 &&
	    store_resolve(source->store, t->tags.at[0], &cli->arena, ret_root, &first) == 0)
		return 0;
	return image_root(source, &cli->arena, ret_root, err);
}

static int print_result(struct cli *cli, const struct push_options *o,
                        const struct descriptor *root, const struct image_target *t,
                        const struct push_result *pushed, struct err *err)
{
	char digest[DIGEST_TEXT_MAX], size[TEXT_BYTES_MAX];
	AUTO(json) cJSON *doc = cJSON_CreateObject();

	digest_text(&root->digest, digest);
	const char *line = arena_printf(&cli->arena, "%s\n", digest);

	if (o->digest_file != NULL &&
	    result_file_write(o->digest_file, line, strlen(line), err) != 0)
		return -1;
	if (cli_json(cli)) {
		json_add_string(doc, "digest", digest);
		json_add_string(doc, "repository",
		                arena_printf(&cli->arena, "%s/%s", t->to.host, t->to.repository));
		cJSON *tags = json_add_array(doc, "tags");

		for (size_t i = 0; i < t->tags.n; i++)
			json_push_string(tags, t->tags.at[i]);
		push_result_json(pushed, doc);
		cli_print_json(cli, doc);
		return 0;
	}
	fprintf(cli->out, "%zu blobs uploaded (%s), %zu mounted, %zu already there\n",
	        pushed->n_uploaded, text_bytes(pushed->bytes_uploaded, size), pushed->n_mounted,
	        pushed->n_existed);
	for (size_t i = 0; i < t->tags.n; i++)
		fprintf(cli->out, "%s/%s:%s\n", t->to.host, t->to.repository, t->tags.at[i]);
	fprintf(cli->out, "%s\n", digest);
	return 0;
}

static int push_from(struct cli *cli, const struct push_options *o, const struct remote *remote,
                     const char *source_text, const struct image_target *t, struct err *err)
{
	AUTO(image) struct image source = {0};
	struct descriptor root;
	struct push_result pushed = {0};
	const char *text = text_has_prefix(source_text, "oci:")
	                           ? source_text
	                           : arena_printf(&cli->arena, "oci:%s", source_text);

	if (image_open(remote, text, &cli->arena, &source, err) != 0 ||
	    find_root(cli, &source, t, &root, err) != 0) {
		err_wrap(err, "image '%s'", source_text);
		return err_hint(err, "`slipway build` builds it");
	}
	if (source.layout == NULL)
		return err_set(err, ERR_USAGE, "'%s' is not an OCI layout", source_text);
	/* The tags have already selected what to push. */
	struct image_target to = *t;

	to.create = o->create_repository;
	if (o->by_digest)
		to.tags = (struct strlist){0};
	if (image_push(remote, source.layout, &root, &to, &pushed, err) != 0)
		return -1;
	return print_result(cli, o, &root, &to, &pushed, err);
}

static int cmd_push_run(struct cli *cli, struct err *err)
{
	const struct push_options *o = cli->options;
	AUTO(remote) struct remote remote = {0};
	struct image_target target = {0};
	const char *source, *ref;

	if (split_arguments(cli, &source, &ref) != 0)
		return err_set(err, ERR_NOT_FOUND, "no image at '%s'", cli->args.at[0]);
	if (find_target(cli, o, ref, &target, err) != 0 ||
	    remote_from_options(cli, &o->remote, o->jobs, ref_text(&target.to, &cli->arena),
	                        &remote, err) != 0)
		return -1;
	return push_from(cli, o, &remote, source, &target, err);
}

const struct command cmd_push = {
	.name = "push",
	.summary = "Push a built image to a registry",
	.synopsis = "[DIR] [HOST/NAME[:TAG]]",
	.details = "Without arguments the image in build/image goes to the spec's repository under "
		   "its tags.\n"
		   "Blobs that the registry has are not sent; layers of the base image are mounted "
		   "from its\n"
		   "repository where the registry can. Children go before the index, tags come "
		   "last, so an\n"
		   "interrupted push is never visible, and the next run sends only what is "
		   "missing. Amazon ECR\n"
		   "is used with AWS credentials, found as the AWS CLI finds them; no login is "
		   "needed.\n",
	.examples = "slipway push\tPush build/image as slipway.yaml says\n"
		    "slipway push build/image registry.example.com/team/app:v1\tPush elsewhere\n",
	.options = OPTION_TABLE(struct push_options, options),
	.max_args = 2,
	.run = cmd_push_run,
};
