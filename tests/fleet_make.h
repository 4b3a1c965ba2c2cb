/*
 * Specs for the fleet's tests: loading one, rendering it, and making a random valid one.
 */
#ifndef SLIPWAY_TESTS_FLEET_MAKE_H
#define SLIPWAY_TESTS_FLEET_MAKE_H

#include "base/fs.h"
#include "builder/cli/renderers.h"
#include "builder/spec/spec.h"
#include "k8s/object/emit.h"
#include "tests/harness.h"

struct fleet_run {
	struct arena arena;
	struct diags diags;
	struct spec *spec;
	struct k8s_output out;
	struct err err;
};

static inline void fleet_run_done(struct fleet_run *f)
{
	k8s_output_done(&f->out);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

/* Renders every concern, the ones too that are rendered only by their names. */
static inline int fleet_render_all(struct fleet_run *f)
{
	const char *names[32];
	struct strlist only = {names, 0};

	for (size_t i = 0; i < renderers.n; i++)
		names[only.n++] = renderers.at[i]->name;
	int rc = k8s_render(&renderers, &f->spec->fleet, &only, &f->out, &f->err);

	f->out.partial = false;
	return rc;
}

/* Loads with the values set ("job.nodes=3", up to a NULL) and renders; -1 with f->err set. */
static inline int fleet_run_with(struct fleet_run *f, const char *path, const char *const *set)
{
	struct spec_set sets[8] = {{NULL}};
	size_t n = 0;

	*f = (struct fleet_run){0};
	for (; set != NULL && n < ARRAY_LEN(sets) && set[n] != NULL; n++)
		sets[n] = (struct spec_set){set[n]};
	if (spec_load(path, sets, n, &f->arena, &f->spec, &f->diags, &f->err) != 0)
		return -1;
	k8s_check(&renderers, &f->spec->fleet, &f->diags);
	if (f->diags.n_errors > 0)
		return err_set(&f->err, ERR_SPEC, "%s", f->diags.at[0].message);
	return fleet_render_all(f);
}

static inline int fleet_run(struct fleet_run *f, const char *path)
{
	return fleet_run_with(f, path, NULL);
}

/* ---- random specs ---- */

struct dice {
	uint64_t state;
};

static inline unsigned roll(struct dice *d, unsigned n)
{
	d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(d->state >> 33) % n;
}

#define PICK(d, list) ((list)[roll((d), ARRAY_LEN(list))])

/* One way to write each target; weights are added. EFA and devices stay within the first row. */
static inline void random_target(struct dice *d, const char *name, unsigned weight, bool reserved,
                                 struct strbuf *sb)
{
	static const char *const capacity[] = {"", ", capacity: [spot]",
	                                       ", capacity: [spot, on-demand]",
	                                       ", capacity: [on-demand]"};
	static const char *const extra[] = {"",
	                                    ", taint: false",
	                                    ", expire_after: 168h",
	                                    ", consolidate_after: 1h30m",
	                                    ", volume: {size: 300Gi, iops: 4000}",
	                                    ", labels: {team: vision}",
	                                    ", nodes: 3",
	                                    ", ami: {id: ami-0123456789abcdef0}",
	                                    ", env: {MODE: fast}, args: [--fast]",
	                                    ", limits: {nodes: 32, cpu: 9000}",
	                                    ", annotations: {example.com/a: b}, zone: us-west-2d",
	                                    ", efa: false"};
	const struct instance *rows[64];
	size_t n = 0;

	for (size_t i = 0; i < n_instances; i++)
		if (strcmp(instances[i].target, name) == 0)
			rows[n++] = &instances[i];
	strbuf_addf(sb, "  %s: {weight: %u%s%s", name, weight, PICK(d, extra),
	            reserved ? ", capacity: [reserved, on-demand], reservation: {ids: "
	                       "[cr-0123456789abcdef0]}"
	                     : PICK(d, capacity));
	size_t first = roll(d, (unsigned)n);

	strbuf_addf(sb, ", instances: [%s", rows[first]->type);
	for (size_t i = 0; i < n; i++) /* others that hold as much, never fewer devices */
		if (i != first && rows[i]->devices >= rows[first]->devices && roll(d, 3) == 0)
			strbuf_addf(sb, ", %s", rows[i]->type);
	strbuf_addf(sb, "]%s}\n",
	            rows[first]->devices > 1 && roll(d, 5) == 0 ? ", devices: 1" : "");
}

static inline void random_storage(struct dice *d, struct strbuf *sb)
{
	static const char *const kinds[] = {
		"size: 1200Gi",
		"size: 4800Gi, deployment: SCRATCH_2, import: s3://my-bucket/in",
		"size: 3600Gi, deployment: SCRATCH_1",
		"size: 2400Gi, deployment: PERSISTENT_1, throughput: 100, backup_days: 3",
		"size: 1800Gi, deployment: PERSISTENT_1, storage_type: HDD, drive_cache: NONE, "
		"throughput: 40",
		"size: 7200Gi, deployment: PERSISTENT_2, throughput: 1000, metadata: AUTOMATIC, "
		"efa: true",
		"deployment: PERSISTENT_2, throughput: 125, version: \"2.12\""};
	static const char *const prepare[] = {
		"", ", prepare: {from: s3://my-bucket/kinetics}",
		", prepare: {from: s3://my-bucket/kinetics, image: \"amazon/aws-cli:2.31.0\", "
		"command: [aws, s3, sync]}"};
	static const char *const driver[] = {"", ", driver: addon", ", driver: none"};

	if (roll(d, 4) == 0)
		strbuf_addf(sb,
		            "storage: {fsx: {id: fs-0123456789abcdef0, mount_name: abcdefgh%s}}\n",
		            PICK(d, driver));
	else
		strbuf_addf(sb,
		            "storage: {fsx: {%s, subnet: subnet-0123456789abcdef0, "
		            "security_groups: [sg-0123456789abcdef0]%s%s}}\n",
		            PICK(d, kinds), PICK(d, prepare), PICK(d, driver));
}

static inline void random_job(struct dice *d, struct strbuf *sb)
{
	static const char *const schedulers[] = {"volcano", "job", "jobset", "mpi"};
	static const char *const extra[] = {
		"",
		", shm: 1Gi",
		", env: {LOG_LEVEL: info, EMPTY: \"\"}",
		", retries: 0, grace: 30",
		", role: \"arn:aws:iam::123456789012:role/job\"",
		", service_account: default",
		", user: 1000, group: 1000",
		", priority_class: high, deadline: 7200",
		", args: [\"a b\", \"it's\", \"say \\\"x\\\"\", \"yes\"]"};
	unsigned scheduler = roll(d, ARRAY_LEN(schedulers));

	strbuf_addf(sb, "job: {nodes: %u, scheduler: %s%s%s%s}\n", 1 + roll(d, 4),
	            schedulers[scheduler], PICK(d, extra),
	            scheduler == 3 ? ", command: [/usr/bin/slipway-trainer]" : "",
	            scheduler == 0 && roll(d, 3) == 0 ? ", queue: research, create_queue: true"
	                                              : "");
}

/* A valid spec; the same seed gives the same text. */
static inline void random_spec(uint64_t seed, struct strbuf *sb)
{
	static const char *const names[] = {"perceiver", "a", "job-7"};
	static const char *const clusters[] = {
		"", ", devices: dra", ", version: \"1.36\", namespace: default",
		", access: pod-identity, zones: [us-west-2a, us-west-2d]",
		", name: Training, tags: {project: x}, labels: {team: vision}"};
	struct dice d = {seed * 2654435761U + 1};
	bool old = roll(&d, 6) == 0, gpu = false, neuron = false;
	AUTO(strbuf) struct strbuf fleet = STRBUF_INIT(0);

	for (unsigned i = 0; i < FLEET_TARGETS; i++)
		if (roll(&d, 3) == 0 || (i == FLEET_TARGETS - 1 && !gpu && !neuron)) {
			bool trn = i < 2;

			random_target(&d, fleet_target_names[i], 100 - i * 10,
			              !old && roll(&d, 6) == 0, &fleet);
			gpu = gpu || !trn;
			neuron = neuron || trn;
		}
	const char *cluster = PICK(&d, clusters);

	if (!gpu && strstr(cluster, "dra") != NULL)
		cluster = "";
	if (old)
		cluster = roll(&d, 2) == 0 ? ", version: \"1.30\", karpenter: v1beta1"
		                           : ", version: \"1.28\", karpenter: v1alpha5";
	strbuf_addf(sb,
	            "apiVersion: slipway/v1\nname: %s\nimage: {repository: "
	            "123456789012.dkr.ecr.us-west-2.amazonaws.com/perceiver, tags: [v1], base: "
	            "docker.io/library/debian:12}\n"
	            "cluster: {region: us-west-2, zone: us-west-2d%s}\nfleet:\n%s",
	            PICK(&d, names), cluster, strbuf_str(&fleet));
	if (roll(&d, 3) != 0)
		random_storage(&d, sb);
	if (roll(&d, 5) != 0)
		random_job(&d, sb);
	if (roll(&d, 2) == 0)
		strbuf_addf(sb, "monitoring: {container_insights: %s%s%s}\n",
		            roll(&d, 2) == 0 ? "true" : "false", gpu ? ", gpu: true" : "",
		            neuron ? ", neuron: true" : "");
}

#endif
