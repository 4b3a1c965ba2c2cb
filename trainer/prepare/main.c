/*
 * slipway-prepare: videos into a dataset folder. A program of its own, so that slipway-trainer
 * links no decoder; `slipway-trainer prepare` starts it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/fds.h"
#include "base/interrupt.h"
#include "trainer/config/flag_table.h"
#include "trainer/prepare/movie.h"
#include "trainer/prepare/prepare.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE_ERROR = 2, JOBS_MAX = 256 };

struct dataset_flags {
	const char *source, *out, *classes, *labels;
	double split;
	int64_t frames, height, width, samples, max_clips, jobs, timeout, memory_mb;
};

#define TEXT(member, help) FLAG_ROW_TEXT(struct dataset_flags, #member, member, help)
#define FLOAT(member, min, max, help)                                                              \
	FLAG_ROW_FLOAT(struct dataset_flags, #member, member, min, max, help)
#define INT(member, min, max, help)                                                                \
	FLAG_ROW_INT(struct dataset_flags, #member, member, min, max, help)

/* The first two stand in the usage's first line, the others in its list. */
static const struct flag_row rows[] = {
	TEXT(source, "videos"),
	TEXT(out, "folder"),
	TEXT(classes, "a dataset, a checkpoint or a text file whose class list is taken"),
	FLOAT(split, 0, 0.9,
              "share of the videos that go to OUT/val, the others to OUT/train (0: none)"),
	TEXT(labels, "class: by folders or the CSV; none: any videos below the folder (class)"),
	INT(frames, 1, SHARD_FRAMES_MAX, "frames of a clip, 25 per second (16)"),
	INT(height, 1, SHARD_SIDE_MAX, "pixels (224)"),
	INT(width, 1, SHARD_SIDE_MAX, "pixels (224)"),
	INT(samples, 0, INT32_MAX,
            "audio samples of a clip, a multiple of the frames (1920 per frame)"),
	INT(max_clips, 1, SHARD_CLIPS_MAX, "clips of a video at most (1000)"),
	INT(jobs, 1, JOBS_MAX, "videos at a time (one per CPU)"),
	INT(timeout, 1, 1 << 20, "seconds of CPU time for one video (600)"),
	INT(memory_mb, 64, 1 << 20, "memory for one video (4096)"),
};

#undef TEXT
#undef FLOAT
#undef INT

static void print_usage(FILE *to)
{
	fputs("Usage: slipway-prepare --source VIDEOS --out FOLDER [OPTIONS]\n"
	      "       slipway-prepare --movie FOLDER\n\n"
	      "VIDEOS is a folder of class folders with videos, or a CSV with the columns path and "
	      "label. The second form makes FOLDER/movie.mp4 of what `slipway-trainer sample` "
	      "wrote "
	      "there.\n\n"
	      "Options:\n",
	      to);
	for (size_t i = 2; i < ARRAY_LEN(rows); i++)
		fprintf(to, "  --%s %s%*s  %s\n", rows[i].name,
		        rows[i].kind == VALUE_TEXT ? "X" : "N",
		        (int)(sizeof("max_clips") - 1 - strlen(rows[i].name)), "", rows[i].help);
}

/* Words come in pairs: slipway-trainer writes them. */
static bool parse(int argc, char **argv, struct dataset_flags *w)
{
	static const struct flag_table table = {rows, ARRAY_LEN(rows), "slipway-prepare"};

	for (int i = 1; i + 1 < argc; i += 2) {
		struct err err = {0};

		if (strncmp(argv[i], "--", 2) != 0 ||
		    flag_table_set(&table, argv[i] + 2, argv[i + 1], w, &err) != FLAGS_READ) {
			fprintf(stderr, "slipway-prepare: error: cannot use '%s %s'\n", argv[i],
			        argv[i + 1]);
			return false;
		}
	}
	if (argc % 2 == 0 || w->source == NULL || w->out == NULL ||
	    (strcmp(w->labels, "class") != 0 && strcmp(w->labels, "none") != 0)) {
		print_usage(stderr);
		return false;
	}
	return true;
}

static void tell(void *ctx, const struct video *v, const char *reason)
{
	(void)ctx;
	if (reason != NULL)
		fprintf(stderr, "slipway-prepare: rejected '%s': %s\n", v->path, reason);
}

static void fill(struct prepare_options *o, const struct dataset_flags *w)
{
	o->source = w->source;
	o->out = w->out;
	o->classes = w->classes;
	o->split = w->split;
	o->unlabelled = strcmp(w->labels, "none") == 0;
	o->shape = (struct clip_shape){(uint32_t)w->frames, (uint32_t)w->height, (uint32_t)w->width,
	                               (uint32_t)w->samples};
	if (w->samples < 0)
		o->shape.samples = (uint32_t)w->frames * 1920;
	o->limits = (struct decode_limits){(uint32_t)w->max_clips, (uint64_t)8192 * 8192};
	o->jobs = (unsigned)w->jobs;
	o->timeout_s = (unsigned)w->timeout;
	o->memory_bytes = (uint64_t)w->memory_mb << 20;
	o->progress = tell;
}

static int fail(const struct err *err)
{
	fprintf(stderr, "slipway-prepare: error: %s\n", err->msg);
	if (err->hint[0] != '\0')
		fprintf(stderr, "  %s\n", err->hint);
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct dataset_flags w = {.labels = "class",
	                          .frames = 16,
	                          .height = 224,
	                          .width = 224,
	                          .samples = -1,
	                          .max_clips = 1000,
	                          .jobs = cpus_usable(),
	                          .timeout = 600,
	                          .memory_mb = 4096};
	struct prepare_options o = {0};
	struct prepare_report r = {0};
	struct err err = {0};

	if (fds_secure() != 0)
		return EXIT_FAILED;
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_usage(stdout);
		return EXIT_OK;
	}
	decode_quiet();
	if (argc == 3 && strcmp(argv[1], "--movie") == 0)
		return movie_write(argv[2], &err) == 0 ? EXIT_OK : fail(&err);
	if (!parse(argc, argv, &w))
		return EXIT_USAGE_ERROR;
	fill(&o, &w);
	interrupt_install();
	if (prepare_run(&o, &r, &err) != 0)
		return fail(&err);
	printf("%zu videos", r.videos);
	if (!o.unlabelled)
		printf(" of %zu classes", r.classes);
	printf(": %llu clips; %zu decoded, %zu reused, %zu rejected\n", (unsigned long long)r.clips,
	       r.decoded, r.reused, r.rejected);
	if (r.validation > 0)
		printf("%zu of them are for validation: train/ and val/ of '%s'\n", r.validation,
		       o.out);
	if (r.ignored > 0)
		printf("%zu other files left out\n", r.ignored);
	return fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
}
