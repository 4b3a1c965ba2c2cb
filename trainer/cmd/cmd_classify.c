/*
 * `classify`: videos, or a prepared dataset, into a CSV of classes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "trainer/classify/table.h"
#include "trainer/cmd/cmd.h"
#include "trainer/cmd/trained.h"
#include "trainer/config/model_file.h"

enum { TABLE_BYTES_MAX = 1 << 30, NUMBER_MAX = 16, SECONDS_A_LINE = 2 };

struct classify_flags {
	const char *checkpoint, *source, *out, *clips, *device, *precision, *cache_dir;
	const char *jobs, *timeout, *max_clips, *memory;
	uint64_t batch_size, threads;
	bool ema;
};

#define TEXT(name, member, help) FLAG_ROW_TEXT(struct classify_flags, name, member, help)
#define COUNT(name, member, max, help)                                                             \
	FLAG_ROW_COUNT(struct classify_flags, name, member, max, help)

static const struct flag_row rows[] = {
	TEXT("checkpoint", checkpoint, "a checkpoint, or a run's folder: its newest"),
	TEXT("source", source, "folder of videos, at any depth; or one that prepare made"),
	TEXT("out", out, "CSV file to write; -: standard output"),
	TEXT("clips", clips,
             "folder to keep the decoded clips in, for a second time (default: a temporary one)"),
	COUNT("batch_size", batch_size, 4096, "clips at a time (8)"),
	TEXT("device", device, "what computes: " DEVICE_HELP),
	COUNT("threads", threads, 4096, "compute threads (default: one per CPU)"),
	TEXT("precision", precision, "f32 (default), bf16, or tf32 or f16 on a GPU"),
	TEXT("cache_dir", cache_dir,
             "folder of modules for a NeuronCore, which compile --for classify fills"),
	TEXT("jobs", jobs, "videos decoded at a time"),
	TEXT("timeout", timeout, "seconds of CPU time for one video"),
	TEXT("max_clips", max_clips, "clips of one video at most"),
	TEXT("memory_mb", memory, "memory for one video"),
	FLAG_ROW_SWITCH(struct classify_flags, "ema", ema,
                        "with the averaged weights that --ema_decay left"),
};

#undef TEXT
#undef COUNT

/* Where the clips are: a dataset, or a folder that is filled now and may be removed at the end. */
struct clip_folder {
	char path[PATH_MAX];
	bool temporary;
};

static void clip_folder_done(struct clip_folder *c)
{
	struct err err = {0};

	if (c->temporary && fs_remove_tree(c->path, &err) != 0)
		fprintf(stderr, "slipway-trainer: %s\n", err.msg);
	c->temporary = false;
}

static int make_temporary(struct clip_folder *c, struct err *err)
{
	const char *tmp = getenv("TMPDIR");

	if (fs_join(c->path, tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp",
	            "slipway-classify-XXXXXX", err) != 0)
		return -1;
	if (mkdtemp(c->path) == NULL)
		return err_set(err, ERR_IO, "make folder '%s'", c->path);
	c->temporary = true;
	return 0;
}

static int decode(const struct classify_flags *f, const struct clip_shape *shape, const char *out,
                  struct err *err)
{
	const uint32_t sizes[] = {shape->frames, shape->height, shape->width, shape->samples};
	const struct {
		const char *name, *value;
	} options[] = {{"--jobs", f->jobs},
	               {"--timeout", f->timeout},
	               {"--max_clips", f->max_clips},
	               {"--memory_mb", f->memory}};
	static const char *const names[] = {"--frames", "--height", "--width", "--samples"};
	const char *words[CMD_PREPARE_WORDS] = {"--source", f->source,  "--out",
	                                        out,        "--labels", "none"};
	char numbers[ARRAY_LEN(names)][NUMBER_MAX];
	size_t n = 6;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(numbers[i], NUMBER_MAX, "%u", sizes[i]);
		words[n++] = names[i];
		words[n++] = numbers[i];
	}
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		if (options[i].value == NULL)
			continue;
		words[n++] = options[i].name;
		words[n++] = options[i].value;
	}
	return cmd_run_prepare(words, err);
}

static int find_clips(const struct classify_flags *f, const struct clip_shape *shape,
                      struct clip_folder *ret, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, f->source, "dataset.json", err) != 0)
		return -1;
	if (fs_exists(path)) {
		snprintf(ret->path, sizeof(ret->path), "%s", f->source);
		return 0;
	}
	if (f->clips != NULL)
		snprintf(ret->path, sizeof(ret->path), "%s", f->clips);
	else if (make_temporary(ret, err) != 0)
		return -1;
	return decode(f, shape, ret->path, err);
}

/* ---- progress ---- */

struct classify_progress {
	double told; /* when a line was last printed */
};

static int on_video(void *ctx, size_t done, size_t all, struct err *err)
{
	struct classify_progress *p = ctx;
	double now = clock_seconds();

	if (interrupt_check(err) != 0)
		return -1;
	if (now - p->told < SECONDS_A_LINE && done != all)
		return 0;
	p->told = now;
	fprintf(stderr, "classified %zu of %zu videos\n", done, all);
	return 0;
}

/* ---- what was labelled already ---- */

