#include "trainer/neuron/fit.h"

#include "base/text.h"
#include "trainer/neuron/report.h"

enum { CLIPS_MAX = 1024, FIRST_CLIPS = 16 };

/* Of a core's memory, for --batch_size auto. */
#define AUTO_USES 0.9

/* How often the weights' size is held: every kind of state twice and once more aside, where a
 * module changes it. */
static size_t sets_of(const struct neuron_run *run, enum neuron_use use)
{
	const struct optimizer_options *o = &run->optimizer;
	size_t moments = o->kind == OPTIMIZER_ADAMW ? 2 : 1, averages = o->ema_decay > 0 ? 1 : 0;

	if (use != NEURON_TRAINS)
		return 1;
	/* gradients are not kept aside, and have a set that is zero */
	return 3 * (1 + moments + averages) + 3;
}

/* A value that the engine has memory for beside the state. */
static size_t own_bytes(const struct neuron_net *n, const struct neuron_value *v)
{
	return (int)v->kind <= (int)NEURON_AVERAGE
	               ? 0
	               : 4 * hlo_elements(hlo_shape_of(&n->graph, v->value));
}

/* What a module's inputs (two of each) and results take, and the weights' size. */
static size_t tensors_of(const struct neuron_run *run, enum neuron_module which, size_t *ret_set)
{
	struct neuron_net n;
	size_t bytes = 0;

	neuron_module_build(run, which, &n);
	for (size_t i = 0; i < n.inputs.n; i++)
		bytes += 2 * own_bytes(&n, &n.inputs.at[i]);
	for (size_t i = 0; i < n.results.n; i++)
		bytes += own_bytes(&n, &n.results.at[i]);
	*ret_set = n.table.n_values * sizeof(float);
	neuron_net_done(&n);
	return bytes;
}

size_t neuron_holds(const struct neuron_run *run, enum neuron_use use)
{
	size_t bytes = 0, within = 0, set = 0;

	for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
		struct hlo_sizes s;

		if (!neuron_use_needs(use, m))
			continue;
		s = neuron_sizes_of(run, m);
		bytes += tensors_of(run, m, &set);
		within = s.live - s.parameters > within ? s.live - s.parameters : within;
	}
	return bytes + sets_of(run, use) * set + within;
}

size_t neuron_fitting_batch(const struct neuron_run *run, double memory)
{
	size_t low = 0, high = run->most_clips > 0 ? run->most_clips : CLIPS_MAX;

	while (low < high) {
		struct neuron_run try = *run;

		/* most runs have few: a module of many clips is looked at when fewer fit */
		try.step.batch =
			low == 0 && high > FIRST_CLIPS ? FIRST_CLIPS : low + (high - low + 1) / 2;
		if ((double)neuron_holds(&try, NEURON_TRAINS) <= memory)
			low = try.step.batch;
		else
			high = try.step.batch - 1;
	}
	return low;
}

static int refuse(const struct neuron_run *run, enum neuron_use use, size_t bytes,
                  const struct neuron_chip *chip, struct err *err)
{
	char need[TEXT_BYTES_MAX], have[TEXT_BYTES_MAX];
	size_t fits = use == NEURON_TRAINS ? neuron_fitting_batch(run, chip->memory) : 0;

	err_set(err, ERR_USAGE, "%s holds up to %s of a core's memory, and a core of %s has %s",
	        neuron_use_name(use), text_bytes((int64_t)bytes, need), chip->name,
	        text_bytes((int64_t)chip->memory, have));
	if (fits > 0)
		return err_hint(err,
		                "--batch_size %zu fits (auto leaves a tenth free); --accumulate "
		                "keeps the clips of a step. The count is of a compiler that fuses "
		                "nothing: --any_size compiles it all the same.",
		                fits);
	return err_hint(err, "Lower the batches, --test_batch_size among them, or --image_points. "
	                     "The count is of a compiler that fuses nothing: --any_size compiles "
	                     "it all the same.");
}

int neuron_check_fit(const struct neuron_run *run, enum neuron_use use,
                     const struct neuron_chip *chip, struct err *err)
{
	size_t bytes = neuron_holds(run, use);

	return (double)bytes <= chip->memory ? 0 : refuse(run, use, bytes, chip, err);
}

int neuron_fit(struct neuron_run *run, const struct neuron_chip *chip, struct err *err)
{
	struct neuron_run one = *run;

	if (run->step.batch > 0)
		return 0;
	run->step.batch = neuron_fitting_batch(run, AUTO_USES * chip->memory);
	if (run->step.batch > 0)
		return 0;
	one.step.batch = 1;
	return refuse(&one, NEURON_TRAINS, neuron_holds(&one, NEURON_TRAINS), chip, err);
}
