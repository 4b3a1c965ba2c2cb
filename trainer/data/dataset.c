#include "trainer/data/dataset.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/data/frames.h"
#include "trainer/ops/philox.h"

enum { COLOURS = 3 };

struct dataset {
	struct clip_shape shape;
	uint64_t n_clips;
	uint32_t n_labels;
	uint64_t seed; /* synthetic only */
	char *folder;  /* NULL: synthetic */
	struct dataset_list list;
	struct shard *shards; /* map NULL until first used */
	char **paths;
	pthread_mutex_t lock; /* guards shards[] and paths[] until they are open */
};

static struct dataset *dataset_new(const struct clip_shape *shape, uint32_t n_labels)
{
	struct dataset *d = mem_zalloc(sizeof(*d));

	d->shape = *shape;
	d->n_labels = n_labels;
	pthread_mutex_init(&d->lock, NULL);
	return d;
}

struct dataset *dataset_synthetic(uint64_t seed, const struct clip_shape *shape, uint32_t n_labels,
                                  uint64_t n_clips)
{
	struct dataset *d = dataset_new(shape, n_labels);

	d->seed = seed;
	d->n_clips = n_clips;
	return d;
}

static int check_list(const struct dataset *d, const char *path, struct err *err)
{
	const struct clip_shape *have = &d->list.shape, *want = &d->shape;

	if (memcmp(have, want, sizeof(*have)) != 0) {
		err_set(err, ERR_SPEC,
		        "'%s' holds clips of %u frames of %u x %u with %u samples, but the model "
		        "needs %u of %u x %u with %u",
		        path, have->frames, have->width, have->height, have->samples, want->frames,
		        want->width, want->height, want->samples);
		return err_hint(err, "Run prepare again with the model's --config_file_path.");
	}
	if (d->list.n_clips == 0)
		return err_set(err, ERR_SPEC, "'%s' lists no clip", path);
	return 0;
}

static int open_list(struct dataset *d, struct err *err)
{
	char path[PATH_MAX];

	if (fs_join(path, d->folder, "dataset.json", err) != 0 ||
	    dataset_list_load(d->folder, &d->list, err) != 0)
		return -1;
	return check_list(d, path, err);
}

int dataset_open_clips(const char *folder, const struct clip_shape *shape, struct dataset **ret,
                       struct err *err)
{
	struct dataset *d = dataset_new(shape, 0);

	d->folder = mem_strdup(folder);
	if (open_list(d, err) != 0) {
		dataset_free(d);
		return -1;
	}
	d->n_clips = d->list.n_clips;
	d->shards = mem_calloc(d->list.n, sizeof(*d->shards));
	d->paths = mem_calloc(d->list.n, sizeof(*d->paths));
	*ret = d;
	return 0;
}

int dataset_match(struct dataset *d, const struct label_head *head, struct err *err)
{
	char path[PATH_MAX];

	if (d->folder == NULL)
		return 0;
	if (fs_join(path, d->folder, "dataset.json", err) != 0)
		return -1;
	return dataset_list_match(&d->list, path, head, err);
}

int dataset_open(const char *folder, const struct clip_shape *shape, uint32_t n_labels,
                 struct dataset **ret, struct err *err)
{
	struct label_head head = {.n_labels = n_labels};
	struct dataset *d;

	if (dataset_open_clips(folder, shape, &d, err) != 0)
		return -1;
	if (dataset_match(d, &head, err) != 0) {
		dataset_free(d);
		return -1;
	}
	*ret = d;
	return 0;
}

const struct class_list *dataset_classes(const struct dataset *d)
{
	return &d->list.classes;
}

const struct dataset_list *dataset_contents(const struct dataset *d)
{
	return d->folder != NULL ? &d->list : NULL;
}

bool dataset_has_bytes(const struct dataset *d)
{
	return d->folder != NULL;
}

uint64_t dataset_n_clips(const struct dataset *d)
{
	return d->n_clips;
}

