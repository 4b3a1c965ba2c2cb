#include "trainer/model/graph.h"

/* Where the figures of each modality begin. */
enum {
	AT_IMAGE = 0,
	AT_AUDIO = AT_IMAGE + OP_L1_SUMS,
	AT_LABEL = AT_AUDIO + OP_L1_SUMS,
	LOSS_FIGURES = AT_LABEL + OP_ENTROPY_SUMS
};
_Static_assert((int)LOSS_FIGURES == (int)MODEL_FIGURES, "there are other figures");

static struct op_l1 image_of(const struct model *m)
{
	const struct batch *b = &m->input;

	return (struct op_l1){.batch = b->n,
	                      .points = b->n_out_image,
	                      .channels = 3,
	                      .plane = m->config.image_height * m->config.image_width,
	                      .clip = 3 * m->dims.n_pixels,
	                      .x = m->logits[IMAGE],
	                      .target = b->image,
	                      .point = b->out_image,
	                      .dx = m->dlogits[IMAGE]};
}

static struct op_l1 audio_of(const struct model *m)
{
	const struct batch *b = &m->input;

	return (struct op_l1){.batch = b->n,
	                      .points = b->n_out_audio,
	                      .channels = m->config.samples_per_patch,
	                      .plane = 1,
	                      .clip = m->dims.audio_samples,
	                      .x = m->logits[AUDIO],
	                      .target = b->audio,
	                      .point = b->out_audio,
	                      .dx = m->dlogits[AUDIO]};
}

static struct op_entropy label_of(const struct model *m)
{
	const struct batch *b = &m->input;

	return (struct op_entropy){.rows = b->decode_label ? b->n : 0,
	                           .width = m->config.num_labels,
	                           .x = m->logits[LABEL],
	                           .label = b->label,
	                           .dx = m->dlogits[LABEL]};
}

/* sum / n, and 0 where there is nothing to divide. */
static double mean(double sum, size_t n)
{
	return n > 0 ? sum / (double)n : 0;
}

static size_t count(const struct op_l1 *p)
{
	return p->batch * p->points * p->channels;
}

void model_sum_losses(struct model *m)
{
	const struct op_table *ops = m->ops->table;
	struct op_l1 image = image_of(m), audio = audio_of(m);
	struct op_entropy label = label_of(m);
	double *sums = ops_figures(m->ops);

	image.sums = sums + AT_IMAGE;
	audio.sums = sums + AT_AUDIO;
	label.sums = sums + AT_LABEL;
	m->ops->part = "loss";
	ops->l1_forward(m->ops, &image);
	ops->l1_forward(m->ops, &audio);
	ops->entropy_forward(m->ops, &label);
}

struct losses model_losses(const struct model *m, const struct loss_weights *w, const double of[])
{
	struct op_l1 image = image_of(m), audio = audio_of(m);
	struct op_entropy label = label_of(m);
	struct losses l = {
		.image = mean(of[AT_IMAGE + OP_L1_ABSOLUTE], count(&image)),
		.mse_image = mean(of[AT_IMAGE + OP_L1_SQUARE], count(&image)),
		.audio = mean(of[AT_AUDIO + OP_L1_ABSOLUTE], count(&audio)),
		.mse_audio = mean(of[AT_AUDIO + OP_L1_SQUARE], count(&audio)),
		.power_audio = mean(of[AT_AUDIO + OP_L1_POWER], count(&audio)),
		.label = mean(of[AT_LABEL + OP_ENTROPY_SUM], label.rows),
	};

	l.total = w->image * l.image + w->audio * l.audio + w->label * l.label;
	if (ops_failed(m->ops))
		return l;
	l.label_hits = (size_t)of[AT_LABEL + OP_ENTROPY_HITS];
	l.label_hits5 = (size_t)of[AT_LABEL + OP_ENTROPY_HITS5];
	return l;
}

void model_loss(struct model *m, const struct loss_weights *w, struct losses *ret)
{
	double of[LOSS_FIGURES];

	model_sum_losses(m);
	ops_read_figures(m->ops, of, LOSS_FIGURES);
	*ret = model_losses(m, w, of);
}

void model_backward(struct model *m, const struct loss_weights *w, double scale)
{
	const struct op_table *ops = m->ops->table;
	struct op_l1 image = image_of(m), audio = audio_of(m);
	struct op_entropy label = label_of(m);

	(void)model_grads(m);
	image.factor = mean(scale * w->image, count(&image));
	audio.factor = mean(scale * w->audio, count(&audio));
	label.factor = mean(scale * w->label, m->input.n);
	m->ops->part = "loss";
	ops->l1_backward(m->ops, &image);
	ops->l1_backward(m->ops, &audio);
	ops->entropy_backward(m->ops, &label);
	decoder_backward(m, &m->input);
	encoder_backward(m, &m->input);
}
