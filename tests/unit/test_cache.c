/* The build cache: hits, misses, damage, pruning, and what layer_write does with it. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

#include <fcntl.h>
#include <sys/time.h>

#include "base/fs.h"
#include "builder/layer/pack/cache.h"
#include "builder/layer/pack/keys.h"
#include "builder/layer/pack/layer.h"

struct room {
	char dir[4096], cache_dir[4200], layout_dir[4200], source[4200];
	struct layer_cache *cache;
	struct layout *layout;
};

static void room_done(struct room *r)
{
	struct err err = {0};

	cache_close(r->cache);
	layout_close(r->layout);
	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
}

static void room_init(struct room *r)
{
	struct err err = {0};

	*r = (struct room){0};
	test_tmpdir(r->dir);
	snprintf(r->cache_dir, sizeof(r->cache_dir), "%s/cache", r->dir);
	snprintf(r->layout_dir, sizeof(r->layout_dir), "%s/layout", r->dir);
	snprintf(r->source, sizeof(r->source), "%s/source", r->dir);
	CHECK_OK(cache_open(r->cache_dir, &r->cache, &err), &err);
	CHECK_OK(layout_open(r->layout_dir, LAYOUT_WRITE, &r->layout, &err), &err);
}

static struct digest named(const char *text)
{
	return digest_of(text, strlen(text));
}

/* Overwrites byte `at` of the only file below dir/records/kind. */
static void damage(const struct room *r, const char *kind, const struct digest *key, long at)
{
	char path[4400], hex[DIGEST_HEX_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/records/%s/%s", r->cache_dir, kind, digest_hex(key, hex));
	f = fopen(path, "r+e");
	CHECK(f != NULL);
	if (f == NULL)
		return;
	if (at < 0)
		CHECK_INT(ftruncate(fileno(f), -at), 0);
	else
		fseek(f, at, SEEK_SET), fputc('z', f);
	fclose(f);
}

static void remembers_records(void)
{
	AUTO(room) struct room r;
	struct digest key = named("key"), other = named("other"), diff = named("diff"), got;

	room_init(&r);
	CHECK(!cache_find_stat(r.cache, &key, &got));
	CHECK(!cache_find_shape(r.cache, &key));
	CHECK(!cache_find_verdict(r.cache, &key));
	cache_put_stat(r.cache, &key, &diff);
	cache_put_shape(r.cache, &key);
	cache_put_verdict(r.cache, &key);
	CHECK(cache_find_stat(r.cache, &key, &got) && digest_equal(&got, &diff));
	CHECK(cache_find_shape(r.cache, &key));
	CHECK(cache_find_verdict(r.cache, &key));
	CHECK(!cache_find_stat(r.cache, &other, &got));
}

static void damaged_records_are_no_records(void)
{
	static const long places[] = {0, 20, 100, 150, 200, -1, -10, -100, -209};
	AUTO(room) struct room r;
	struct digest key = named("key"), diff = named("diff"), got;

	room_init(&r);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		cache_put_stat(r.cache, &key, &diff);
		CHECK(cache_find_stat(r.cache, &key, &got));
		damage(&r, "stat", &key, places[i]);
		CHECK(!cache_find_stat(r.cache, &key, &got));
	}
}

/* Stores a blob of n bytes in the layout. */
static struct cache_blob put_blob(const struct room *r, const char *text, size_t n)
{
	char bytes[4096] = {0};
	struct descriptor d = {0};
	struct err err = {0};

	snprintf(bytes, sizeof(bytes), "%s", text);
	CHECK_OK(layout_put(r->layout, "x", bytes, n, &d, &err), &err);
	return (struct cache_blob){
	    .diff_id = named(text), .digest = d.digest, .size = d.size, .raw_size = 12345};
}

