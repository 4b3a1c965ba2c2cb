#include "trainer/session/begin.h"

#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "trainer/session/run.h"

static enum run_start start_of(const struct train_flags *f)
{
	if (f->overwrite)
		return RUN_OVERWRITE;
	return f->resume ? RUN_RESUME : RUN_FRESH;
}

static int name_folders(struct session *s, struct err *err)
{
	char lr[LOG_FLOAT_MAX], name[128];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	log_float(s->flags->lr, lr);
	/* Named as the PyTorch program names its own: %m%d%y_%H%M. */
	snprintf(name, sizeof(name), "slipway_tblogs_%02d%02d%02d_%02d%02d_w%u_lr%s_bs%lld",
	         tm.tm_mon + 1, tm.tm_mday, tm.tm_year % 100, tm.tm_hour, tm.tm_min, s->n_ranks, lr,
	         (long long)s->flags->batch_size);
	if (fs_join(s->events_dir, s->flags->logdir, name, err) != 0)
		return -1;
	if (s->flags->output_dir == NULL)
		return fs_join(s->output_dir, s->flags->logdir, "checkpoints", err);
	snprintf(s->output_dir, sizeof(s->output_dir), "%s", s->flags->output_dir);
	return 0;
}

int session_check_output(struct session *s, struct err *err)
{
	if (s->flags->resume && s->flags->overwrite) {
		err_set(err, ERR_USAGE, "--resume and --overwrite exclude each other");
		return err_hint(err, "--resume continues the run in the folder, --overwrite "
		                     "removes it.");
	}
	if (name_folders(s, err) != 0)
		return -1;
	return s->rank == 0 ? run_check_folder(s->output_dir, start_of(s->flags), err) : 0;
}

int session_load_weights(struct session *s, const char *path, struct err *err)
{
	bool verified;

	if (store_verify_ours(path, &verified, err) != 0)
		return -1;
	return s->flags->ema ? checkpoint_load_average(path, s->learner, err)
	                     : checkpoint_load_weights(path, s->learner, err);
}

/* ---- the record ---- */

/* Options whose value the record holds; trainer/session/run_record.c says which may change. */
static const char *const recorded[] = {
	"dataset",      "batch_size",     "accumulate",      "seed",         "optimizer",
	"lr",           "momentum",       "weight_decay",    "grad_clip",    "schedule",
	"warmup_steps", "warmup_share",   "decay_share",     "max_steps",    "num_epochs",
	"image_points", "audio_points",   "label_mask_prob", "spike_factor", "precision",
	"balanced",     "augment_offset", "augment_crop",    "augment_flip", "augment_gain",
	"eval_every",   "eval_steps",     "test_batch_size", "best",         "patience",
	"min_delta",    "ema_decay",
};

static void add_number(struct run_record *r, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	run_record_add(r, name, text);
}

/* A scalar of config.json, a list as its members, a mapping as their number. */
static void print_node(const struct jsonr *doc, const struct jsonr_node *node, struct strbuf *sb)
{
	const struct jsonr_node *m = jsonr_first(doc, node);

	switch (node->type) {
	case JSONR_NULL:
		strbuf_adds(sb, "null");
		break;
	case JSONR_BOOL:
		strbuf_adds(sb, node->number != 0 ? "true" : "false");
		break;
	case JSONR_NUMBER:
		strbuf_addf(sb, "%.12g", node->number);
		break;
	case JSONR_STRING:
		strbuf_adds(sb, node->string);
		break;
	case JSONR_OBJECT:
		strbuf_addf(sb, "%zu entries", node->n);
		break;
	case JSONR_ARRAY:
		for (size_t i = 0; i < node->n; i++, m = jsonr_next(doc, m)) {
			strbuf_adds(sb, i > 0 ? "," : "");
			if (m->type != JSONR_ARRAY)
				print_node(doc, m, sb);
		}
		break;
	}
}

static int add_model(const struct model_config *c, struct run_record *r, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	AUTO(jsonr) struct jsonr doc = {0};
	const struct jsonr_node *key;

	model_config_print(c, NULL, &text);
	if (jsonr_parse("config.json", strbuf_str(&text), text.len, &doc, err) != 0)
		return -1;
	key = jsonr_first(&doc, doc.nodes);
	for (size_t i = 0; i < doc.nodes->n; i++, key = jsonr_next(&doc, key)) {
		AUTO(strbuf) struct strbuf value = STRBUF_INIT(1 << 16);
		char name[128];

		snprintf(name, sizeof(name), "model.%s", key->key);
		print_node(&doc, key, &value);
		run_record_add(r, name, strbuf_str(&value));
	}
	return 0;
}

static int make_record(const struct session *s, struct run_record *r, struct err *err)
{
	AUTO(strbuf) struct strbuf classes = STRBUF_INIT(256);
	char digest[SHA256_HEX_MAX], number[FLAG_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(recorded); i++)
		run_record_add(r, recorded[i],
		               flag_row_text(flag_table_find(train_flags_table(), recorded[i]),
		                             s->flags, number));
	add_number(r, "ranks", s->n_ranks);
	add_number(r, "dataset_clips", dataset_n_clips(s->data));
	if (dataset_digest(s->data, digest)[0] != '\0')
		run_record_add(r, "dataset_sha256", digest);
	if (s->classes.n > 0) {
		class_list_summary(&s->classes, &classes);
		run_record_add(r, "classes", strbuf_str(&classes));
	}
	return add_model(&s->config, r, err);
}

