/*
 * slipway logs: the ranks of the job in the cluster, merged by time.
 */
#include <string.h>

#include "base/jsonw.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "builder/cli/cluster.h"
#include "k8s/deploy/collect.h"
#include "k8s/deploy/logs.h"

struct logs_options {
	struct cluster_options cluster;
	const char *rank;
	bool follow;
	const char *since;
	int64_t tail;
	bool previous;
};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct logs_options, cluster),
	TEXT_OPTION(struct logs_options, rank, "rank", 0, "N", "Only this rank's pod"),
	FLAG_OPTION(struct logs_options, follow, "follow", 'F', "Follow the logs while pods run"),
	TEXT_OPTION(struct logs_options, since, "since", 0, "DURATION",
                    "Only lines newer than this, as in 90s, 10m or 2h"),
	NUMBER_OPTION(struct logs_options, tail, "tail", 0, "LINES",
                      "Only the last lines of each rank"),
	FLAG_OPTION(struct logs_options, previous, "previous", 'p',
                    "Logs of the containers before their last restart"),
};

/* ---- options ---- */

static int parse_rank(const char *text, int64_t *ret, struct err *err)
{
	*ret = -1;
	if (text == NULL || (text_int64(text, strlen(text), ret) && *ret >= 0 && *ret < 1000000))
		return 0;
	err_set(err, ERR_USAGE, "--rank: '%s' is not a rank", text);
	return err_hint(err, "Write a whole number from 0 on; `slipway status` lists the ranks.");
}

/* What kubectl takes: whole numbers with a unit, one after another. */
static int check_since(const char *text, struct err *err)
{
	const char *at = text;

	if (text == NULL)
		return 0;
	while (*at != '\0') {
		size_t digits = strspn(at, "0123456789");

		if (digits == 0 || digits > 6 || at[digits] == '\0' ||
		    strchr("hms", at[digits]) == NULL)
			break;
		at += digits + 1;
	}
	if (*at == '\0' && at != text && strlen(text) < 24)
		return 0;
	err_set(err, ERR_USAGE, "--since: '%s' is not a duration", text);
	return err_hint(err, "Write it as 90s, 10m, 2h or 1h30m.");
}

/* ---- lines ---- */

struct printer {
	struct cli *cli;
	bool follow;
	int width; /* of the widest rank */
};

static const char *rank_text(const struct log_source *s, char out[24])
{
	if (s->rank < 0)
		snprintf(out, 24, "launcher");
	else
		snprintf(out, 24, "%lld", (long long)s->rank);
	return out;
}

static void print_text(struct printer *p, const struct log_source *s, const struct log_line *line)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(0);
	char rank[24];

	strbuf_addf(&out, "[%*s] ", p->width, rank_text(s, rank));
	strbuf_add(&out, line->text, line->len);
	if (line->cut)
		strbuf_adds(&out, " [cut]");
	strbuf_addc(&out, '\n');
	fputs(strbuf_str(&out), p->cli->out);
}

/* "2026-11-21T10:00:00.123456789Z" */
static void add_time(struct jsonw *w, int64_t ns)
{
	char seconds[TIMESTAMP_MAX], text[TIMESTAMP_MAX + 16];
	size_t len;

	jsonw_key(w, "time");
	if (ns <= 0) {
		jsonw_null(w);
		return;
	}
	len = strlen(timestamp_extended(ns / 1000000, seconds)) - 1;
	snprintf(text, sizeof(text), "%.*s.%09lldZ", (int)len, seconds,
	         (long long)(ns % 1000000000));
	jsonw_string(w, text);
}

static void print_json(struct printer *p, const struct log_source *s, const struct log_line *line)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(0);
	struct jsonw w;

	jsonw_init(&w, &out, false);
	jsonw_begin_object(&w);
	jsonw_key(&w, "rank");
	if (s->rank >= 0)
		jsonw_int(&w, s->rank);
	else
		jsonw_null(&w);
	jsonw_key(&w, "pod");
	jsonw_string(&w, s->pod);
	add_time(&w, line->ns);
	jsonw_key(&w, "text");
	jsonw_string(&w, line->text);
	jsonw_key(&w, "cut");
	jsonw_bool(&w, line->cut);
	jsonw_end_object(&w);
	fprintf(p->cli->bytes, "%s\n", strbuf_str(&out));
	p->cli->json_printed = true;
}

