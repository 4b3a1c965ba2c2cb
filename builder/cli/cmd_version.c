/*
 * slipway version: the tool's version, its bit format and the encoders inside it.
 */
#include "builder/cli/command.h"
#include "builder/layer/pack/layer.h"

static int cmd_version_run(struct cli *cli, struct err *err UNUSED)
{
	const char *zstd = layer_format_text(COMPRESSION_ZSTD, 0, &cli->arena);
	const char *gzip = layer_format_text(COMPRESSION_GZIP, 0, &cli->arena);

	if (cli_json(cli)) {
		AUTO(json) cJSON *doc = cJSON_CreateObject();

		json_add_string(doc, "version", SLIPWAY_VERSION);
		json_add_int(doc, "format_version", LAYER_FORMAT_VERSION);
		cJSON *formats = json_add_object(doc, "formats");

		json_add_string(formats, "zstd", zstd);
		json_add_string(formats, "gzip", gzip);
		cli_print_json(cli, doc);
		return 0;
	}
	fprintf(cli->out, "slipway %s\nlayer formats: %s; %s\n", SLIPWAY_VERSION, zstd, gzip);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "Show the version and the layer formats",
	.synopsis = "",
	.run = cmd_version_run,
};