static void blobs_reach_a_fresh_layout(void)
{
	AUTO(room) struct room r;
	AUTO_LAYOUT struct layout *fresh = NULL;
	char dir[4300];
	struct cache_blob blob, got;
	struct err err = {0};

	room_init(&r);
	snprintf(dir, sizeof(dir), "%s/fresh", r.dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &fresh, &err), &err);
	blob = put_blob(&r, "one", 100);
	CHECK(!cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
	cache_put_blob(r.cache, "1 zstd", r.layout, &blob);
	CHECK(!cache_find_blob(r.cache, &blob.diff_id, "1 gzip", fresh, &got));
	CHECK(cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
	CHECK(digest_equal(&got.digest, &blob.digest) && digest_equal(&got.diff_id, &blob.diff_id));
	CHECK_INT(got.size, 100);
	CHECK_INT(got.raw_size, 12345);
	CHECK(layout_has(fresh, &blob.digest, 100));
}

static void a_blob_of_another_size_is_no_blob(void)
{
	AUTO(room) struct room r;
	AUTO_LAYOUT struct layout *fresh = NULL;
	char dir[4300], path[4400], hex[DIGEST_HEX_MAX];
	struct cache_blob blob, got;
	struct err err = {0};

	room_init(&r);
	snprintf(dir, sizeof(dir), "%s/fresh", r.dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &fresh, &err), &err);
	blob = put_blob(&r, "one", 100);
	cache_put_blob(r.cache, "1 zstd", r.layout, &blob);
	snprintf(path, sizeof(path), "%s/blobs/%s", r.cache_dir, digest_hex(&blob.digest, hex));
	CHECK_INT(unlink(path), 0);
	CHECK_OK(fs_write_file(path, "short", 5, 0644, &err), &err);
	CHECK(!cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
	cache_store(r.cache, &blob.digest, r.layout);
	CHECK(cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
}

/* Writes down what it is told. */
struct told {
	struct progress progress;
	char text[512];
};

static void on_note(struct progress *p, const char *text)
{
	snprintf(((struct told *)p)->text, sizeof(((struct told *)p)->text), "%s", text);
}

static void a_damaged_blob_is_removed_and_said(void)
{
	AUTO(room) struct room r;
	AUTO_LAYOUT struct layout *fresh = NULL;
	struct told told = {.progress.note = on_note};
	char dir[4300], path[4400], hex[DIGEST_HEX_MAX], damaged[100] = "";
	struct cache_blob blob, got;
	struct err err = {0};

	room_init(&r);
	cache_tell(r.cache, &told.progress);
	snprintf(dir, sizeof(dir), "%s/fresh", r.dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &fresh, &err), &err);
	blob = put_blob(&r, "one", 100);
	cache_put_blob(r.cache, "1 zstd", r.layout, &blob);
	snprintf(path, sizeof(path), "%s/blobs/%s", r.cache_dir, digest_hex(&blob.digest, hex));
	CHECK_INT(unlink(path), 0);
	CHECK_OK(fs_write_file(path, damaged, sizeof(damaged), 0644, &err), &err);
	CHECK(!cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
	CHECK(!layout_has(fresh, &blob.digest, 100));
	CHECK(!fs_exists(path));
	CHECK(strstr(told.text, hex) != NULL && strstr(told.text, "is damaged") != NULL);
	cache_store(r.cache, &blob.digest, r.layout);
	CHECK(cache_find_blob(r.cache, &blob.diff_id, "1 zstd", fresh, &got));
}

static void prune_keeps_what_was_used_last(void)
{
	AUTO(room) struct room r;
	AUTO_LAYOUT struct layout *fresh = NULL;
	static const char *const names[] = {"a", "b", "c", "d"};
	struct cache_blob blobs[4];
	char dir[4300];
	struct err err = {0};

	room_init(&r);
	snprintf(dir, sizeof(dir), "%s/fresh", r.dir);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[4400], hex[DIGEST_HEX_MAX];
		struct timeval old[2] = {{.tv_sec = 1000 + (long)i}, {.tv_sec = 1000 + (long)i}};

		blobs[i] = put_blob(&r, names[i], 1000);
		cache_store(r.cache, &blobs[i].digest, r.layout);
		snprintf(path, sizeof(path), "%s/blobs/%s", r.cache_dir,
			 digest_hex(&blobs[i].digest, hex));
		CHECK_INT(utimes(path, old), 0);
	}
	CHECK(cache_fetch(r.cache, &blobs[0].digest, 1000, r.layout)); /* a use */
	CHECK_OK(cache_prune(r.cache, 2500, &err), &err);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &fresh, &err), &err);
	CHECK(cache_fetch(r.cache, &blobs[0].digest, 1000, fresh));
	CHECK(!cache_fetch(r.cache, &blobs[1].digest, 1000, fresh));
	CHECK(!cache_fetch(r.cache, &blobs[2].digest, 1000, fresh));
	CHECK(cache_fetch(r.cache, &blobs[3].digest, 1000, fresh));
}

