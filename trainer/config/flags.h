/*
 * The options of `train` and `eval`: first the keys of the PyTorch program, with
 * its defaults, then ours. Names may be written with '-' or '_'. Pure: no file is read.
 */
#ifndef SLIPWAY_TRAINER_CONFIG_FLAGS_H
#define SLIPWAY_TRAINER_CONFIG_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "trainer/config/flag_table.h"
#include "trainer/log/lines.h"
#include "trainer/train/options.h"

struct train_flags {
	/* the PyTorch program's */
	const char *dataset, *dataset_dir, *config_file_path, *logdir;
	int64_t batch_size, num_epochs, num_workers, log_steps, max_steps;
	int64_t expected_average_throughput, image_dim, test_batch_size;
	double lr, momentum, target_accuracy;
	bool drop_last, metrics_debug, enable_pt_autocast, do_eval;
	/* ours; a number below zero or a NULL stands for "as the preset says" */
	const char *preset, *output_dir, *init_from, *checkpoint, *optimizer, *schedule, *isa,
		*precision;
	const char *json_log, *mpi_library;
	bool resume, reference;
	int64_t seed, accumulate, checkpoint_steps, keep, keep_every, stop_after, warmup_steps;
	int64_t image_points, audio_points, max_bad_steps, threads, metrics_port, rank_timeout;
	int64_t join_timeout;
	int64_t eval_steps;
	double weight_decay, grad_clip, label_mask_prob, attention_dropout, spike_factor;
};

/*
 * Reads the words. Values not given come from the environment's DATASET_DIR, MAX_STEPS and
 * BATCH_SIZE (the PyTorch program's scripts set them; `look` is getenv, NULL: no environment), then
 * from the defaults. A line for each key that was given and has no effect goes to remarks.
 * ERR_USAGE naming the word. *ret_help: --help was asked for. Strings are borrowed from argv.
 */
int train_flags_parse(int argc, char **argv, const char *(*look)(const char *name),
                      struct train_flags *ret, struct strbuf *remarks, bool *ret_help,
                      struct err *err) MUST_USE;

/* The options and what they are for. */
const struct flag_table *train_flags_table(void);

/* The PyTorch program's part, as its Namespace shows it; FLAGS_SEED_KEYS of them. */
enum { FLAGS_SEED_KEYS = 19 };
void train_flags_namespace(const struct train_flags *f, struct log_flag ret[FLAGS_SEED_KEYS]);

/* The loop's options: the preset, then what was given. ERR_USAGE on unknown names. */
int train_flags_options(const struct train_flags *f, struct train_options *ret,
                        struct err *err) MUST_USE;

#endif
