#include "trainer/config/flags.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* What giving a key does to the run. */
enum effect { USED, UNUSED_KEY };

static const struct flag {
	const char *name;
	enum flag_kind kind;
	size_t offset;
	double min, max;
	enum effect effect;
	const char *help;
} flags[] = {
#define AT(field) offsetof(struct train_flags, field)
	{"dataset", FLAG_STRING, AT(dataset), 0, 0, USED,
         "synthetic, or kinetics / kinetics-small: a folder made by prepare"},
	{"dataset_dir", FLAG_STRING, AT(dataset_dir), 0, 0, USED,
         "the folder: with dataset.json, or with train/ and val/ that have one"},
	{"config_file_path", FLAG_STRING, AT(config_file_path), 0, 0, USED,
         "the model: main.yaml or config.json of PerceiverConfig keys; or full, mid, tiny"},
	{"logdir", FLAG_STRING, AT(logdir), 0, 0, USED, "folder of TensorBoard event files"},
	{"batch_size", FLAG_INT, AT(batch_size), 1, 65536, USED, "clips per rank and step"},
	{"num_epochs", FLAG_INT, AT(num_epochs), 1, 1e9, USED,
         "maximum number of passes over the dataset"},
	{"num_workers", FLAG_INT, AT(num_workers), 0, 256, USED,
         "threads that read clips (0: one)"},
	{"log_steps", FLAG_INT, AT(log_steps), 1, 1e9, USED, "steps between log lines"},
	{"max_steps", FLAG_INT, AT(max_steps), 1, 99999999, USED,
         "maximum number of optimizer steps"},
	{"expected_average_throughput", FLAG_INT, AT(expected_average_throughput), 0, 1e9, USED,
         "clips per second; the run fails below 95 % of it (0: never)"},
	{"image_dim", FLAG_INT, AT(image_dim), 1, 1e6, UNUSED_KEY, "set in the model's file"},
	{"test_batch_size", FLAG_INT, AT(test_batch_size), 1, 65536, USED,
         "clips per rank in eval"},
	{"lr", FLAG_FLOAT, AT(lr), 0, 1e3, USED, "learning rate"},
	{"momentum", FLAG_FLOAT, AT(momentum), 0, 1, USED, "momentum (only with --optimizer sgd)"},
	{"target_accuracy", FLAG_FLOAT, AT(target_accuracy), 0, 100, UNUSED_KEY, "no effect"},
	{"drop_last", FLAG_BOOL, AT(drop_last), 0, 0, UNUSED_KEY, "batches run across epochs"},
	{"metrics_debug", FLAG_BOOL, AT(metrics_debug), 0, 0, UNUSED_KEY, "see --json_log"},
	{"enable_pt_autocast", FLAG_BOOL, AT(enable_pt_autocast), 0, 0, UNUSED_KEY,
         "see --precision"},
	{"do_eval", FLAG_BOOL, AT(do_eval), 0, 0, USED, "evaluate after the training"},

	{"preset", FLAG_STRING, AT(preset), 0, 0, USED,
         "seeds (every label hidden) or paper (half of them)"},
	{"optimizer", FLAG_STRING, AT(optimizer), 0, 0, USED, "adamw or sgd"},
	{"weight_decay", FLAG_FLOAT, AT(weight_decay), 0, 1e3, USED, "weight decay"},
	{"grad_clip", FLAG_FLOAT, AT(grad_clip), 0, 1e9, USED, "largest gradient norm (0: any)"},
	{"schedule", FLAG_STRING, AT(schedule), 0, 0, USED, "constant or cosine"},
	{"warmup_steps", FLAG_INT, AT(warmup_steps), 0, 1e9, USED,
         "warm-up steps of the learning rate"},
	{"accumulate", FLAG_INT, AT(accumulate), 1, 65536, USED, "batches per optimizer step"},
	{"label_mask_prob", FLAG_FLOAT, AT(label_mask_prob), 0, 1, USED, "share of hidden labels"},
	{"attention_dropout", FLAG_FLOAT, AT(attention_dropout), 0, 0.999, USED,
         "dropout, instead of the model's attention_probs_dropout_prob"},
	{"image_points", FLAG_INT, AT(image_points), 1, 1e9, USED, "pixels decoded per clip"},
	{"audio_points", FLAG_INT, AT(audio_points), 1, 1e9, USED,
         "audio patches decoded per clip"},
	{"seed", FLAG_INT, AT(seed), 0, 9e15, USED, "seed of all random numbers"},
	{"spike_factor", FLAG_FLOAT, AT(spike_factor), 0, 1e9, USED,
         "skip a step whose gradient norm is this times the usual (0: never)"},
	{"max_bad_steps", FLAG_INT, AT(max_bad_steps), 1, 1e6, USED,
         "give up after so many bad steps in a row"},
	{"output_dir", FLAG_STRING, AT(output_dir), 0, 0, USED, "folder of checkpoints"},
	{"resume", FLAG_BOOL, AT(resume), 0, 0, USED,
         "continue from the newest checkpoint in output_dir, if there is one"},
	{"init_from", FLAG_STRING, AT(init_from), 0, 0, USED,
         "a checkpoint or safetensors file to take the weights from"},
	{"checkpoint", FLAG_STRING, AT(checkpoint), 0, 0, USED, "checkpoint that eval reads"},
	{"checkpoint_steps", FLAG_INT, AT(checkpoint_steps), 0, 99999999, USED,
         "steps between checkpoints (0: at the end only)"},
	{"keep", FLAG_INT, AT(keep), 0, 1e6, USED, "newest checkpoints to keep (0: all)"},
	{"keep_every", FLAG_INT, AT(keep_every), 0, 99999999, USED,
         "also keep the checkpoint of every so many steps"},
	{"stop_after", FLAG_INT, AT(stop_after), 0, 99999999, USED,
         "save and stop after so many steps of this process (0: no)"},
	{"eval_steps", FLAG_INT, AT(eval_steps), 1, 1e9, USED,
         "maximum number of batches of an evaluation"},
	{"threads", FLAG_INT, AT(threads), 0, 4096, USED, "compute threads (0: one per CPU)"},
	{"isa", FLAG_STRING, AT(isa), 0, 0, USED, "instruction set (default: the best there is)"},
	{"precision", FLAG_STRING, AT(precision), 0, 0, USED,
         "precision of matrix products: f32 (default), or bf16, faster where the CPU has it"},
	{"reference", FLAG_BOOL, AT(reference), 0, 0, USED, "use the slow reference arithmetic"},
	{"json_log", FLAG_STRING, AT(json_log), 0, 0, USED,
         "file that gets one JSON line per log step"},
	{"metrics_port", FLAG_INT, AT(metrics_port), 0, 65535, USED,
         "port of the Prometheus metrics (0: none)"},
	{"rank_timeout", FLAG_INT, AT(rank_timeout), 1, 86400, USED,
         "seconds to wait for another rank"},
	{"join_timeout", FLAG_INT, AT(join_timeout), 1, 86400, USED,
         "seconds for all ranks to start, where no mpirun starts them"},
	{"mpi_library", FLAG_STRING, AT(mpi_library), 0, 0, USED,
         "MPI library to load, instead of libmpi.so.40 and others"},
#undef AT
};

