#include "trainer/checkpoint/checkpoint.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "trainer/checkpoint/safetensors.h"

enum { STATE_BYTES_MAX = 1 << 16, CONFIG_BYTES_MAX = 16 << 20 };

static const char weights_name[] = "model.safetensors", average_name[] = "ema.safetensors";

static const char prefix_m[] = "optim.exp_avg.", prefix_v[] = "optim.exp_avg_sq.",
		  prefix_momentum[] = "optim.momentum_buffer.";

struct saver {
	char *folder, *run, *record;
	struct class_list classes;
	struct store_keep keep;
	uint64_t seed;
	int lock;
	/* the copy that is being written */
	struct tensors sets[LEARNER_SETS]; /* of those that are written; made at the first copy */
	struct optimizer_options options;
	struct learner_counts counts;
	struct train_state state;
	char *config, *products;
	pthread_t thread;
	bool running;
	int rc;
	struct err err;
	_Atomic uint64_t saved; /* the step on disk, plus 1; 0: none yet */
	uint64_t told;          /* as saved, of what saver_saved has told */
	_Atomic bool
		failed; /* the last writing, which saver_failed has not told; s->err says why */
};

/* ---- writing, in the thread ---- */

static int write_tensors(const char *folder, const char *name, const struct tensors *set,
                         const char *prefix, struct err *err)
{
	AUTO_FREE struct st_item *items = st_items(set, prefix);
	char path[PATH_MAX];

	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return st_write(path, items, set->n, err);
}

static int write_optimizer(const struct saver *s, const char *folder, struct err *err)
{
	size_t n = s->sets[LEARNER_WEIGHTS].n;
	AUTO_FREE struct st_item *first = NULL;
	AUTO_FREE struct st_item *second = NULL;
	AUTO_FREE struct st_item *both = NULL;
	char path[PATH_MAX];

	if (s->options.kind == OPTIMIZER_SGD)
		return write_tensors(folder, "optimizer.safetensors", &s->sets[LEARNER_MOMENT1],
		                     prefix_momentum, err);
	first = st_items(&s->sets[LEARNER_MOMENT1], prefix_m);
	second = st_items(&s->sets[LEARNER_MOMENT2], prefix_v);
	both = mem_calloc(2 * n, sizeof(*both));
	memcpy(both, first, n * sizeof(*both));
	memcpy(both + n, second, n * sizeof(*both));
	if (fs_join(path, folder, "optimizer.safetensors", err) != 0)
		return -1;
	return st_write(path, both, 2 * n, err);
}

static void add_u64(struct jsonw *w, const char *key, uint64_t value)
{
	char text[32];

	/* A text: JSON's numbers hold 53 bits for many readers. */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	jsonw_key(w, key);
	jsonw_string(w, text);
}

static int write_text(const char *folder, const char *name, const char *text, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, folder, name, err) != 0)
		return -1;
	return fs_write_file(path, text, strlen(text), 0644, err);
}

static void add_double(struct jsonw *w, const char *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	add_u64(w, key, bits);
}

static void add_best(struct jsonw *w, const struct best *b)
{
	jsonw_key(w, "best_metric");
	jsonw_string(w, metric_row(b->metric)->name);
	add_u64(w, "best_step", b->step);
	add_double(w, "best_value_bits", b->value);
	add_double(w, "best_mark_bits", b->mark);
	add_u64(w, "stale", b->stale);
	add_u64(w, "evaluated", b->evaluated);
}

static int write_state(const struct saver *s, const char *folder, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATE_BYTES_MAX);
	struct jsonw w;

	jsonw_init(&w, &text, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "format");
	jsonw_string(&w, "slipway-trainer-state/v1");
	jsonw_key(&w, "optimizer");
	jsonw_string(&w, s->options.kind == OPTIMIZER_SGD ? "sgd" : "adamw");
	add_u64(&w, "step", s->state.step);
	add_u64(&w, "sample", s->state.sample);
	add_u64(&w, "bad_steps", s->state.bad_steps);
	add_u64(&w, "backoffs", s->state.backoffs);
	add_double(&w, "norm_mean_bits", s->state.norm_mean);
	add_u64(&w, "loss_scale_log2", (uint64_t)(LOSS_SCALE_FIRST + s->state.scale.moved));
	add_u64(&w, "loss_scale_good", s->state.scale.good);
	add_u64(&w, "updates", s->counts.updates);
	add_u64(&w, "averaged", s->counts.averaged);
	add_u64(&w, "seed", s->seed);
	add_best(&w, &s->state.best);
	if (s->products[0] != '\0') {
		jsonw_key(&w, "products");
		jsonw_string(&w, s->products);
	}
	jsonw_end_object(&w);
	return write_text(folder, "trainer_state.json", strbuf_str(&text), err);
}

