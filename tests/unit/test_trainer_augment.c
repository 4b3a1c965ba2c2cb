/* What a run's samples are: augmentation, clips that begin elsewhere, balanced classes. */
#include <fcntl.h>
#include <math.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/data/augment.h"
#include "trainer/data/loader.h"
#include "trainer/data/order_classes.h"
#include "trainer/ops/philox.h"

static const struct augment_options usual = {1, 0.8, 0.5, 6};

/* ---- pictures and sound ---- */

static const struct clip_shape small = {2, 11, 14, 32};

enum { PLANE = 11 * 14, IMAGE = 2 * 3 * PLANE, SOUND = 32 };

static void random_clip(uint64_t seed, float *image, float *audio)
{
	struct philox r = philox_start(seed, STREAM_SYNTHETIC, 0);

	for (int i = 0; i < IMAGE; i++)
		image[i] = (float)philox_uniform(&r);
	for (int i = 0; i < SOUND; i++)
		audio[i] = (float)(philox_uniform(&r) - 0.5);
}

static double clamped(double x, double most)
{
	return x < 0 ? 0 : x > most ? most : x;
}

/* The definition: the value at (x, y) of the window, between its four neighbours in it. */
static double value_at(const float *plane, const struct augment *a, double x, double y)
{
	double cx = clamped(x, a->width - 1), cy = clamped(y, a->height - 1);
	unsigned left = (unsigned)floor(cx), top = (unsigned)floor(cy);
	unsigned right = left + 1 < a->width ? left + 1 : left;
	unsigned below = top + 1 < a->height ? top + 1 : top;
	double fx = cx - left, fy = cy - top;
	const float *from = plane + (size_t)a->y * small.width + a->x;

	return (1 - fy) * ((1 - fx) * from[top * small.width + left] +
	                   fx * from[top * small.width + right]) +
	       fy * ((1 - fx) * from[below * small.width + left] +
	             fx * from[below * small.width + right]);
}

static double furthest(const float *before, const float *after, const struct augment *a)
{
	double most = 0;

	for (unsigned i = 0; i < IMAGE; i++) {
		unsigned x = i % small.width, y = i % PLANE / small.width;
		double column = a->flip ? small.width - 1.0 - x : x;
		double want = value_at(before + i / PLANE * PLANE, a,
		                       (column + 0.5) * a->width / small.width - 0.5,
		                       (y + 0.5) * a->height / small.height - 0.5);

		most = fmax(most, fabs(after[i] - want));
	}
	return most;
}

static void crops_as_defined(void)
{
	struct augment_options o = {.crop = 0.3, .flip = 0.5};
	unsigned cropped = 0, flipped = 0;

	for (uint64_t sample = 0; sample < 200; sample++) {
		struct augment a = augment_draw(&o, &small, 3, sample);
		float before[IMAGE], after[IMAGE], audio[SOUND], sound[SOUND];

		random_clip(sample, before, audio);
		memcpy(after, before, sizeof(after));
		memcpy(sound, audio, sizeof(sound));
		augment_apply(&a, &small, after, sound);
		CHECK(furthest(before, after, &a) < 1e-6);
		CHECK(memcmp(sound, audio, sizeof(sound)) == 0);
		cropped += a.width < small.width || a.height < small.height;
		flipped += a.flip;
	}
	CHECK(cropped > 150 && flipped > 60 && flipped < 140);
}

/* Not within rounding: the same bits. */
static void nothing_is_nothing(void)
{
	static const struct augment_options off[] = {{0}, {.crop = 1}};

	for (size_t i = 0; i < ARRAY_LEN(off); i++)
		for (uint64_t sample = 0; sample < 50; sample++) {
			struct augment a = augment_draw(&off[i], &small, 3, sample);
			float image[2][IMAGE], audio[2][SOUND];

			random_clip(sample, image[0], audio[0]);
			random_clip(sample, image[1], audio[1]);
			augment_apply(&a, &small, image[0], audio[0]);
			CHECK_INT(a.later, 0);
			CHECK(memcmp(image[0], image[1], sizeof(image[0])) == 0);
			CHECK(memcmp(audio[0], audio[1], sizeof(audio[0])) == 0);
		}
}

static void mirrors_exactly(void)
{
	struct augment_options o = {.flip = 1};
	struct augment a = augment_draw(&o, &small, 3, 0);
	float image[2][IMAGE], audio[SOUND];

	random_clip(1, image[0], audio);
	memcpy(image[1], image[0], sizeof(image[0]));
	augment_apply(&a, &small, image[1], audio);
	for (unsigned i = 0; i < IMAGE; i++)
		CHECK(image[1][i] == image[0][i / 14 * 14 + 13 - i % 14]);
	augment_apply(&a, &small, image[1], audio);
	CHECK(memcmp(image[0], image[1], sizeof(image[0])) == 0);
}

