/*
 * The child's part: one video into one shard.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "trainer/prepare/prepare.h"

/* Raised whenever the same video would give other clips. */
enum { RECIPE = 1, READ_CHUNK = 1 << 16 };

/* The name of everything that decides what is in the shard. */
static int shard_name(const struct prepare_options *o, const char *path,
                      char ret_file[PREPARE_NAME_MAX], struct err *err)
{
	char video[SHA256_HEX_MAX], name[SHA256_HEX_MAX], recipe[256];
	struct sha256 s;
	uint64_t size;

	if (sha256_file(path, video, &size, err) != 0)
		return -1;
	snprintf(recipe, sizeof(recipe), "%s recipe=%d frames=%u size=%ux%u samples=%u clips=%u",
	         video, RECIPE, o->shape.frames, o->shape.width, o->shape.height, o->shape.samples,
	         o->limits.max_clips);
	sha256_init(&s);
	sha256_update(&s, recipe, strlen(recipe));
	sha256_hex(&s, name);
	snprintf(ret_file, PREPARE_NAME_MAX, "shards/%.2s/%s.clips", name, name);
	return 0;
}

static int make_shard(const struct prepare_options *o, const char *path, const char *shard,
                      struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	char tmp[PATH_MAX], folder[PATH_MAX];
	struct shard_writer w = {.fd = -1};
	int rc;

	snprintf(folder, sizeof(folder), "%s", shard);
	*strrchr(folder, '/') = '\0';
	if (fs_join(tmp, o->out, "tmp", err) != 0 || fs_mkdirs(folder, err) != 0 ||
	    fs_temp_open(&temp, tmp, err) != 0)
		return -1;
	rc = shard_writer_begin(&w, temp.fd, &o->shape, err);
	if (rc == 0)
		rc = decode_video(path, &o->limits, &w, err);
	if (rc == 0)
		rc = shard_writer_end(&w, err);
	shard_writer_done(&w);
	return rc == 0 ? fs_temp_commit(&temp, shard, 0644, err) : -1;
}

const char *prepare_place(size_t i)
{
	static const char *const places[] = {"", "train/", "val/"};

	return i < ARRAY_LEN(places) ? places[i] : NULL;
}

/* A split has moved shards: *ret_file becomes where it is, and stays where it is not. */
static bool find_shard(const struct prepare_options *o, char file[PREPARE_NAME_MAX])
{
	const char *place;

	for (size_t i = 0; (place = prepare_place(i)) != NULL; i++) {
		char name[PREPARE_NAME_MAX], path[PATH_MAX];
		struct err unusable = {0};
		struct shard old = {0};

		snprintf(name, sizeof(name), "%s%.80s", place, file);
		if (fs_join(path, o->out, name, &unusable) != 0 ||
		    shard_open(path, &old, &unusable) != 0)
			continue;
		memcpy(file, name, sizeof(name));
		return true;
	}
	return false;
}

int prepare_one(const struct prepare_options *o, const char *path, char ret_file[PREPARE_NAME_MAX],
                bool *ret_decoded, struct err *err)
{
	char shard[PATH_MAX];

	if (shard_name(o, path, ret_file, err) != 0)
		return -1;
	*ret_decoded = !find_shard(o, ret_file);
	if (!*ret_decoded)
		return 0;
	if (fs_join(shard, o->out, ret_file, err) != 0)
		return -1;
	return make_shard(o, path, shard, err);
}