static int write_all(void *ctx, const char *folder, struct err *err)
{
	struct saver *s = ctx;

	if (write_tensors(folder, weights_name, &s->sets[LEARNER_WEIGHTS], NULL, err) != 0 ||
	    (s->counts.averaged > 0 &&
	     write_tensors(folder, average_name, &s->sets[LEARNER_AVERAGE], NULL, err) != 0) ||
	    write_optimizer(s, folder, err) != 0 || write_state(s, folder, err) != 0 ||
	    write_text(folder, "run.json", s->record, err) != 0)
		return -1;
	return write_text(folder, "config.json", s->config, err);
}

static void *write_checkpoint(void *arg)
{
	struct saver *s = arg;
	struct store_writer w = {write_all, s};
	struct store_keep keep = s->keep;

	keep.best = s->state.best.step > 0 && s->state.best.step == s->state.step;
	s->rc = store_commit(s->folder, s->run, s->state.step, &w, &keep, &s->err);
	if (s->rc == 0)
		s->saved = s->state.step + 1;
	s->failed = s->rc != 0;
	return NULL;
}

/* ---- the caller's side ---- */

int saver_open(const char *folder, const struct store_keep *keep, uint64_t seed, struct saver **ret,
               struct err *err)
{
	struct saver *s;
	int lock;

	if (store_lock(folder, &lock, err) != 0)
		return -1;
	s = mem_zalloc(sizeof(*s));
	s->folder = mem_strdup(folder);
	s->run = mem_strdup("");
	s->record = mem_strdup("");
	s->keep = *keep;
	s->seed = seed;
	s->lock = lock;
	*ret = s;
	return 0;
}

void saver_set_run(struct saver *s, const char *id, const char *record)
{
	free(s->run);
	free(s->record);
	s->run = mem_strdup(id);
	s->record = mem_strdup(record);
}

void saver_set_classes(struct saver *s, const struct class_list *classes)
{
	class_list_done(&s->classes);
	class_list_copy(classes, &s->classes);
}

/* The sets that a checkpoint holds. */
static int copy_sets(struct saver *s, struct learner *l, struct err *err)
{
	for (enum learner_set k = 0; k < LEARNER_SETS; k++) {
		if (k == LEARNER_GRADIENTS || !learner_has(l, k))
			continue;
		if (s->sets[k].n == 0)
			tensors_like(learner_table(l), NULL, NULL, &s->sets[k]);
		if (learner_get(l, k, &s->sets[k], err) != 0)
			return -1;
	}
	return 0;
}

static int take_copy(struct saver *s, struct learner *l, const struct train_state *state,
                     struct err *err)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(CONFIG_BYTES_MAX);
	AUTO(strbuf) struct strbuf products = STRBUF_INIT(4096);

	if (copy_sets(s, l, err) != 0)
		return -1;
	s->options = *learner_optimizer(l);
	s->counts = learner_counts(l);
	s->state = *state;
	model_config_print(learner_config(l), &s->classes, &config);
	free(s->config);
	s->config = strbuf_take(&config);
	learner_products(l, &products);
	free(s->products);
	s->products = strbuf_take(&products);
	return 0;
}

int saver_wait(struct saver *s, struct err *err)
{
	int rc;

	if (s->running)
		pthread_join(s->thread, NULL);
	s->running = false;
	rc = s->rc;
	if (rc != 0)
		*err = s->err;
	s->rc = 0;
	return rc;
}

int saver_save(struct saver *s, struct learner *l, const struct train_state *state, struct err *err)
{
	struct err before = {0};
	bool failed = saver_wait(s, &before) != 0;

	if (take_copy(s, l, state, err) != 0)
		return -1;
	s->err = (struct err){0};
	if (pthread_create(&s->thread, NULL, write_checkpoint, s) == 0)
		s->running = true;
	else
		write_checkpoint(s);
	/* This one makes up for the one before, if it can be written. */
	return failed ? saver_wait(s, err) : 0;
}

bool saver_saved(struct saver *s, uint64_t *ret_step)
{
	uint64_t saved = s->saved;

	if (saved == s->told)
		return false;
	s->told = saved;
	*ret_step = saved - 1;
	return true;
}

bool saver_failed(struct saver *s, struct err *ret)
{
	if (!s->failed)
		return false;
	s->failed = false;
	*ret = s->err;
	return true;
}

void saver_free(struct saver *s)
{
	struct err ignored = {0};

	if (s == NULL)
		return;
	if (saver_wait(s, &ignored) != 0)
		s->rc = 0;
	for (size_t k = 0; k < LEARNER_SETS; k++)
		tensors_done(&s->sets[k]);
	close(s->lock);
	free(s->products);
	free(s->config);
	free(s->folder);
	free(s->run);
	free(s->record);
	class_list_done(&s->classes);
	free(s);
}

