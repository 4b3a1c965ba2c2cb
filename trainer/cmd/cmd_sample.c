#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/cmd/cmd.h"
#include "trainer/config/model_file.h"
#include "trainer/data/dataset.h"
#include "trainer/ops/ops.h"
#include "trainer/sample/sample.h"

struct sample_flags {
	const char *checkpoint, *config, *dataset_dir, *out;
	uint64_t clip, threads;
	bool movie, ema;
};

#define TEXT(name, member, help)       FLAG_ROW_TEXT(struct sample_flags, name, member, help)
#define COUNT(name, member, max, help) FLAG_ROW_COUNT(struct sample_flags, name, member, max, help)

static const struct flag_row rows[] = {
	TEXT("checkpoint", checkpoint, "folder of a checkpoint, or a safetensors file"),
	TEXT("config_file_path", config,
             "model configuration, instead of the checkpoint's config.json"),
	TEXT("dataset_dir", dataset_dir, "folder made by prepare (default: a synthetic clip)"),
	COUNT("clip", clip, 1ull << 40, "number of the clip (0)"),
	TEXT("out", out, "folder for PNG pictures and WAV sounds"),
	FLAG_ROW_SWITCH(struct sample_flags, "movie", movie,
                        "also make movie.mp4 of them, with slipway-prepare"),
	FLAG_ROW_SWITCH(struct sample_flags, "ema", ema,
                        "decode with the checkpoint's averaged weights"),
	COUNT("threads", threads, 4096, "compute threads (default: one per CPU)"),
};

#undef TEXT
#undef COUNT

/* The dataset's clip, or without a dataset a synthetic one, into image and audio. */
static int read_clip(const struct sample_flags *f, const struct model_config *c, float *image,
                     float *audio, int32_t *label, struct err *err)
{
	struct clip_shape shape = model_clip_shape(c);
	struct clip_room room = {image, audio, label};
	struct dataset *d;
	int rc;

	if (f->dataset_dir == NULL)
		d = dataset_synthetic(42, &shape, (uint32_t)c->num_labels, f->clip + 1);
	else if (dataset_open(f->dataset_dir, &shape, (uint32_t)c->num_labels, &d, err) != 0)
		return -1;
	rc = dataset_clip(d, f->clip, &room, err);
	dataset_free(d);
	return rc;
}

/* config.json beside the weights, unless another is named. */
static int read_config(const struct sample_flags *f, struct model_config *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	char path[PATH_MAX];

	if (f->config != NULL)
		return model_file_load(f->config, ret, &remarks, err);
	if (fs_join(path, f->checkpoint, "config.json", err) != 0)
		return -1;
	return model_file_load(path, ret, &remarks, err);
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

static int sample(const struct sample_flags *f, struct model *m, struct err *err)
{
	const struct model_config *c = model_get_config(m);
	const struct model_dims *d = model_get_dims(m);
	AUTO_FREE float *image = mem_calloc(d->n_pixels * 3, sizeof(float));
	AUTO_FREE float *audio = mem_calloc(d->audio_samples, sizeof(float));
	struct reconstruction r;
	int32_t label = 0;
	int rc;

	if ((f->ema ? checkpoint_load_average(f->checkpoint, m, err)
	            : checkpoint_load_weights(f->checkpoint, m, err)) != 0 ||
	    read_clip(f, c, image, audio, &label, err) != 0)
		return -1;
	reconstruct(m, image, audio, label, &r);
	rc = reconstruction_write(f->out, c, image, audio, &r, err);
	if (rc == 0)
		printf("%s: %zu frames; mean error of pixels %.4f, of samples %.4f; label %d, the "
		       "model predicts %zu\n",
		       f->out, c->num_frames, mean_error(image, r.image, d->n_pixels * 3),
		       mean_error(audio, r.audio, d->audio_samples), label,
		       best_label(r.label, c->num_labels));
	reconstruction_done(&r);
	return rc;
}

static int open_and_sample(const struct sample_flags *f, struct err *err)
{
	struct ops_options o = {0};
	struct model_config config;
	struct model *m;
	struct ops ops;
	int rc;

	if (f->checkpoint == NULL || f->out == NULL)
		return err_set(err, ERR_USAGE, "sample needs --checkpoint and --out");
	if (read_config(f, &config, err) != 0)
		return -1;
	o.n_threads = (unsigned)f->threads;
	if (!ops_open(&o, &ops))
		return err_set(err, ERR_UNSUPPORTED, "this processor is not supported");
	m = model_new(&config, &ops);
	rc = sample(f, m, err);
	model_free(m);
	ops_done(&ops);
	return rc;
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
	struct sample_flags f = {0};
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
