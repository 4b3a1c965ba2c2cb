#include "trainer/model/metrics.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"

static const struct metric_row rows[] = {
	[METRIC_LOSS] = {"loss", false, "weighted loss"},
	[METRIC_IMAGE] = {"image", false, "mean absolute error of pixels, of 1"},
	[METRIC_AUDIO] = {"audio", false, "mean absolute error of samples, of 1"},
	[METRIC_LABEL] = {"label", false, "cross-entropy of the label, in nats"},
	[METRIC_PSNR] = {"psnr", true, "peak signal to noise of pixels, in dB"},
	[METRIC_PSNR_AUDIO] = {"psnr_audio", true, "peak signal to noise of samples, in dB"},
	[METRIC_SNR] = {"snr", true, "signal to noise of samples, in dB"},
	[METRIC_TOP1] = {"top1", true, "share of clips whose label is predicted"},
	[METRIC_TOP5] = {"top5", true, "share of clips whose label is among the five likeliest"},
};
_Static_assert(ARRAY_LEN(rows) == METRICS, "a metric without a row");

const struct metric_row *metric_row(enum metric m)
{
	return &rows[m];
}

bool metric_find(const char *name, enum metric *ret)
{
	for (size_t i = 0; i < METRICS; i++)
		if (strcmp(rows[i].name, name) == 0) {
			*ret = (enum metric)i;
			return true;
		}
	return false;
}

void metric_names(struct strbuf *sb)
{
	for (size_t i = 0; i < METRICS; i++)
		strbuf_addf(sb, "%s%s",
		            i == 0            ? ""
		            : i + 1 < METRICS ? ", "
		                              : " or ",
		            rows[i].name);
}

void metric_sums_add(struct metric_sums *s, const struct losses *l, size_t n)
{
	double clips = (double)n;
	struct metric_sums batch = {.clips = clips,
	                            .total = clips * l->total,
	                            .image = clips * l->image,
	                            .audio = clips * l->audio,
	                            .label = clips * l->label,
	                            .mse_image = clips * l->mse_image,
	                            .mse_audio = clips * l->mse_audio,
	                            .power_audio = clips * l->power_audio,
	                            .top1 = (double)l->label_hits,
	                            .top5 = (double)l->label_hits5};

	metric_sums_merge(s, &batch);
}

void metric_sums_merge(struct metric_sums *s, const struct metric_sums *other)
{
	s->clips += other->clips;
	s->total += other->total;
	s->image += other->image;
	s->audio += other->audio;
	s->label += other->label;
	s->mse_image += other->mse_image;
	s->mse_audio += other->mse_audio;
	s->power_audio += other->power_audio;
	s->top1 += other->top1;
	s->top5 += other->top5;
}

/* Of a power over another; infinite where there is no noise. */
static double decibels(double signal, double noise)
{
	/* cppcheck-suppress invalidFunctionArg ; a silent signal is -infinity, as it should be */
	return noise == 0 ? INFINITY : 10 * log10(signal / noise);
}

void metrics_of(const struct metric_sums *s, double ret[METRICS])
{
	double n = s->clips;

	ret[METRIC_LOSS] = s->total / n;
	ret[METRIC_IMAGE] = s->image / n;
	ret[METRIC_AUDIO] = s->audio / n;
	ret[METRIC_LABEL] = s->label / n;
	ret[METRIC_PSNR] = decibels(n, s->mse_image);
	ret[METRIC_PSNR_AUDIO] = decibels(n, s->mse_audio);
	ret[METRIC_SNR] = decibels(s->power_audio, s->mse_audio);
	ret[METRIC_TOP1] = s->top1 / n;
	ret[METRIC_TOP5] = s->top5 / n;
}