/* ---- reading ---- */

static int read_u64(const struct jsonr *doc, const char *key, uint64_t *ret, struct err *err)
{
	const struct jsonr_node *n = jsonr_get(doc, doc->nodes, key);
	char *end = NULL;
	unsigned long long value = 0;

	if (n != NULL && n->type == JSONR_STRING && n->string[0] >= '0' && n->string[0] <= '9' &&
	    strlen(n->string) <= 20)
		value = strtoull(n->string, &end, 10);
	if (end == NULL || *end != '\0')
		return err_set(err, ERR_FORMAT, "'%s' is not a number", key);
	*ret = value;
	return 0;
}

struct saved_state {
	struct train_state state;
	uint64_t updates, averaged, seed;
	enum optimizer_kind kind;
};

static int read_double(const struct jsonr *doc, const char *key, double *ret, struct err *err)
{
	uint64_t bits;

	if (read_u64(doc, key, &bits, err) != 0)
		return -1;
	memcpy(ret, &bits, sizeof(bits));
	return 0;
}

/* Checkpoints of before the evaluations have none of this. */
static int read_best(const struct jsonr *doc, struct saved_state *ret, struct err *err)
{
	const struct jsonr_node *metric = jsonr_get(doc, doc->nodes, "best_metric");
	struct best *b = &ret->state.best;

	if (metric == NULL)
		return 0;
	if (metric->type != JSONR_STRING || !metric_find(metric->string, &b->metric))
		return err_set(err, ERR_FORMAT, "'best_metric' is not the name of a metric");
	if (read_u64(doc, "best_step", &b->step, err) != 0 ||
	    read_double(doc, "best_value_bits", &b->value, err) != 0 ||
	    read_double(doc, "best_mark_bits", &b->mark, err) != 0 ||
	    read_u64(doc, "stale", &b->stale, err) != 0 ||
	    read_u64(doc, "evaluated", &b->evaluated, err) != 0)
		return -1;
	return read_u64(doc, "averaged", &ret->averaged, err);
}

/* Checkpoints of before f16 have none. */
static int read_scale(const struct jsonr *doc, struct loss_scale *ret, struct err *err)
{
	uint64_t log2;

	if (jsonr_get(doc, doc->nodes, "loss_scale_log2") == NULL)
		return 0;
	if (read_u64(doc, "loss_scale_log2", &log2, err) != 0 ||
	    read_u64(doc, "loss_scale_good", &ret->good, err) != 0)
		return -1;
	if (log2 > LOSS_SCALE_LARGEST)
		return err_set(err, ERR_FORMAT, "'loss_scale_log2' is %llu, expected at most %d",
		               (unsigned long long)log2, LOSS_SCALE_LARGEST);
	ret->moved = (int)log2 - LOSS_SCALE_FIRST;
	return 0;
}

static int parse_state(const char *path, const struct strbuf *text, struct saved_state *ret,
                       struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	const struct jsonr_node *kind;

	if (jsonr_parse(path, strbuf_str(text), text->len, &doc, err) != 0)
		return -1;
	kind = jsonr_get(&doc, doc.nodes, "optimizer");
	if (kind == NULL || kind->type != JSONR_STRING)
		return err_set(err, ERR_FORMAT, "%s: 'optimizer' is missing", path);
	ret->kind = strcmp(kind->string, "sgd") == 0 ? OPTIMIZER_SGD : OPTIMIZER_ADAMW;
	if (read_u64(&doc, "step", &ret->state.step, err) != 0 ||
	    read_u64(&doc, "sample", &ret->state.sample, err) != 0 ||
	    read_u64(&doc, "bad_steps", &ret->state.bad_steps, err) != 0 ||
	    /* Checkpoints of before the back-off have none. */
	    (jsonr_get(&doc, doc.nodes, "backoffs") != NULL &&
	     read_u64(&doc, "backoffs", &ret->state.backoffs, err) != 0) ||
	    read_double(&doc, "norm_mean_bits", &ret->state.norm_mean, err) != 0 ||
	    read_u64(&doc, "updates", &ret->updates, err) != 0 ||
	    read_u64(&doc, "seed", &ret->seed, err) != 0 || read_best(&doc, ret, err) != 0 ||
	    read_scale(&doc, &ret->state.scale, err) != 0)
		return err_wrap(err, "%s", path);
	return 0;
}

static int read_state(const char *checkpoint, struct saved_state *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char path[PATH_MAX];

	if (fs_join(path, checkpoint, "trainer_state.json", err) != 0 ||
	    slurp_file(path, STATE_BYTES_MAX, &text, err) != 0)
		return -1;
	return parse_state(path, &text, ret, err);
}

