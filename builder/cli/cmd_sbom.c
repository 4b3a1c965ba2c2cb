/*
 * slipway sbom: what is in an image, as a document.
 */
#include <string.h>

#include "builder/check/images.h"
#include "builder/cli/command.h"
#include "builder/cli/key_option.h"
#include "builder/cli/remote_option.h"
#include "builder/image/image_sbom.h"
#include "builder/sbom/document.h"

static const char *const format_choices[] = {"spdx", "cyclonedx", NULL};

struct sbom_options {
	const char *format, *platform;
	struct strlist key;
	bool read, files;
	int64_t max_unpacked;
	struct remote_options remote;
};

static const struct option options[] = {
	TEXT_OPTION(struct sbom_options, format, "format", 0, "spdx|cyclonedx",
                    "Form of the document: SPDX 2.3 or CycloneDX 1.6", .fallback = "spdx",
                    .complete = COMPLETE_CHOICES, .choices = format_choices),
	TEXT_OPTION(struct sbom_options, platform, "platform", 0, "OS/ARCH",
                    "Which image of an index; this machine's otherwise"),
	LIST_OPTION(struct sbom_options, key, "key", 'k', "KEY",
                    "Only a document that this key has signed: a public key's file, "
                    "env://VARIABLE or awskms:///alias/NAME; of several each has to have"),
	FLAG_OPTION(struct sbom_options, read, "read", 0,
                    "Make it from the image's layers, even if one is attached"),
	FLAG_OPTION(struct sbom_options, files, "files", 0,
                    "List every file with its SHA-256; implies --read"),
	MAX_UNPACKED_OPTION(struct sbom_options, max_unpacked),
	REMOTE_OPTIONS(struct sbom_options, remote),
};

static enum sbom_form form_of(const char *name)
{
	return strcmp(name, sbom_forms[SBOM_CYCLONEDX].name) == 0 ? SBOM_CYCLONEDX : SBOM_SPDX;
}

/* The platform that was named; without one this machine's, unless there is one image alone. */
static int find_manifest(struct cli *cli, const struct image *image, const char *platform,
                         struct descriptor *ret_manifest, struct err *err)
{
	struct platform want = platform_host();
	struct descriptor root;
	struct image_list all;

	if (platform != NULL && platform_parse(platform, &want, err) != 0) {
		err->code = ERR_USAGE;
		return err_wrap(err, "--platform %s", platform);
	}
	if (image_root(image, &cli->arena, &root, err) != 0 ||
	    images_list(image->store, &root, NULL, &cli->arena, &all, err) != 0)
		return -1;
	if ((platform != NULL || all.n > 1) &&
	    images_list(image->store, &root, &want, &cli->arena, &all, err) != 0)
		return platform != NULL ? -1
		                        : err_hint(err, "name one, as in --platform linux/arm64");
	*ret_manifest = all.at[0];
	return 0;
}

static int print_document(struct cli *cli, const struct remote *remote, const struct key_list *keys,
                          struct err *err)
{
	const struct sbom_options *o = cli->options;
	const struct image_sbom_opts opts = {.form = form_of(o->format),
	                                     .by = {keys->at, keys->n, NULL},
	                                     .read = o->read,
	                                     .files = o->files,
	                                     .max_unpacked = o->max_unpacked,
	                                     .progress = cli->progress};
	AUTO(image) struct image image = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SBOM_BYTES_MAX);
	struct descriptor manifest;
	bool attached = false;

	if (image_open_argument(remote, cli->args.at[0], &cli->arena, &image, err) != 0 ||
	    find_manifest(cli, &image, o->platform, &manifest, err) != 0 ||
	    image_sbom(&image, &manifest, &opts, &cli->arena, &text, &attached, err) != 0)
		return err_wrap(err, "image '%s'", cli->args.at[0]);
	if (!attached && !o->read && !o->files)
		progress_note(cli->progress,
		              "no %s document is attached: this one is made from the layers",
		              o->format);
	fwrite(strbuf_str(&text), 1, text.len, cli->bytes);
	return 0;
}

static int cmd_sbom_run(struct cli *cli, struct err *err)
{
	const struct sbom_options *o = cli->options;
	AUTO(key_variables) struct key_variables variables = {0};
	AUTO(key_list) struct key_list keys = {0};
	AUTO(remote) struct remote remote = {0};

	key_variables_take(&variables);
	if (o->key.n > 0 && (o->read || o->files)) {
		err_set(err, ERR_USAGE,
		        "--key is about documents that are attached, --read and "
		        "--files about the layers");
		return err_hint(err, "leave one of them out");
	}
	return remote_from_options(cli, &o->remote, 0, cli->args.at[0], &remote, err) != 0 ||
	                       key_list_open(&variables, &remote, &o->key, &keys, err) != 0
	               ? -1
	               : print_document(cli, &remote, &keys, err);
}

const struct command cmd_sbom = {
	.name = "sbom",
	.summary = "Print what is in an image, as SPDX or CycloneDX",
	.synopsis = "REF",
	.details =
		"REF is as for inspect. The document that is attached to the image (image.sbom in "
		"the spec)\n"
		"is printed byte for byte; its digest was verified. An image without one is read, "
		"and the\n"
		"document shows what its files tell: packages of dpkg, apk and Python, ELF files "
		"and what\n"
		"they link with.\n",
	.examples =
		"slipway sbom build/image\tThe image that was just built\n"
		"slipway sbom --format cyclonedx registry.example.com/team/app:v1\tOne in a "
		"registry\n"
		"slipway sbom --key release.pub registry.example.com/team/app:v1\tOnly what that "
		"key vouches for\n"
		"slipway sbom --files docker.io/library/debian:12\tEvery file of another's image\n",
	.options = OPTION_TABLE(struct sbom_options, options),
	.min_args = 1,
	.max_args = 1,
	.run = cmd_sbom_run,
};
