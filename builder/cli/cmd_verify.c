/*
 * slipway verify: the image check on any image, with nothing remembered.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc/diag_json.h"
#include "base/text.h"
#include "builder/check/check.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/verify_rebuild.h"
#include "builder/cli/verify_signatures.h"
#include "builder/cli/verify_trust.h"
#include "builder/image/image.h"

struct verify_options {
	struct strlist off, provided, allow;
	const char *platform;
	int64_t jobs, max_unpacked;
	struct strlist key, annotation;
	bool recursive, sbom;
	const char *trust;
	struct rebuild_options rebuild;
	struct remote_options remote;
};

static const struct option options[] = {
	LIST_OPTION(struct verify_options, off, "off", 0, "RULE", "Turn a rule off by its name"),
	LIST_OPTION(struct verify_options, provided, "provided", 0, "SONAME",
                    "A shared library that the node provides"),
	LIST_OPTION(struct verify_options, allow, "allow", 0, "RULE:PATH[@DIGEST]",
                    "A finding that is meant to be there; PATH may be a glob"),
	TEXT_OPTION(struct verify_options, platform, "platform", 0, "OS/ARCH",
                    "Check only this platform"),
	NUMBER_OPTION(struct verify_options, jobs, "jobs", 'j', "N", "Threads (default: all CPUs)"),
	MAX_UNPACKED_OPTION(struct verify_options, max_unpacked),
	LIST_OPTION(struct verify_options, key, "key", 'k', "KEY",
                    "Check instead that this key has signed the image (with --rebuild: its "
                    "provenance): a public key's file, env://VARIABLE or awskms:///alias/NAME; "
                    "of several each has to have"),
	LIST_OPTION(struct verify_options, annotation, "annotation", 'a', "NAME=VALUE",
                    "With --key: what the signature has to say besides the digest"),
	FLAG_OPTION(struct verify_options, recursive, "recursive", 0,
                    "With --key: each platform's manifest has to be signed, too"),
	FLAG_OPTION(struct verify_options, sbom, "sbom", 0,
                    "With --key: each platform has to have a bill of materials that the key has "
                    "signed, too"),
	TEXT_OPTION(struct verify_options, trust, "trust", 0, "FILE",
                    "Check instead that the image has all that `trust` of this spec asks for, as "
                    "deploy does",
                    .complete = COMPLETE_FILE),
	REBUILD_OPTIONS(struct verify_options, rebuild),
	REMOTE_OPTIONS(struct verify_options, remote),
};

static int check_rule_name(const char *name, struct err *err)
{
	const char *near;

	for (size_t k = 0; k < check_rule_count; k++)
		if (strcmp(check_rule_names[k], name) == 0)
			return 0;
	near = text_nearest(name, check_rule_names, check_rule_count);
	err_set(err, ERR_USAGE, "no rule is called '%s'", name);
	return near != NULL ? err_hint(err, "did you mean '%s'?", near)
	                    : err_hint(err, "docs/CHECK.md lists the rules");
}

static int check_off_names(const struct strlist *off, struct err *err)
{
	for (size_t i = 0; i < off->n; i++)
		if (check_rule_name(off->at[i], err) != 0)
			return -1;
	return 0;
}

/* RULE:PATH, or RULE:PATH@sha256:...; a path may hold '@' itself. */
static int parse_allowance(const char *text, struct arena *a, struct check_allowance *ret,
                           struct err *err)
{
	char *rule = arena_strdup(a, text), *colon = strchr(rule, ':'), *at;
	struct digest digest;

	if (colon == NULL || colon == rule || colon[1] == '\0') {
		err_set(err, ERR_USAGE, "--allow: '%s' is not RULE:PATH[@DIGEST]", text);
		return err_hint(err, "as in --allow secret:/usr/share/doc/example.pem");
	}
	*colon = '\0';
	at = strstr(colon + 1, "@sha256:");
	if (at != NULL) {
		*at = '\0';
		if (digest_parse(at + 1, &digest, err) != 0)
			return err_wrap(err, "--allow");
	}
	*ret = (struct check_allowance){
		.rule = rule, .path = colon + 1, .digest = at != NULL ? at + 1 : NULL};
	return check_rule_name(rule, err);
}

static int parse_allowances(const struct strlist *list, struct arena *a, struct check_opts *opts,
                            struct err *err)
{
	struct check_allowance *all = arena_calloc(a, list->n + 1, sizeof(*all));

	for (size_t i = 0; i < list->n; i++)
		if (parse_allowance(list->at[i], a, &all[i], err) != 0)
			return -1;
	opts->allow = all;
	opts->n_allow = list->n;
	return 0;
}

