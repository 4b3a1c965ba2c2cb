#include "builder/cli/deploy_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"
#include "k8s/deploy/run_plan.h"

/* "500ms", "5s", "2m" */
static bool parse_interval(const char *text, int64_t *ret_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
	size_t digits = strspn(text, "0123456789");
	int64_t value;

	if (digits == 0 || digits > 6 || !text_int64(text, digits, &value))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(text + digits, units[i].unit) == 0) {
			*ret_ms = value * units[i].ms;
			return true;
		}
	return false;
}

int deploy_job_check(const struct deploy_options *o, struct err *err)
{
	int64_t ms;

	if (o->wait && o->no_wait)
		return err_set(err, ERR_USAGE, "--wait and --no-wait contradict each other");
	if (o->in_cluster && (o->job_only || o->no_wait || o->dry_run != NULL)) {
		err_set(err, ERR_USAGE,
		        "--in-cluster cannot be combined with --job-only, --no-wait or --dry-run");
		return err_hint(err, "It returns at once, and the Job in the cluster waits "
		                     "until the end.");
	}
	if (o->keep_trying && o->no_wait) {
		err_set(err, ERR_USAGE, "--keep-trying and --no-wait contradict each other");
		return err_hint(err, "Leave --no-wait out; --in-cluster lets the cluster do the "
		                     "waiting.");
	}
	if (o->keep_trying && (o->no_failover || o->job != NULL)) {
		err_set(err, ERR_USAGE, "--keep-trying tries all targets, and --job names one");
		return err_hint(err, "Without --keep-trying, deploy waits for the one target "
		                     "until --timeout.");
	}
	if (!parse_interval(o->interval, &ms)) {
		err_set(err, ERR_USAGE, "--interval: '%s' is not a duration", o->interval);
		return err_hint(err, "Write 500ms, 5s or 2m.");
	}
	return 0;
}

static void tell_target(void *listener, const char *target, const char *text)
{
	struct cli *cli = listener;

	if (cli_json(cli))
		return;
	fprintf(cli->out, "%-11s %s\n", target, text);
	fflush(cli->out);
}

/* What was tried in this round, when it was more than the target in use. */
static void print_attempts(struct cli *cli, const struct state *s)
{
	size_t first = s->n;
	char text[TIMESTAMP_MAX];

	while (first > 0 && s->attempts[first - 1].cycle == s->cycle)
		first--;
	if (cli_json(cli) || s->n - first < 2)
		return;
	fprintf(cli->out, "\n%-7s %-20s  %-8s  %-11s  %s\n", "TARGET", "STARTED", "LASTED",
	        "OUTCOME", "CAUSE");
	for (size_t i = first; i < s->n; i++) {
		const struct attempt *a = &s->attempts[i];
		long long lasted = a->ended_ms != 0 ? (a->ended_ms - a->started_ms) / 1000 : -1;

		fprintf(cli->out, "%-7s %-20s  ", a->target,
		        timestamp_extended(a->started_ms, text));
		if (lasted >= 0)
			fprintf(cli->out, "%6lld s  ", lasted);
		else
			fprintf(cli->out, "%8s  ", "-");
		fprintf(cli->out, "%-11s  %s\n", attempt_outcome_names[a->outcome], a->cause);
	}
	fflush(cli->out);
}

int deploy_job_run(const struct deploy_job *d, struct lease *lease, struct placement *ret,
                   struct err *err)
{
	const struct deploy_options *o = d->options;
	const struct fleet *fleet = &d->cluster->spec->fleet;
	struct placement_opts opts = {
		.fleet = fleet,
		.release = d->release,
		.ahead = d->ahead,
		.image = fleet->image,
		.reason = d->reason,
		.pinned = o->job,
		.may_move = o->job == NULL && !o->no_failover && fleet->failover.enabled,
		.keep_trying = o->keep_trying,
		.until = o->wait      ? UNTIL_ENDED
	                 : o->no_wait ? UNTIL_STARTED
	                              : UNTIL_RUNNING,
		.timed = o->cluster.timeout > 0,
		.apply = d->cluster->opts,
		.tell = tell_target,
		.listener = d->cli,
	};
	int rc;

	if (!parse_interval(o->interval, &opts.interval_ms))
		BUG("--interval was not checked");
	rc = placement_run(lease, &opts, ret, err);
	cJSON_AddItemToObject(d->result, "state", state_json(&ret->state));
	if (ret->run > 0)
		json_add_int(d->result, "run", ret->run);
	json_add_int(d->result, "moves", (int64_t)ret->moves);
	if (ret->moves > 0 || rc != 0)
		print_attempts(d->cli, &ret->state);
	return rc;
}

int deploy_job_preview(const struct deploy_job *d, struct kubectl *k, const char *target,
                       const cJSON *live, struct apply_counts *ret, struct err *err)
{
	const struct fleet *fleet = &d->cluster->spec->fleet;
	struct run_preview preview = {
		.namespace = fleet->namespace,
		.fleet = fleet->name,
		.target = target,
		.release = d->release,
		.live = live,
		.changes = cJSON_GetObjectItemCaseSensitive(d->result, "changes"),
		.apply = d->cluster->opts,
	};

	return run_preview(k, &preview, ret, err);
}
