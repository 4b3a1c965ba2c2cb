/*
 * One source, two datasets.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "trainer/prepare/prepare.h"

enum split_side { TRAIN, VAL, SIDES };

static const char *const side_names[SIDES] = {"train", "val"};

/* A video that has clips. */
struct splitting {
	size_t video;
	uint32_t label;
	const char *digest; /* the end of the shard's path; borrowed */
	enum split_side side;
};

static const char *shard_base(const char *file)
{
	return strstr(file, "shards/");
}

static int by_class(const void *a, const void *b)
{
	const struct splitting *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	return strcmp(x->digest, y->digest);
}

static int by_digest(const void *a, const void *b)
{
	return strcmp(((const struct splitting *)a)->digest, ((const struct splitting *)b)->digest);
}

/* Videos from `first` on that are of the same bytes. */
static size_t same_bytes(const struct splitting *s, size_t first, size_t n)
{
	size_t end = first + 1;

	while (end < n && strcmp(s[end].digest, s[first].digest) == 0)
		end++;
	return end - first;
}

/* n videos of one class, in the order of their digests. */
static void split_class(struct splitting *s, size_t n, double share)
{
	size_t wanted = (size_t)lround(share * (double)n), taken = 0;

	if (wanted == 0)
		wanted = 1;
	if (wanted > n - 1)
		wanted = n - 1;
	for (size_t i = 0, group; i < n; i += group) {
		group = same_bytes(s, i, n);
		if (taken + group > wanted)
			continue;
		for (size_t k = 0; k < group; k++)
			s[i + k].side = VAL;
		taken += group;
	}
}

/* What lies in two classes and came to both sides is not to be validated on. */
static void join_copies(struct splitting *s, size_t n)
{
	qsort(s, n, sizeof(*s), by_digest);
	for (size_t i = 0, group; i < n; i += group) {
		bool train = false;

		group = same_bytes(s, i, n);
		for (size_t k = 0; k < group; k++)
			train = train || s[i + k].side == TRAIN;
		for (size_t k = 0; k < group; k++)
			s[i + k].side = train ? TRAIN : VAL;
	}
}

static void decide(struct splitting *s, size_t n, double share)
{
	size_t end;

	qsort(s, n, sizeof(*s), by_class);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && s[end].label == s[i].label;)
			end++;
		split_class(s + i, end - i, share);
	}
	join_copies(s, n);
}

/* ---- files ---- */

/* Its shard to where it belongs; *file says where that is, below o->out. */
static int move(const struct prepare_options *o, enum split_side side, char **file, struct err *err)
{
	char name[PREPARE_NAME_MAX], from[PATH_MAX], to[PATH_MAX], folder[PATH_MAX];

	snprintf(name, sizeof(name), "%s/%s", side_names[side], shard_base(*file));
	if (strcmp(name, *file) == 0)
		return 0;
	if (fs_join(from, o->out, *file, err) != 0 || fs_join(to, o->out, name, err) != 0)
		return -1;
	fs_parent(to, folder);
	if (fs_mkdirs(folder, err) != 0)
		return -1;
	/* A copy of the same bytes may have gone before. */
	if (rename(from, to) != 0 && (errno != ENOENT || !fs_exists(to)))
		return err_set(err, ERR_IO, "move '%s' to '%s'", from, to);
	free(*file);
	*file = mem_strdup(name);
	return 0;
}

/* The datasets of before, whose shards may go elsewhere. */
static int forget(const struct prepare_options *o, struct err *err)
{
	for (size_t i = 0; i < SIDES; i++) {
		char folder[PATH_MAX], path[PATH_MAX];

		if (fs_join(folder, o->out, side_names[i], err) != 0 ||
		    fs_join(path, folder, "dataset.json", err) != 0 || fs_mkdirs(folder, err) != 0)
			return -1;
		if (unlink(path) != 0 && errno != ENOENT)
			return err_set(err, ERR_IO, "remove '%s'", path);
	}
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct splitting *x = a, *y = b;

	return (x->video > y->video) - (x->video < y->video);
}

/* dataset.json of one side, whose files are named from there. */
static int record_side(const struct prepare_options *o, const struct videos *videos,
                       const struct video_outcome *outcomes, const struct splitting *s, size_t n,
                       enum split_side side, struct err *err)
{
	struct prepare_options here = *o;
	struct videos some = {.classes = videos->classes};
	AUTO_FREE struct video *at = mem_calloc(n, sizeof(*at));
	AUTO_FREE struct video_outcome *theirs = mem_calloc(n, sizeof(*theirs));
	char folder[PATH_MAX];

	some.at = at;
	for (size_t i = 0; i < n; i++) {
		if (s[i].side != side)
			continue;
		at[some.n] = videos->at[s[i].video];
		theirs[some.n] = outcomes[s[i].video];
		theirs[some.n].file += strlen(side_names[side]) + 1;
		some.n++;
	}
	if (fs_join(folder, o->out, side_names[side], err) != 0)
		return -1;
	here.out = folder;
	return prepare_record(&here, &some, theirs, err);
}

static size_t collect(const struct videos *videos, const struct video_outcome *outcomes,
                      struct splitting *s)
{
	size_t n = 0;

	for (size_t i = 0; i < videos->n; i++)
		if (outcomes[i].file != NULL)
			s[n++] = (struct splitting){i, videos->at[i].label,
			                            shard_base(outcomes[i].file), TRAIN};
	return n;
}

int prepare_split(const struct prepare_options *o, const struct videos *videos,
                  struct video_outcome *outcomes, size_t *ret_validation, struct err *err)
{
	AUTO_FREE struct splitting *s = mem_calloc(videos->n, sizeof(*s));
	size_t n = collect(videos, outcomes, s), validation = 0;

	decide(s, n, o->split);
	qsort(s, n, sizeof(*s), by_path);
	if (forget(o, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (move(o, s[i].side, &outcomes[s[i].video].file, err) != 0)
			return -1;
		validation += s[i].side == VAL;
	}
	if (validation == 0)
		return err_set(
			err, ERR_SPEC,
			"--split: no class of '%s' has two videos, of which one could be for "
			"validation",
			o->source);
	for (enum split_side side = TRAIN; side < SIDES; side++)
		if (record_side(o, videos, outcomes, s, n, side, err) != 0)
			return -1;
	*ret_validation = validation;
	return 0;
}
