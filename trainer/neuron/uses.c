#include "trainer/neuron/uses.h"

#include <string.h>

static const struct {
	const char *name;
	bool needs[NEURON_MODULES];
} rows[NEURON_USES] = {
	[NEURON_TRAINS] = {"train",
                           {[NEURON_STEP] = true, [NEURON_UPDATE] = true, [NEURON_MEASURE] = true}},
	[NEURON_EVALUATES] = {"eval", {[NEURON_MEASURE] = true}},
	[NEURON_CLASSIFIES] = {"classify", {[NEURON_CLASSIFY] = true}},
	[NEURON_SAMPLES] = {"sample", {[NEURON_ENCODE] = true, [NEURON_DECODE] = true}},
};

const char *neuron_use_name(enum neuron_use use)
{
	return rows[use].name;
}

int neuron_use_find(const char *name, enum neuron_use *ret, struct err *err)
{
	for (enum neuron_use use = 0; use < NEURON_USES; use++) {
		if (strcmp(rows[use].name, name) != 0)
			continue;
		*ret = use;
		return 0;
	}
	return err_set(err, ERR_USAGE, "--for is '%.60s', expected train, eval, classify or sample",
	               name);
}

bool neuron_use_needs(enum neuron_use use, enum neuron_module module)
{
	return rows[use].needs[module];
}

void neuron_use_shapes(struct neuron_run *run, size_t clips, bool rounds)
{
	struct model_dims d = model_dims(&run->config);
	size_t pixels = d.n_pixels < NEURON_SAMPLE_PIXELS ? d.n_pixels : NEURON_SAMPLE_PIXELS;

	run->classify = (struct neuron_shape){.batch = clips,
	                                      .decode_label = true,
	                                      .masked = true,
	                                      .rounds = rounds,
	                                      .replicas = 1};
	run->sample = run->classify;
	run->sample.batch = NEURON_SAMPLE_CLIPS;
	run->sample.n_out_image = pixels;
	run->sample.n_out_audio = d.n_audio;
}