static void draws_within_bounds(void)
{
	static const struct clip_shape full = {16, 224, 224, 30720};
	enum { N = 4000 };
	unsigned beginnings[16] = {0}, cropped = 0, louder = 0, left = 0;
	double area = 0, least = 1, decibels = 0, loudest = 0;

	for (uint64_t sample = 0; sample < N; sample++) {
		struct augment a = augment_draw(&usual, &full, 42, sample);
		double share = (double)a.width * a.height / (224.0 * 224);
		double aspect = (double)a.width / a.height;

		CHECK(a.later < 16 && a.x + a.width <= 224 && a.y + a.height <= 224);
		/* A side is rounded to whole pixels. */
		CHECK(aspect < AUGMENT_ASPECT * 1.01 && aspect > 0.99 / AUGMENT_ASPECT);
		beginnings[a.later]++;
		cropped += share < 1;
		louder += a.flip && a.gain > 1;
		left += a.flip && a.x < (224 - a.width + 1) / 2;
		least = fmin(least, share);
		area += share / N;
		decibels += 20 * log10(a.gain) / N;
		loudest = fmax(loudest, fabs(20 * log10(a.gain)));
	}
	for (int i = 0; i < 16; i++)
		CHECK(beginnings[i] > N / 32 && beginnings[i] < N / 8);
	CHECK(least > 0.79 && least < 0.82 && area > 0.85 && area < 0.92);
	CHECK(cropped > N * 9 / 10);
	/* One kind says nothing about another: a quarter have both. */
	CHECK(louder > N / 5 && louder < N * 3 / 10 && left > N / 5 && left < N * 3 / 10);
	CHECK(fabs(decibels) < 0.2 && loudest > 5.9 && loudest <= 6);
}

/* Whoever switches one kind off sees the others as before. */
static void kinds_are_apart(void)
{
	struct augment_options no_flip = usual, only_gain = {.gain = 6};
	unsigned differ = 0;

	no_flip.flip = 0;
	for (uint64_t sample = 0; sample < 100; sample++) {
		struct augment a = augment_draw(&usual, &small, 3, sample);
		struct augment b = augment_draw(&no_flip, &small, 3, sample);
		struct augment c = augment_draw(&only_gain, &small, 3, sample);
		struct augment other = augment_draw(&usual, &small, 4, sample);

		CHECK(!b.flip && a.later == b.later && a.width == b.width && a.x == b.x);
		CHECK(a.gain == b.gain && a.gain == c.gain && c.later == 0);
		differ += a.gain != other.gain;
	}
	CHECK_INT(differ, 100);
}

static void gains_do_not_clip(void)
{
	float image[IMAGE], quiet[SOUND], audio[SOUND];
	struct augment a = {.width = small.width, .height = small.height, .gain = 1.5};

	random_clip(1, image, quiet);
	memcpy(audio, quiet, sizeof(audio));
	augment_apply(&a, &small, image, audio);
	for (int i = 0; i < SOUND; i++)
		CHECK(audio[i] == quiet[i] * 1.5f);
	audio[5] = -0.8f;
	audio[6] = 0.4f;
	augment_apply(&a, &small, image, audio);
	CHECK(fabsf(audio[5] + 1) < 1e-6f && fabsf(audio[6] - 0.5f) < 1e-6f);
	/* Already as loud as can be: left so, but made softer. */
	augment_apply(&a, &small, image, audio);
	CHECK(fabsf(audio[5] + 1) < 1e-6f);
	a.gain = 0.5;
	augment_apply(&a, &small, image, audio);
	CHECK(fabsf(audio[5] + 0.5f) < 1e-6f);
}

/* ---- clips that begin elsewhere ---- */

static const struct clip_shape strip = {4, 1, 1, 8};

/* The file of one video: frames numbered on from `number`, at these times, a clip each. */
static void write_shard(const char *dir, const char *name, const uint64_t *start_us, int clips,
                        int number)
{
	struct shard_writer w;
	struct err err = {0};
	char path[8192];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK_OK(shard_writer_begin(&w, fd, &strip, &err), &err);
	for (int c = 0; c < clips; c++) {
		uint8_t video[4 * 3];
		int16_t audio[8];

		for (int t = 0; t < 4; t++) {
			int frame = number + 4 * c + t;

			memset(&video[3 * t], frame, 3);
			audio[2 * t] = (int16_t)(2 * frame);
			audio[2 * t + 1] = (int16_t)(2 * frame + 1);
		}
		CHECK_OK(shard_writer_add(&w, video, audio, start_us[c], &err), &err);
	}
	CHECK_OK(shard_writer_end(&w, &err), &err);
	shard_writer_done(&w);
	close(fd);
}

