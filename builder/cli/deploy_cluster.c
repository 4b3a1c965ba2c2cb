#include "builder/cli/deploy_cluster.h"

#include <string.h>

#include "base/slurp.h"
#include "k8s/deploy/incluster.h"
#include "k8s/deploy/placement.h"

enum { WORDS_MAX = 16, SPEC_MAX = 512 << 10 };

static int read_spec(const struct cluster *cluster, struct strbuf *ret, struct err *err)
{
	return slurp_file(cluster->spec->file, SPEC_MAX, ret, err);
}

int deploy_cluster_check(const struct cluster *cluster, struct err *err)
{
	const char *image = cluster->spec->fleet.failover.image;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SPEC_MAX);

	if (image == NULL || strstr(image, "@sha256:") == NULL) {
		err_set(err, ERR_USAGE, "--in-cluster: fleet.failover.image %s",
		        image == NULL ? "is not set" : "has no digest");
		return err_hint(err,
		                "It must name an image with slipway and kubectl, as in "
		                "REPOSITORY@sha256:...; docs/DEPLOY.md shows how to build one.");
	}
	if (read_spec(cluster, &text, err) != 0)
		return -1;
	bool env = strstr(strbuf_str(&text), "${env:") != NULL;

	if (!env && strstr(strbuf_str(&text), "${git:") == NULL)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "--in-cluster: '%s' reads %s, which the pod does not have",
	        cluster->spec->file, env ? "environment variables" : "a git repository");
	return err_hint(err, "Write the values in place of ${%s:...}.", env ? "env" : "git");
}

int deploy_cluster_take_over(const struct deploy_cluster *d, struct lease *lease, struct err *err)
{
	const struct apply_opts *opts = &d->cluster->opts;
	bool stopped = false;

	for (const cJSON *o = d->owned->child; o != NULL; o = o->next) {
		if (kind_of(o)->leave != LEAVE_JOB || !is_deploys_own(o))
			continue;
		stopped = true;
		if (object_delete(&lease->base, o, opts, err) != 0)
			return -1;
	}
	return lease_take(lease, stopped ? opts->deadline_ms : 0, err);
}

/* What the Job runs: this deploy's own options, but for those about this machine. */
static struct strlist words(const struct deploy_options *o, bool trust, struct arena *a)
{
	const struct strlist *set = &o->cluster.spec.set;
	const char **at = arena_calloc(a, WORDS_MAX + 2 * set->n, sizeof(*at));
	size_t n = 0;

	at[n++] = "deploy";
	at[n++] = "--job-only";
	at[n++] = "--wait";
	at[n++] = "--file";
	at[n++] = CONTROLLER_SPEC_DIR "/slipway.yaml";
	at[n++] = "--interval";
	at[n++] = o->interval;
	if (o->keep_trying)
		at[n++] = "--keep-trying";
	if (o->no_failover)
		at[n++] = "--no-failover";
	if (o->force_conflicts)
		at[n++] = "--force-conflicts";
	if (o->job != NULL) {
		at[n++] = "--job";
		at[n++] = o->job;
	}
	for (size_t i = 0; i < set->n; i++) {
		at[n++] = "--set";
		at[n++] = set->at[i];
	}
	/* This deploy has looked, and all that it starts there is named by digest. */
	if (trust) {
		at[n++] = "--set";
		at[n++] = "trust=[]";
	}
	return (struct strlist){at, n};
}

int deploy_cluster_start(const struct deploy_cluster *d, struct lease *lease,
                         struct apply_counts *ret, struct err *err)
{
	const struct fleet *fleet = &d->cluster->spec->fleet;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SPEC_MAX);
	AUTO(k8s_output) struct k8s_output out = {0};
	struct stage rights, job;
	struct apply_counts counts;
	int rc = -1;

	if (read_spec(d->cluster, &text, err) != 0)
		return -1;
	struct controller_opts opts = {d->out, fleet->failover.image, strbuf_str(&text),
	                               words(d->options, d->cluster->spec->n_trust > 0, d->arena)};

	controller_render(fleet, &opts, &out, &rights, &job);
	if (stage_apply(&lease->base, &rights, &d->cluster->opts, ret, err) == 0) {
		/* From here on it is the Job's. */
		lease_release(lease, false);
		rc = stage_apply(&lease->base, &job, &d->cluster->opts, &counts, err);
	}
	stage_done(&rights);
	stage_done(&job);
	if (rc == 0)
		ret->created += counts.created;
	return rc;
}
