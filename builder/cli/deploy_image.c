#include "builder/cli/deploy_image.h"

#include <string.h>

#include "builder/cli/deploy_trust.h"
#include "builder/image/image.h"

void deploy_image_done(struct deploy_image *d)
{
	remote_done(&d->remote);
}

/* Once: a password on standard input can be read once. */
static int connect_for(struct deploy_image *d, const char *reference, struct err *err)
{
	if (d->connected)
		return 0;
	if (remote_from_options(d->cli, &d->options->remote, 0, reference, &d->remote, err) != 0)
		return -1;
	d->connected = true;
	return 0;
}

/* ---- the job's image, by digest ---- */

/* As if --set had been given once more. */
static void pin_digest(struct deploy_image *d, const char *digest)
{
	struct strlist *set = &d->options->cluster.spec.set;
	const char **at = arena_calloc(&d->cli->arena, set->n + 1, sizeof(*at));

	if (set->n > 0)
		memcpy(at, set->at, set->n * sizeof(*at));
	at[set->n] = arena_printf(&d->cli->arena, "job.digest=%s", digest);
	*set = (struct strlist){at, set->n + 1};
}

/* What the tag names now; `ready`: the image is not one that the spec describes. */
static int resolve_digest(struct deploy_image *d, const char *text, bool ready, const char **ret,
                          struct err *err)
{
	AUTO(image) struct image image = {0};
	struct cli *cli = d->cli;
	struct descriptor root;
	char digest[DIGEST_TEXT_MAX];

	if (connect_for(d, text, err) != 0 ||
	    image_open(&d->remote, text, &cli->arena, &image, err) != 0 ||
	    image_root(&image, &cli->arena, &root, err) != 0) {
		err_wrap(err, "find the digest of '%s'", text);
		return err_hint(err, "%s, or give its digest with --image-digest.",
		                ready ? "Look whether job.image is right, and whether this machine "
		                        "may pull it"
		                      : "Push the image first (`slipway push`)");
	}
	*ret = arena_strdup(&cli->arena, digest_text(&root.digest, digest));
	return 0;
}

static int open_cluster(struct deploy_image *d, struct err *err)
{
	if (cluster_open(d->cli, &d->options->cluster, d->cluster, err) != 0)
		return -1;
	d->cluster->opts.force_conflicts = d->options->force_conflicts;
	cluster_outlast(d->cluster);
	return 0;
}

static bool asks_nobody(const struct deploy_image *d)
{
	return d->options->dry_run != NULL && strcmp(d->options->dry_run, "client") == 0;
}

int deploy_image_open(struct deploy_image *d, struct err *err)
{
	const char *digest = d->options->image_digest;

	if (digest != NULL)
		pin_digest(d, digest);
	if (open_cluster(d, err) != 0)
		return -1;
	const struct fleet *fleet = &d->cluster->spec->fleet;

	if (asks_nobody(d) || !fleet->job->set || fleet->image == NULL ||
	    strchr(fleet->image, '@') != NULL)
		return 0;
	if (resolve_digest(d, fleet->image, fleet->job->image != NULL, &digest, err) != 0)
		return -1;
	pin_digest(d, digest);
	return open_cluster(d, err);
}

/* ---- whether it is trusted ---- */

static int begin_trust(struct deploy_image *d, cJSON *result, struct deploy_trust *t,
                       struct err *err)
{
	const struct spec *spec = d->cluster->spec;

	if (connect_for(d, spec->fleet.image, err) != 0)
		return -1;
	trust_gate_init(&t->gate, d->cli, spec, &d->remote);
	t->rows = json_add_array(result, "trust");
	t->quiet = cli_json(d->cli) || d->options->diff || d->cli->live;
	t->in_cluster = d->options->in_cluster;
	return 0;
}

/* Whoever only asks learns the rest as well. */
static int end_trust(struct deploy_image *d, struct deploy_trust *t, int rc, struct err *err)
{
	bool dry_run = d->options->diff || d->options->dry_run != NULL;

	if (rc == 0)
		rc = trust_gate_verdict(&t->gate, dry_run ? &d->refused : err);
	trust_gate_done(&t->gate);
	return rc == 0 || d->refused.code != ERR_NONE ? 0 : -1;
}

/* The images of what is rendered, which are pinned, or those that a release recorded. */
static int hold_trust(struct deploy_image *d, struct k8s_output *out, const cJSON *release,
                      cJSON *result, struct err *err)
{
	struct deploy_trust t = {0};

	if (d->cluster->spec->n_trust == 0)
		return 0;
	if (begin_trust(d, result, &t, err) != 0)
		return -1;
	return end_trust(d, &t,
	                 out != NULL ? deploy_trust_pin(&t, out, err)
	                             : deploy_trust_recorded(&t, release, err),
	                 err);
}

int deploy_image_trust(struct deploy_image *d, struct k8s_output *out, cJSON *result,
                       struct err *err)
{
	return hold_trust(d, out, NULL, result, err);
}

int deploy_image_trust_run(struct deploy_image *d, const cJSON *release, cJSON *result,
                           struct err *err)
{
	return hold_trust(d, NULL, release, result, err);
}

int deploy_image_end(const struct deploy_image *d, struct err *err)
{
	if (d->refused.code == ERR_NONE)
		return 0;
	*err = d->refused;
	return -1;
}