static const struct train_flags defaults = {
	.dataset = "synthetic",
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
	.warmup_steps = -1,
	.image_points = -1,
	.audio_points = -1,
	.max_bad_steps = -1,
	.rank_timeout = 45,
	.join_timeout = 900,
	.eval_steps = 100,
	.weight_decay = -1,
	.grad_clip = -1,
	.label_mask_prob = -1,
	.attention_dropout = -1,
	.spike_factor = -1,
};

/* '-' and '_' are one. */
static bool same_name(const char *name, const char *word, size_t len)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] != (word[i] == '-' ? '_' : word[i]))
			return false;
	return true;
}

static const struct flag *find(const char *word, const char **ret_value)
{
	const char *equals = strchr(word, '=');
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);

	*ret_value = equals != NULL ? equals + 1 : NULL;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (same_name(flags[i].name, word, len))
			return &flags[i];
	return NULL;
}

static int set_value(struct train_flags *f, const struct flag *flag, const char *text,
                     struct err *err)
{
	char *at = (char *)f + flag->offset, *end = NULL;
	int64_t whole;
	double number;

	if (flag->kind == FLAG_STRING) {
		memcpy(at, &text, sizeof(text));
		return 0;
	}
	if (flag->kind == FLAG_INT) {
		if (!text_int64(text, strlen(text), &whole) || (double)whole < flag->min ||
		    (double)whole > flag->max)
			return err_set(err, ERR_USAGE,
			               "--%s is '%.60s', expected a whole number from %.0f to %.0f",
			               flag->name, text, flag->min, flag->max);
		memcpy(at, &whole, sizeof(whole));
		return 0;
	}
	number = strtod(text, &end);
	if (end == text || *end != '\0' || !(number >= flag->min && number <= flag->max))
		return err_set(err, ERR_USAGE, "--%s is '%.60s', expected a number from %g to %g",
		               flag->name, text, flag->min, flag->max);
	memcpy(at, &number, sizeof(number));
	return 0;
}