/* All of a file's tensors of that prefix, in ordinary memory; *ret has the table. */
static int read_set(const char *path, const char *prefix, struct tensors *ret, struct err *err)
{
	AUTO(st_file) struct st_file file = {0};

	if (st_open(path, &file, err) != 0)
		return -1;
	return st_read_set(&file, prefix, ret, err);
}

/* One such value makes every loss NaN; better said before the first step. */
static int check_finite(const char *file, const struct tensors *set, struct err *err)
{
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->at[i].n; k++) {
			if (isfinite(set->at[i].data[k]))
				continue;
			err_set(err, ERR_FORMAT, "'%s': value %zu of %s is not a finite number",
			        file, k, set->at[i].name);
			return err_hint(err, "Take an earlier checkpoint, whose weights are "
			                     "numbers.");
		}
	return 0;
}

static int read_weights(const char *file, struct tensors *ret, struct err *err)
{
	if (read_set(file, "", ret, err) != 0)
		return -1;
	return check_finite(file, ret, err);
}

static int load_moment(const char *file, struct learner *l, enum learner_set which,
                       const char *prefix, struct err *err)
{
	struct tensors host;
	int rc;

	tensors_like(learner_table(l), NULL, NULL, &host);
	rc = read_set(file, prefix, &host, err);
	if (rc == 0)
		rc = learner_set(l, which, &host, err);
	tensors_done(&host);
	return rc;
}

static int load_optimizer(const char *checkpoint, struct learner *l, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, checkpoint, "optimizer.safetensors", err) != 0)
		return -1;
	if (learner_optimizer(l)->kind == OPTIMIZER_SGD)
		return load_moment(path, l, LEARNER_MOMENT1, prefix_momentum, err);
	if (load_moment(path, l, LEARNER_MOMENT1, prefix_m, err) != 0)
		return -1;
	return load_moment(path, l, LEARNER_MOMENT2, prefix_v, err);
}

/* From the folder's file of that name, or from the file itself. */
static int load_weights(const char *path, const char *name, struct learner *l,
                        enum learner_set which, struct err *err)
{
	struct tensors host;
	char file[PATH_MAX];
	struct stat st;
	int rc;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		if (fs_join(file, path, name, err) != 0)
			return -1;
	} else {
		snprintf(file, sizeof(file), "%s", path);
	}
	tensors_like(learner_table(l), NULL, NULL, &host);
	rc = read_weights(file, &host, err);
	if (rc == 0)
		rc = learner_set(l, which, &host, err);
	tensors_done(&host);
	return rc;
}

int checkpoint_load_weights(const char *path, struct learner *l, struct err *err)
{
	return load_weights(path, weights_name, l, LEARNER_WEIGHTS, err);
}

int checkpoint_load_average(const char *path, struct learner *l, struct err *err)
{
	if (load_weights(path, average_name, l, LEARNER_WEIGHTS, err) == 0)
		return 0;
	if (err->code == ERR_NOT_FOUND)
		err_hint(err, "Averaged weights are kept by runs with --ema_decay.");
	return -1;
}

/* The state belongs to the run that the learner is of. */
static int check_state(const char *checkpoint, const struct saved_state *saved, uint64_t seed,
                       const struct learner *l, struct err *err)
{
	if (saved->seed != seed) {
		err_set(err, ERR_SPEC, "'%s' was made with --seed %llu, but this run has %llu",
		        checkpoint, (unsigned long long)saved->seed, (unsigned long long)seed);
		return err_hint(err,
		                "Give the same --seed, or take the weights alone: --init_from.");
	}
	if (saved->kind != learner_optimizer(l)->kind)
		return err_set(err, ERR_SPEC, "'%s' was made with another --optimizer", checkpoint);
	return 0;
}

int checkpoint_load(const char *checkpoint, uint64_t seed, struct learner *l,
                    struct train_state *ret_state, struct err *err)
{
	struct saved_state saved = {0};
	struct learner_counts counts = {0};

	if (read_state(checkpoint, &saved, err) != 0 ||
	    check_state(checkpoint, &saved, seed, l, err) != 0 ||
	    checkpoint_load_weights(checkpoint, l, err) != 0 ||
	    load_optimizer(checkpoint, l, err) != 0)
		return -1;
	counts.updates = saved.updates;
	if (learner_has(l, LEARNER_AVERAGE) && saved.averaged > 0) {
		if (load_weights(checkpoint, average_name, l, LEARNER_AVERAGE, err) != 0)
			return -1;
		counts.averaged = saved.averaged;
	}
	learner_set_counts(l, counts);
	*ret_state = saved.state;
	return 0;
}