/* a: three clips without a gap; b: two with one between; c: a single clip. */
static struct dataset *open_strips(char dir[4096])
{
	static const uint64_t whole[] = {0, 160000, 320000}, torn[] = {0, 200000};
	static const char list[] =
		"{\"format\":\"slipway-dataset/v1\",\"clip\":{\"frames\":4,\"height\":1,"
		"\"width\":1,\"samples\":8},\"classes\":[\"x\",\"y\",\"z\"],\"shards\":["
		"{\"file\":\"a\",\"clips\":3,\"label\":0,\"source\":\"x/a\"},"
		"{\"file\":\"b\",\"clips\":2,\"label\":1,\"source\":\"y/b\"},"
		"{\"file\":\"c\",\"clips\":1,\"label\":2,\"source\":\"z/c\"}],\"rejected\":[]}";
	struct dataset *d = NULL;
	struct err err = {0};
	char path[8192];

	test_tmpdir(dir);
	write_shard(dir, "a", whole, 3, 0);
	write_shard(dir, "b", torn, 2, 100);
	write_shard(dir, "c", whole, 1, 200);
	snprintf(path, sizeof(path), "%s/dataset.json", dir);
	CHECK_OK(fs_write_file(path, list, strlen(list), 0600, &err), &err);
	CHECK_OK(dataset_open(dir, &strip, 3, &d, &err), &err);
	return d;
}

/* The number of the first frame, where all follow it, with their sound; else -1. */
static int first_frame(const float *image, const float *audio)
{
	int first = (int)lroundf(image[0] * 255);

	for (int t = 0; t < 4; t++)
		for (int i = 0; i < 2; i++)
			if (lroundf(image[3 * t + i] * 255) != first + t ||
			    lroundf(audio[2 * t + i] * 32768) != 2 * (first + t) + i)
				return -1;
	return first;
}

static int begins_at(struct dataset *d, uint64_t clip, uint32_t later)
{
	float image[4 * 3], audio[8];
	int32_t label;
	struct clip_room room = {.image = image, .audio = audio, .label = &label};
	struct err err = {0};

	CHECK_OK(dataset_clip_later(d, clip, later, &room, &err), &err);
	CHECK_INT(label, dataset_label(d, clip));
	return first_frame(image, audio);
}

