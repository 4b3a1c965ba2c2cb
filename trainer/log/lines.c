#include "trainer/log/lines.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/jsonw.h"

void log_time(int64_t us_since_1970, char out[LOG_TIME_MAX])
{
	time_t seconds = (time_t)(us_since_1970 / 1000000);
	int us = (int)(us_since_1970 % 1000000);
	struct tm tm;
	size_t n;

	localtime_r(&seconds, &tm);
	n = strftime(out, LOG_TIME_MAX, "%Y-%m-%d %H:%M:%S", &tm);
	if (us != 0)
		snprintf(out + n, LOG_TIME_MAX - n, ".%06d", us);
}

/* Digits and exponent of "d.ddde+XX" into Python's layout: plain from 1e-4 up to below 1e16. */
static void lay_out(const char *digits, int n, int exponent, char *out)
{
	if (exponent < -4 || exponent >= 16) {
		snprintf(out, 24, "%c%s%.*se%s%02d", digits[0], n > 1 ? "." : "", n - 1, digits + 1,
		         exponent < 0 ? "-" : "+", exponent < 0 ? -exponent : exponent);
	} else if (exponent < 0) {
		snprintf(out, 24, "0.%.*s%.*s", -exponent - 1, "000", n, digits);
	} else if (n <= exponent + 1) {
		snprintf(out, 24, "%.*s%.*s.0", n, digits, exponent + 1 - n, "000000000000000");
	} else {
		snprintf(out, 24, "%.*s.%.*s", exponent + 1, digits, n - exponent - 1,
		         digits + exponent + 1);
	}
}

void log_float(double value, char out[LOG_FLOAT_MAX])
{
	char text[40], digits[20] = "";
	int precision = 0, n = 0;
	char *e;

	if (!isfinite(value)) {
		snprintf(out, LOG_FLOAT_MAX, "%s",
		         isnan(value) ? "nan"
		         : value < 0  ? "-inf"
		                      : "inf");
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*e", precision, fabs(value));
	while (strtod(text, NULL) != fabs(value) && ++precision < 17);
	e = strchr(text, 'e');
	for (const char *p = text; p < e && n < 18; p++)
		if (*p != '.')
			digits[n++] = *p;
	out[0] = '-';
	lay_out(digits, n, (int)strtol(e + 1, NULL, 10), out + (signbit(value) != 0));
}

void log_preparing(struct strbuf *sb, const char *dataset, const char *folder)
{
	/* The seeds open a quote here and do not close it. */
	strbuf_addf(sb, "==> Preparing data.FLAGS.dataset:%s,dataset_dir:'%s\n", dataset, folder);
}

void log_dataset_built(struct strbuf *sb)
{
	strbuf_adds(sb, "Successfully built the dataset\n");
}

static void add_flag(struct strbuf *sb, const struct log_flag *f)
{
	char text[LOG_FLOAT_MAX];

	strbuf_addf(sb, "%s=", f->name);
	switch (f->kind) {
	case FLAG_STRING:
		strbuf_addc(sb, '\'');
		for (const char *p = f->text; *p != '\0'; p++) {
			if (*p == '\'' || *p == '\\')
				strbuf_addc(sb, '\\');
			strbuf_addc(sb, *p);
		}
		strbuf_addc(sb, '\'');
		break;
	case FLAG_INT:
		strbuf_addf(sb, "%.0f", f->number);
		break;
	case FLAG_FLOAT:
		log_float(f->number, text);
		strbuf_adds(sb, text);
		break;
	case FLAG_BOOL:
		strbuf_adds(sb, f->number != 0 ? "True" : "False");
		break;
	}
}

void log_namespace(struct strbuf *sb, const struct log_flag *flags, size_t n)
{
	strbuf_adds(sb, "--------TRAINING CONFIG----------\nNamespace(");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_adds(sb, ", ");
		add_flag(sb, &flags[i]);
	}
	strbuf_adds(sb, ")\n---------------------------------\n");
}

void log_epoch(struct strbuf *sb, uint64_t epoch, const char *what, const char *time)
{
	strbuf_addf(sb, "Epoch %llu %s %s\n", (unsigned long long)epoch, what, time);
}

void log_training(struct strbuf *sb, const struct log_training *t)
{
	char lr[LOG_FLOAT_MAX];

	log_float(t->lr, lr);
	strbuf_addf(sb,
	            "| Training Device=%s Epoch=%llu Step=%llu Learning_Rate=%s Loss=%.5f "
	            "Throughput=%.5f Time=%s\n",
	            t->device, (unsigned long long)t->epoch, (unsigned long long)t->step, lr,
	            t->loss, t->throughput, t->time);
}

void log_test(struct strbuf *sb, const struct log_test *t)
{
	strbuf_addf(sb, "| Test Device=%s Step=%llu Epoch=%llu Throughput=%.5f", t->device,
	            (unsigned long long)t->step, (unsigned long long)t->epoch, t->throughput);
	if (t->accuracy >= 0)
		strbuf_addf(sb, " Accuracy=%.2f", t->accuracy);
	strbuf_addf(sb, " Time=%s\n", t->time);
}

void log_throughputs(struct strbuf *sb, const char *which, double average, double max)
{
	strbuf_addf(sb, "Average %s throughput: %.4f\nMax %s throughput: %.4f\n", which, average,
	            which, max);
}

/* "; GPU 97 %, 41 % memory, 4000 MB": what is for people. */
static void add_meters(struct strbuf *sb, const struct meters *m)
{
	const char *before = "; GPU ";

	for (size_t i = 0; i < METERS; i++) {
		const struct meter_row *row = meter_row((enum meter)i);

		if (!m->has[i] || row->unit == NULL)
			continue;
		strbuf_addf(sb, "%s%.0f%s", before, row->times * m->value[i], row->unit);
		before = ", ";
	}
}

