/*
 * The lines that the PyTorch program printed, letter by letter, so that whatever reads its logs
 * reads ours; and one more line a step with what it did not print. Pure: text into a buffer.
 */
#ifndef SLIPWAY_TRAINER_LOG_LINES_H
#define SLIPWAY_TRAINER_LOG_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "trainer/model/metrics.h"
#include "trainer/ops/meters.h"

/* As Python's str(datetime.now()): "2026-11-21 10:12:48.123456", local time, no
 * fraction when zero. */
enum { LOG_TIME_MAX = 32 };
void log_time(int64_t us_since_1970, char out[LOG_TIME_MAX]);

/* As Python's repr of a float: the shortest digits that read back, 1e-05, 0.1, 1.0. */
enum { LOG_FLOAT_MAX = 32 };
void log_float(double value, char out[LOG_FLOAT_MAX]);

/* One command-line value of the seeds as argparse shows it. */
enum flag_kind { FLAG_STRING, FLAG_INT, FLAG_FLOAT, FLAG_BOOL };
struct log_flag {
	const char *name;
	enum flag_kind kind;
	const char *text; /* FLAG_STRING */
	double number;    /* the others; FLAG_BOOL: 0 or 1 */
};

/* "==> Preparing data.FLAGS.dataset:synthetic,dataset_dir:'/dataset" and the line after it. */
void log_preparing(struct strbuf *sb, const char *dataset, const char *folder);
void log_dataset_built(struct strbuf *sb);
/* The box around Namespace(dataset='synthetic', ...). */
void log_namespace(struct strbuf *sb, const struct log_flag *flags, size_t n);

/* "Epoch 1 train begin 2026-..." (what: "train begin", "train end", "test end"). */
void log_epoch(struct strbuf *sb, uint64_t epoch, const char *what, const char *time);

struct log_training {
	const char *device; /* "cpu:0" */
	uint64_t epoch;     /* from 1 */
	uint64_t step;      /* in the epoch, from 0 */
	double lr, loss, throughput;
	const char *time;
};
void log_training(struct strbuf *sb, const struct log_training *t);

/* accuracy below 0: the field is left out. */
struct log_test {
	const char *device;
	uint64_t step, epoch;
	double throughput, accuracy;
	const char *time;
};
void log_test(struct strbuf *sb, const struct log_test *t);

/* "Average train throughput: 8.1234" and "Max train throughput: ..." (which: "train" or "test"). */
void log_throughputs(struct strbuf *sb, const char *which, double average, double max);

/* ---- what the PyTorch program did not print ---- */

struct log_step {
	uint64_t step, epoch; /* optimizer steps done; epoch from 1 */
	double lr, loss, loss_image, loss_audio, loss_label, grad_norm, loss_scale;
	double clips_per_second;         /* over all ranks, by finished steps */
	double wait_share, reduce_share; /* of the wall time, 0..1 */
	double tokens_per_second; /* that the encoder reads: n_tokens of struct model_dims a clip */
	uint64_t rss_bytes;
	struct meters meters; /* of rank 0's device */
	bool skipped;
	int64_t us; /* since 1970 */
};

/* One line for people, indented under the seeds' line. */
void log_details(struct strbuf *sb, const struct log_step *s);
/* One JSON object and a newline. */
void log_json(struct strbuf *sb, const struct log_step *s);

/* An evaluation on the val clips. */
struct log_eval {
	uint64_t step, epoch; /* 0: not of a step, or of a run whose steps are not known */
	uint64_t clips;
	double values[METRICS];
	double seconds;
	bool averaged; /* the averaged weights were evaluated */
	bool judged;   /* the next three are set */
	enum metric metric;
	double best; /* by that metric, so far */
	uint64_t best_step, stale;
	int64_t us; /* since 1970 */
};

/* "loss 0.02, image 0.5 (PSNR 6.0 dB), ...", without an end of line. */
void log_metrics(struct strbuf *sb, const double values[METRICS]);
/* One line for people, indented. */
void log_eval(struct strbuf *sb, const struct log_eval *e);
/* One JSON object and a newline; the metrics' keys begin with val_, so that those who read "loss"
 * read steps only. */
void log_eval_json(struct strbuf *sb, const struct log_eval *e);

#endif
