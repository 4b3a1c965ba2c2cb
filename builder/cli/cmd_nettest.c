/*
 * slipway nettest: judges the log of an NCCL all-reduce (parse), or of one that it starts (run).
 */
#include <string.h>

#include "base/slurp.h"
#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/nettest_run.h"
#include "k8s/nettest/nettest.h"
#include "k8s/view/explain.h"

struct nettest_options {
	const char *target;
	struct cluster_options cluster; /* parse reads the spec alone, for --target */
	const char *instance;
	int64_t floor;
	bool allow_tcp, keep;
};

static const struct option options[] = {
	TEXT_OPTION(struct nettest_options, target, "target", 0, "NAME",
                    "Run on this target (default: the first by weight), and judge by its floor, "
                    "from the spec or its instance type"),
	CLUSTER_OPTIONS(struct nettest_options, cluster),
	TEXT_OPTION(struct nettest_options, instance, "instance", 0, "TYPE",
                    "Judge by this instance type's network, as in p4d.24xlarge"),
	NUMBER_OPTION(struct nettest_options, floor, "floor", 0, "GB/S",
                      "Bus bandwidth to reach at the largest size, in GB/s"),
	FLAG_OPTION(struct nettest_options, allow_tcp, "allow-tcp", 0,
                    "Accept a run that did not use EFA"),
	FLAG_OPTION(struct nettest_options, keep, "keep", 0,
                    "Leave the test and its pods in the cluster"),
};

static int floor_of_target(struct cli *cli, const struct nettest_options *o, double *ret_gbps,
                           struct err *err)
{
	struct spec *spec;

	if (spec_from_options(cli, &o->cluster.spec, &spec, err) != 0)
		return -1;
	const struct fleet_target *t = fleet_target_find(&spec->fleet, o->target);

	if (t == NULL) {
		err_set(err, ERR_USAGE, "--target: the fleet has no target '%s'", o->target);
		return err_hint(err, "`slipway explain` lists the targets.");
	}
	int64_t floor = spec->sections.job.network_test.floor_gbps;

	*ret_gbps = floor > 0 ? (double)floor : nettest_floor_of(t->shape);
	return 0;
}

static int floor_of_instance(const char *type, double *ret_gbps, struct err *err)
{
	const struct instance *i = instance_find(type);
	const char *near = instance_nearest(type);

	if (i == NULL) {
		err_set(err, ERR_USAGE, "--instance: no instance type is called '%s'", type);
		return near != NULL ? err_hint(err, "Did you mean '%s'?", near)
		                    : err_hint(err, "`slipway instances` lists them.");
	}
	*ret_gbps = nettest_floor_of(i);
	if (*ret_gbps > 0)
		return 0;
	err_set(err, ERR_USAGE, "--instance: %s has no EFA, so there is no floor to judge by",
	        type);
	return err_hint(err, "`slipway instances --efa` lists the types with EFA.");
}

static int floor_from_options(struct cli *cli, struct nettest_floor *floor, struct err *err)
{
	const struct nettest_options *o = cli->options;

	floor->allow_tcp = o->allow_tcp;
	floor->gbps = (double)o->floor;
	if (o->floor > 0)
		return 0;
	if (o->instance != NULL)
		return floor_of_instance(o->instance, &floor->gbps, err);
	return o->target != NULL ? floor_of_target(cli, o, &floor->gbps, err) : 0;
}

static void print_sizes(struct cli *cli, const struct nettest *n)
{
	char size[TEXT_BYTES_MAX];

	fprintf(cli->out, "%10s  %12s  %12s\n", "size", "out of place", "in place");
	for (size_t i = 0; i < n->n_rows; i++)
		fprintf(cli->out, "%10s  %7.2f GB/s  %7.2f GB/s\n",
		        text_bytes(n->rows[i].bytes, size), n->rows[i].out_busbw,
		        n->rows[i].in_busbw);
	if (n->rows_dropped)
		fputs("further sizes are not shown\n", cli->out);
}

static void print_text(struct cli *cli, const struct nettest *n, const struct nettest_floor *floor)
{
	char size[TEXT_BYTES_MAX];
	int64_t bytes;
	double peak = nettest_peak(n, &bytes);

	print_sizes(cli, n);
	fprintf(cli->out, "transport  %s%s%s%s\n", transport_name(n->transport),
	        n->rdma ? ", GPUDirect RDMA" : "", n->plugin[0] != '\0' ? ", aws-ofi-nccl " : "",
	        n->plugin);
	fprintf(cli->out, "peak       %.2f GB/s of bus bandwidth at %s\n", peak,
	        text_bytes(bytes, size));
	if (n->has_average)
		fprintf(cli->out, "average    %.2f GB/s over all sizes\n", n->average);
	if (floor->gbps > 0)
		fprintf(cli->out, "floor      %.2f GB/s\n", floor->gbps);
}

