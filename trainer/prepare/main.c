/*
 * slipway-prepare: videos into a dataset folder. A program of its own, so that slipway-trainer
 * links no decoder; `slipway-trainer prepare` starts it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "trainer/prepare/movie.h"
#include "trainer/prepare/prepare.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE_ERROR = 2, JOBS_MAX = 256 };

static const char usage[] =
	"Usage: slipway-prepare --source VIDEOS --out FOLDER [OPTIONS]\n"
	"       slipway-prepare --movie FOLDER\n\n"
	"VIDEOS is a folder of class folders with videos, or a CSV with the columns path and "
	"label. The second form makes FOLDER/movie.mp4 of what `slipway-trainer sample` wrote "
	"there.\n\n"
	"Options:\n"
	"  --frames N     frames of a clip, 25 per second (16)\n"
	"  --height N     pixels (224)\n"
	"  --width N      pixels (224)\n"
	"  --samples N    audio samples of a clip, a multiple of the frames (1920 per frame)\n"
	"  --max_clips N  clips of a video at most (1000)\n"
	"  --jobs N       videos at a time (one per CPU)\n"
	"  --timeout N    seconds of CPU time for one video (600)\n"
	"  --memory_mb N  memory for one video (4096)\n";

struct numbers {
	int64_t frames, height, width, samples, max_clips, jobs, timeout, memory_mb;
};

static const struct {
	const char *name;
	size_t offset;
	int64_t min, max;
} number_options[] = {
	{"--frames", offsetof(struct numbers, frames), 1, SHARD_FRAMES_MAX},
	{"--height", offsetof(struct numbers, height), 1, SHARD_SIDE_MAX},
	{"--width", offsetof(struct numbers, width), 1, SHARD_SIDE_MAX},
	{"--samples", offsetof(struct numbers, samples), 0, INT32_MAX},
	{"--max_clips", offsetof(struct numbers, max_clips), 1, SHARD_CLIPS_MAX},
	{"--jobs", offsetof(struct numbers, jobs), 1, JOBS_MAX},
	{"--timeout", offsetof(struct numbers, timeout), 1, 1 << 20},
	{"--memory_mb", offsetof(struct numbers, memory_mb), 64, 1 << 20},
};

static bool set_number(struct numbers *n, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(number_options); i++) {
		int64_t number;

		if (strcmp(number_options[i].name, name) != 0)
			continue;
		if (!text_int64(value, strlen(value), &number) || number < number_options[i].min ||
		    number > number_options[i].max)
			return false;
		memcpy((char *)n + number_options[i].offset, &number, sizeof(number));
		return true;
	}
	return false;
}

static bool parse(int argc, char **argv, struct prepare_options *o, struct numbers *n)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--source") == 0)
			o->source = argv[i + 1];
		else if (strcmp(argv[i], "--out") == 0)
			o->out = argv[i + 1];
		else if (!set_number(n, argv[i], argv[i + 1])) {
			fprintf(stderr, "slipway-prepare: error: cannot use '%s %s'\n", argv[i],
			        argv[i + 1]);
			return false;
		}
	}
	if (argc % 2 == 0 || o->source == NULL || o->out == NULL) {
		fputs(usage, stderr);
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

static void fill(struct prepare_options *o, const struct numbers *n)
{
	o->shape = (struct clip_shape){(uint32_t)n->frames, (uint32_t)n->height, (uint32_t)n->width,
	                               (uint32_t)n->samples};
	if (n->samples < 0)
		o->shape.samples = (uint32_t)n->frames * 1920;
	o->limits = (struct decode_limits){(uint32_t)n->max_clips, (uint64_t)8192 * 8192};
	o->jobs = (unsigned)n->jobs;
	o->timeout_s = (unsigned)n->timeout;
	o->memory_bytes = (uint64_t)n->memory_mb << 20;
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
	struct numbers n = {16, 224, 224, -1, 1000, cpus_usable(), 600, 4096};
	struct prepare_options o = {0};
	struct prepare_report r = {0};
	struct err err = {0};

	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	decode_quiet();
	if (argc == 3 && strcmp(argv[1], "--movie") == 0)
		return movie_write(argv[2], &err) == 0 ? EXIT_OK : fail(&err);
	if (!parse(argc, argv, &o, &n))
		return EXIT_USAGE_ERROR;
	fill(&o, &n);
	interrupt_install();
	if (prepare_run(&o, &r, &err) != 0)
		return fail(&err);
	printf("%zu videos of %zu classes: %llu clips; %zu decoded, %zu reused, %zu rejected\n",
	       r.videos, r.classes, (unsigned long long)r.clips, r.decoded, r.reused, r.rejected);
	if (r.ignored > 0)
		printf("%zu other files left out\n", r.ignored);
	return fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
}