static void old_records_are_pruned(void)
{
	AUTO(room) struct room r;
	struct digest key = named("key"), fresh = named("fresh");
	struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char path[4400], hex[DIGEST_HEX_MAX];
	struct err err = {0};

	room_init(&r);
	cache_put_shape(r.cache, &key);
	cache_put_shape(r.cache, &fresh);
	snprintf(path, sizeof(path), "%s/records/shape/%s", r.cache_dir, digest_hex(&key, hex));
	CHECK_INT(utimes(path, old), 0);
	CHECK_OK(cache_prune(r.cache, 0, &err), &err);
	CHECK(!cache_find_shape(r.cache, &key));
	CHECK(cache_find_shape(r.cache, &fresh));
}

static void an_impossible_folder_is_an_error(void)
{
	struct layer_cache *cache;
	struct err err = {0};

	CHECK(cache_open("/dev/null/cache", &cache, &err) != 0);
	CHECK(strstr(err.msg, "build cache") != NULL);
}

/* ---- through layer_write ---- */

/* Writes the source file, its times `age` seconds ago, and describes it as a tree of one entry. */
static void make_source(const struct room *r, const char *text, long age, struct entry *e)
{
	struct timeval now, times[2];
	struct err err = {0};
	struct stat st;

	CHECK_OK(fs_write_file(r->source, text, strlen(text), 0644, &err), &err);
	gettimeofday(&now, NULL);
	times[0] = times[1] = (struct timeval){.tv_sec = now.tv_sec - age};
	CHECK_INT(utimes(r->source, times), 0);
	CHECK_INT(stat(r->source, &st), 0);
	*e = (struct entry){
	    .path = "f",
	    .mode = 0644,
	    .size = st.st_size,
	    .content = CONTENT_PATH,
	    .source = r->source,
	    .stamp = {.dev = st.st_dev,
		      .ino = st.st_ino,
		      .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
		      /* as if the change were as old as the content */
		      .ctime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000}};
}

static struct layer_result pack(const struct room *r, struct entry *e, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct tree t = {.arena = &a, .at = e, .n = 1, .cap = 1, .spool_fd = -1, .label = "test"};
	struct layer_opts opts = {
	    .compression = COMPRESSION_ZSTD, .layout = r->layout, .cache = r->cache, .threads = 1};
	struct layer_result result = {0};

	if (layer_write(&t, &opts, &result, err) == 0)
		CHECK(result.size > 0 && layout_has(r->layout, &result.digest, result.size));
	return result;
}

static void unchanged_files_are_not_read(void)
{
	AUTO(room) struct room r;
	struct entry e;
	struct layer_result first, second;
	struct err err = {0};

	room_init(&r);
	make_source(&r, "content", 100, &e);
	first = pack(&r, &e, &err);
	CHECK(!first.cached);
	CHECK_INT(unlink(r.source), 0); /* would be missed if it were opened */
	second = pack(&r, &e, &err);
	CHECK(second.cached && err.code == ERR_NONE);
	CHECK(digest_equal(&first.digest, &second.digest) && first.raw_size == second.raw_size);
}

static void racy_files_are_read_again(void)
{
	AUTO(room) struct room r;
	struct entry e;
	struct layer_result result;
	struct err err = {0};

	room_init(&r);
	make_source(&r, "content", 0, &e);
	CHECK(!pack(&r, &e, &err).cached);
	CHECK(pack(&r, &e, &err).cached); /* by shape and content */
	CHECK_INT(unlink(r.source), 0);
	result = pack(&r, &e, &err);
	CHECK(!result.cached);
	CHECK_INT(err.code, ERR_CONFLICT);
}

static void a_fresh_checkout_hits(void)
{
	AUTO(room) struct room r;
	struct entry e;
	struct layer_result first, second, third;
	struct err err = {0};

	room_init(&r);
	make_source(&r, "content", 100, &e);
	first = pack(&r, &e, &err);
	make_source(&r, "content", 50, &e); /* another inode or another time */
	second = pack(&r, &e, &err);
	CHECK(!first.cached && second.cached);
	CHECK(digest_equal(&first.digest, &second.digest));
	make_source(&r, "CONTENT", 30, &e); /* the same shape, other bytes */
	third = pack(&r, &e, &err);
	CHECK(!third.cached && !digest_equal(&first.digest, &third.digest));
}

