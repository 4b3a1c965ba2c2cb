/*
 * slipway neff: modules compiled for Trainium go with the image that runs them.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/image/image.h"
#include "builder/neff/neff.h"

struct neff_options {
	bool allow_none;
	struct strlist module;
	struct remote_options remote;
};

static const struct option options[] = {
	LIST_OPTION(struct neff_options, module, "module", 0, "KEY",
                    "Only this module, as in MODULE_1f0c...+9ab2...; may be repeated"),
	FLAG_OPTION(struct neff_options, allow_none, "allow-none", 0,
                    "pull: an image without modules is no error"),
	REMOTE_OPTIONS(struct neff_options, remote),
};

/* The image, open for reading, and for attaching where that is wanted. */
struct neff_place {
	struct remote remote;
	struct image image;
	struct attach_place attach;
	struct descriptor root;
};

static void neff_place_done(struct neff_place *p)
{
	layout_close(p->attach.layout);
	image_done(&p->image);
	remote_done(&p->remote);
}

static int open_image(struct cli *cli, const char *ref, struct neff_place *p, struct err *err)
{
	const struct neff_options *o = cli->options;

	return remote_from_options(cli, &o->remote, 0, ref, &p->remote, err) != 0 ||
	                       image_open_argument(&p->remote, ref, &cli->arena, &p->image, err) !=
	                               0 ||
	                       image_root(&p->image, &cli->arena, &p->root, err) != 0
	               ? -1
	               : 0;
}

/* ---- the report ---- */

static void print_json(struct cli *cli, const struct neff_place *p, const struct neff_list *list)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	char digest[DIGEST_TEXT_MAX];
	cJSON *modules;

	json_add_string(doc, "digest", digest_text(&p->root.digest, digest));
	modules = json_add_array(doc, "modules");
	for (size_t i = 0; i < list->n; i++) {
		const struct neff_module *m = &list->at[i];
		cJSON *one = cJSON_CreateObject();

		json_add_string(one, "module", m->key);
		json_add_string(one, "compiler", m->compiler);
		json_add_string(one, "digest", digest_text(&m->manifest.digest, digest));
		json_add_int(one, "size", neff_size(m));
		json_add_bool(one, "moved", m->moved);
		json_push(modules, one);
	}
	cli_print_json(cli, doc);
}

/* `moved` says what was done with those that were not there: "sent". */
static void print_text(struct cli *cli, const struct neff_place *p, const struct neff_list *list,
                       const char *moved)
{
	char digest[DIGEST_TEXT_MAX], size[TEXT_BYTES_MAX];

	for (size_t i = 0; i < list->n; i++) {
		const struct neff_module *m = &list->at[i];

		fprintf(cli->out, "%s  %s  %s%s%s\n", m->key, m->compiler,
		        text_bytes(neff_size(m), size), moved != NULL ? "  " : "",
		        moved == NULL ? ""
		        : m->moved    ? moved
		                      : "was there");
	}
	fprintf(cli->out, "%s\n", digest_text(&p->root.digest, digest));
}

static void print_result(struct cli *cli, const struct neff_place *p, const struct neff_list *list,
                         const char *moved)
{
	if (cli_json(cli))
		print_json(cli, p, list);
	else
		print_text(cli, p, list, moved);
}

/* ---- the actions ---- */

static int check_modules(const struct strlist *modules, struct err *err)
{
	for (size_t i = 0; i < modules->n; i++)
		if (!neff_is_key(modules->at[i])) {
			err_set(err, ERR_USAGE, "--module: '%.160s' is not the key of a module",
			        modules->at[i]);
			return err_hint(err, "`slipway neff list REF` shows the keys.");
		}
	return 0;
}