static void print_json(struct cli *cli, const struct nettest *n, const struct nettest_floor *floor,
                       const struct strlist *reasons)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *why;

	json_add_bool(doc, "passed", reasons->n == 0);
	why = json_add_array(doc, "reasons");
	for (size_t i = 0; i < reasons->n; i++)
		json_push_string(why, reasons->at[i]);
	if (floor->gbps > 0)
		json_add_int(doc, "floor_mb_s", (int64_t)(floor->gbps * 1000 + 0.5));
	nettest_json(n, doc);
	cli_print_json(cli, doc);
}

static int judge_result(struct cli *cli, const struct nettest *n, const struct nettest_floor *floor,
                        struct err *err)
{
	char reasons[NETTEST_REASONS][NETTEST_REASON_MAX];
	const char *list[NETTEST_REASONS];
	struct strlist why = {list, nettest_judge(n, floor, reasons)};

	for (size_t i = 0; i < why.n; i++)
		list[i] = reasons[i];
	if (cli_json(cli)) {
		print_json(cli, n, floor, &why);
	} else {
		print_text(cli, n, floor);
		for (size_t i = 0; i < why.n; i++)
			fprintf(cli->out, "FAIL       %s\n", reasons[i]);
		if (why.n == 0)
			fputs("PASS\n", cli->out);
	}
	return why.n == 0 ? 0 : err_set(err, ERR_CHECK, "the network test did not pass");
}

static int judge_log(struct cli *cli, const struct strbuf *log, const char *name,
                     const struct nettest_floor *floor, struct err *err)
{
	struct nettest *n = arena_calloc(&cli->arena, 1, sizeof(*n));

	if (nettest_parse(strbuf_str(log), log->len, n, err) != 0)
		return err_wrap(err, "'%s'", name);
	return judge_result(cli, n, floor, err);
}

static int parse(struct cli *cli, struct err *err)
{
	AUTO(strbuf) struct strbuf log = STRBUF_INIT(0);
	struct nettest_floor floor = {0};
	const char *path = cli->args.at[1];

	if (floor_from_options(cli, &floor, err) != 0 ||
	    slurp_file(strcmp(path, "-") == 0 ? "/dev/stdin" : path, NETTEST_LOG_MAX, &log, err) !=
	            0)
		return -1;
	return judge_log(cli, &log, path, &floor, err);
}

static int run(struct cli *cli, struct err *err)
{
	const struct nettest_options *o = cli->options;
	const struct nettest_run_options how = {o->target, o->keep};
	struct nettest_floor floor = {.gbps = (double)o->floor, .allow_tcp = o->allow_tcp};
	struct nettest_result result;
	struct cluster cluster;
	int rc;

	if (o->instance != NULL) {
		err_set(err, ERR_USAGE, "--instance is for 'nettest parse'");
		return err_hint(err, "The target says which instance it is.");
	}
	if (cluster_open(cli, &o->cluster, &cluster, err) != 0 ||
	    nettest_run(&cluster, &how, &result, err) != 0)
		return err_wrap(err, "nettest");
	if (o->floor == 0)
		floor.gbps = result.floor_gbps > 0 ? (double)result.floor_gbps
		                                   : nettest_floor_of(result.target->shape);
	rc = judge_log(cli, &result.log, "the launcher's log", &floor, err);
	strbuf_done(&result.log);
	return rc;
}

static const struct command_action actions[] = {
	{"run", "", 0, 0},
	{"parse", "LOG", 1, 1},
	{0},
};
static int (*const runs[])(struct cli *cli, struct err *err) = {run, parse};
_Static_assert(ARRAY_LEN(actions) == ARRAY_LEN(runs) + 1, "runs: one for each action");

static int cmd_nettest_run(struct cli *cli, struct err *err)
{
	return runs[cli->action](cli, err);
}

const struct command cmd_nettest = {
	.name = "nettest",
	.summary = "Run an NCCL all-reduce test over EFA, or judge the log of one",
	.details = "`run` starts job.network_test on one target of a fleet that is deployed, waits "
		   "until it has ended, judges its log and takes it away, whatever the end: its "
		   "nodes are expensive. Neither `deploy` nor `render` starts it.\n\n"
		   "`parse` reads what nccl-tests' all_reduce_perf printed, with mpirun's and "
		   "kubectl's prefixes (LOG '-' is standard input).\n\n"
		   "Both print bus bandwidths, transport and verdict. A run passes when NCCL says "
		   "that it used EFA, no value is "
		   "wrong, the test ran to its end, and the bus bandwidth at the largest size "
		   "reaches the floor: job.network_test.floor, or 60 % of the instance's "
		   "network.\n\n"
		   "Exit status 3: the run did not pass.\n",
	.examples = "slipway nettest run --target p4d\tTest the network between p4d nodes\n"
		    "kubectl logs job/perceiver-p4d-nettest-launcher | slipway nettest parse "
		    "--target p4d -\tJudge by the spec\n"
		    "slipway nettest parse --floor 40 all-reduce.log\tJudge by a floor\n",
	.options = OPTION_TABLE(struct nettest_options, options),
	.actions = actions,
	.run = cmd_nettest_run,
};
