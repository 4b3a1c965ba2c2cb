#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/classes/class_read.h"
#include "trainer/cmd/cmd.h"
#include "trainer/config/model_file.h"
#include "trainer/data/dataset.h"
#include "trainer/sample/sample.h"
#include "trainer/session/forwarder.h"

struct sample_flags {
	const char *checkpoint, *config, *dataset_dir, *out, *device, *precision, *cache_dir;
	uint64_t clip, threads;
	bool movie, ema;
};

#define TEXT(name, member, help)       FLAG_ROW_TEXT(struct sample_flags, name, member, help)
#define COUNT(name, member, max, help) FLAG_ROW_COUNT(struct sample_flags, name, member, max, help)

static const struct flag_row rows[] = {
	TEXT("checkpoint", checkpoint,
             "a checkpoint, a run's folder (its newest), or a safetensors file"),
	TEXT("config_file_path", config,
             "model configuration, instead of the checkpoint's config.json"),
	TEXT("dataset_dir", dataset_dir, "folder made by prepare (default: a synthetic clip)"),
	COUNT("clip", clip, 1ull << 40, "number of the clip (0)"),
	TEXT("out", out, "folder for PNG pictures and WAV sounds"),
	FLAG_ROW_SWITCH(struct sample_flags, "movie", movie,
                        "also make movie.mp4 of them, with slipway-prepare"),
	FLAG_ROW_SWITCH(struct sample_flags, "ema", ema,
                        "decode with the checkpoint's averaged weights"),
	TEXT("device", device, "what computes: " DEVICE_HELP),
	TEXT("precision", precision, "f32 (default), bf16, or f16 on a GPU"),
	TEXT("cache_dir", cache_dir,
             "folder of modules for a NeuronCore, which compile --for sample fills"),
	COUNT("threads", threads, 4096, "compute threads (default: one per CPU)"),
};

#undef TEXT
#undef COUNT

/* What is sampled from, and by what. */
struct sampling {
	const struct sample_flags *f;
	char checkpoint[PATH_MAX];
	struct model_config config;
	struct class_list classes; /* of the checkpoint; empty: without names */
};

static void sampling_done(struct sampling *s)
{
	class_list_done(&s->classes);
}

/* The label is the head's, by the name of the clip's class. */
static int open_dataset(const struct sampling *s, const struct clip_shape *shape,
                        struct dataset **ret, struct err *err)
{
	struct label_head head = {s->config.num_labels, &s->classes, s->checkpoint};

	if (s->f->dataset_dir == NULL) {
		*ret = dataset_synthetic(42, shape, (uint32_t)s->config.num_labels, s->f->clip + 1);
		return 0;
	}
	if (dataset_open_clips(s->f->dataset_dir, shape, ret, err) != 0)
		return -1;
	if (dataset_match(*ret, &head, err) == 0)
		return 0;
	dataset_free(*ret);
	return -1;
}

/* The dataset's clip, or without a dataset a synthetic one, into image and audio. */
static int read_clip(const struct sampling *s, float *image, float *audio, int32_t *label,
                     struct err *err)
{
	struct clip_shape shape = model_clip_shape(&s->config);
	struct clip_room room = {.image = image, .audio = audio, .label = label};
	struct dataset *d;
	int rc;

	if (open_dataset(s, &shape, &d, err) != 0)
		return -1;
	rc = dataset_clip(d, s->f->clip, &room, err);
	dataset_free(d);
	return rc;
}

/* config.json beside the weights, unless another is named; that one names the classes anyway. */
static int read_config(struct sampling *s, struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	char path[PATH_MAX];
	bool verified;

	if (store_find(s->f->checkpoint, s->checkpoint, err) != 0 ||
	    store_verify_ours(s->checkpoint, &verified, err) != 0 ||
	    fs_join(path, s->checkpoint, "config.json", err) != 0)
		return -1;
	if (fs_exists(path) && class_list_load(path, &s->classes, err) != 0)
		return -1;
	return model_file_load(s->f->config != NULL ? s->f->config : path, &s->config, &remarks,
	                       err);
}