static int unknown(const char *word, struct err *err)
{
	const char *names[ARRAY_LEN(flags)], *near;

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		names[i] = flags[i].name;
	near = text_nearest(word, names, ARRAY_LEN(flags));
	err_set(err, ERR_USAGE, "'--%.80s' is not an option", word);
	if (near != NULL)
		return err_hint(err, "Did you mean --%s?", near);
	return err_hint(err, "--help shows the options.");
}

static int take_word(struct train_flags *f, int argc, char **argv, int *i, struct strbuf *remarks,
                     struct err *err)
{
	const char *value;
	const struct flag *flag;

	if (strncmp(argv[*i], "--", 2) != 0)
		return err_set(err, ERR_USAGE, "'%.80s' is not an option", argv[*i]);
	flag = find(argv[*i] + 2, &value);
	if (flag == NULL)
		return unknown(argv[*i] + 2, err);
	if (flag->effect == UNUSED_KEY)
		strbuf_addf(remarks, "--%s is accepted but not used: %s\n", flag->name, flag->help);
	if (flag->kind == FLAG_BOOL) {
		bool on = true;

		if (value != NULL)
			return err_set(err, ERR_USAGE, "--%s takes no value", flag->name);
		memcpy((char *)f + flag->offset, &on, sizeof(on));
		return 0;
	}
	if (value == NULL && *i + 1 >= argc)
		return err_set(err, ERR_USAGE, "--%s needs a value", flag->name);
	return set_value(f, flag, value != NULL ? value : argv[++*i], err);
}

static int from_environment(struct train_flags *f, const char *(*look)(const char *name),
                            struct err *err)
{
	static const struct {
		const char *variable, *flag;
	} pairs[] = {{"DATASET_DIR", "dataset_dir"},
	             {"MAX_STEPS", "max_steps"},
	             {"BATCH_SIZE", "batch_size"},
	             {"METRICS_PORT", "metrics_port"}};
	const char *unused;

	for (size_t i = 0; look != NULL && i < ARRAY_LEN(pairs); i++) {
		const char *value = look(pairs[i].variable);

		if (value == NULL || *value == '\0')
			continue;
		if (set_value(f, find(pairs[i].flag, &unused), value, err) != 0)
			return err_wrap(err, "the environment's %s", pairs[i].variable);
	}
	return 0;
}

int train_flags_parse(int argc, char **argv, const char *(*look)(const char *name),
                      struct train_flags *ret, struct strbuf *remarks, bool *ret_help,
                      struct err *err)
{
	struct train_flags f = defaults;

	*ret_help = false;
	if (from_environment(&f, look, err) != 0)
		return -1;
	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			*ret_help = true;
		else if (take_word(&f, argc, argv, &i, remarks, err) != 0)
			return -1;
	}
	*ret = f;
	return 0;
}

