/*
 * The options of `train` and `eval`: first the keys of the PyTorch program, with
 * its defaults, then ours. Names may be written with '-' or '_'.
 *
 * A value comes from the strongest of these that gives it (trainer/config/precedence.c):
 *   default < preset < --options_file < environment < flag
 */
#ifndef SLIPWAY_TRAINER_CONFIG_FLAGS_H
#define SLIPWAY_TRAINER_CONFIG_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "trainer/config/flag_table.h"
#include "trainer/log/lines.h"
#include "trainer/train/options.h"

enum flag_layer { LAYER_DEFAULT, LAYER_PRESET, LAYER_FILE, LAYER_ENVIRONMENT, LAYER_FLAG };

/* Where a value comes from. */
struct flag_origin {
	enum flag_layer layer;
	const char *where; /* the preset, "file:line", the variable; NULL for the others */
};

enum { TRAIN_FLAGS_MAX = 128 }; /* rows of the table, at most */

struct train_flags {
	/* the PyTorch program's */
	const char *dataset, *dataset_dir, *config_file_path, *logdir;
	int64_t batch_size /* 0: auto */, num_epochs, num_workers, log_steps, max_steps;
	int64_t expected_average_throughput, image_dim, test_batch_size;
	double lr, momentum, target_accuracy;
	bool drop_last, metrics_debug, enable_pt_autocast, do_eval;
	/* ours; attention_dropout below zero stands for "as the model's file says" */
	const char *preset, *options_file, *output_dir, *init_from, *checkpoint, *optimizer,
		*schedule, *device, *isa, *precision, *gemm, *best, *activation_checkpointing;
	const char *json_log, *mpi_library, *collective, *cache_dir;
	bool resume, overwrite, reference, print_config, estimate, ema, augment, balanced,
		no_overlap;
	int64_t seed, accumulate, checkpoint_steps, keep, keep_every, stop_after, warmup_steps;
	int64_t image_points, audio_points, max_bad_steps, max_backoffs, threads, metrics_port,
		rank_timeout;
	int64_t join_timeout, local_ranks;
	int64_t eval_steps, eval_every, patience;
	double weight_decay, grad_clip, label_mask_prob, attention_dropout, spike_factor;
	double warmup_share, decay_share, min_delta, ema_decay;
	double augment_offset, augment_crop, augment_flip, augment_gain;
	struct flag_origin origins[TRAIN_FLAGS_MAX]; /* by row of the table */
	struct arena texts;                          /* of the options file */
};

/*
 * Reads the words, the preset and the options file that they name, and the environment's
 * DATASET_DIR, MAX_STEPS, BATCH_SIZE (the PyTorch program's scripts set them) and METRICS_PORT;
 * `look` is getenv, NULL: no environment. A line for each key that was given and has no effect goes
 * to remarks. ERR_USAGE naming the word, or the file and its line. *ret_help: --help was asked for.
 * Strings are borrowed from argv and the environment. The caller: train_flags_done.
 */
int train_flags_parse(int argc, char **argv, const char *(*look)(const char *name),
                      struct train_flags *ret, struct strbuf *remarks, bool *ret_help,
                      struct err *err) MUST_USE;

void train_flags_done(struct train_flags *f); /* for AUTO(train_flags) */

/* Every option with its value and where that comes from, a line each. */
void train_flags_print(const struct train_flags *f, struct strbuf *sb);

/* Where an option's value comes from; the name is one of the table's. */
struct flag_origin train_flags_origin(const struct train_flags *f, const char *name);

/* batch_size, which was to be found, is n, for this reason (train_flags_print shows it). */
void train_flags_settle_batch(struct train_flags *f, int64_t n, const char *why);

/* The options and what they are for. */
const struct flag_table *train_flags_table(void);

/* The PyTorch program's part, as its Namespace shows it; FLAGS_SEED_KEYS of them. */
enum { FLAGS_SEED_KEYS = 19 };
void train_flags_namespace(const struct train_flags *f, struct log_flag ret[FLAGS_SEED_KEYS]);

/* The loop's options. ERR_USAGE on unknown names. */
int train_flags_options(const struct train_flags *f, struct train_options *ret,
                        struct err *err) MUST_USE;

/* What there is before anything is read. */
extern const struct train_flags train_flags_defaults;

#endif
