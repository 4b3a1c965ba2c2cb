#include "trainer/config/flags.h"

#include <string.h>

#include "trainer/device/devices.h"

/* The rows' names are the members' of struct train_flags. */
#define TEXT(member, help) FLAG_ROW_TEXT(struct train_flags, #member, member, help)
#define INT(member, min, max, help)                                                                \
	FLAG_ROW_INT(struct train_flags, #member, member, min, max, help)
#define INT_AUTO(member, min, max, help)                                                           \
	FLAG_ROW_INT_AUTO(struct train_flags, #member, member, min, max, help)
#define FLOAT(member, min, max, help)                                                              \
	FLAG_ROW_FLOAT(struct train_flags, #member, member, min, max, help)
#define SWITCH(member, help) FLAG_ROW_SWITCH(struct train_flags, #member, member, help)
#define IGNORED(member, kind, value, min, max, why)                                                \
	FLAG_ROW_UNUSED(struct train_flags, #member, member, kind, value, min, max, why)

static const struct flag_row rows[] = {
	TEXT(dataset, "synthetic, or kinetics / kinetics-small: a folder made by prepare"),
	TEXT(dataset_dir, "the folder: with dataset.json, or with train/ and val/ that have one"),
	TEXT(config_file_path,
             "the model: main.yaml or config.json of PerceiverConfig keys; or full, mid, tiny"),
	TEXT(logdir, "folder of TensorBoard event files"),
	INT_AUTO(batch_size, 1, 65536,
                 "clips per rank and step; auto: as many as the device's memory takes"),
	INT(num_epochs, 1, 1e9, "maximum number of passes over the dataset"),
	INT(num_workers, 0, 256, "threads that read clips (0: as many as it takes)"),
	INT(log_steps, 1, 1e9, "steps between log lines"),
	INT(max_steps, 1, 99999999, "maximum number of optimizer steps"),
	INT(expected_average_throughput, 0, 1e9,
            "clips per second; the run fails below 95 % of it (0: never)"),
	IGNORED(image_dim, VALUE_INT, int64_t, 1, 1e6, "set in the model's file"),
	INT(test_batch_size, 1, 65536, "clips per rank and batch of an evaluation"),
	FLOAT(lr, 0, 1e3, "learning rate"),
	FLOAT(momentum, 0, 1, "momentum (only with --optimizer sgd)"),
	IGNORED(target_accuracy, VALUE_FLOAT, double, 0, 100, "no effect"),
	IGNORED(drop_last, VALUE_NONE, bool, 0, 0, "batches run across epochs"),
	IGNORED(metrics_debug, VALUE_NONE, bool, 0, 0, "see --json_log"),
	IGNORED(enable_pt_autocast, VALUE_NONE, bool, 0, 0, "see --precision"),
	SWITCH(do_eval, "evaluate after the training"),

	TEXT(preset, "seeds (every label hidden) or paper (half of them, cosine)"),
	TEXT(options_file, "YAML file of these options, a line each (KEY: VALUE)"),
	SWITCH(print_config, "show every option's value and where it comes from, and end"),
	SWITCH(estimate, "show what memory the run needs, by part, and end"),
	TEXT(optimizer, "adamw or sgd"),
	FLOAT(weight_decay, 0, 1e3, "weight decay"),
	FLOAT(grad_clip, 0, 1e9, "largest gradient norm (0: any)"),
	TEXT(schedule, "constant or cosine"),
	INT(warmup_steps, 0, 1e9, "warm-up steps of the learning rate"),
	FLOAT(warmup_share, 0, 1, "the same as a share of all steps"),
	FLOAT(decay_share, 0, 1, "share of all steps after which the cosine begins"),
	INT(accumulate, 1, 65536, "batches per optimizer step (gradient accumulation)"),
	FLOAT(label_mask_prob, 0, 1, "share of hidden labels"),
	FLOAT(attention_dropout, 0, 0.999,
              "dropout, instead of the model's attention_probs_dropout_prob"),
	INT(image_points, 1, 1e9, "pixels decoded per clip"),
	INT(audio_points, 1, 1e9, "audio patches decoded per clip"),
	SWITCH(augment, "change clips in training: the four options below, with usual values"),
	FLOAT(augment_offset, 0, 1, "share of clips that begin at a random frame"),
	FLOAT(augment_crop, 0.01, 1,
              "least share of a frame's area that is cut out (1: whole frames)"),
	FLOAT(augment_flip, 0, 1, "share of clips that are mirrored"),
	FLOAT(augment_gain, 0, 60, "decibels by which sound is louder or softer at most"),
	SWITCH(balanced, "draw every class equally often"),
	INT(seed, 0, 9e15, "seed of all random numbers"),
	FLOAT(spike_factor, 0, 1e9,
              "skip a step whose gradient norm is this times the usual (0: never)"),
	INT(max_bad_steps, 1, 1e6,
            "bad steps in a row after which the learning rate is halved and the last good weights "
            "taken"),
	INT(max_backoffs, 0, 30, "how often that may happen before the run ends"),
	TEXT(output_dir, "folder of checkpoints"),
	SWITCH(resume, "continue from the newest checkpoint in output_dir, if there is one"),
	SWITCH(overwrite, "begin anew in a used output_dir; its checkpoints are removed"),
	TEXT(init_from, "a checkpoint, a run's folder (its newest), or a safetensors file to take "
                        "the weights from"),
	TEXT(checkpoint, "checkpoint that eval reads, or a run's folder: its newest"),
	INT(checkpoint_steps, 0, 99999999, "steps between checkpoints (0: at the end only)"),
	INT(keep, 0, 1e6, "newest checkpoints to keep (0: all)"),
	INT(keep_every, 0, 99999999, "also keep the checkpoint of every so many steps"),
	INT(stop_after, 0, 99999999, "save and stop after so many steps of this process (0: no)"),
	INT(eval_steps, 0, 1e9, "maximum number of batches of an evaluation (0: all)"),
	INT(eval_every, 0, 99999999,
            "steps between evaluations on the val clips, and one at the end (0: none)"),
	TEXT(best, "what OUT/best is chosen by: loss (default), image, audio, label, psnr, "
                   "psnr_audio, snr, "
                   "top1 or top5"),
	INT(patience, 0, 1e6,
            "evaluations in a row without an improvement that end the run (0: never)"),
	FLOAT(min_delta, 0, 1e9,
              "how much better an improvement is, in the unit of --best (0: any)"),
	FLOAT(ema_decay, 0, 0.9999999,
              "keep averaged weights, to be evaluated and saved: 0.999 averages the last 1000 "
              "steps "
              "(0: none)"),
	SWITCH(ema, "eval and init_from take a checkpoint's averaged weights"),
	INT(threads, 0, 4096, "compute threads (0: one per CPU, which is also the most)"),
	TEXT(device, "what computes: " DEVICE_HELP),
	INT(local_ranks, 0, 64,
            "ranks that this process starts on its node, each with a device of its own (0: none, "
            "it is "
            "a rank itself)"),
	TEXT(isa, "instruction set (default: the best there is)"),
	TEXT(precision, "precision of matrix products: f32 (default), bf16, or on GPUs tf32, and "
                        "f16 for those that lack bf16"),
	TEXT(gemm, "what computes a GPU's matrix products: auto (default: cuBLASLt where it is "
                   "here and is "
                   "measured faster), own or cublaslt"),
	TEXT(activation_checkpointing,
             "what is computed again in backward instead of kept, with the same results: none "
             "(default), selective (norms and activations), N (every N-th self attention) or full"),
	SWITCH(no_overlap, "sum gradients over the ranks after the backward pass, not during it"),
	SWITCH(reference, "use the slow reference arithmetic"),
	TEXT(json_log, "file that gets one JSON line per log step"),
	INT(metrics_port, 0, 65535, "port of the Prometheus metrics (0: none)"),
	INT(rank_timeout, 1, 86400, "seconds to wait for another rank"),
	INT(join_timeout, 1, 86400, "seconds for all ranks to start, where no mpirun starts them"),
	TEXT(collective,
             "what sums GPUs' gradients over the ranks: auto (default: nccl where every rank has "
             "it), nccl or host, through the hosts' memory and MPI"),
	TEXT(cache_dir,
             "folder of modules compiled for Trainium (`slipway-trainer compile`), for --device "
             "neuron"),
	TEXT(mpi_library, "MPI library to load, instead of libmpi.so.40 and others"),
};

#undef TEXT
#undef INT
#undef INT_AUTO
#undef FLOAT
#undef SWITCH
#undef IGNORED

static const struct flag_table table = {rows, ARRAY_LEN(rows), NULL};

_Static_assert(ARRAY_LEN(rows) <= TRAIN_FLAGS_MAX, "a row without an origin");

const struct train_flags train_flags_defaults = {
	.dataset = "synthetic",
	.device = "auto",
	.collective = "auto",
	.dataset_dir = "/dataset",
	.config_file_path = "config/main.yaml",
	.logdir = "log_training",
	.batch_size = 8,
	.num_epochs = 2,
	.log_steps = 20,
	.max_steps = 28125,
	.image_dim = 224,
	.test_batch_size = 8,
	.lr = 0.00005,
	.momentum = 0.9,
	.preset = "seeds",
	.seed = 42,
	.accumulate = 1,
	.keep = 3,
	.optimizer = "adamw",
	.schedule = "constant",
	.precision = "f32",
	.gemm = "auto",
	.best = "loss",
	.activation_checkpointing = "none",
	.image_points = 512,
	.audio_points = 512,
	.max_bad_steps = 20,
	.max_backoffs = 3,
	.rank_timeout = 45,
	.join_timeout = 900,
	.weight_decay = 0.1,
	.grad_clip = 10,
	.label_mask_prob = 1,
	.attention_dropout = -1,
	.augment_crop = 1,
};

const struct flag_table *train_flags_table(void)
{
	return &table;
}

/* The member that a row sets, as the log shows it. */
static struct log_flag show(const struct flag_row *row, const struct train_flags *f)
{
	const char *at = (const char *)f + row->offset;
	struct log_flag shown = {.name = row->name};
	int64_t whole;
	bool on;

	switch (row->kind) {
	case VALUE_TEXT:
		shown.kind = FLAG_STRING;
		memcpy(&shown.text, at, sizeof(shown.text));
		break;
	case VALUE_INT:
	case VALUE_COUNT:
		shown.kind = FLAG_INT;
		memcpy(&whole, at, sizeof(whole));
		shown.number = (double)whole;
		break;
	case VALUE_FLOAT:
		shown.kind = FLAG_FLOAT;
		memcpy(&shown.number, at, sizeof(shown.number));
		break;
	case VALUE_NONE:
		shown.kind = FLAG_BOOL;
		memcpy(&on, at, sizeof(on));
		shown.number = on;
		break;
	}
	return shown;
}

void train_flags_namespace(const struct train_flags *f, struct log_flag ret[FLAGS_SEED_KEYS])
{
	for (size_t i = 0; i < FLAGS_SEED_KEYS; i++)
		ret[i] = show(&rows[i], f);
}

static int choose(const char *what, const char *given, const char *const names[2], int *ret,
                  struct err *err)
{
	for (int i = 0; i < 2; i++)
		if (strcmp(given, names[i]) == 0) {
			*ret = i;
			return 0;
		}
	return err_set(err, ERR_USAGE, "--%s is '%.60s', expected %s or %s", what, given, names[0],
	               names[1]);
}

static int read_kinds(const struct train_flags *f, struct train_options *o, struct err *err)
{
	static const char *const optimizers[] = {"sgd", "adamw"};
	static const char *const schedules[] = {"constant", "cosine"};
	int optimizer = 0, schedule = 0;

	if (choose("optimizer", f->optimizer, optimizers, &optimizer, err) != 0 ||
	    choose("schedule", f->schedule, schedules, &schedule, err) != 0 ||
	    precision_parse(f->precision, &o->precision, err) != 0 ||
	    gemm_choice_parse(f->gemm, &o->gemm, err) != 0)
		return -1;
	o->optimizer.kind = optimizer == 0 ? OPTIMIZER_SGD : OPTIMIZER_ADAMW;
	o->schedule.kind = schedule == 0 ? SCHEDULE_CONSTANT : SCHEDULE_COSINE;
	return 0;
}

/* Steps and share are two ways to say one thing: the one of the stronger layer counts. */
static int read_schedule(const struct train_flags *f, struct schedule_options *s, struct err *err)
{
	enum flag_layer of_steps = train_flags_origin(f, "warmup_steps").layer;
	enum flag_layer of_share = train_flags_origin(f, "warmup_share").layer;
	bool steps = of_steps > of_share;

	if (of_steps == of_share && f->warmup_steps > 0 && f->warmup_share > 0)
		return err_set(err, ERR_USAGE,
		               "--warmup_steps and --warmup_share are both given, expected one");
	s->warmup_steps = (uint64_t)f->warmup_steps;
	s->warmup_share = steps ? 0 : f->warmup_share;
	s->decay_share = f->decay_share;
	return 0;
}

static int read_best(const struct train_flags *f, struct best_options *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(0);

	if (!metric_find(f->best, &ret->metric)) {
		metric_names(&names);
		return err_set(err, ERR_USAGE, "--best is '%.60s', expected %s", f->best,
		               strbuf_str(&names));
	}
	if (f->patience > 0 && f->eval_every == 0) {
		err_set(err, ERR_USAGE, "--patience counts evaluations, and there are none");
		return err_hint(err, "Give --eval_every, the steps between two of them.");
	}
	ret->patience = (uint64_t)f->patience;
	ret->min_delta = f->min_delta;
	return 0;
}

int train_flags_options(const struct train_flags *f, struct train_options *ret, struct err *err)
{
	struct train_options o = train_options_default();

	if (read_kinds(f, &o, err) != 0 || read_best(f, &o.best, err) != 0 ||
	    recompute_parse(f->activation_checkpointing, &o.recompute, err) != 0 ||
	    read_schedule(f, &o.schedule, err) != 0)
		return -1;
	o.reduce_last = f->no_overlap;
	o.seed = (uint64_t)f->seed;
	o.batch_size = (size_t)f->batch_size;
	o.accumulate = (size_t)f->accumulate;
	o.max_steps = (uint64_t)f->max_steps;
	o.stop_after = (uint64_t)f->stop_after;
	o.log_steps = (uint64_t)f->log_steps;
	o.checkpoint_steps = (uint64_t)f->checkpoint_steps;
	o.image_points = (size_t)f->image_points;
	o.audio_points = (size_t)f->audio_points;
	o.label_mask_prob = f->label_mask_prob;
	o.optimizer.lr = f->lr;
	o.optimizer.momentum = f->momentum;
	o.optimizer.weight_decay = f->weight_decay;
	o.optimizer.max_grad_norm = f->grad_clip;
	o.optimizer.ema_decay = f->ema_decay;
	o.eval_every = (uint64_t)f->eval_every;
	o.spike_factor = f->spike_factor;
	o.max_bad_steps = (unsigned)f->max_bad_steps;
	o.max_backoffs = (unsigned)f->max_backoffs;
	*ret = o;
	return 0;
}