void train_flags_help(struct strbuf *sb)
{
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		strbuf_addf(sb, "  --%s%s\n      %s\n", flags[i].name,
		            flags[i].kind == FLAG_BOOL ? "" : " VALUE", flags[i].help);
}

void train_flags_namespace(const struct train_flags *f, struct log_flag ret[FLAGS_SEED_KEYS])
{
	for (size_t i = 0; i < FLAGS_SEED_KEYS; i++) {
		const char *at = (const char *)f + flags[i].offset;
		int64_t whole;
		bool on;

		ret[i] = (struct log_flag){.name = flags[i].name, .kind = flags[i].kind};
		switch (flags[i].kind) {
		case FLAG_STRING:
			memcpy(&ret[i].text, at, sizeof(ret[i].text));
			break;
		case FLAG_INT:
			memcpy(&whole, at, sizeof(whole));
			ret[i].number = (double)whole;
			break;
		case FLAG_FLOAT:
			memcpy(&ret[i].number, at, sizeof(ret[i].number));
			break;
		case FLAG_BOOL:
			memcpy(&on, at, sizeof(on));
			ret[i].number = on;
			break;
		}
	}
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

static void overlay(const struct train_flags *f, struct train_options *o)
{
	o->seed = (uint64_t)f->seed;
	o->batch_size = (size_t)f->batch_size;
	o->accumulate = (size_t)f->accumulate;
	o->max_steps = (uint64_t)f->max_steps;
	o->stop_after = (uint64_t)f->stop_after;
	o->log_steps = (uint64_t)f->log_steps;
	o->checkpoint_steps = (uint64_t)f->checkpoint_steps;
	o->optimizer.lr = f->lr;
	o->optimizer.momentum = f->momentum;
	if (f->weight_decay >= 0)
		o->optimizer.weight_decay = f->weight_decay;
	if (f->grad_clip >= 0)
		o->optimizer.max_grad_norm = f->grad_clip;
	if (f->label_mask_prob >= 0)
		o->label_mask_prob = f->label_mask_prob;
	if (f->image_points > 0)
		o->image_points = (size_t)f->image_points;
	if (f->audio_points > 0)
		o->audio_points = (size_t)f->audio_points;
	if (f->spike_factor >= 0)
		o->spike_factor = f->spike_factor;
	if (f->max_bad_steps > 0)
		o->max_bad_steps = (unsigned)f->max_bad_steps;
	if (f->warmup_steps >= 0)
		o->schedule.warmup_steps = (uint64_t)f->warmup_steps;
}

int train_flags_options(const struct train_flags *f, struct train_options *ret, struct err *err)
{
	static const char *const presets[] = {"seeds", "paper"};
	static const char *const optimizers[] = {"sgd", "adamw"};
	static const char *const schedules[] = {"constant", "cosine"};
	static const char *const precisions[] = {"f32", "bf16"};
	struct train_options o;
	int preset = 0, kind = 0;

	if (choose("preset", f->preset, presets, &preset, err) != 0)
		return -1;
	o = preset == 0 ? train_options_seeds() : train_options_paper();
	if (f->optimizer != NULL) {
		if (choose("optimizer", f->optimizer, optimizers, &kind, err) != 0)
			return -1;
		o.optimizer.kind = kind == 0 ? OPTIMIZER_SGD : OPTIMIZER_ADAMW;
	}
	overlay(f, &o);
	if (f->precision != NULL) {
		if (choose("precision", f->precision, precisions, &kind, err) != 0)
			return -1;
		o.precision = kind == 0 ? PRECISION_F32 : PRECISION_BF16;
	}
	if (f->schedule != NULL) {
		if (choose("schedule", f->schedule, schedules, &kind, err) != 0)
			return -1;
		o.schedule.kind = kind == 0 ? SCHEDULE_CONSTANT : SCHEDULE_COSINE;
		o.schedule.decay_from = o.schedule.warmup_steps;
		o.schedule.total_steps = o.max_steps;
	}
	*ret = o;
	return 0;
}