static void a_changed_file_is_a_conflict(void)
{
	AUTO(room) struct room r;
	struct entry e, changed;
	struct err err = {0};

	room_init(&r);
	make_source(&r, "content", 100, &e);
	changed = e;
	changed.size = 3;
	pack(&r, &changed, &err);
	CHECK_INT(err.code, ERR_CONFLICT);
	err = (struct err){0};
	changed = e;
	changed.stamp.mtime_ns++;
	pack(&r, &changed, &err);
	CHECK_INT(err.code, ERR_CONFLICT);
	err = (struct err){0};
	changed = e;
	changed.source = "/dev/null";
	changed.stamp = (struct entry_stamp){0};
	pack(&r, &changed, &err);
	CHECK_INT(err.code, ERR_CONFLICT);
}

static void made_for_the_user_alone(void)
{
	char dir[4096], path[4200];
	struct layer_cache *cache = NULL;
	struct err err = {0};
	struct stat st;
	mode_t old = umask(0);

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/a/b", dir);
	for (int i = 0; i < 2; i++) {
		CHECK_OK(cache_open(path, &cache, &err), &err);
		cache_close(cache);
	}
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0700);
	umask(old);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* Nobody else may put into the cache what goes into images. */
static void somebody_elses_folder(void)
{
	static const struct {
		const char *below; /* of a fresh folder; opened is its "cache" */
		mode_t parent, own; /* own 0 = not made */
		uid_t parent_uid, own_uid;
		bool good;
	} rows[] = {
		{"a", 0755, 0, 0, 0, true},      {"b", 0755, 0700, 0, 0, true},  {"c", 0755, 0777, 0, 0, false},
		{"d", 0777, 0700, 0, 0, false},  {"e", 01777, 0700, 0, 0, true}, {"f", 0777, 0, 0, 0, false},
		{"g", 0755, 0755, 0, 1, false},  {"h", 0755, 0755, 1, 0, false}, {"i", 0755, 0, 1, 0, false},
		{"j", 01777, 01777, 0, 0, false},
	};
	char dir[4096];
	struct err err = {0};

	if (geteuid() != 0)
		SKIP("only root gives folders away");
	test_tmpdir(dir);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char parent[4200], own[4300];
		struct layer_cache *cache = NULL;

		err = (struct err){0};
		snprintf(parent, sizeof(parent), "%s/%s", dir, rows[i].below);
		snprintf(own, sizeof(own), "%s/cache", parent);
		CHECK_INT(mkdir(parent, 0700), 0);
		if (rows[i].own != 0) {
			CHECK_INT(mkdir(own, 0700), 0);
			CHECK_INT(chmod(own, rows[i].own) | chown(own, rows[i].own_uid, 0), 0);
		}
		CHECK_INT(chmod(parent, rows[i].parent) | chown(parent, rows[i].parent_uid, 0), 0);
		CHECK((cache_open(own, &cache, &err) == 0) == rows[i].good);
		if (!rows[i].good) {
			CHECK_INT(err.code, ERR_DENIED);
			CHECK(strstr(err.msg, "others may write") != NULL || strstr(err.msg, "belongs to user 1") != NULL);
			CHECK(strstr(err.hint, "XDG_CACHE_HOME") != NULL);
			CHECK(rows[i].own != 0 || access(own, F_OK) != 0);
		}
		cache_close(cache);
	}
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("cache: records are found again", remembers_records);
	TEST("cache: damaged records are no records", damaged_records_are_no_records);
	TEST("cache: a blob reaches a fresh layout", blobs_reach_a_fresh_layout);
	TEST("cache: a blob of another size is not used", a_blob_of_another_size_is_no_blob);
	TEST("cache: a damaged blob reaches no layout, is removed, and is said",
	     a_damaged_blob_is_removed_and_said);
	TEST("cache: pruning keeps what was used last", prune_keeps_what_was_used_last);
	TEST("cache: pruning drops old records", old_records_are_pruned);
	TEST("cache: a folder that cannot be made is an error", an_impossible_folder_is_an_error);
	TEST("layer: an unchanged file is not opened again", unchanged_files_are_not_read);
	TEST("layer: a file of just now is read again", racy_files_are_read_again);
	TEST("layer: a fresh checkout of the same content hits", a_fresh_checkout_hits);
	TEST("layer: a file that changed under us is a conflict", a_changed_file_is_a_conflict);
	TEST("cache: the folder is made for the user alone, whatever the umask is", made_for_the_user_alone);
	TEST("cache: a folder that others can write to or put in place is refused", somebody_elses_folder);
	return test_done();
}
