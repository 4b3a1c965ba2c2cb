/*
 * slipway diff: which files differ between two images, not only which digests.
 */
#include "builder/check/diff.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/image/image.h"

struct diff_options {
	bool exit_code, bytes;
	int64_t max_unpacked;
	struct remote_options remote;
};

static const struct option options[] = {
	FLAG_OPTION(struct diff_options, exit_code, "exit-code", 0,
                    "Exit 1 when the images differ"),
	FLAG_OPTION(struct diff_options, bytes, "bytes", 0,
                    "Find the first byte that differs, of each document and each layer"),
	MAX_UNPACKED_OPTION(struct diff_options, max_unpacked),
	REMOTE_OPTIONS(struct diff_options, remote),
};

static int open_side(struct cli *cli, const struct remote *remote, const char *text,
                     struct image *image, struct descriptor *root, struct err *err)
{
	if (image_open_argument(remote, text, &cli->arena, image, err) != 0 ||
	    image_root(image, &cli->arena, root, err) != 0)
		return err_wrap(err, "image '%s'", text);
	return 0;
}

/* The first of the two that is in a registry; NULL when neither is. */
static const char *registry_argument(struct cli *cli)
{
	for (size_t i = 0; i < cli->args.n; i++) {
		struct ref ref;
		struct err ignored = {0};

		if (image_argument(cli->args.at[i], &cli->arena, &ref, &ignored) == 0 &&
		    ref.kind == REF_REGISTRY)
			return cli->args.at[i];
	}
	return NULL;
}

static int cmd_diff_run(struct cli *cli, struct err *err)
{
	const struct diff_options *o = cli->options;
	AUTO(remote) struct remote remote = {0};
	AUTO(image) struct image a = {0};
	AUTO(image) struct image b = {0};
	AUTO(json) cJSON *doc = NULL;
	struct descriptor root_a, root_b;
	struct budget budget = {.max_unpacked = o->max_unpacked};

	if (remote_from_options(cli, &o->remote, 0, registry_argument(cli), &remote, err) != 0 ||
	    open_side(cli, &remote, cli->args.at[0], &a, &root_a, err) != 0 ||
	    open_side(cli, &remote, cli->args.at[1], &b, &root_b, err) != 0)
		return -1;
	const struct diff_side side_a = {a.store, &root_a, cli->args.at[0]};
	const struct diff_side side_b = {b.store, &root_b, cli->args.at[1]};

	if (diff_images(&side_a, &side_b, &(struct diff_opts){&budget, o->bytes}, &doc, err) != 0)
		return err_wrap(err, "diff");
	if (cli_json(cli)) {
		cli_print_json(cli, doc);
	} else {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		diff_text(doc, &text);
		fputs(strbuf_str(&text), cli->out);
	}
	if (o->exit_code && !cJSON_IsTrue(json_get(doc, "equal")))
		return err_set(err, ERR_CONFLICT, "the images differ");
	return 0;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "Show which files and settings differ between two images",
	.synopsis = "A B",
	.details = "A and B are references as for inspect. Layers that both share are not read. "
		   "Exits 0 whether\n"
		   "or not they differ, unless --exit-code is given. --bytes is for images "
		   "that should be equal:\n"
		   "it reads both to the first byte that is not, and says whose it is.\n",
	.examples = "slipway diff oci:build/image registry.example.com/team/app:v1\tNew build "
		    "against release\n"
		    "slipway diff --bytes oci:one oci:two\tWhy two builds of a commit "
		    "differ\n",
	.options = OPTION_TABLE(struct diff_options, options),
	.min_args = 2,
	.max_args = 2,
	.run = cmd_diff_run,
};
