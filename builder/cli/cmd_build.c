/*
 * slipway build: options, and the images of the spec that are meant.
 */
#include <string.h>

#include "builder/cli/build_run.h"

enum { IMAGES_MAX = 64 };

static const char *const format_choices[] = {"oci", "oci-archive", "docker-archive", NULL};

static const struct option options[] = {
	SPEC_OPTIONS(struct build_options, spec, "The spec",
                     "Override one value of the spec, as in image.tags=[v2]"),
	TEXT_OPTION(struct build_options, dest, "dest", 'o', "DIR",
                    "Where the image goes: an OCI layout folder, or a file for archives",
                    .fallback = "build/image", .complete = COMPLETE_DIR),
	TEXT_OPTION(struct build_options, format, "format", 0, "oci|oci-archive|docker-archive",
                    "Format of the image", .fallback = "oci", .complete = COMPLETE_CHOICES,
                    .choices = format_choices),
	LIST_OPTION(struct build_options, tag, "tag", 't', "[NAME:]TAG",
                    "Tag the image so, in place of the spec's tags (and repository)"),
	LIST_OPTION(struct build_options, label, "label", 0, "KEY=VALUE",
                    "Set a label, over the spec's"),
	LIST_OPTION(struct build_options, annotation, "annotation", 0, "KEY=VALUE",
                    "Set an annotation, over the spec's"),
	LIST_OPTION(struct build_options, env, "env", 0, "NAME=VALUE",
                    "Set an environment variable of the image, over the spec's"),
	LIST_OPTION(struct build_options, platform, "platform", 0, "OS/ARCH",
                    "Build only this platform of the spec"),
	FLAG_OPTION(struct build_options, no_check, "no-check", 0, "Skip the image check"),
	FLAG_OPTION(struct build_options, no_cache, "no-cache", 0,
                    "Neither read nor write the build cache"),
	FLAG_OPTION(struct build_options, sparse, "sparse", 0,
                    "Leave base layers out of the layout; push mounts or copies them; implies "
                    "--no-check"),
	FLAG_OPTION(struct build_options, locked, "locked", 0,
                    "Take base digests from slipway.lock only, and never write it"),
	FLAG_OPTION(struct build_options, dry_run, "dry-run", 0, "Print the plan and stop"),
	FLAG_OPTION(struct build_options, push, "push", 0,
                    "Push the image to the spec's repository: layers while others are packed, tags "
                    "last"),
	FLAG_OPTION(
		struct build_options, push_by_digest, "push-by-digest", 0,
		"Then push each platform's manifest, without index and tags, for `slipway index "
		"create` to join"),
	FLAG_OPTION(struct build_options, no_sign, "no-sign", 0,
                    "Do not sign what is pushed, though the spec has image.sign"),
	TEXT_OPTION(struct build_options, result_file, "result-file", 0, "FILE",
                    "With --push-by-digest: write the result file that `slipway index create` "
                    "reads",
                    .complete = COMPLETE_FILE),
	NUMBER_OPTION(struct build_options, jobs, "jobs", 'j', "N",
                      "Threads for compression and connections (default: all CPUs)"),
	TEXT_OPTION(struct build_options, digest_file, "digest-file", 0, "FILE",
                    "Write the index digest to this file", .complete = COMPLETE_FILE),
	TEXT_OPTION(struct build_options, metadata_file, "metadata-file", 0, "FILE",
                    "Write digests, sizes and layers as JSON", .complete = COMPLETE_FILE),
	CREATE_REPOSITORY_OPTION(struct build_options, create_repository),
	REMOTE_OPTIONS(struct build_options, remote),
};

/* Loads the spec with what the options write over it. */
static int load_spec(struct cli *cli, const struct build_options *o, struct spec **ret_spec,
                     struct err *err)
{
	const struct spec_over over = {.images = cli->args,
	                               .tags = o->tag,
	                               .labels = o->label,
	                               .annotations = o->annotation,
	                               .env = o->env};

	if (spec_from_options_over(cli, &o->spec, &over, ret_spec, err) != 0)
		return -1;
	return spec_need_image(*ret_spec, err);
}

/* The images that were named, or all. A list with NULL is one without a name. */
static struct strlist wanted_images(struct cli *cli, const struct spec *spec)
{
	size_t room = spec->n_images + 1;
	struct strlist names = {arena_calloc(&cli->arena, room, sizeof(*names.at)), 0};

