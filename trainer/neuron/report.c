#include "trainer/neuron/report.h"

#include <string.h>

#include "trainer/neuron/find.h"
#include "trainer/neuron/fit.h"
#include "trainer/neuron/limits.h"

#define GIB (1024.0 * 1024 * 1024)

/* Sources: AWS Neuron, "Trainium Architecture" (of a chip of 2 cores: 47.5 and 190 TFLOP/s, 32 GiB
 * at 820 GiB/s) and "Trainium2 Architecture" (of 8, two to a logical one: 181 and 667, 96 GiB at
 * 2.9 TB/s). */
static const struct neuron_chip chips[] = {
	{"trn1", {47.5 / 2, 190.0 / 2}, 820 * GIB / 2, 32 * GIB / 2},
	{"trn2", {181.0 / 4, 667.0 / 4}, 2.9e12 / 4, 96 * GIB / 4},
};

const struct neuron_chip *neuron_chips(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(chips);
	return chips;
}

const struct neuron_chip *neuron_chip_of(const struct neuron_target *target)
{
	for (size_t i = 1; i < ARRAY_LEN(chips); i++)
		if (strcmp(chips[i].name, target->name) == 0)
			return &chips[i];
	return &chips[0];
}

double neuron_least_seconds(const struct neuron_chip *c, const struct hlo_sizes *s, bool rounds)
{
	double products = s->flops / (c->tflops[rounds] * 1e12);
	double memory = (double)(s->parameters + s->results) / c->bytes_per_second;

	return products > memory ? products : memory;
}

/* ---- tables ---- */

struct hlo_sizes neuron_sizes_of(const struct neuron_run *run, enum neuron_module which)
{
	AUTO_FREE unsigned *results = NULL;
	struct hlo_module m = {.name = neuron_module_name(which)};
	struct hlo_sizes s;
	struct neuron_net n;

	neuron_module_build(run, which, &n);
	results = mem_calloc(n.results.n, sizeof(*results));
	for (size_t i = 0; i < n.results.n; i++)
		results[i] = n.results.at[i].value;
	m.graph = &n.graph;
	m.results = results;
	m.n = n.results.n;
	s = hlo_sizes_of(&m);
	neuron_net_done(&n);
	return s;
}

static void add_unlisted(const struct hlo_sizes *s, struct strbuf *sb)
{
	const char *between = "";

	for (enum hlo_op op = 0; op < HLO_OPS; op++) {
		if (s->of[op] == 0 || neuron_is_listed(hlo_op_name(op)))
			continue;
		strbuf_addf(sb, "%s%s (%zu)", between, hlo_op_name(op), s->of[op]);
		between = ", ";
	}
	if (between[0] == '\0')
		strbuf_adds(sb, "none");
}

static double mib(double bytes)
{
	return bytes / (1024 * 1024);
}

static void add_module(const char *name, const struct hlo_sizes *s, struct strbuf *sb)
{
	strbuf_addf(sb, "| %s | %zu | %.1f | %.1f | %.1f | %.1f | %.1f | ", name, s->instructions,
	            s->flops / 1e9, mib((double)s->parameters), mib((double)s->results),
	            mib((double)s->live), mib((double)s->largest));
	add_unlisted(s, sb);
	strbuf_adds(sb, " |\n");
}

/* "train, eval" */
static void add_users(enum neuron_module which, struct strbuf *sb)
{
	const char *between = "";

	for (enum neuron_use use = 0; use < NEURON_USES; use++) {
		if (!neuron_use_needs(use, which))
			continue;
		strbuf_addf(sb, "%s%s", between, neuron_use_name(use));
		between = ", ";
	}
}

static void add_entry(const struct neuron_run *run, enum neuron_module which,
                      const struct neuron_target *target, struct strbuf *sb)
{
	char key[NEURON_KEY_MAX];

	neuron_module_key(run, which, target, key);
	strbuf_addf(sb, "| %s | ", neuron_module_name(which));
	add_users(which, sb);
	strbuf_addf(sb, " | %s |\n", key);
}

static void add_chip(const struct neuron_chip *c, const struct neuron_run *run,
                     const struct hlo_sizes of[NEURON_MODULES], struct strbuf *sb)
{
	bool rounds = run->step.rounds;
	double seconds = neuron_least_seconds(c, &of[NEURON_STEP], rounds) +
	                 neuron_least_seconds(c, &of[NEURON_UPDATE], rounds);

	strbuf_addf(sb, "| %s | %.1f | %.2f | %.2f | %.1f | %.1f %% | %zu |\n", c->name,
	            c->tflops[rounds], 1e3 * neuron_least_seconds(c, &of[NEURON_STEP], rounds),
	            1e3 * neuron_least_seconds(c, &of[NEURON_UPDATE], rounds),
	            (double)run->step.batch / seconds,
	            100 * (double)neuron_holds(run, NEURON_TRAINS) / c->memory,
	            neuron_fitting_batch(run, c->memory));
}

void neuron_report(const struct neuron_run *run, const struct neuron_target *target,
                   struct strbuf *sb)
{
	struct hlo_sizes of[NEURON_MODULES];

	strbuf_addf(sb, "| module | for | entry, for %s |\n|---|---|---|\n", target->name);
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++)
		add_entry(run, m, target, sb);
	strbuf_adds(sb,
	            "\n| module | instructions | GFLOP of products | inputs, MiB | results, MiB | "
	            "live at most, MiB | largest value, MiB | not in AWS's list |\n"
	            "|---|---|---|---|---|---|---|---|\n");
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
		of[m] = neuron_sizes_of(run, m);
		add_module(neuron_module_name(m), &of[m], sb);
	}
	strbuf_adds(sb, "\n| one NeuronCore | TFLOP/s | step, ms at least | update, ms at least | "
	                "clips/s at most | held, of its memory | clips that fit |\n"
	                "|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(chips); i++)
		add_chip(&chips[i], run, of, sb);
}