/* ---- where the run begins ---- */

static int open_reporter(struct session *s, struct err *err)
{
	struct reporter_options o = {.out = s->out,
	                             .device = s->device,
	                             .log_steps = s->options.log_steps,
	                             .step_clips = session_step_clips(s),
	                             .epoch_clips = dataset_n_clips(s->data),
	                             .clip_tokens = learner_dims(s->learner)->n_tokens,
	                             .ops = s->ops_open ? &s->ops : NULL,
	                             .json_path = s->flags->json_log,
	                             .events_dir = s->events_dir,
	                             .metrics_port = s->flags->metrics_port};

	return reporter_open(&o, &s->reporter, err);
}

/* The checkpoint that the run's state calls the best is what OUT/best names, after a crash between
 * the two as well; a lost one is forgotten. */
static int mend_best(struct session *s, struct err *err)
{
	struct best *b = &s->state.best;
	bool there = true;

	if (b->step == 0)
		return 0;
	if (store_name_best(s->output_dir, b->step, &there, err) != 0)
		return -1;
	if (there)
		return 0;
	fprintf(s->remarks_out,
	        "the best checkpoint so far, of step %llu, is not there: the next evaluation is "
	        "the best\n",
	        (unsigned long long)b->step);
	best_forget(b);
	return 0;
}

/* The one that a run continues from is its newest whole one, which is what OUT/latest names, after
 * a crash between the two as well. */
static int load_checkpoint(struct session *s, const char *checkpoint, struct err *err)
{
	fprintf(s->remarks_out, "resuming from %s\n", checkpoint);
	if (checkpoint_load(checkpoint, s->options.seed, s->learner, &s->state, err) != 0 ||
	    store_name_latest(s->output_dir, checkpoint, err) != 0)
		return -1;
	return mend_best(s, err);
}

/* Rank 0's part: from a checkpoint, from given weights, or from nothing. */
static int load(struct session *s, struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 16);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	AUTO(run_record) struct run_record record = {0};
	struct store_keep keep = {.keep = (unsigned)s->flags->keep,
	                          .keep_every = (uint64_t)s->flags->keep_every};
	enum run_start start = start_of(s->flags);
	char checkpoint[PATH_MAX];

	/* Before --overwrite may remove them. */
	if (start != RUN_RESUME && s->flags->init_from != NULL &&
	    session_load_weights(s, s->flags->init_from, err) != 0)
		return -1;
	/* Checked again under the lock: another trainer may have been there meanwhile. */
	if (saver_open(s->output_dir, &keep, s->options.seed, &s->saver, err) != 0 ||
	    run_check_folder(s->output_dir, start, err) != 0 || make_record(s, &record, err) != 0 ||
	    run_choose(s->output_dir, start, &record, checkpoint, &remarks, err) != 0)
		return -1;
	session_remark(s, strbuf_str(&remarks));
	/* A log that cannot be opened, or a port that is taken, is no reason to remove anything. */
	if (open_reporter(s, err) != 0 || run_take(s->output_dir, &record, checkpoint, err) != 0)
		return -1;
	run_record_print(&record, &text);
	saver_set_run(s->saver, record.id, strbuf_str(&text));
	saver_set_classes(s->saver, &s->classes);
	if (checkpoint[0] != '\0')
		return load_checkpoint(s, checkpoint, err);
	if (start == RUN_RESUME && s->flags->init_from != NULL)
		return session_load_weights(s, s->flags->init_from, err);
	return 0;
}

static int share_set(struct session *s, enum learner_set which, struct err *err)
{
	struct tensors host;
	int rc;

	if (which == LEARNER_GRADIENTS || !learner_has(s->learner, which))
		return 0;
	tensors_like(learner_table(s->learner), NULL, NULL, &host);
	rc = learner_get(s->learner, which, &host, err);
	if (rc == 0)
		rc = comm_broadcast(s->comm, host.data, host.n_values * sizeof(*host.data), err);
	if (rc == 0)
		rc = learner_set(s->learner, which, &host, err);
	tensors_done(&host);
	return rc;
}

static int share_learner(struct session *s, struct err *err)
{
	struct learner_counts counts = learner_counts(s->learner);

	for (enum learner_set k = 0; k < LEARNER_SETS; k++)
		if (share_set(s, k, err) != 0)
			return -1;
	if (comm_broadcast(s->comm, &counts, sizeof(counts), err) != 0)
		return -1;
	learner_set_counts(s->learner, counts);
	return 0;
}

/* Only rank 0 needs to see the checkpoints: the others get them from it. */
int session_begin(struct session *s, struct err *err)
{
	if (s->rank == 0 && load(s, err) != 0)
		return -1;
	if (s->n_ranks == 1 || (!s->flags->resume && s->flags->init_from == NULL))
		return 0;
	if (share_learner(s, err) != 0)
		return -1;
	return comm_broadcast(s->comm, &s->state, sizeof(s->state), err);
}
