/*
 * slipway version: the tool's version, its bit format and the encoders inside it.
 */
#include "builder/cli/command.h"
#include "builder/cli/version_check.h"
#include "builder/layer/pack/layer.h"

struct version_options {
	bool check;
};

static const struct option options[] = {
	FLAG_OPTION(struct version_options, check, "check", 0,
                    "Ask whether there is a newer release; exit with 1 if there is"),
};

static void print_text(struct cli *cli, const char *zstd, const char *gzip,
                       const struct version_check *check)
{
	fprintf(cli->out, "slipway %s\nlayer formats: %s; %s\n", SLIPWAY_VERSION, zstd, gzip);
	if (check->latest != NULL)
		fprintf(cli->out, "newest release: %s%s\n", check->latest,
		        check->current ? "" : ", install it as this one was");
}

static void print_json(struct cli *cli, const char *zstd, const char *gzip,
                       const struct version_check *check)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();

	json_add_string(doc, "version", SLIPWAY_VERSION);
	json_add_int(doc, "format_version", LAYER_FORMAT_VERSION);
	cJSON *formats = json_add_object(doc, "formats");

	json_add_string(formats, "zstd", zstd);
	json_add_string(formats, "gzip", gzip);
	if (check->latest != NULL) {
		json_add_string(doc, "latest", check->latest);
		json_add_bool(doc, "current", check->current);
	}
	cli_print_json(cli, doc);
}

static int cmd_version_run(struct cli *cli, struct err *err)
{
	const struct version_options *o = cli->options;
	const char *zstd = layer_format_text(COMPRESSION_ZSTD, 0, &cli->arena);
	const char *gzip = layer_format_text(COMPRESSION_GZIP, 0, &cli->arena);
	struct version_check check = {0};

	if (o->check && version_check(cli->progress, &cli->arena, &check, err) != 0)
		return -1;
	if (cli_json(cli))
		print_json(cli, zstd, gzip, &check);
	else
		print_text(cli, zstd, gzip, &check);
	if (o->check && !check.current)
		cli->verdict = EXIT_FAILED;
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "Show the version and the layer formats",
	.synopsis = "",
	.options = OPTION_TABLE(struct version_options, options),
	.run = cmd_version_run,
};