static cJSON *report_json(const struct descriptor *root, const struct check_report *report)
{
	cJSON *doc = cJSON_CreateObject();
	char digest[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];

	json_add_string(doc, "digest", digest_text(&root->digest, digest));
	json_add_int(doc, "blobs", (int64_t)report->n_blobs);
	if (report->n_allowed > 0)
		json_add_int(doc, "allowed", (int64_t)report->n_allowed);
	cJSON *platforms = json_add_array(doc, "platforms");

	for (size_t i = 0; i < report->n_platforms; i++) {
		const struct check_platform_size *p = &report->platforms[i];
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "platform", platform_text(&p->platform, platform));
		json_add_int(obj, "layers", (int64_t)p->n_layers);
		json_add_int(obj, "compressed_size", p->compressed_bytes);
		json_add_int(obj, "content_size", p->content_bytes);
		json_add_int(obj, "files", (int64_t)p->n_files);
		json_push(platforms, obj);
	}
	return doc;
}

static void print_report(struct cli *cli, const struct descriptor *root,
                         const struct check_report *report)
{
	char compressed[TEXT_BYTES_MAX], content[TEXT_BYTES_MAX], text[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < report->n_platforms; i++) {
		const struct check_platform_size *p = &report->platforms[i];
		char platform[PLATFORM_TEXT_MAX];

		fprintf(cli->out, "%s: %zu layers, %s compressed, %s in %zu files\n",
		        platform_text(&p->platform, platform), p->n_layers,
		        text_bytes(p->compressed_bytes, compressed),
		        text_bytes(p->content_bytes, content), p->n_files);
	}
	if (report->n_allowed > 0)
		fprintf(cli->out, "%zu finding%s allowed\n", report->n_allowed,
		        report->n_allowed == 1 ? "" : "s");
	fprintf(cli->out, "%zu blobs verified, image check passed\n%s\n", report->n_blobs,
	        digest_text(&root->digest, text));
}

static int verify(struct cli *cli, const struct verify_options *o, const struct image *image,
                  struct err *err)
{
	struct platform only;
	struct check_opts opts = {.off = o->off,
	                          .provided = o->provided,
	                          .max_unpacked = o->max_unpacked,
	                          .threads = (unsigned)o->jobs,
	                          .progress = cli->progress};
	struct check_report report = {0};
	struct descriptor root;

	if (o->platform != NULL) {
		if (platform_parse(o->platform, &only, err) != 0)
			return err_wrap(err, "--platform");
		opts.only = &only;
	}
	if (parse_allowances(&o->allow, &cli->arena, &opts, err) != 0 ||
	    image_root(image, &cli->arena, &root, err) != 0 ||
	    check_image(image->store, &root, &opts, &cli->arena, &report, &cli->diags, err) != 0)
		return -1;
	if (!cli_json(cli)) {
		print_report(cli, &root, &report);
		return 0;
	}
	AUTO(json) cJSON *doc = report_json(&root, &report);

	if (cli->diags.n > 0)
		diags_json(&cli->diags, json_add_array(doc, "problems"));
	cli_print_json(cli, doc);
	return 0;
}

/* Options of another kind of check would have no effect: nobody is to believe that they had. */
static int check_kinds(const struct verify_options *o, struct err *err)
{
	const bool of_image = o->off.n > 0 || o->provided.n > 0 || o->allow.n > 0;
	const bool of_signatures = o->annotation.n > 0 || o->recursive || o->sbom;
	const bool rebuild = o->rebuild.wanted;
	const struct {
		bool wrong;
		const char *text, *hint;
	} rows[] = {
		{!rebuild && rebuild_options_given(&o->rebuild),
	         "--source, --file, --run-build, --set, --label, --image-annotation and --env are "
	         "about building again",
	         "--rebuild asks for it"},
		{rebuild && (of_image || of_signatures),
	         "with --rebuild the image is built again: --off, --provided, --allow, "
	         "--annotation, --recursive and --sbom are about other checks",
	         "run verify once more, without --rebuild"},
		{!rebuild && o->key.n == 0 && of_signatures,
	         "--annotation, --recursive and --sbom are about signatures", "--key says whose"},
		{!rebuild && o->key.n > 0 && (of_image || o->max_unpacked != 0),
	         "with --key signatures are checked, and no layer is read: --off, --provided, "
	         "--allow and --max-unpacked are about the image check",
	         "run verify twice: with --key, and without"},
		{o->trust != NULL && (of_image || rebuild || o->key.n > 0 || o->platform != NULL ||
	                              o->max_unpacked != 0),
	         "with --trust the spec says what is checked, of all platforms",
	         "leave the other options out, or run verify without --trust"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].wrong) {
			err_set(err, ERR_USAGE, "%s", rows[i].text);
			return err_hint(err, "%s", rows[i].hint);
		}
	return 0;
}