/* Of a dataset with classes: how often the first class is the video's own. */
static void tell_hits(const struct dataset_list *list, const struct classified *results,
                      const struct class_list *classes, const char *folder)
{
	const char *missing = NULL;
	size_t hits = 0;

	if (list->classes.n == 0 || classes->n == 0 || list->n == 0)
		return;
	for (size_t i = 0; i < list->n; i++) {
		const char *name = list->classes.at[list->at[i].label];
		size_t number = class_list_find(classes, name);

		if (number == CLASS_NONE)
			missing = name;
		hits += number != CLASS_NONE && results[i].label[0] == number;
	}
	if (missing != NULL)
		fprintf(stderr,
		        "class '%s' of '%s' is not among the %zu of the checkpoint: its videos "
		        "cannot be found right\n",
		        missing, folder, classes->n);
	fprintf(stderr, "%zu of %zu videos are of the class that '%s' says\n", hits, list->n,
	        folder);
}

/* ---- the whole ---- */

static int write_table(const char *out, const struct strbuf *text, struct err *err)
{
	if (text->overflow)
		return err_set(err, ERR_LIMIT, "over %d bytes of CSV", TABLE_BYTES_MAX);
	if (strcmp(out, "-") != 0)
		return fs_write_file(out, text->ptr, text->len, 0644, err);
	if (fwrite(text->ptr, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
		return err_set(err, ERR_IO, "write standard output");
	return 0;
}

static int classify_clips(const struct classify_flags *f, struct trained *t, const char *folder,
                          struct dataset_list *list, struct classified *results, struct err *err)
{
	struct classify_progress progress = {clock_seconds()};
	struct clip_shape shape = model_clip_shape(&t->config);
	struct classify_options o = {.batch_size = (size_t)f->batch_size,
	                             .n_labels =
	                                     t->classes.n > 0 ? t->classes.n : t->config.num_labels,
	                             .progress = on_video,
	                             .ctx = &progress};
	struct dataset *d;
	int rc;

	if (list->n == 0)
		return 0;
	if (dataset_open_clips(folder, &shape, &d, err) != 0)
		return -1;
	rc = classify_dataset(t->forward.learner, d, &o, results, err);
	dataset_free(d);
	return rc;
}

static int classify_folder(const struct classify_flags *f, struct trained *t, const char *folder,
                           struct err *err)
{
	AUTO(dataset_list) struct dataset_list list = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(TABLE_BYTES_MAX);
	AUTO_FREE struct classified *results = NULL;

	if (dataset_list_load(folder, &list, err) != 0)
		return -1;
	results = mem_calloc(list.n, sizeof(*results));
	if (classify_clips(f, t, folder, &list, results, err) != 0)
		return -1;
	classify_table(&list, results, &t->classes, &text);
	tell_hits(&list, results, &t->classes, folder);
	if (list.rejected.n > 0)
		fprintf(stderr, "%zu videos could not be decoded: their rows say why\n",
		        list.rejected.n);
	return write_table(f->out, &text, err);
}

/* Better known now than after hours of decoding. */
static int check_out(const char *out, struct err *err)
{
	char folder[PATH_MAX];
	struct stat st;

	if (strcmp(out, "-") == 0)
		return 0;
	fs_parent(out, folder);
	if (stat(out, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "--out '%s' is a folder, expected a file", out);
	if (access(folder, W_OK | X_OK) != 0)
		return err_set(err, ERR_IO, "--out '%s': write into '%s'", out, folder);
	return 0;
}

static int check_flags(const struct classify_flags *f, struct forwarder_choice *ret,
                       struct err *err)
{
	if (f->checkpoint == NULL || f->source == NULL || f->out == NULL)
		return err_set(err, ERR_USAGE, "classify needs --checkpoint, --source and --out");
	if (f->batch_size == 0)
		return err_set(err, ERR_USAGE, "--batch_size is 0, must be 1 or more");
	*ret = (struct forwarder_choice){.use = NEURON_CLASSIFIES,
	                                 .device = f->device,
	                                 .cache_dir = f->cache_dir,
	                                 .clips = (size_t)f->batch_size,
	                                 .ops.n_threads = (unsigned)f->threads};
	if (precision_parse(f->precision, &ret->ops.precision, err) != 0)
		return -1;
	return check_out(f->out, err);
}

static int classify(const struct classify_flags *f, struct err *err)
{
	AUTO(trained) struct trained t = {0};
	AUTO(clip_folder) struct clip_folder clips = {0};
	struct forwarder_choice choice;
	struct clip_shape shape;

	if (check_flags(f, &choice, err) != 0 || trained_find(f->checkpoint, &t, err) != 0)
		return -1;
	if (t.classes.n == 0)
		fprintf(stderr, "'%s/config.json' names no classes: they are LABEL_0 and so on\n",
		        t.folder);
	shape = model_clip_shape(&t.config);
	if (trained_open(&t, choice, f->ema, err) != 0 || find_clips(f, &shape, &clips, err) != 0)
		return -1;
	return classify_folder(f, &t, clips.path, err);
}

int cmd_classify(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "classify"};
	struct classify_flags f = {
		.batch_size = NEURON_CLASSIFY_CLIPS, .device = "auto", .precision = "f32"};
	struct err err = {0};
	int status = cmd_parse("Writes what a model takes videos for: a CSV line a video, with the "
	                       "five most\nprobable classes. A video that cannot be decoded is a "
	                       "line with the reason.",
	                       &options, argc, argv, &f);

	if (status >= 0)
		return status;
	interrupt_install();
	return classify(&f, &err) == 0 ? RUN_EXIT_DONE : cmd_fail(&err);
}
