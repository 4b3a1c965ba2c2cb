/* The OCI layout on disk: blobs, tags, several writers, sudden death, garbage collection. */
#include "tests/harness.h"

#include <dirent.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

struct room {
	char dir[4096], path[4200];
	struct layout *layout;
	struct arena arena;
};

static void room_init(struct room *r)
{
	struct err err = {0};

	*r = (struct room){0};
	test_tmpdir(r->dir);
	snprintf(r->path, sizeof(r->path), "%s/image", r->dir);
	CHECK_OK(layout_open(r->path, LAYOUT_WRITE, &r->layout, &err), &err);
	if (r->layout == NULL)
		abort();
}

static void room_done(struct room *r)
{
	struct err err = {0};

	layout_close(r->layout);
	arena_done(&r->arena);
	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
}

static const char *in_room(struct room *r, const char *name)
{
	return arena_printf(&r->arena, "%s/%s", r->path, name);
}

static void write_text(struct room *r, const char *name, const char *text)
{
	struct err err = {0};

	CHECK_OK(fs_write_file(in_room(r, name), text, strlen(text), 0644, &err), &err);
}

static const char *read_text(struct room *r, const char *name)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(8 << 20);
	struct err err = {0};

	CHECK_OK(fs_read_file(in_room(r, name), 8 << 20, &sb, &err), &err);
	return arena_strdup(&r->arena, strbuf_str(&sb));
}

static struct descriptor put(struct room *r, const char *type, const char *text)
{
	struct descriptor d = {.media_type = type};
	struct err err = {0};

	CHECK_OK(layout_put(r->layout, type, text, strlen(text), &d, &err), &err);
	return d;
}

/* A manifest over one configuration and one layer whose content is `text`. */
static struct descriptor put_image(struct room *r, const char *text)
{
	struct descriptor layer = put(r, MEDIA_LAYER, text);
	struct manifest m = {.media_type = MEDIA_MANIFEST, .layers = &layer, .n_layers = 1};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	m.config = put(r, MEDIA_CONFIG, arena_printf(&r->arena, "{\"of\":\"%s\"}", text));
	manifest_print(&m, &sb);
	return put(r, MEDIA_MANIFEST, strbuf_str(&sb));
}

static struct descriptor put_index(struct room *r, struct descriptor *entries, size_t n)
{
	const struct index ix = {.media_type = MEDIA_INDEX, .manifests = entries, .n_manifests = n};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	index_print(&ix, &sb);
	return put(r, MEDIA_INDEX, strbuf_str(&sb));
}

static void set_tag(struct room *r, const char *tag, const struct descriptor *d)
{
	struct err err = {0};

	CHECK_OK(layout_set_tag(r->layout, tag, d, &err), &err);
}

static char *blob_path(struct room *r, const struct digest *d)
{
	char path[PATH_MAX];
	struct err err = {0};

	CHECK_OK(layout_blob_path(r->layout, d, path, &err), &err);
	return arena_strdup(&r->arena, path);
}

static int read_blob(struct room *r, const struct descriptor *d, struct strbuf *sb, struct err *err)
{
	struct store *store = layout_store(r->layout);
	int result = store_read(store, d, 1 << 20, sb, err);

	store_close(store);
	return result;
}

