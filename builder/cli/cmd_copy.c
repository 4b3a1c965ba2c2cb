/*
 * slipway copy: an image with all that is attached to it goes elsewhere, with its digest.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/copy_run.h"
#include "builder/cli/result_file.h"

static const struct option options[] = {
	TEXT_OPTION(struct copy_options, platform, "platform", 0, "OS/ARCH",
                    "Copy the image of this platform alone, which has a digest of its own"),
	FLAG_OPTION(struct copy_options, all_tags, "all-tags", 0,
                    "Copy every tag of the source, each under its name"),
	NUMBER_OPTION(struct copy_options, jobs, "jobs", 'j', "N", "Blobs at a time (default 8)"),
	TEXT_OPTION(struct copy_options, digest_file, "digest-file", 0, "FILE",
                    "Write the digest to this file", .complete = COMPLETE_FILE),
	CREATE_REPOSITORY_OPTION(struct copy_options, create_repository),
	REMOTE_OPTIONS(struct copy_options, remote),
};

/* What names the copy under one tag (NULL = none). */
static const char *name_of(const struct copy_run_state *run, const char *tag)
{
	struct ref ref = run->to;

	ref.tag = tag;
	return ref_text(&ref, &run->cli->arena);
}

static void print_text(const struct copy_run_state *run, const char *digest)
{
	const struct copy_result *r = &run->result;
	char size[TEXT_BYTES_MAX];
	FILE *out = run->cli->out;

	if (run->to.kind != REF_DOCKER_ARCHIVE)
		fprintf(out, "%zu blobs sent (%s), %zu mounted, %zu already there; %zu attached\n",
		        r->n_uploaded, text_bytes(r->bytes_uploaded, size), r->n_mounted,
		        r->n_existed, r->n_attached);
	for (size_t i = 0; i < run->tags.n; i++)
		fprintf(out, "%s\n", name_of(run, run->tags.at[i]));
	if (run->tags.n == 0)
		fprintf(out, "%s\n", name_of(run, NULL));
	fprintf(out, "%s\n", digest);
}

static void print_json(const struct copy_run_state *run, const char *digest)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	const struct copy_result *r = &run->result;
	cJSON *tags;

	json_add_string(doc, "digest", digest);
	json_add_string(doc, "media_type", run->root.media_type);
	json_add_string(doc, "from", ref_text(&run->from.ref, &run->cli->arena));
	json_add_string(doc, "to", name_of(run, NULL));
	tags = json_add_array(doc, "tags");
	for (size_t i = 0; i < run->tags.n; i++)
		json_push_string(tags, run->tags.at[i]);
	json_add_int(doc, "blobs_uploaded", (int64_t)r->n_uploaded);
	json_add_int(doc, "blobs_mounted", (int64_t)r->n_mounted);
	json_add_int(doc, "blobs_existed", (int64_t)r->n_existed);
	json_add_int(doc, "bytes_uploaded", r->bytes_uploaded);
	json_add_int(doc, "manifests_put", (int64_t)r->n_manifests_put);
	json_add_int(doc, "attached", (int64_t)r->n_attached);
	cli_print_json(run->cli, doc);
}

static int report(const struct copy_run_state *run, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	const char *line =
		arena_printf(&run->cli->arena, "%s\n", digest_text(&run->root.digest, digest));

	if (run->options->digest_file != NULL &&
	    result_file_write(run->options->digest_file, line, strlen(line), err) != 0)
		return -1;
	if (cli_json(run->cli))
		print_json(run, digest);
	else
		print_text(run, digest);
	return 0;
}

static int open_and_copy(struct copy_run_state *run, const char *source, struct err *err)
{
	if (image_open_argument(&run->remote, source, &run->cli->arena, &run->from, err) != 0)
		return err_wrap(err, "image '%.200s'", source);
	return copy_run(run, err);
}

static int cmd_copy_run(struct cli *cli, struct err *err)
{
	struct copy_run_state run = {.cli = cli, .options = cli->options};
	const char *source = cli->args.at[0];

	if (copy_target(cli->args.at[1], &cli->arena, &run.to, err) != 0)
		return err_wrap(err, "target '%.200s'", cli->args.at[1]);
	/* A password is for the target, or for the source of what stays here. */
	const char *host = run.to.kind == REF_REGISTRY ? ref_text(&run.to, &cli->arena) : source;

	if (remote_from_options(cli, &run.options->remote, run.options->jobs, host, &run.remote,
	                        err) != 0)
		return -1;
	int rc = open_and_copy(&run, source, err);

	if (rc == 0)
		rc = report(&run, err);
	image_done(&run.from);
	remote_done(&run.remote);
	return rc;
}

const struct command cmd_copy = {
	.name = "copy",
	.summary = "Copy an image with its signatures, SBOMs and provenance, digest kept",
	.synopsis = "SOURCE TARGET",
	.details =
		"SOURCE and TARGET are HOST/NAME[:TAG][@DIGEST], a layout's folder (oci:DIR[:TAG]) "
		"or an archive\n"
		"(oci-archive:FILE, docker-archive:FILE); what exists as a path is one. The index "
		"with every\n"
		"platform goes over byte for byte, and with it what is attached to it: referrers "
		"and the tags\n"
		"under which cosign keeps signatures. What the target has is not sent, blobs of "
		"the same\n"
		"registry are mounted, and tags come last: a copy that was interrupted is never "
		"visible, and\n"
		"goes on where it stopped. Without a tag in TARGET the copy keeps that of "
		"SOURCE.\n",
	.examples = "slipway copy staging.example.com/app:v1 "
		    "registry.example.com/app:v1\tPromote an image\n"
		    "slipway copy registry.example.com/app@sha256:... oci:app:v1\tBring one here\n"
		    "slipway copy --all-tags old.example.com/app new.example.com/app\tMove a "
		    "repository\n"
		    "slipway copy --platform linux/arm64 registry.example.com/app:v1 "
		    "docker-archive:app.tar\tOne platform, for docker load\n",
	.options = OPTION_TABLE(struct copy_options, options),
	.min_args = 2,
	.max_args = 2,
	.run = cmd_copy_run,
};