static void print_line(void *ctx, const struct log_source *s, const struct log_line *line)
{
	struct printer *p = ctx;

	if (cli_json(p->cli))
		print_json(p, s, line);
	else
		print_text(p, s, line);
	if (p->follow) {
		fflush(p->cli->out);
		fflush(p->cli->bytes);
	}
}

static void tell_problem(void *ctx, const struct log_source *s, const char *text)
{
	struct printer *p = ctx;
	char rank[24];

	progress_note(p->cli->progress, "%s%s (%s): %s", s->rank < 0 ? "" : "rank ",
	              rank_text(s, rank), s->pod, text);
}

/* ---- the command ---- */

static int find_sources(struct cli *cli, const char *wanted, struct cluster *c, cJSON **ret_pods,
                        struct log_source **ret, size_t *ret_n, struct err *err)
{
	const struct fleet *fleet = &c->spec->fleet;
	AUTO(snapshot) struct snapshot shot = {0};
	int64_t rank;

	if (parse_rank(wanted, &rank, err) != 0 ||
	    snapshot_jobs(&c->kubectl.base, fleet, &shot, err) != 0)
		return -1;
	const struct fleet_target *target = status_target(fleet, shot.owned);

	if (target == NULL) {
		err_set(err, ERR_NOT_FOUND, "the cluster has no job of '%s'", fleet->name);
		return err_hint(err,
		                "`slipway deploy` starts it; `slipway status` shows the fleet.");
	}
	if (job_pods(&c->kubectl.base, fleet, target, ret_pods, err) != 0)
		return -1;
	*ret_n = log_sources(*ret_pods, target->job, rank, &cli->arena, ret);
	if (*ret_n > 0)
		return 0;
	if (rank >= 0)
		err_set(err, ERR_NOT_FOUND, "the job '%s' has no pod of rank %lld", target->job,
		        (long long)rank);
	else
		err_set(err, ERR_NOT_FOUND, "the job '%s' has no pods", target->job);
	return err_hint(err, "`slipway status` shows what it waits for.");
}

static int read_logs(struct cli *cli, const struct logs_options *o, struct cluster *c,
                     const struct log_source *sources, size_t n, struct err *err)
{
	struct printer printer = {.cli = cli, .follow = o->follow};
	struct logs_opts opts = {
		.namespace = c->spec->fleet.namespace,
		.follow = o->follow,
		.previous = o->previous,
		.since = o->since,
		.tail = o->tail > 0 ? o->tail : -1,
		.ctx = &printer,
		.line = print_line,
		.problem = tell_problem,
	};

	for (size_t i = 0; i < n; i++) {
		char rank[24];
		int width = (int)strlen(rank_text(&sources[i], rank));

		printer.width = width > printer.width ? width : printer.width;
	}
	if (logs_run(&c->kubectl, sources, n, &opts, err) == 0)
		return 0;
	/* Ctrl-C is how a person ends --follow. */
	return o->follow && err->code == ERR_INTERRUPTED ? 0 : -1;
}

static int cmd_logs_run(struct cli *cli, struct err *err)
{
	const struct logs_options *o = cli->options;
	AUTO(json) cJSON *pods = NULL;
	struct log_source *sources = NULL;
	struct cluster c;
	size_t n = 0;

	if (check_since(o->since, err) != 0 || cluster_open(cli, &o->cluster, &c, err) != 0 ||
	    find_sources(cli, o->rank, &c, &pods, &sources, &n, err) != 0 ||
	    read_logs(cli, o, &c, sources, n, err) != 0)
		return err_wrap(err, "logs");
	return 0;
}

const struct command cmd_logs = {
	.name = "logs",
	.summary = "Show the logs of the job's ranks, merged by time",
	.synopsis = "",
	.details = "Reads the logs of the job's pods through kubectl and prints their lines "
		   "ordered by time, each after its rank. A rank whose log cannot be read is named "
		   "on standard error and the others are shown; when none can be read the command "
		   "fails. Lines longer than 16 KiB are cut.\n\n"
		   "With --follow it waits for pods that have not started; Ctrl-C ends it with "
		   "exit status 0. With --output json each line is an object: rank, pod, time, "
		   "text, cut.\n",
	.examples = "slipway logs --tail 20\tThe last lines of each rank\n"
		    "slipway logs --follow --rank 0\tFollow one rank\n"
		    "slipway logs --previous\tLogs from before a restart\n",
	.options = OPTION_TABLE(struct logs_options, options),
	.run = cmd_logs_run,
};
