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
	if (o.batch_size == 0) {
		err_set(err, ERR_USAGE,
		        "--batch_size auto is of a run: modules are made for a "
		        "number of clips");
		return err_hint(err, "Give --batch_size as a number.");
	}
	session_fit_points(&run.config, &o);
	run.optimizer = o.optimizer;
	run.step = shape_of(&o, o.batch_size, ranks);
	run.step.training = true;
	run.measure = shape_of(&o, (size_t)f->test_batch_size, 1);
	*ret = run;
	return 0;
}
