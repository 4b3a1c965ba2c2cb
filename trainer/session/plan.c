#include "trainer/session/plan.h"

#include "trainer/session/setup.h"

static struct neuron_shape shape_of(const struct train_options *o, size_t batch, unsigned ranks)
{
	return (struct neuron_shape){.batch = batch,
	                             .n_out_image = o->image_points,
	                             .n_out_audio = o->audio_points,
	                             .decode_label = true,
	                             .masked = true,
	                             .rounds = o->precision == PRECISION_BF16,
	                             .replicas = ranks};
}

int session_neuron_run(const struct train_flags *f, unsigned ranks, struct neuron_run *ret,
                       struct strbuf *remarks, struct err *err)
{
	bool by_default = train_flags_origin(f, "batch_size").layer == LAYER_DEFAULT;
	struct train_options o;
	struct neuron_run run = {0};

	if (train_flags_options(f, &o, err) != 0)
		return -1;
	if (o.precision != PRECISION_F32 && o.precision != PRECISION_BF16) {
		err_set(err, ERR_USAGE,
		        "--precision %s is for GPUs: a NeuronCore computes f32 or bf16",
		        precision_name(o.precision));
		return err_hint(err, "bf16 is its native format.");
	}
	if (session_load_config(f, &run.config, remarks, err) != 0)
		return -1;
	session_fit_points(&run.config, &o);
	run.optimizer = o.optimizer;
	/* what nobody asked for is as large as it can be, and no larger */
	run.most_clips = by_default ? o.batch_size : 0;
	run.step = shape_of(&o, by_default ? 0 : o.batch_size, ranks);
	run.step.training = true;
	run.measure = shape_of(&o, (size_t)f->test_batch_size, 1);
	neuron_use_shapes(&run, o.batch_size > 0 ? o.batch_size : NEURON_CLASSIFY_CLIPS,
	                  run.step.rounds);
	*ret = run;
	return 0;
}