/* Files in blobs/sha256. */
static size_t count_blobs(struct room *r)
{
	DIR *dir = opendir(in_room(r, "blobs/sha256"));
	struct dirent *entry;
	size_t n = 0;

	CHECK(dir != NULL);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static void age(const char *path)
{
	const struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

	CHECK(utimes(path, old) == 0);
}

/* ---- open ---- */

static void creates(void)
{
	struct room r;
	struct layout *again = NULL;
	struct err err = {0};

	room_init(&r);
	CHECK_STR(read_text(&r, "oci-layout"), "{\"imageLayoutVersion\":\"1.0.0\"}");
	CHECK_STR(read_text(&r, "index.json"),
	          "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_INDEX "\",\"manifests\":[]}");
	CHECK_OK(layout_open(r.path, LAYOUT_WRITE, &again, &err), &err);
	CHECK_STR(layout_path(again), r.path);
	layout_close(again);
	room_done(&r);
}

static void reading_writes_nothing(void)
{
	struct room r;
	struct layout *reader = NULL;
	struct index ix = {0};
	struct err err = {0};

	room_init(&r);
	layout_close(r.layout);
	r.layout = NULL;
	CHECK(unlink(in_room(&r, ".slipway-writers.lock")) == 0);
	CHECK(unlink(in_room(&r, ".slipway-index.lock")) == 0);
	CHECK_OK(layout_open(r.path, LAYOUT_READ, &reader, &err), &err);
	CHECK_OK(layout_index(reader, &r.arena, &ix, &err), &err);
	layout_close(reader);
	CHECK(!fs_exists(in_room(&r, ".slipway-writers.lock")));
	CHECK(!fs_exists(in_room(&r, ".slipway-index.lock")));
	room_done(&r);
}

static void refuses_foreign_folders(void)
{
	struct room r;
	struct layout *l = NULL;
	struct err err = {0};

	room_init(&r);
	CHECK(layout_open(in_room(&r, "absent"), LAYOUT_READ, &l, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.msg, "does not exist") != NULL);
	CHECK(layout_open(r.dir, LAYOUT_READ, &l, &err) != 0);
	CHECK(strstr(err.msg, "no oci-layout") != NULL);
	CHECK(layout_open(in_room(&r, "oci-layout/below"), LAYOUT_WRITE, &l, &err) != 0);
	CHECK_INT(err.code, ERR_IO);
	CHECK(strstr(err.msg, "oci-layout/below") != NULL);
	CHECK(layout_open("/proc/1/image", LAYOUT_WRITE, &l, &err) != 0);
	CHECK(strstr(err.msg, "/proc/1/image") != NULL);
	write_text(&r, "oci-layout", "{\"imageLayoutVersion\":\"2.0.0\"}");
	CHECK(layout_open(r.path, LAYOUT_READ, &l, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	write_text(&r, "oci-layout", "not json");
	CHECK(layout_open(r.path, LAYOUT_READ, &l, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	room_done(&r);
}

/* ---- blobs ---- */

static void stores_blobs(void)
{
	struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct stat st;
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put(&r, MEDIA_LAYER, "hello");
	struct digest want = digest_of("hello", 5);

	CHECK(digest_equal(&d.digest, &want));
	CHECK_INT(d.size, 5);
	CHECK(layout_has(r.layout, &d.digest, 5) && layout_has(r.layout, &d.digest, -1));
	CHECK(!layout_has(r.layout, &d.digest, 4));
	CHECK_OK(read_blob(&r, &d, &sb, &err), &err);
	CHECK_STR(strbuf_str(&sb), "hello");
	CHECK(stat(blob_path(&r, &d.digest), &st) == 0 && (st.st_mode & 07777) == 0444);
	room_done(&r);
}

static void refuses_wrong_digest(void)
{
	struct room r;
	struct layout_blob blob;
	const struct digest want = digest_of("other", 5);
	struct digest got = {0};
	int64_t size = -1;
	struct err err = {0};

	room_init(&r);
	CHECK_OK(layout_blob_begin(r.layout, &blob, &err), &err);
	CHECK_OK(sink_write(&blob.hashed.sink, "hello", 5, &err), &err);
	CHECK(layout_blob_commit(&blob, &want, &got, &size, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	layout_blob_done(&blob);
	CHECK(digest_is_zero(&got) && size == -1);
	CHECK_INT(count_blobs(&r), 0);
	room_done(&r);
}

static void keeps_whole_and_replaces_cut_blobs(void)
{
	struct room r;
	struct stat before, after;

	room_init(&r);
	struct descriptor d = put(&r, MEDIA_LAYER, "hello");
	const char *path = blob_path(&r, &d.digest);

	CHECK(stat(path, &before) == 0);
	put(&r, MEDIA_LAYER, "hello");
	CHECK(stat(path, &after) == 0 && after.st_ino == before.st_ino);
	CHECK(truncate(path, 2) == 0);
	put(&r, MEDIA_LAYER, "hello");
	CHECK(stat(path, &after) == 0 && after.st_size == 5);
	CHECK_INT(count_blobs(&r), 1);
	room_done(&r);
}

static void notices_damage(void)
{
	struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put(&r, MEDIA_LAYER, "hello"), absent = d;
	const char *path = blob_path(&r, &d.digest);

	CHECK(chmod(path, 0644) == 0);
	CHECK_OK(fs_write_file(path, "hellO", 5, 0644, &err), &err);
	CHECK(read_blob(&r, &d, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK_OK(fs_write_file(path, "hello!", 6, 0644, &err), &err);
	CHECK(read_blob(&r, &d, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK(truncate(path, 3) == 0);
	CHECK(read_blob(&r, &d, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	absent.digest.bytes[0] ^= 1;
	CHECK(read_blob(&r, &absent, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	d.size = (1 << 20) + 1;
	CHECK(read_blob(&r, &d, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	room_done(&r);
}

static void refuses_special_files(void)
{
	struct room r;
	struct digest d = digest_of("x", 1);
	int fd = -1;
	struct err err = {0};

	room_init(&r);
	CHECK(mkfifo(blob_path(&r, &d), 0644) == 0);
	CHECK(layout_open_fd(r.layout, &d, &fd, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(!layout_has(r.layout, &d, -1));
	CHECK(layout_adopt(r.layout, blob_path(&r, &d), &d, &err) != 0);
	room_done(&r);
}

static void adopts(void)
{
	struct room r;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);
	struct descriptor d = {.media_type = MEDIA_LAYER, .digest = digest_of("hello", 5), .size = 5};
	struct err err = {0};

	room_init(&r);
	write_text(&r, "source", "hello");
	CHECK_OK(layout_adopt(r.layout, in_room(&r, "source"), &d.digest, &err), &err);
	CHECK_OK(read_blob(&r, &d, &sb, &err), &err);
	CHECK(unlink(blob_path(&r, &d.digest)) == 0);
	CHECK_OK(fs_write_file(blob_path(&r, &d.digest), "he", 2, 0644, &err), &err);
	CHECK_OK(layout_adopt(r.layout, in_room(&r, "source"), &d.digest, &err), &err);
	CHECK_OK(read_blob(&r, &d, &sb, &err), &err);
	CHECK(layout_adopt(r.layout, in_room(&r, "absent"), &d.digest, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	room_done(&r);
}

/* ---- tags ---- */

static void resolves(void)
{
	struct room r;
	struct descriptor got = {0};
	struct err err = {0};

	room_init(&r);
	struct store *store = layout_store(r.layout);
	struct descriptor one = put_image(&r, "one"), two = put_image(&r, "two");

	CHECK(store_resolve(store, NULL, &r.arena, &got, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	set_tag(&r, "v1", &one);
	CHECK_OK(store_resolve(store, NULL, &r.arena, &got, &err), &err);
	CHECK(digest_equal(&got.digest, &one.digest));
	set_tag(&r, "same", &one);
	CHECK_OK(store_resolve(store, NULL, &r.arena, &got, &err), &err);
	set_tag(&r, "v2", &two);
	CHECK(store_resolve(store, NULL, &r.arena, &got, &err) != 0);
	CHECK(store_resolve(store, "v3", &r.arena, &got, &err) != 0);
	CHECK_OK(store_resolve(store, "v2", &r.arena, &got, &err), &err);
	CHECK(digest_equal(&got.digest, &two.digest));
	set_tag(&r, "latest", &two);
	CHECK_OK(store_resolve(store, NULL, &r.arena, &got, &err), &err);
	CHECK(digest_equal(&got.digest, &two.digest));
	store_close(store);
	room_done(&r);
}

static const char *tags_of(struct room *r)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	struct index ix;
	struct err err = {0};

	CHECK_OK(layout_index(r->layout, &r->arena, &ix, &err), &err);
	for (size_t i = 0; i < ix.n_manifests; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? " " : "", strmap_get(&ix.manifests[i].annotations, ANNOTATION_REF_NAME));
	return arena_strdup(&r->arena, strbuf_str(&sb));
}

static void replace(struct room *r, const char *owner, const char *one, const char *other, const struct descriptor *d)
{
	const char *texts[] = {one, other};
	const struct strlist tags = {texts, other != NULL ? 2 : 1};
	struct err err = {0};

	CHECK_OK(layout_replace_tags(r->layout, owner, &tags, d, &err), &err);
}

static void builds_replace_their_own(void)
{
	struct room r;
	struct err err = {0};
	struct descriptor got;

	room_init(&r);
	struct store *store = layout_store(r.layout);
	struct descriptor one = put_image(&r, "one"), two = put_image(&r, "two");

	set_tag(&r, "foreign", &one);
	replace(&r, "app", "v1", "new", &one);
	replace(&r, "app2", "other", NULL, &one);
	CHECK_STR(tags_of(&r), "foreign v1 new other");
	replace(&r, "app", "v2", "other", &two);
	CHECK_STR(tags_of(&r), "foreign other v2");
	CHECK_OK(store_resolve(store, "other", &r.arena, &got, &err), &err);
	CHECK(digest_equal(&got.digest, &two.digest));
	CHECK(store_resolve(store, "v1", &r.arena, &got, &err) != 0);
	CHECK(strstr(err.hint, ":foreign, ") != NULL && strstr(err.hint, ":v2") != NULL);
	/* What it took over is its own. */
	replace(&r, "app", "v3", NULL, &two);
	CHECK_STR(tags_of(&r), "foreign v3");
	store_close(store);
	room_done(&r);
}

#define OTHER "{\"mediaType\":\"a/b\",\"digest\":\"sha512:00\",\"size\":1,\"x-new\":[1,{\"y\":null}]}"

static void keeps_the_unknown(void)
{
	struct room r;

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	write_text(&r, "index.json", "{\"schemaVersion\":2,\"manifests\":[" OTHER
	                             ",{\"annotations\":{\"" ANNOTATION_REF_NAME "\":\"v1\"}},{\"annotations\":{\""
	                             ANNOTATION_REF_NAME "\":\"v1\"}}],\"annotations\":{\"k\":\"v\"},\"x\":1.5}");
	set_tag(&r, "v1", &d);
	const char *text = read_text(&r, "index.json");

	CHECK(strstr(text, OTHER) != NULL);
	CHECK(strstr(text, "\"annotations\":{\"k\":\"v\"},\"x\":1.5}") != NULL);
	const char *first = strstr(text, "\"v1\"");

	CHECK(first != NULL && strstr(first + 1, "\"v1\"") == NULL);
	room_done(&r);
}

static void entries_without_name(void)
{
	struct room r;
	struct index ix = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor one = put_image(&r, "one"), two = put_image(&r, "two");

	write_text(&r, "index.json", "{\"schemaVersion\":2,\"manifests\":null}");
	CHECK_OK(layout_index(r.layout, &r.arena, &ix, &err), &err);
	strmap_set(&one.annotations, &r.arena, ANNOTATION_REF_NAME, "stray");
	set_tag(&r, NULL, &one);
	set_tag(&r, "v1", &two);
	set_tag(&r, NULL, &two);
	CHECK_OK(layout_index(r.layout, &r.arena, &ix, &err), &err);
	CHECK_INT(ix.n_manifests, 2);
	CHECK(ix.n_manifests == 2 && digest_equal(&ix.manifests[0].digest, &two.digest));
	CHECK(ix.n_manifests == 2 && ix.manifests[0].annotations.n == 0);
	room_done(&r);
}

static void refuses_bad_index(void)
{
	static const struct {
		const char *text;
		enum err_code code;
	} cases[] = {
		{"", ERR_FORMAT},
		{"{", ERR_FORMAT},
		{"{\"schemaVersion\":2}", ERR_FORMAT},
		{"{\"schemaVersion\":2,\"manifests\":{}}", ERR_FORMAT},
	};
	struct room r;

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct index ix;
		struct err err = {0};

		write_text(&r, "index.json", cases[i].text);
		CHECK(layout_index(r.layout, &r.arena, &ix, &err) != 0);
		CHECK_INT(err.code, cases[i].code);
		CHECK(layout_set_tag(r.layout, "v1", &d, &err) != 0);
		CHECK_STR(read_text(&r, "index.json"), cases[i].text);
	}
	room_done(&r);
}

static void caps_the_index(void)
{
	struct room r;
	AUTO(strbuf) struct strbuf big = STRBUF_INIT(8 << 20);
	struct index ix;
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	/* Just below the cap it is read, and the entry that would cross it is refused. */
	strbuf_addf(&big, "{\"schemaVersion\":2,\"manifests\":[],\"x\":\"%0*d\"}", MANIFEST_BYTES_MAX - 100, 0);
	write_text(&r, "index.json", strbuf_str(&big));
	CHECK_OK(layout_index(r.layout, &r.arena, &ix, &err), &err);
	CHECK(layout_set_tag(r.layout, "v1", &d, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	strbuf_reset(&big);
	strbuf_addf(&big, "{\"schemaVersion\":2,\"manifests\":[],\"x\":\"%0*d\"}", MANIFEST_BYTES_MAX, 0);
	write_text(&r, "index.json", strbuf_str(&big));
	CHECK(layout_index(r.layout, &r.arena, &ix, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	room_done(&r);
}

/* ---- several processes ---- */

static void tag_many(const char *path, const struct descriptor *d, const char *prefix)
{
	struct layout *l = NULL;
	struct err err = {0};
	char tag[32];

	if (layout_open(path, LAYOUT_WRITE, &l, &err) != 0)
		_exit(1);
	for (int i = 0; i < 12; i++) {
		snprintf(tag, sizeof(tag), "%s%d", prefix, i);
		if (layout_set_tag(l, tag, d, &err) != 0)
			_exit(1);
	}
	layout_close(l);
	_exit(0);
}

static void two_writers_lose_nothing(void)
{
	struct room r;
	struct index ix = {0};
	struct err err = {0};
	pid_t pids[2];
	int status;

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			tag_many(r.path, &d, i == 0 ? "a" : "b");
	}
	for (int i = 0; i < 2; i++)
		CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
	CHECK_OK(layout_index(r.layout, &r.arena, &ix, &err), &err);
	CHECK_INT(ix.n_manifests, 24);
	room_done(&r);
}

/* Writes half a blob, says so, and waits for its death. */
static void write_half(const char *path, int ready)
{
	struct layout *l = NULL;
	struct layout_blob blob;
	struct err err = {0};

	if (layout_open(path, LAYOUT_WRITE, &l, &err) != 0 || layout_blob_begin(l, &blob, &err) != 0 ||
	    sink_write(&blob.hashed.sink, "hel", 3, &err) != 0 || write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void survives_a_kill(void)
{
	struct room r;
	struct layout_gc_result gc = {0};
	struct descriptor got;
	int ready[2], status;
	char c;
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	set_tag(&r, "v1", &d);
	CHECK(pipe(ready) == 0);
	pid_t pid = fork();

	if (pid == 0)
		write_half(r.path, ready[1]);
	CHECK(read(ready[0], &c, 1) == 1);
	CHECK_INT(count_blobs(&r), 4);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(gc.skipped);
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
	close(ready[0]);
	close(ready[1]);
	struct store *store = layout_store(r.layout);

	CHECK_OK(store_resolve(store, "v1", &r.arena, &got, &err), &err);
	store_close(store);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(!gc.skipped && gc.n_removed == 0);
	CHECK_INT(count_blobs(&r), 4); /* its temporary file is young still */
	room_done(&r);
}

/* ---- garbage collection ---- */

static void gc_keeps_what_is_reachable(void)
{
	struct room r;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor images[] = {put_image(&r, "one"), put_image(&r, "two")};
	struct descriptor inner = put_index(&r, images, 1), level[] = {inner, images[1]};
	struct descriptor outer = put_index(&r, level, 2);
	struct descriptor blob = put(&r, "a/b", "docker layer"), docker;
	char digest[DIGEST_TEXT_MAX];

	docker = put(&r, MEDIA_DOCKER_MANIFEST,
	             arena_printf(&r.arena, "{\"x\":[{\"mediaType\":\"" MEDIA_DOCKER_LAYER "\",\"digest\":\"%s\"}]}",
	                          digest_text(&blob.digest, digest)));
	set_tag(&r, "v1", &outer);
	set_tag(&r, "v2", &docker);
	put_image(&r, "waste");
	write_text(&r, "blobs/sha256/unknown", "x");
	write_text(&r, "blobs/sha256/.tmp-young1", "x");
	write_text(&r, "blobs/sha256/.tmp-older1", "x");
	write_text(&r, ".tmp-older2", "x");
	write_text(&r, ".tmp-of-the-user", "x");
	age(in_room(&r, "blobs/sha256/.tmp-older1"));
	age(in_room(&r, ".tmp-older2"));
	age(in_room(&r, ".tmp-of-the-user"));
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(!gc.skipped);
	CHECK_INT(gc.n_removed, 5); /* layer, configuration, manifest; two temporary files */
	CHECK_INT(count_blobs(&r), 6 + 2 + 2 + 2);
	CHECK(fs_exists(in_room(&r, "blobs/sha256/unknown")));
	CHECK(fs_exists(in_room(&r, "blobs/sha256/.tmp-young1")));
	CHECK(fs_exists(in_room(&r, ".tmp-of-the-user")));
	CHECK(fs_exists(in_room(&r, "index.json")));
	room_done(&r);
}

static void gc_tolerates_holes_and_trash(void)
{
	struct room r;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor image = put_image(&r, "one"), trash = put(&r, MEDIA_MANIFEST, "{\"layers\":[");
	struct descriptor gone = put_image(&r, "gone"), entries[] = {image, trash, gone};
	struct descriptor ix = put_index(&r, entries, 3);

	/* The manifest of "gone" is missing: its parts are unreachable now. */
	CHECK(unlink(blob_path(&r, &gone.digest)) == 0);
	set_tag(&r, "v1", &ix);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK_INT(gc.n_removed, 2);
	CHECK_INT(count_blobs(&r), 5);
	write_text(&r, "index.json", "{");
	CHECK(layout_gc(r.layout, &gc, &err) != 0);
	CHECK_INT(count_blobs(&r), 5);
	room_done(&r);
}

/* One blob named as a layer first and as a manifest later is still followed. */
static void gc_follows_a_blob_of_two_types(void)
{
	struct room r;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor image = put_image(&r, "one"), as_layer = image;

	as_layer.media_type = MEDIA_LAYER;
	struct descriptor entries[] = {as_layer, image}, ix = put_index(&r, entries, 2);

	set_tag(&r, "v1", &ix);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK_INT(gc.n_removed, 0);
	room_done(&r);
}

static void gc_gives_up_when_too_deep(void)
{
	struct room r;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	for (int i = 0; i < 20; i++)
		d = put_index(&r, &d, 1);
	size_t before = count_blobs(&r);

	set_tag(&r, "v1", &d);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(gc.skipped && gc.n_removed == 0);
	CHECK_INT(count_blobs(&r), before);
	room_done(&r);
}

static void gc_is_skipped_beside_a_writer(void)
{
	struct room r;
	struct layout *other = NULL;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	put_image(&r, "waste");
	CHECK_OK(layout_open(r.path, LAYOUT_WRITE, &other, &err), &err);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(gc.skipped);
	CHECK_INT(count_blobs(&r), 3);
	layout_close(other);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(!gc.skipped && gc.n_removed == 3);
	room_done(&r);
}

static void gc_is_skipped_beside_a_reader(void)
{
	struct room r;
	struct layout *reader = NULL;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	struct descriptor d = put_image(&r, "one");

	/* A foreign layout's oci-layout may be nobody's to write. */
	CHECK(chmod(in_room(&r, "oci-layout"), 0444) == 0);
	CHECK_OK(layout_open(r.path, LAYOUT_READ, &reader, &err), &err);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(gc.skipped && gc.in_use);
	CHECK(layout_has(reader, &d.digest, -1));
	layout_close(reader);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(!gc.skipped && gc.n_removed == 3);
	room_done(&r);
}

/* After a collection, done or skipped, this process is a writer like before and nobody is shut out. */
static void gc_gives_its_locks_back(void)
{
	struct room r;
	struct layout *reader = NULL, *other = NULL;
	struct layout_gc_result gc = {0};
	struct err err = {0};

	room_init(&r);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(!gc.skipped);
	CHECK_OK(layout_open(r.path, LAYOUT_READ, &reader, &err), &err);
	CHECK_OK(layout_gc(r.layout, &gc, &err), &err);
	CHECK(gc.in_use);
	layout_close(reader);
	CHECK_OK(layout_open(r.path, LAYOUT_WRITE, &other, &err), &err);
	CHECK_OK(layout_gc(other, &gc, &err), &err);
	CHECK(gc.in_use); /* by r.layout, which writes still */
	layout_close(other);
	room_done(&r);
}

int main(void)
{
	TEST("layout: a new layout has its three parts and may be opened again", creates);
	TEST("layout: reading makes no lock file and writes nothing", reading_writes_nothing);
	TEST("layout: other folders and versions are refused by name", refuses_foreign_folders);
	TEST("layout: a blob is stored read-only under its digest", stores_blobs);
	TEST("layout: a blob with a wrong digest is refused and leaves nothing", refuses_wrong_digest);
	TEST("layout: a whole blob is kept, a cut one replaced", keeps_whole_and_replaces_cut_blobs);
	TEST("layout: changed, grown, cut and missing blobs are noticed on reading", notices_damage);
	TEST("layout: a pipe in place of a blob does not block", refuses_special_files);
	TEST("layout: an existing file becomes a blob, also over a cut one", adopts);
	TEST("layout: a tag, latest or the only image is found", resolves);
	TEST("layout: a build replaces the tags that it set before, and no others", builds_replace_their_own);
	TEST("layout: setting a tag keeps entries and members it does not know", keeps_the_unknown);
	TEST("layout: entries without a name replace each other; null is an empty list", entries_without_name);
	TEST("layout: a broken index.json is refused and not touched", refuses_bad_index);
	TEST("layout: index.json is capped at 4 MiB, reading and writing", caps_the_index);
	TEST("layout: two processes that set tags lose none", two_writers_lose_nothing);
	TEST("layout: a writer killed in mid-blob leaves the image whole", survives_a_kill);
	TEST("layout: gc keeps all that is reachable and all it does not know", gc_keeps_what_is_reachable);
	TEST("layout: gc tolerates missing blobs and documents that are trash", gc_tolerates_holes_and_trash);
	TEST("layout: gc follows a blob that is named by two types", gc_follows_a_blob_of_two_types);
	TEST("layout: gc removes nothing when indexes are nested too deeply", gc_gives_up_when_too_deep);
	TEST("layout: gc is skipped while another writer holds the layout", gc_is_skipped_beside_a_writer);
	TEST("layout: gc is skipped while a reader holds the layout", gc_is_skipped_beside_a_reader);
	TEST("layout: gc gives its locks back", gc_gives_its_locks_back);
	return test_done();
}
