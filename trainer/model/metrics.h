/*
 * What an evaluation says of a model. Every figure is over all decoded points of all clips seen
 * together, not a mean of the clips' own figures; labels are hidden, dropout is off.
 *
 *   loss        the weighted sum of the next three, with the run's weights (struct loss_weights)
 *   image       mean absolute error of pixels' colours, which are in 0..1
 *   audio       mean absolute error of samples, which are in -1..1
 *   label       mean cross-entropy of the label, in nats
 *   psnr        -10 log10(mean squared error of colours), in dB: the peak is 1
 *   psnr_audio  the same of samples, in dB: the peak is an amplitude of 1
 *   snr         10 log10(sum of squared samples / sum of squared errors), in dB: unlike psnr_audio
 *               it does not grow with silence
 *   top1, top5  share of the clips, 0..1, whose label has the largest logit, one of the five
 *               largest (of equal logits, the smaller label's counts as larger)
 *
 * An error of zero makes a figure in dB infinite; NaN is possible, too.
 */
#ifndef SLIPWAY_TRAINER_MODEL_METRICS_H
#define SLIPWAY_TRAINER_MODEL_METRICS_H

#include "base/strbuf.h"
#include "trainer/model/model.h"

enum metric {
	METRIC_LOSS,
	METRIC_IMAGE,
	METRIC_AUDIO,
	METRIC_LABEL,
	METRIC_PSNR,
	METRIC_PSNR_AUDIO,
	METRIC_SNR,
	METRIC_TOP1,
	METRIC_TOP5,
	METRICS
};

struct metric_row {
	const char *name; /* as above: in --best, JSON, TensorBoard and Prometheus */
	bool higher;      /* is better */
	const char *help; /* one line, with the unit */
};

const struct metric_row *metric_row(enum metric m);
bool metric_find(const char *name, enum metric *ret);

/* Appends all names: "loss, image, ... or top5". */
void metric_names(struct strbuf *sb);

/* Sums over clips, which may be added up over batches and ranks. Doubles only. */
struct metric_sums {
	double clips;
	double total, image, audio, label;
	double mse_image, mse_audio, power_audio;
	double top1, top5;
};

/* The losses of a batch of n clips. */
void metric_sums_add(struct metric_sums *s, const struct losses *l, size_t n);
/* Another batch's sums, or another rank's. */
void metric_sums_merge(struct metric_sums *s, const struct metric_sums *other);

/* Of at least one clip. */
void metrics_of(const struct metric_sums *s, double ret[METRICS]);

#endif
