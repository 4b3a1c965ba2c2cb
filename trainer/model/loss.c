#include <math.h>
#include <string.h>

#include "trainer/model/graph.h"

enum { TOP = 5 };

struct l1 {
	double absolute, square;
	double power; /* of the target */
};

/* Adds |x - target| and its square; writes factor * sign(x - target) when d is not NULL. */
static void l1_one(float x, float target, double factor, struct l1 *sum, float *d)
{
	double difference = (double)x - target;

	sum->absolute += fabs(difference);
	sum->square += difference * difference;
	sum->power += (double)target * target;
	if (d != NULL)
		*d = (float)(difference > 0 ? factor : difference < 0 ? -factor : 0);
}

/* The target of colour k of output point `index` of a clip. */
static float pixel(const struct model *m, const float *image, size_t index, size_t k)
{
	size_t plane = m->config.image_height * m->config.image_width;

	return image[(index / plane * 3 + k) * plane + index % plane];
}

static struct l1 image_loss(const struct model *m, const struct batch *b, double factor, float *d)
{
	const float *x = m->logits[IMAGE];
	struct l1 sum = {0};

	for (size_t clip = 0; clip < b->n; clip++) {
		const float *image = b->image + clip * 3 * m->dims.n_pixels;

		for (size_t i = 0; i < b->n_out_image * 3; i++, x++)
			l1_one(*x, pixel(m, image, (size_t)b->out_image[i / 3], i % 3), factor,
			       &sum, d != NULL ? d++ : NULL);
	}
	return sum;
}

static struct l1 audio_loss(const struct model *m, const struct batch *b, double factor, float *d)
{
	const float *x = m->logits[AUDIO];
	size_t patch = m->config.samples_per_patch;
	struct l1 sum = {0};

	for (size_t clip = 0; clip < b->n; clip++) {
		const float *audio = b->audio + clip * m->dims.audio_samples;

		for (size_t i = 0; i < b->n_out_audio * patch; i++, x++)
			l1_one(*x, audio[(size_t)b->out_audio[i / patch] * patch + i % patch],
			       factor, &sum, d != NULL ? d++ : NULL);
	}
	return sum;
}

/* How many labels are likelier than this one; of equal logits the smaller label's comes first. */
static size_t label_rank(const float *x, size_t n, size_t label)
{
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		before += x[i] > x[label] || (i < label && !(x[i] < x[label]));
	return before;
}

/* Cross-entropy of one row; writes factor * (softmax - one-hot) when d is not NULL. */
static double label_row(const float *x, size_t n, size_t label, double factor, float *d)
{
	double sum = 0;
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		best = x[i] > x[best] ? i : best;
	for (size_t i = 0; i < n; i++)
		sum += exp((double)x[i] - x[best]);
	for (size_t i = 0; d != NULL && i < n; i++)
		d[i] = (float)(factor * (exp((double)x[i] - x[best]) / sum - (i == label)));
	return log(sum) + x[best] - x[label];
}

static double label_loss(const struct model *m, const struct batch *b, double factor, float *d)
{
	size_t n = m->config.num_labels;
	double sum = 0;

	for (size_t clip = 0; b->decode_label && clip < b->n; clip++)
		sum += label_row(m->logits[LABEL] + clip * n, n, (size_t)b->label[clip], factor,
		                 d != NULL ? d + clip * n : NULL);
	return sum;
}

static void count_hits(const struct model *m, const struct batch *b, struct losses *l)
{
	size_t n = m->config.num_labels;

	for (size_t clip = 0; b->decode_label && clip < b->n; clip++) {
		size_t rank = label_rank(m->logits[LABEL] + clip * n, n, (size_t)b->label[clip]);

		l->label_hits += rank < 1;
		l->label_hits5 += rank < TOP;
	}
}

static double mean(double sum, size_t n)
{
	return n > 0 ? sum / (double)n : 0;
}

static size_t count_image(const struct batch *b)
{
	return b->n * b->n_out_image * 3;
}

static size_t count_audio(const struct model *m, const struct batch *b)
{
	return b->n * b->n_out_audio * m->config.samples_per_patch;
}

void model_loss(struct model *m, const struct batch *b, const struct loss_weights *w,
                struct losses *ret)
{
	struct l1 image = image_loss(m, b, 0, NULL), audio = audio_loss(m, b, 0, NULL);

	*ret = (struct losses){0};
	ret->image = mean(image.absolute, count_image(b));
	ret->mse_image = mean(image.square, count_image(b));
	ret->audio = mean(audio.absolute, count_audio(m, b));
	ret->mse_audio = mean(audio.square, count_audio(m, b));
	ret->power_audio = mean(audio.power, count_audio(m, b));
	ret->label = mean(label_loss(m, b, 0, NULL), b->decode_label ? b->n : 0);
	count_hits(m, b, ret);
	ret->total = w->image * ret->image + w->audio * ret->audio + w->label * ret->label;
}

void model_backward(struct model *m, const struct batch *b, const struct loss_weights *w,
                    double scale)
{
	if (m->grads.n == 0)
		tensors_like(&m->params, &m->grads);
	image_loss(m, b, mean(scale * w->image, count_image(b)), m->dlogits[IMAGE]);
	audio_loss(m, b, mean(scale * w->audio, count_audio(m, b)), m->dlogits[AUDIO]);
	label_loss(m, b, mean(scale * w->label, b->n), m->dlogits[LABEL]);
	decoder_backward(m, b);
	encoder_backward(m, b);
}