static int push(struct cli *cli, struct neff_place *p, struct err *err)
{
	const struct neff_options *o = cli->options;
	const char *dir = cli->args.at[1];
	struct neff_list all, list;

	if (neff_folder_list(dir, &cli->arena, &all, err) != 0)
		return -1;
	if (neff_choose(&all, &o->module, &cli->arena, &list, err) != 0)
		return err_wrap(err, "folder '%s'", dir);
	if (open_image(cli, cli->args.at[2], p, err) != 0 ||
	    image_open_writing(&p->image, &p->attach, err) != 0 ||
	    neff_push(&p->attach, p->image.store, &p->root, dir, &list, &cli->arena, err) != 0)
		return err_wrap(err, "image '%s'", cli->args.at[2]);
	print_result(cli, p, &list, "sent");
	return 0;
}

static int read_list(struct cli *cli, struct neff_place *p, struct neff_list *ret, struct err *err)
{
	const struct neff_options *o = cli->options;
	struct neff_list all;

	return open_image(cli, cli->args.at[1], p, err) != 0 ||
	                       neff_image_list(p->image.store, &p->root.digest, &cli->arena, &all,
	                                       err) != 0 ||
	                       neff_choose(&all, &o->module, &cli->arena, ret, err) != 0
	               ? -1
	               : 0;
}

static int none(struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "it has no compiled modules");
	return err_hint(err, "Compile them, where neuronx-cc is: slipway-trainer compile "
	                     "--cache_dir DIR and the words of the run; then slipway neff push "
	                     "DIR REF.");
}

static int pull(struct cli *cli, struct neff_place *p, struct err *err)
{
	const struct neff_options *o = cli->options;
	struct neff_list list;

	if (read_list(cli, p, &list, err) != 0 ||
	    (list.n == 0 && !o->allow_none && none(err) != 0) ||
	    neff_pull(p->image.store, cli->args.at[2], &list, cli->progress, err) != 0)
		return err_wrap(err, "image '%s'", cli->args.at[1]);
	print_result(cli, p, &list, "fetched");
	return 0;
}

static int list(struct cli *cli, struct neff_place *p, struct err *err)
{
	struct neff_list found;

	if (read_list(cli, p, &found, err) != 0)
		return err_wrap(err, "image '%s'", cli->args.at[1]);
	print_result(cli, p, &found, NULL);
	return 0;
}

static const struct command_action actions[] = {
	{"push", "DIR REF", 2, 2},
	{"pull", "REF DIR", 2, 2},
	{"list", "REF", 1, 1},
	{0},
};
static int (*const runs[])(struct cli *cli, struct neff_place *p, struct err *err) = {push, pull,
                                                                                      list};
_Static_assert(ARRAY_LEN(actions) == ARRAY_LEN(runs) + 1, "runs: one for each action");

static int cmd_neff_run(struct cli *cli, struct err *err)
{
	AUTO(neff_place) struct neff_place place = {0};
	const struct neff_options *o = cli->options;

	return check_modules(&o->module, err) == 0 ? runs[cli->action](cli, &place, err) : -1;
}

const struct command cmd_neff = {
	.name = "neff",
	.summary = "Attach modules compiled for Trainium to an image, or fetch them",
	.details =
		"DIR is a cache folder of `slipway-trainer compile`, in the layout of AWS's own "
		"cache. `push` attaches each of its modules to the image REF as an artifact of its "
		"own, a referrer that signatures, copies and ECR's life cycle go with; what the "
		"image has already is not sent. `pull` writes the modules of an image into DIR, "
		"each whole or not at all, every digest verified; what is in DIR already is not "
		"fetched. `list` shows what an image has.\n\n"
		"REF is as for inspect. A module belongs to the digest: attach it to the index "
		"that the job runs. What runs on the devices is decided by who may push to the "
		"repository, as with the image itself.\n",
	.examples =
		"slipway neff push /data/neff 123456789012.dkr.ecr.us-west-2.amazonaws.com/app:v1"
		"\tAttach what was compiled\n"
		"slipway neff pull registry.example.com/team/app:v1 /cache\tBefore a run\n"
		"slipway neff list --output json registry.example.com/team/app:v1\tWhat there is\n",
	.options = OPTION_TABLE(struct neff_options, options),
	.actions = actions,
	.run = cmd_neff_run,
};