static void begins_elsewhere(void)
{
	char dir[4096];
	struct err err = {0};
	struct dataset *d = open_strips(dir);

	for (uint32_t later = 0; later < 4; later++) {
		int n = (int)later;

		CHECK_INT(begins_at(d, 0, later), n);
		CHECK_INT(begins_at(d, 1, later), 4 + n);
		/* The last one of a video has its predecessor alone. */
		CHECK_INT(begins_at(d, 2, later), 8 - n);
		/* Others do not adjoin, or belong to another video. */
		CHECK_INT(begins_at(d, 3, later), 100);
		CHECK_INT(begins_at(d, 4, later), 104);
		CHECK_INT(begins_at(d, 5, later), 200);
	}
	dataset_free(d);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* ---- classes ---- */

/* Clips of five classes of 1, 40, 3, 0 and 7 clips, mixed. */
enum { MIXED = 51, CLASSES = 4 };

static uint32_t mixed_label(const void *ctx, uint64_t clip)
{
	static const uint32_t sizes[] = {1, 40, 3, 0, 7};
	uint64_t at = clip * 20 % MIXED; /* 20 and 51 have no common divisor */
	uint32_t label = 0;

	(void)ctx;
	while (at >= sizes[label])
		at -= sizes[label++];
	return label;
}

static void classes_are_equal(void)
{
	struct order_classes *c = order_classes_new(MIXED, mixed_label, NULL);
	enum { SAMPLES = CLASSES * 40 * 3 * 7 };
	unsigned seen[MIXED] = {0}, counts[5] = {0};

	CHECK_INT(order_classes_n(c), CLASSES);
	for (uint64_t sample = 0; sample < SAMPLES; sample++) {
		uint64_t clip = order_classes_clip(c, 11, sample);

		CHECK(clip < MIXED);
		seen[clip]++;
		counts[mixed_label(NULL, clip)]++;
		/* After every round all classes have been drawn equally often. */
		if (sample % CLASSES == CLASSES - 1)
			CHECK(counts[0] == counts[1] && counts[1] == counts[2] &&
			      counts[2] == counts[4] && counts[3] == 0);
	}
	/* And every clip as often as the others of its class. */
	for (uint64_t i = 0; i < MIXED; i++) {
		static const unsigned sizes[] = {1, 40, 3, 0, 7};

		CHECK_INT(seen[i], SAMPLES / CLASSES / sizes[mixed_label(NULL, i)]);
	}
	order_classes_free(c);
}

static uint32_t halves(const void *ctx, uint64_t clip)
{
	(void)ctx;
	return clip >= 500;
}

/* Two classes of one size go their own ways, and a pass is not the one before. */
static void class_orders_differ(void)
{
	struct order_classes *c = order_classes_new(1000, halves, NULL);
	uint64_t drawn[2][2][500]; /* by class and pass */
	unsigned same = 0, again = 0, first = 0, seeds = 0;

	for (uint64_t sample = 0; sample < 2000; sample++) {
		uint64_t clip = order_classes_clip(c, 5, sample), round = sample / 2;

		drawn[clip / 500][round / 500][round % 500] = clip % 500;
		first += sample % 2 == 0 && clip < 500;
		seeds += clip == order_classes_clip(c, 6, sample);
	}
	for (int i = 0; i < 500; i++) {
		same += drawn[0][0][i] == drawn[1][0][i];
		again += drawn[0][0][i] == drawn[0][1][i];
	}
	CHECK(same < 15 && again < 15 && seeds < 30);
	CHECK(first > 400 && first < 600);
	order_classes_free(c);
}

/* ---- samples through loaders ---- */

static const struct clip_shape tiny = {2, 4, 6, 64};

enum { VALUES = 2 * 3 * 4 * 6, BATCH = 2 };

static struct loader_options read_as(unsigned ranks, unsigned threads)
{
	return (struct loader_options){
		.samples = {.seed = 9, .shape = tiny, .balanced = true, .augment = usual},
		.batch = BATCH,
		.stride = (uint64_t)ranks * BATCH,
		.threads = threads,
		.ahead = 3};
}

/* `ranks` loaders take turns, from sample `from` on; the clips in the order of their numbers. */
static void read_by(struct dataset *d, unsigned ranks, unsigned threads, uint64_t from, float *out,
                    size_t n)
{
	struct loader_options o = read_as(ranks, threads);

	for (unsigned rank = 0; rank < ranks; rank++) {
		struct clip_loader *l = loader_new(d, &o);

		for (size_t i = (size_t)rank * BATCH; i < n; i += o.stride) {
			struct clips clips;
			struct err err = {0};
			uint64_t wait = 0;

			CHECK_OK(loader_next(l, from + i, BATCH, &clips, &wait, &err), &err);
			memcpy(out + i * VALUES, clips.image, BATCH * VALUES * sizeof(*out));
		}
		loader_free(l);
	}
}

static void same_on_any_ranks(void)
{
	enum { N = 96, HALF = 48 };
	struct dataset *d = dataset_synthetic(5, &tiny, 10, 50);
	AUTO_FREE float *one = mem_calloc(N * VALUES, sizeof(float));
	AUTO_FREE float *other = mem_calloc(N * VALUES, sizeof(float));

	read_by(d, 1, 1, 0, one, N);
	for (unsigned ranks = 1; ranks <= 4; ranks *= 2)
		for (unsigned threads = 0; threads <= 4; threads += 2) {
			read_by(d, ranks, threads, 0, other, N);
			CHECK(memcmp(one, other, N * VALUES * sizeof(*one)) == 0);
		}
	/* Resumed half-way, on other ranks. */
	read_by(d, 4, 1, HALF, other, HALF);
	CHECK(memcmp(one + HALF * VALUES, other, HALF * VALUES * sizeof(*one)) == 0);
	dataset_free(d);
}

int main(void)
{
	TEST("augment: crop and flip are bilinear interpolation in the window", crops_as_defined);
	TEST("augment: nothing asked for changes no bit", nothing_is_nothing);
	TEST("augment: mirrored twice is the clip itself", mirrors_exactly);
	TEST("augment: windows, beginnings and gains fill their ranges and stay in them",
	     draws_within_bounds);
	TEST("augment: a kind that is switched off does not move the others", kinds_are_apart);
	TEST("augment: a gain never takes sound beyond its range", gains_do_not_clip);
	TEST("dataset: a clip may begin between two records that adjoin, of one video",
	     begins_elsewhere);
	TEST("balanced: classes are drawn equally often, and so are the clips of each",
	     classes_are_equal);
	TEST("balanced: classes, passes and seeds have orders of their own", class_orders_differ);
	TEST("samples: the same bits on 1, 2 and 4 ranks, any threads, and after a resume",
	     same_on_any_ranks);
	return test_done();
}