static int rebuild(struct cli *cli, const struct verify_options *o, const struct remote *remote,
                   struct trust_key **keys, const struct image *image, struct err *err)
{
	struct rebuild_options wanted = o->rebuild;
	const struct rebuild_request request = {.options = &wanted,
	                                        .platform = o->platform,
	                                        .name = cli->args.at[0],
	                                        .jobs = o->jobs,
	                                        .max_unpacked = o->max_unpacked,
	                                        .keys = keys,
	                                        .n_keys = o->key.n};

	wanted.source = wanted.source != NULL ? wanted.source : ".";
	return verify_rebuild(cli, &request, remote, image, err);
}

static int verify_keys(struct cli *cli, const struct verify_options *o, const struct remote *remote,
                       struct key_variables *variables, const struct image *image, struct err *err)
{
	const struct signature_options wanted = {o->key, o->annotation, o->recursive, o->sbom,
	                                         o->platform};
	AUTO(key_list) struct key_list keys = {0};

	if (key_list_open(variables, remote, &o->key, &keys, err) != 0)
		return -1;
	return o->rebuild.wanted ? rebuild(cli, o, remote, keys.at, image, err)
	                         : verify_signatures(cli, &wanted, keys.at, image, err);
}

/* A build that is repeated works in another folder: the file is named for good. */
static int absolute_ca(const struct verify_options *o, struct arena *a,
                       struct remote_options *remote, struct err *err)
{
	char path[PATH_MAX];

	*remote = o->remote;
	if (!o->rebuild.wanted || o->remote.ca == NULL)
		return 0;
	if (realpath(o->remote.ca, path) == NULL)
		return err_set(err, ERR_IO, "--ca: read '%s'", o->remote.ca);
	remote->ca = arena_strdup(a, path);
	return 0;
}

static int cmd_verify_run(struct cli *cli, struct err *err)
{
	const struct verify_options *o = cli->options;
	struct remote_options connection;
	AUTO(key_variables) struct key_variables variables = {0};
	AUTO(remote) struct remote remote = {0};
	AUTO(image) struct image image = {0};

	key_variables_take(&variables);
	if (check_kinds(o, err) != 0 || check_off_names(&o->off, err) != 0 ||
	    absolute_ca(o, &cli->arena, &connection, err) != 0 ||
	    remote_from_options(cli, &connection, o->jobs, cli->args.at[0], &remote, err) != 0)
		return -1;
	if (o->trust != NULL)
		return verify_trust(cli, o->trust, &remote, cli->args.at[0], err);
	if (image_open_argument(&remote, cli->args.at[0], &cli->arena, &image, err) != 0 ||
	    (o->key.n > 0 || o->rebuild.wanted
	             ? verify_keys(cli, o, &remote, &variables, &image, err)
	             : verify(cli, o, &image, err)) != 0)
		return err_wrap(err, "verify '%s'", cli->args.at[0]);
	return 0;
}

const struct command cmd_verify = {
	.name = "verify",
	.summary = "Check every byte of an image and reject what would fail on a node",
	.synopsis = "REF",
	.details = "Reads the whole image: digests, sizes, diff IDs and history, the architecture "
		   "of every ELF\n"
		   "file, shared libraries that cannot be resolved, symbol versions newer than the "
		   "image's\n"
		   "glibc, missing interpreters, secrets, setuid files, world-writable paths, "
		   "duplicate paths.\n"
		   "docs/CHECK.md explains each rule. With --key it is checked instead who has "
		   "signed the image,\n"
		   "by its documents alone; with --trust, whether a deploy would take it. "
		   "docs/TRUST.md says what\n"
		   "that proves.\n"
		   "With --rebuild the image is built again from --source, as its provenance says: "
		   "inputs are\n"
		   "held against the statement, layers packed anew in a scratch folder ($TMPDIR), "
		   "and all of it\n"
		   "compared bit by bit. What differs is named: inputs, and of layers the file and "
		   "the byte.\n"
		   "docs/SBOM.md says what that proves.\n",
	.examples =
		"slipway verify oci:build/image\tThe image that was just built\n"
		"slipway verify --allow 'secret:usr/share/doc/*' oci:build/image\tKeys that are "
		"examples\n"
		"slipway verify --key release.pub registry.example.com/team/app:v1\tWhether that "
		"key has signed it\n"
		"slipway verify --trust slipway.yaml registry.example.com/team/app:v1\tWhether a "
		"deploy would take it\n"
		"slipway verify --rebuild --source . registry.example.com/team/app:v1\tWhether "
		"this source gives that image\n"
		"slipway verify --rebuild --run-build --key ci.pub HOST/NAME:TAG\tThe same with "
		"its programs built anew, and a signed statement\n"
		"slipway verify --off setuid docker.io/library/debian:12\tA foreign image\n",
	.options = OPTION_TABLE(struct verify_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_verify_run,
};
