/*
 * slipway index create: the parts that several machines built become one multi-arch image.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/result_file.h"
#include "builder/cli/signing_option.h"
#include "builder/image/push.h"
#include "builder/oci/config.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/part.h"

enum { PARTS_MAX = 64 };

static const struct command_action actions[] = {
	{"create", "HOST/NAME[:TAG] RESULT...", 2, PARTS_MAX + 1},
	{0},
};

struct index_options {
	struct strlist tag;
	const char *digest_file;
	struct signing_options signing;
	struct remote_options remote;
};

static const struct option options[] = {
	LIST_OPTION(struct index_options, tag, "tag", 't', "TAG",
                    "Set this tag in addition to the reference's own"),
	TEXT_OPTION(struct index_options, digest_file, "digest-file", 0, "FILE",
                    "Write the index digest to this file", .complete = COMPLETE_FILE),
	SIGNING_OPTIONS(struct index_options, signing),
	REMOTE_OPTIONS(struct index_options, remote),
};

/* One index on its way. */
struct index_run {
	struct cli *cli;
	const struct index_options *options;
	struct key_variables variables;
	struct push_signing signing;
	struct remote remote;
	struct image_target target;
	struct registry *registry;
	struct index index;
	struct descriptor root;
	struct strbuf text; /* the index as it is stored */
};

static int find_target(struct index_run *run, struct err *err)
{
	struct cli *cli = run->cli;
	struct image_target *t = &run->target;
	const struct strlist *more = &run->options->tag;

	if (ref_parse(cli->args.at[1], &cli->arena, &t->to, err) != 0)
		return -1;
	if (t->to.kind != REF_REGISTRY || t->to.has_digest)
		return err_set(err, ERR_USAGE, "'%s' is not HOST/NAME[:TAG]", cli->args.at[1]);
	t->tags.at = arena_calloc(&cli->arena, more->n + 1, sizeof(*t->tags.at));
	if (t->to.tag != NULL)
		t->tags.at[t->tags.n++] = t->to.tag;
	for (size_t i = 0; i < more->n; i++) {
		if (!ref_tag_valid(more->at[i]))
			return err_set(err, ERR_USAGE, "'%s' is not a tag", more->at[i]);
		t->tags.at[t->tags.n++] = more->at[i];
	}
	return 0;
}

/* ---- the parts ---- */

static int read_part(struct index_run *run, const char *file, struct image_part *part,
                     struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PART_BYTES_MAX);
	const struct ref *to = &run->target.to;
	struct ref from;

	if (fs_read_file(file, PART_BYTES_MAX, &text, err) != 0)
		return err_hint(err, "name what `slipway build --push-by-digest --result-file` "
		                     "wrote on each machine");
	if (image_part_parse(file, strbuf_str(&text), text.len, &run->cli->arena, part, err) != 0 ||
	    ref_parse(part->repository, &run->cli->arena, &from, err) != 0)
		return -1;
	if (strcmp(from.host, to->host) == 0 && strcmp(from.repository, to->repository) == 0)
		return 0;
	err_set(err, ERR_CONFLICT, "'%s' was pushed to %s, not to %s/%s", file, part->repository,
	        to->host, to->repository);
	return err_hint(err, "an index and its manifests must be in one repository");
}

static int join_parts(struct index_run *run, struct err *err)
{
	size_t n = run->cli->args.n - 2;
	struct image_part *parts = arena_calloc(&run->cli->arena, n, sizeof(*parts));

	for (size_t i = 0; i < n; i++)
		if (read_part(run, run->cli->args.at[i + 2], &parts[i], err) != 0)
			return -1;
	if (image_parts_join(parts, n, &run->cli->arena, &run->index, err) != 0)
		return -1;
	index_print(&run->index, &run->text);
	if (run->text.overflow)
		return err_set(err, ERR_LIMIT, "the index is larger than %d bytes",
		               MANIFEST_BYTES_MAX);
	run->root = (struct descriptor){.media_type = MEDIA_INDEX,
	                                .digest = digest_of(run->text.ptr, run->text.len),
	                                .size = (int64_t)run->text.len};
	return 0;
}

/* ---- what the registry holds ---- */

/*
 * The manifest is there, has these bytes, and its configuration is of the platform it stands for.
 */
static int check_child(struct index_run *run, struct store *store, const struct descriptor *child,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char want[PLATFORM_TEXT_MAX], have[PLATFORM_TEXT_MAX];
	struct arena *a = &run->cli->arena;
	struct image_config config;
	struct manifest m;

	if (store_read(store, child, MANIFEST_BYTES_MAX, &text, err) != 0) {
		if (err->code == ERR_NOT_FOUND)
			err_hint(err, "push it with `slipway build --push-by-digest`; an "
			              "untagged manifest may have expired since");
		return -1;
	}
	if (manifest_parse(text.ptr, text.len, child->media_type, a, &m, err) != 0)
		return -1;
	/* An artifact (a SOCI index) stands for no platform by itself. */
	if (!descriptor_is_image(child))
		return 0;
	if (store_read(store, &m.config, CONFIG_BYTES_MAX, &text, err) != 0 ||
	    config_parse(text.ptr, text.len, a, &config, err) != 0)
		return -1;
	if (platform_equal(&config.platform, &child->platform))
		return 0;
	return err_set(err, ERR_CONFLICT, "its configuration says %s, not %s",
	               platform_text(&config.platform, have),
	               platform_text(&child->platform, want));
}

