/*
 * slipway status: what the fleet in the cluster does now, and what it costs.
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/timestamp.h"
#include "builder/cli/cluster.h"
#include "builder/cli/price_option.h"
#include "builder/cli/progress_view.h"
#include "builder/cli/renderers.h"
#include "builder/cli/terminal.h"
#include "k8s/deploy/collect.h"
#include "k8s/deploy/found.h"

enum { INTERVAL_SECONDS = 10 };

struct status_options {
	struct cluster_options cluster;
	const char *prices;
	bool watch;
	int64_t interval;
};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct status_options, cluster),
	PRICE_OPTION(struct status_options, prices),
	FLAG_OPTION(struct status_options, watch, "watch", 'w',
                    "Repeat until the job has ended; without a terminal print changes only"),
	NUMBER_OPTION(struct status_options, interval, "interval", 0, "SECONDS",
                      "Time between updates with --watch (default 10)"),
};

/* What lasts from one look to the next. */
struct watch {
	struct cli *cli;
	const struct status_options *options;
	struct cluster cluster;
	struct k8s_output out;
	struct prices prices;
	bool priced;
	struct strbuf said; /* status_brief of the look before */
};

static void watch_done(struct watch *w)
{
	k8s_output_done(&w->out);
	strbuf_done(&w->said);
}

static enum exit_status verdict_of(const struct status *s)
{
	switch (s->phase) {
	case JOB_RUNNING:
	case JOB_SUCCEEDED:
		return EXIT_OK;
	case JOB_FAILED:
		return EXIT_JOB;
	case JOB_WAITING:
		return EXIT_WAITING;
	case JOB_ABSENT:
	case JOB_PHASES:
		break;
	}
	for (size_t i = 0; i < s->n_stages; i++)
		if (s->stages[i].there > 0)
			return EXIT_WAITING;
	return EXIT_ABSENT;
}

/* ---- what is said ---- */

static void say_json(struct cli *cli, bool watched, const struct status *s)
{
	AUTO(json) cJSON *doc = status_json(s);
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);

	if (!watched) {
		cli_print_json(cli, doc);
		return;
	}
	json_print(doc, &line);
	fprintf(cli->out, "%s\n", strbuf_str(&line));
	cli->json_printed = true;
}

static void say_changes(struct watch *w, const struct status *s)
{
	AUTO(strbuf) struct strbuf now = STRBUF_INIT(0), text = STRBUF_INIT(0);
	char stamp[TIMESTAMP_MAX];

	status_brief(s, &now);
	status_changes(strbuf_str(&w->said), strbuf_str(&now), timestamp_extended(s->now_ms, stamp),
	               &text);
	strbuf_reset(&w->said);
	strbuf_adds(&w->said, strbuf_str(&now));
	fputs(strbuf_str(&text), w->cli->out);
}

/* Home, text, clear what is left of the screen: no flicker. */
static void redraw(struct cli *cli, const char *text)
{
	terminal_control(cli->out, stdout, "\033[H");
	for (; *text != '\0'; text += strcspn(text, "\n") + 1) {
		fprintf(cli->out, "%.*s", (int)strcspn(text, "\n"), text);
		terminal_control(cli->out, stdout, "\033[K\n");
	}
	terminal_control(cli->out, stdout, "\033[J");
}

static void say_status(struct watch *w, const struct status *s)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct cli *cli = w->cli;

	if (cli_json(cli)) {
		say_json(cli, w->options->watch, s);
	} else if (w->options->watch && !isatty(STDOUT_FILENO)) {
		say_changes(w, s);
	} else {
		status_text(s, &text);
		if (w->options->watch)
			redraw(cli, strbuf_str(&text));
		else
			fputs(strbuf_str(&text), cli->out);
	}
	fflush(cli->out);
}

/* ---- looking ---- */

/* What others installed is not missing. Where that cannot be told, it counts as missing. */
static void leave_found_out(struct kubectl *k, const struct fleet *fleet, struct stage_list *stages,
                            const cJSON *owned)
{
	AUTO(json) cJSON *used = cJSON_CreateArray();
	struct err ignored = {0};
	int rc = 0;

	if (stages_lack_shared(stages, owned))
		rc = stages_use_found(k, fleet, stages, used, &ignored);
	(void)rc;
}

