#include "trainer/session/forwarder.h"

#include "base/cpus.h"
#include "base/text.h"
#include "trainer/neuron/learner.h"

/* ---- modules ---- */

static void add_word(const char *option, const char *value, struct strbuf *sb)
{
	strbuf_addf(sb, " --%s ", option);
	text_shell_word(value, sb);
}

static void compile_command(void *ctx, const char *target, struct strbuf *sb)
{
	const struct forwarder_choice *c = ctx;

	strbuf_adds(sb, "slipway-trainer compile");
	add_word("cache_dir", c->cache_dir, sb);
	strbuf_addf(sb, " --target %s --for %s", target, neuron_use_name(c->use));
	if (c->from_file != NULL)
		add_word("config_file_path", c->from_file, sb);
	else
		add_word("checkpoint", c->checkpoint, sb);
	if (c->use == NEURON_CLASSIFIES)
		strbuf_addf(sb, " --batch_size %zu", c->clips);
	if (c->ops.precision != PRECISION_F32)
		strbuf_addf(sb, " --precision %s", precision_name(c->ops.precision));
}

static int check_choice(const struct forwarder_choice *c, struct err *err)
{
	if (c->cache_dir == NULL) {
		err_set(err, ERR_USAGE,
		        "a NeuronCore runs modules that were compiled ahead, and no folder of them "
		        "is given");
		return err_hint(
			err,
			"Give --cache_dir, which slipway-trainer compile --for %s fills, or "
			"--device cpu.",
			neuron_use_name(c->use));
	}
	if (c->ops.precision != PRECISION_F16)
		return 0;
	err_set(err, ERR_USAGE, "--precision f16 is for GPUs: a NeuronCore computes f32 or bf16");
	return err_hint(err, "bf16 is its native format.");
}

static int open_modules(const struct forwarder_choice *c, unsigned core, struct forwarder *ret,
                        struct err *err)
{
	struct forwarder_choice choice = *c;
	struct neuron_run run = {.config = *c->config};
	struct neuron_start start = {.core = core,
	                             .ranks = 1,
	                             .cache = c->cache_dir,
	                             .command = compile_command,
	                             .ctx = &choice};

	if (check_choice(c, err) != 0)
		return -1;
	/* what the learner says of itself is its step's */
	run.step.rounds = c->ops.precision == PRECISION_BF16;
	neuron_use_shapes(&run, c->clips, run.step.rounds);
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++)
		start.wanted[m] = neuron_use_needs(c->use, m);
	return neuron_learner_new(&run, &start, &ret->learner, err);
}

/* ---- ops ---- */

static int open_ops(const struct forwarder_choice *c, const struct ops_options *o,
                    const struct device_found *found, struct forwarder *ret, struct err *err)
{
	if (found->row->open(found->index, o, &ret->ops, err) != 0)
		return -1;
	ret->ops_open = true;
	ret->learner = learner_new(c->config, &ret->ops, (struct recompute){0});
	return 0;
}

int forwarder_open(const struct forwarder_choice *c, struct forwarder *ret, struct err *err)
{
	struct ops_options o = c->ops;
	struct device_choice choice = {c->device, 0};
	struct device_found found;
	unsigned cpus = cpus_usable();

	if (o.n_threads > cpus)
		o.n_threads = cpus;
	if (device_choose(&choice, &o, &found, err) != 0)
		return -1;
	return found.row->open != NULL ? open_ops(c, &o, &found, ret, err)
	                               : open_modules(c, found.index, ret, err);
}

void forwarder_done(struct forwarder *f)
{
	learner_free(f->learner);
	if (f->ops_open)
		ops_done(&f->ops);
	*f = (struct forwarder){0};
}