static int check_children(struct index_run *run, struct err *err)
{
	struct store *store = registry_store(run->registry);
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];
	int result = 0;

	for (size_t i = 0; result == 0 && i < run->index.n_manifests; i++) {
		const struct descriptor *child = &run->index.manifests[i];

		result = check_child(run, store, child, err);
		if (result != 0)
			err_wrap(err, "%s %s", platform_text(&child->platform, platform),
			         digest_text(&child->digest, digest));
	}
	store_close(store);
	return result;
}

/* By digest first: a tag never names what is not there, or not signed though it should be. */
static int put_index(struct index_run *run, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	bool existed;

	if (registry_put_manifest(run->registry, digest_text(&run->root.digest, digest), &run->root,
	                          run->text.ptr, &existed, err) != 0)
		return err_wrap(err, "index");
	if (run->target.signing != NULL &&
	    image_sign_pushed(run->target.signing, run->registry, &run->root, run->cli->progress,
	                      err) != 0)
		return err_wrap(err, "sign it");
	for (size_t i = 0; i < run->target.tags.n; i++)
		if (registry_put_manifest(run->registry, run->target.tags.at[i], &run->root,
		                          run->text.ptr, &existed, err) != 0)
			return err_wrap(err, "tag '%s'", run->target.tags.at[i]);
	return 0;
}

/* ---- the result ---- */

static void print_index(struct index_run *run, const char *digest)
{
	const struct ref *to = &run->target.to;
	char platform[PLATFORM_TEXT_MAX], child[DIGEST_TEXT_MAX];
	FILE *out = run->cli->out;

	for (size_t i = 0; i < run->index.n_manifests; i++)
		fprintf(out, "%s  %s\n", platform_text(&run->index.manifests[i].platform, platform),
		        digest_text(&run->index.manifests[i].digest, child));
	for (size_t i = 0; i < run->target.tags.n; i++)
		fprintf(out, "%s/%s:%s\n", to->host, to->repository, run->target.tags.at[i]);
	fprintf(out, "%s\n", digest);
}

static void print_json(struct index_run *run, const char *digest)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	const struct ref *to = &run->target.to;

	json_add_string(doc, "digest", digest);
	json_add_string(doc, "media_type", run->root.media_type);
	json_add_int(doc, "size", run->root.size);
	json_add_string(doc, "repository",
	                arena_printf(&run->cli->arena, "%s/%s", to->host, to->repository));
	cJSON *manifests = json_add_array(doc, "manifests");

	for (size_t i = 0; i < run->index.n_manifests; i++)
		json_push(manifests, descriptor_json(&run->index.manifests[i]));
	cJSON *tags = json_add_array(doc, "tags");

	for (size_t i = 0; i < run->target.tags.n; i++)
		json_push_string(tags, run->target.tags.at[i]);
	cli_print_json(run->cli, doc);
}

static int report_index(struct index_run *run, struct err *err)
{
	const char *file = run->options->digest_file;
	char digest[DIGEST_TEXT_MAX];
	const char *line =
		arena_printf(&run->cli->arena, "%s\n", digest_text(&run->root.digest, digest));

	if (file != NULL && result_file_write(file, line, strlen(line), err) != 0)
		return -1;
	if (cli_json(run->cli))
		print_json(run, digest);
	else
		print_index(run, digest);
	return 0;
}

static int create_index(struct index_run *run, struct err *err)
{
	const struct ref *to = &run->target.to;

	if (find_target(run, err) != 0 || join_parts(run, err) != 0 ||
	    remote_from_options(run->cli, &run->options->remote, 0, ref_text(to, &run->cli->arena),
	                        &run->remote, err) != 0 ||
	    signing_from_options(&run->options->signing, run->cli, &run->variables, &run->remote,
	                         &run->signing, &run->target, err) != 0 ||
	    remote_registry(&run->remote, to, &run->registry, err) != 0)
		return -1;
	if (image_push_preflight(&run->remote, &run->target, &run->root, run->registry, err) != 0 ||
	    check_children(run, err) != 0 || put_index(run, err) != 0)
		return err_wrap(err, "index in '%s/%s'", to->host, to->repository);
	return report_index(run, err);
}

static int cmd_index_run(struct cli *cli, struct err *err)
{
	struct index_run run = {
		.cli = cli, .options = cli->options, .text = STRBUF_INIT(MANIFEST_BYTES_MAX)};

	key_variables_take(&run.variables);
	int result = create_index(&run, err);

	registry_close(run.registry);
	push_signing_done(&run.signing);
	key_variables_done(&run.variables);
	remote_done(&run.remote);
	strbuf_done(&run.text);
	return result;
}

const struct command cmd_index = {
	.name = "index",
	.summary = "Join what several machines built into one multi-arch image",
	.details = "Each machine runs `slipway build --platform P --push-by-digest --result-file "
		   "RESULT`. The\n"
		   "results are joined into an index: byte for byte the one that a single machine "
		   "makes of the\n"
		   "same spec. Every manifest must be in the repository and match its platform; "
		   "then the index\n"
		   "is pushed by digest, signed with --key, if it is given, and the tags are set "
		   "last.\n",
	.examples = "slipway index create registry.example.com/team/app:v1 amd64.json "
		    "arm64.json\tJoin two builds\n"
		    "slipway index create --key awskms:///alias/release HOST/NAME:TAG amd64.json "
		    "arm64.json\tSign it, and each platform\n",
	.options = OPTION_TABLE(struct index_options, options),
	.actions = actions,
	.run = cmd_index_run,
};