void dataset_free(struct dataset *d)
{
	if (d == NULL)
		return;
	for (size_t i = 0; i < d->list.n && d->paths != NULL; i++)
		free(d->paths[i]);
	free(d->shards);
	free(d->paths);
	dataset_list_done(&d->list);
	free(d->folder);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

/* A triangle wave over a 16-bit phase: 0 at 0, 65534 in the middle. */
static uint32_t triangle(uint32_t phase)
{
	uint32_t p = phase & 0xffff;

	return p < 0x8000 ? p * 2 : (0xffff - p) * 2;
}

/* The first number of a synthetic clip. */
static uint32_t draw_label(const struct dataset *d, struct philox *rng)
{
	return philox_below(rng, d->n_labels);
}

static void synthesise(const struct dataset *d, uint64_t i, const struct clip_room *room)
{
	const struct clip_shape *s = &d->shape;
	struct philox rng = philox_start(d->seed, STREAM_SYNTHETIC, i);
	uint32_t label = draw_label(d, &rng);
	uint32_t fx = 65536 / s->width * (1 + label % 3), fy = 65536 / s->height * (label / 3 % 3);
	uint32_t ft = 65536 / s->frames / 2 * (1 + label / 9 % 3);
	uint32_t tone =
		s->samples > 0 ? 65536u * (220 + 20 * (label % 64)) / clip_sample_rate(s) : 0;
	uint32_t shift = philox_u32(&rng);
	float *out = room->image;

	for (uint32_t t = 0; t < s->frames; t++)
		for (uint32_t c = 0; c < COLOURS; c++)
			for (uint32_t y = 0; y < s->height; y++)
				for (uint32_t x = 0; x < s->width; x++)
					*out++ = (float)triangle(fx * x + fy * y + ft * t + shift +
					                         c * 21845) *
					         (1.0f / 65535.0f);
	for (uint32_t n = 0; n < s->samples; n++)
		room->audio[n] =
			(float)triangle(tone * n + (shift >> 16)) * (1.0f / 65535.0f) - 0.5f;
}

/* The shard that holds clip i: the last whose first is not beyond it. */
static size_t find_shard(const struct dataset_list *list, uint64_t i)
{
	size_t low = 0, high = list->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (list->at[mid].first <= i)
			low = mid;
		else
			high = mid;
	}
	return low;
}

uint32_t dataset_label(const struct dataset *d, uint64_t i)
{
	struct philox rng;

	if (d->folder != NULL)
		return d->list.at[find_shard(&d->list, i)].number;
	rng = philox_start(d->seed, STREAM_SYNTHETIC, i);
	return draw_label(d, &rng);
}

char *dataset_digest(const struct dataset *d, char out[SHA256_HEX_MAX])
{
	struct sha256 sum;

	out[0] = '\0';
	if (d->folder == NULL)
		return out;
	sha256_init(&sum);
	for (size_t i = 0; i < d->list.n; i++) {
		const struct dataset_entry *e = &d->list.at[i];
		char line[64];
		int n = snprintf(line, sizeof(line), " %u %u\n", e->n_clips, e->label);

		sha256_update(&sum, e->file, strlen(e->file));
		sha256_update(&sum, line, (size_t)n);
	}
	return sha256_hex(&sum, out);
}

void dataset_clip_name(const struct dataset *d, uint64_t i, struct strbuf *sb)
{
	const struct dataset_entry *e;

	if (d->folder == NULL || i >= d->n_clips) {
		strbuf_addf(sb, "synthetic clip %llu", (unsigned long long)i);
		return;
	}
	e = &d->list.at[find_shard(&d->list, i)];
	strbuf_addf(sb, "clip %llu of %s", (unsigned long long)(i - e->first), e->file);
}

static int make_again(struct err *err)
{
	return err_hint(err, "Remove it and run prepare again: it decodes what is missing.");
}