void log_details(struct strbuf *sb, const struct log_step *s)
{
	strbuf_addf(sb,
	            "  step %llu: image %.5f audio %.5f label %.5f, gradient norm %.4g%s, %.3f "
	            "clips/s, waiting for data %.1f %%, for ranks %.1f %%, memory %.0f MB, %.0f "
	            "tokens/s",
	            (unsigned long long)s->step, s->loss_image, s->loss_audio, s->loss_label,
	            s->grad_norm, s->skipped ? " (update skipped)" : "", s->clips_per_second,
	            100 * s->wait_share, 100 * s->reduce_share, (double)s->rss_bytes / 1e6,
	            s->tokens_per_second);
	add_meters(sb, &s->meters);
	strbuf_addc(sb, '\n');
}

void log_json(struct strbuf *sb, const struct log_step *s)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {{"lr", s->lr},
	               {"loss", s->loss},
	               {"loss_image", s->loss_image},
	               {"loss_audio", s->loss_audio},
	               {"loss_label", s->loss_label},
	               {"grad_norm", s->grad_norm},
	               {"loss_scale", s->loss_scale},
	               {"clips_per_second", s->clips_per_second},
	               {"tokens_per_second", s->tokens_per_second},
	               {"wait_share", s->wait_share},
	               {"reduce_share", s->reduce_share},
	               {"time", (double)s->us / 1e6}};
	struct jsonw w;

	jsonw_init(&w, sb, false);
	jsonw_begin_object(&w);
	jsonw_key(&w, "step");
	jsonw_int(&w, (int64_t)s->step);
	jsonw_key(&w, "epoch");
	jsonw_int(&w, (int64_t)s->epoch);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		jsonw_key(&w, numbers[i].key);
		jsonw_double(&w, numbers[i].value);
	}
	for (size_t i = 0; i < METERS; i++) {
		if (!s->meters.has[i])
			continue;
		jsonw_key(&w, meter_row((enum meter)i)->name);
		jsonw_double(&w, s->meters.value[i]);
	}
	jsonw_key(&w, "rss_bytes");
	jsonw_int(&w, (int64_t)s->rss_bytes);
	jsonw_key(&w, "skipped");
	jsonw_bool(&w, s->skipped);
	jsonw_end_object(&w);
	strbuf_addc(sb, '\n');
}

void log_metrics(struct strbuf *sb, const double v[METRICS])
{
	strbuf_addf(sb,
	            "loss %.5f, image %.5f (PSNR %.2f dB), audio %.5f (PSNR %.2f dB, SNR %.2f dB), "
	            "label %.5f, top-1 %.2f %%, top-5 %.2f %%",
	            v[METRIC_LOSS], v[METRIC_IMAGE], v[METRIC_PSNR], v[METRIC_AUDIO],
	            v[METRIC_PSNR_AUDIO], v[METRIC_SNR], v[METRIC_LABEL], 100 * v[METRIC_TOP1],
	            100 * v[METRIC_TOP5]);
}

void log_eval(struct strbuf *sb, const struct log_eval *e)
{
	const char *metric = metric_row(e->metric)->name;

	strbuf_addf(sb, "  validation after step %llu%s: ", (unsigned long long)e->step,
	            e->averaged ? " (averaged weights)" : "");
	log_metrics(sb, e->values);
	strbuf_addf(sb, "; %llu clips in %.1f s", (unsigned long long)e->clips, e->seconds);
	if (e->judged && e->best_step == e->step)
		strbuf_addf(sb, "; the best %s so far", metric);
	else if (e->judged && e->best_step > 0)
		strbuf_addf(sb, "; best %s %.5f after step %llu", metric, e->best,
		            (unsigned long long)e->best_step);
	strbuf_addc(sb, '\n');
}

void log_eval_json(struct strbuf *sb, const struct log_eval *e)
{
	struct jsonw w;

	jsonw_init(&w, sb, false);
	jsonw_begin_object(&w);
	if (e->step > 0) {
		jsonw_key(&w, "step");
		jsonw_int(&w, (int64_t)e->step);
		jsonw_key(&w, "epoch");
		jsonw_int(&w, (int64_t)e->epoch);
	}
	for (size_t i = 0; i < METRICS; i++) {
		char key[64];

		snprintf(key, sizeof(key), "val_%s", metric_row((enum metric)i)->name);
		jsonw_key(&w, key);
		jsonw_double(&w, e->values[i]);
	}
	jsonw_key(&w, "val_clips");
	jsonw_int(&w, (int64_t)e->clips);
	jsonw_key(&w, "val_seconds");
	jsonw_double(&w, e->seconds);
	jsonw_key(&w, "averaged_weights");
	jsonw_bool(&w, e->averaged);
	if (e->judged) {
		jsonw_key(&w, "best_metric");
		jsonw_string(&w, metric_row(e->metric)->name);
		jsonw_key(&w, "best");
		jsonw_double(&w, e->best_step > 0 ? e->best : NAN);
		jsonw_key(&w, "best_step");
		jsonw_int(&w, (int64_t)e->best_step);
		jsonw_key(&w, "stale");
		jsonw_int(&w, (int64_t)e->stale);
	}
	jsonw_key(&w, "time");
	jsonw_double(&w, (double)e->us / 1e6);
	jsonw_end_object(&w);
	strbuf_addc(sb, '\n');
}