	if (cli->args.n > 0)
		return cli->args;
	for (size_t i = 0; i < spec->n_images; i++)
		names.at[names.n++] = spec->images[i].name;
	names.n += spec->n_images == 0;
	return names;
}

/* What has room for one image only is refused before anything is built. */
static int check_several(const struct build_options *o, const struct strlist *names,
                         struct err *err)
{
	const struct {
		bool given;
		const char *text;
	} single[] = {{build_makes_archive(o), "an archive"},
	              {o->digest_file != NULL, "--digest-file"},
	              {o->metadata_file != NULL, "--metadata-file"},
	              {o->result_file != NULL, "--result-file"}};

	for (size_t i = 0; names->n > 1 && i < sizeof(single) / sizeof(single[0]); i++)
		if (single[i].given) {
			err_set(err, ERR_USAGE, "%s is for one image, and %zu are to be built",
			        single[i].text, names->n);
			return err_hint(err, "name one: slipway build %s", names->at[0]);
		}
	return 0;
}

static int build_one(struct cli *cli, struct spec *spec, const char *name,
                     struct key_variables *variables, cJSON *documents, struct err *err)
{
	struct build_run run = {.cli = cli,
	                        .options = cli->options,
	                        .spec = spec,
	                        .variables = variables,
	                        .documents = documents};

	if (name != NULL && spec_select(spec, name, err) != 0)
		return -1;
	int result = build_run(&run, err);

	build_run_done(&run, result == 0);
	return result == 0 || name == NULL ? result : err_wrap(err, "image '%s'", name);
}

/* Every name is known before the first build begins. */
static int check_names(struct spec *spec, const struct strlist *names, struct err *err)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->at[i] != NULL && spec_select(spec, names->at[i], err) != 0)
			return -1;
	return 0;
}

static int cmd_build_run(struct cli *cli, struct err *err)
{
	AUTO(key_variables) struct key_variables variables = {0};
	AUTO(json) cJSON *doc = NULL;
	cJSON *documents = NULL;
	struct spec *spec;

	key_variables_take(&variables);
	if (load_spec(cli, cli->options, &spec, err) != 0)
		return -1;
	const struct strlist names = wanted_images(cli, spec);

	if (check_names(spec, &names, err) != 0 || check_several(cli->options, &names, err) != 0)
		return -1;
	if (names.n > 1 && cli_json(cli)) {
		doc = cJSON_CreateObject();
		documents = json_add_array(doc, "builds");
	}
	for (size_t i = 0; i < names.n; i++)
		if (build_one(cli, spec, names.at[i], &variables, documents, err) != 0)
			return -1;
	if (doc != NULL)
		cli_print_json(cli, doc);
	return 0;
}

const struct command cmd_build = {
	.name = "build",
	.summary = "Build the spec's image for every platform into an OCI layout",
	.synopsis = "[NAME...]",
	.details =
		"Packs the layers, writes configuration, manifests and the multi-arch index, runs "
		"the image\n"
		"check, and prints the index digest as the last line. The same content gives the "
		"same\n"
		"digest on every machine. Layers that did not change come from the build cache in\n"
		"$XDG_CACHE_HOME/slipway (at most $SLIPWAY_CACHE_MAX bytes, default 10 GiB).\n"
		"With `images` in the spec, the named ones are built, or all, each into a folder "
		"of its name\n"
		"below --dest. A word after --tag without '/' or ':' is a tag; else it is "
		"HOST/NAME[:TAG].\n"
		"SOURCE_DATE_EPOCH sets the newest time stamp inside the image (default 0).\n",
	.examples = "slipway build\tBuild ./slipway.yaml into build/image\n"
		    "slipway build --set image.tags=[v2] --push\tBuild, check and push as v2\n"
		    "slipway build -t registry.example.com/team/app:v2 --label "
		    "team=infra\tName and label it here\n"
		    "slipway build train\tThe image train of several, into build/image/train\n"
		    "slipway build --platform linux/amd64 --format docker-archive -o "
		    "image.tar\tFor docker load\n",
	.options = OPTION_TABLE(struct build_options, options),
	.max_args = IMAGES_MAX,
	.run = cmd_build_run,
};