static int open_shard(struct dataset *d, size_t k, struct err *err)
{
	const struct dataset_entry *e = &d->list.at[k];
	struct shard *s = &d->shards[k];
	char path[PATH_MAX];

	if (s->checked)
		return 0;
	if (fs_join(path, d->folder, e->file, err) != 0)
		return -1;
	if (d->paths[k] == NULL)
		d->paths[k] = mem_strdup(path);
	if (shard_open(d->paths[k], s, err) != 0) {
		if (err->code == ERR_NOT_FOUND)
			err->code = ERR_FORMAT; /* of the dataset, which lists it */
		return make_again(err);
	}
	if (s->n_clips == e->n_clips && memcmp(&s->shape, &d->shape, sizeof(s->shape)) == 0)
		return 0;
	*s = (struct shard){0};
	err_set(err, ERR_FORMAT, "shard '%s' is not the one dataset.json describes", d->paths[k]);
	return make_again(err);
}

/* Clip i's bytes, in *room. */
static int view_clip(struct dataset *d, uint64_t i, unsigned char **room, struct clip_view *ret,
                     struct err *err)
{
	size_t k = find_shard(&d->list, i);
	int rc;

	pthread_mutex_lock(&d->lock);
	rc = open_shard(d, k, err);
	pthread_mutex_unlock(&d->lock);
	return rc != 0 ? -1 : shard_clip(&d->shards[k], i - d->list.at[k].first, room, ret, err);
}

static bool adjoin(const struct clip_shape *s, const struct clip_view *first,
                   const struct clip_view *second)
{
	return second->start_us >= first->start_us &&
	       second->start_us - first->start_us == (uint64_t)s->frames * (1000000 / SHARD_FPS);
}

static void take_frames(const struct clip_shape *s, const struct clip_view *clip, uint32_t from,
                        uint32_t n, uint32_t to, const struct clip_room *room)
{
	if (room->video != NULL)
		frames_copy(s, clip, from, n, to, room->video, room->sound);
	else
		frames_spread(s, clip, from, n, to, room->image, room->audio);
}

/* The clip that begins `skip` frames into the first of two that adjoin. */
static void take_both(const struct clip_shape *s, const struct clip_view *first,
                      const struct clip_view *second, uint32_t skip, const struct clip_room *room)
{
	uint32_t n = s->frames - skip;

	take_frames(s, first, skip, n, 0, room);
	take_frames(s, second, 0, skip, n, room);
}

static int read_frames(struct dataset *d, uint64_t i, uint32_t later, const struct clip_room *room,
                       struct err *err)
{
	const struct dataset_entry *e = &d->list.at[find_shard(&d->list, i)];
	uint64_t next = i + 1 < e->first + e->n_clips ? i + 1 : i - 1;
	AUTO_FREE unsigned char *bytes = NULL;
	AUTO_FREE unsigned char *more = NULL;
	struct clip_view clip, other;

	if (view_clip(d, i, &bytes, &clip, err) != 0)
		return -1;
	if (later == 0 || e->n_clips == 1) {
		take_frames(&d->shape, &clip, 0, d->shape.frames, 0, room);
		return 0;
	}
	if (view_clip(d, next, &more, &other, err) != 0)
		return -1;
	if (adjoin(&d->shape, &clip, &other))
		take_both(&d->shape, &clip, &other, later, room);
	else if (adjoin(&d->shape, &other, &clip))
		take_both(&d->shape, &other, &clip, d->shape.frames - later, room);
	else
		take_frames(&d->shape, &clip, 0, d->shape.frames, 0, room);
	return 0;
}

int dataset_clip_later(struct dataset *d, uint64_t i, uint32_t later, const struct clip_room *room,
                       struct err *err)
{
	if (i >= d->n_clips)
		return err_set(err, ERR_NOT_FOUND, "there is no clip %llu", (unsigned long long)i);
	if (later >= d->shape.frames)
		BUG("a clip that begins %u frames later", later);
	if (d->folder == NULL)
		synthesise(d, i, room);
	else if (read_frames(d, i, later, room, err) != 0)
		return -1;
	*room->label = (int32_t)dataset_label(d, i);
	return 0;
}

int dataset_clip(struct dataset *d, uint64_t i, const struct clip_room *room, struct err *err)
{
	return dataset_clip_later(d, i, 0, room, err);
}