static int look_at_job(struct watch *w, enum job_phase *ret_phase, struct err *err)
{
	AUTO(arena) struct arena arena = {0};
	AUTO(snapshot) struct snapshot shot = {0};
	AUTO(stage_list) struct stage_list stages = {0};
	const struct fleet *fleet = &w->cluster.spec->fleet;
	struct kubectl *k = &w->cluster.kubectl.base;
	struct status s;

	if (snapshot_take(k, &w->out, &arena, &shot, err) != 0)
		return -1;
	const struct fleet_target *target = status_target(fleet, shot.owned);

	if (target == NULL && fleet->n_targets > 0)
		target = &fleet->targets[0];
	stages_plan(&w->out, target != NULL ? target->name : "", &stages);
	leave_found_out(k, fleet, &stages, shot.owned);
	struct status_input in = {
		.fleet = fleet,
		.stages = &stages,
		.resources = shot.resources,
		.owned = shot.owned,
		.nodes = shot.nodes,
		.pods = shot.pods,
		.pulled = shot.pulled,
		.log = strbuf_str(&shot.log),
		.log_head = strbuf_str(&shot.head),
		.compile_log = strbuf_str(&shot.compiling),
		.log_problem = shot.log_problem,
		.prices = w->priced ? &w->prices : NULL,
		.now_ms = k->clock->now_ms(k->clock),
	};

	status_read(&in, &arena, &s);
	say_status(w, &s);
	w->cli->verdict = verdict_of(&s);
	*ret_phase = s.phase;
	return 0;
}

static int64_t interval_ms(const struct status_options *o)
{
	int64_t seconds = o->interval > 0 ? o->interval : INTERVAL_SECONDS;

	return (seconds > 3600 ? 3600 : seconds) * 1000;
}

/* A lost connection is no reason to stop watching. */
static int watch_job(struct watch *w, struct err *err)
{
	struct kubectl *k = &w->cluster.kubectl.base;
	enum job_phase phase = JOB_ABSENT;

	if (!cli_json(w->cli) && isatty(STDOUT_FILENO))
		terminal_control(w->cli->out, stdout, "\033[2J");
	while (phase != JOB_SUCCEEDED && phase != JOB_FAILED) {
		struct err now = {0};

		if (look_at_job(w, &phase, &now) != 0 && now.code != ERR_NETWORK) {
			/* Ctrl-C is how a person ends it. */
			if (now.code == ERR_INTERRUPTED)
				return 0;
			w->cli->verdict = EXIT_OK;
			*err = now;
			return -1;
		}
		if (now.code == ERR_NETWORK)
			progress_note(w->cli->progress, "%s", now.msg);
		if (phase != JOB_SUCCEEDED && phase != JOB_FAILED)
			k->clock->sleep_ms(k->clock, interval_ms(w->options));
		if (interrupt_requested())
			return 0;
	}
	return 0;
}

static int cmd_status_run(struct cli *cli, struct err *err)
{
	const struct status_options *o = cli->options;
	AUTO(watch) struct watch w = {.cli = cli, .options = o, .said = STRBUF_INIT(0)};
	enum job_phase phase;

	if (cluster_open(cli, &o->cluster, &w.cluster, err) != 0 ||
	    price_option(cli, o->prices, &w.prices, &w.priced, err) != 0 ||
	    k8s_render(&renderers, &w.cluster.spec->fleet, NULL, &w.out, err) != 0 ||
	    (o->watch ? watch_job(&w, err) : look_at_job(&w, &phase, err)) != 0)
		return err_wrap(err, "status");
	return 0;
}

const struct command cmd_status = {
	.name = "status",
	.summary = "Show the state and the cost of the fleet in a cluster",
	.synopsis = "",
	.details = "Shows the stages, the target in use and why, its job and pods, the last step "
		   "with loss and throughput, the age of the checkpoint if the log shows it, "
		   "nodes, and the cost per hour from --prices. What is not known is shown as "
		   "unknown. Nothing in the cluster is changed.\n\n"
		   "Exits 0 when the job runs or has succeeded, 8 when it has failed, 9 when "
		   "something is deployed but the job does not run yet, 10 when nothing is "
		   "deployed; 1 to 5 as for every command. With --watch it ends with the job, or "
		   "at Ctrl-C.\n",
	.examples = "slipway status --prices prices.yaml\tOnce, with the cost\n"
		    "slipway status --watch --interval 30\tUntil the job has ended\n"
		    "slipway status --output json\tAs JSON\n",
	.options = OPTION_TABLE(struct status_options, options),
	.run = cmd_status_run,
};