/* "label bird", or "label 3" where the classes have no names. */
static void add_label(const struct sampling *s, size_t label, struct strbuf *sb)
{
	if (s->f->dataset_dir != NULL && label < s->classes.n)
		strbuf_adds(sb, s->classes.at[label]);
	else
		strbuf_addf(sb, "%zu", label);
}

static size_t best_label(const float *logits, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (logits[i] > logits[best])
			best = i;
	return best;
}

static double mean_error(const float *a, const float *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs((double)a[i] - (double)b[i]);
	return n > 0 ? sum / (double)n : 0;
}

static void tell(const struct sampling *s, const float *image, const float *audio, size_t label,
                 const struct reconstruction *r)
{
	AUTO(strbuf) struct strbuf is = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf predicted = STRBUF_INIT(0);
	struct model_dims d = model_dims(&s->config);

	add_label(s, label, &is);
	add_label(s, best_label(r->label, s->config.num_labels), &predicted);
	printf("%s: %zu frames; mean error of pixels %.4f, of samples %.4f; label %s, the model "
	       "predicts %s\n",
	       s->f->out, s->config.num_frames, mean_error(image, r->image, d.n_pixels * 3),
	       mean_error(audio, r->audio, d.audio_samples), strbuf_str(&is),
	       strbuf_str(&predicted));
}

static int sample(const struct sampling *s, struct learner *l, struct err *err)
{
	const struct model_dims *d = learner_dims(l);
	AUTO_FREE float *image = mem_calloc(d->n_pixels * 3, sizeof(float));
	AUTO_FREE float *audio = mem_calloc(d->audio_samples, sizeof(float));
	struct reconstruction r;
	int32_t label = 0;
	int rc;

	if ((s->f->ema ? checkpoint_load_average(s->checkpoint, l, err)
	               : checkpoint_load_weights(s->checkpoint, l, err)) != 0 ||
	    read_clip(s, image, audio, &label, err) != 0 ||
	    reconstruct(l, image, audio, label, &r, err) != 0)
		return -1;
	rc = reconstruction_write(s->f->out, &s->config, image, audio, &r, err);
	if (rc == 0)
		tell(s, image, audio, (size_t)label, &r);
	reconstruction_done(&r);
	return rc;
}

static int open_and_sample(const struct sample_flags *f, struct err *err)
{
	AUTO(sampling) struct sampling s = {.f = f};
	AUTO(forwarder) struct forwarder forward = {0};
	struct forwarder_choice choice = {.use = NEURON_SAMPLES,
	                                  .config = &s.config,
	                                  .device = f->device,
	                                  .cache_dir = f->cache_dir,
	                                  .checkpoint = s.checkpoint,
	                                  .from_file = f->config,
	                                  .clips = NEURON_SAMPLE_CLIPS,
	                                  .ops.n_threads = (unsigned)f->threads};

	if (f->checkpoint == NULL || f->out == NULL)
		return err_set(err, ERR_USAGE, "sample needs --checkpoint and --out");
	if (precision_parse(f->precision, &choice.ops.precision, err) != 0 ||
	    read_config(&s, err) != 0 || forwarder_open(&choice, &forward, err) != 0)
		return -1;
	return sample(&s, forward.learner, err);
}

/* FFmpeg's libraries are that program's. */
static int make_movie(const struct sample_flags *f)
{
	char *words[] = {mem_strdup("slipway-prepare"), mem_strdup("--movie"), mem_strdup(f->out),
	                 NULL};
	struct err err = {0};

	fflush(stdout);
	cmd_become_prepare(words, &err);
	for (size_t i = 0; words[i] != NULL; i++)
		free(words[i]);
	return cmd_fail(&err);
}

int cmd_sample(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "sample"};
	struct sample_flags f = {.device = "auto", .precision = "f32"};
	struct err err = {0};
	int status = cmd_parse(
		"Decodes a whole clip and writes it beside the input: pictures and sound.",
		&options, argc, argv, &f);

	if (status >= 0)
		return status;
	if (open_and_sample(&f, &err) != 0)
		return cmd_fail(&err);
	return f.movie ? make_movie(&f) : RUN_EXIT_DONE;
}
