/* Single-file images: written twice alike, read back plain and compressed, hostile ones refused. */
#include "tests/harness.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

#include "builder/oci/archive_internal.h"
#include "builder/oci/config.h"
#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

struct room {
	char dir[4096];
	struct arena arena;
	struct layout *layout;
	struct store *store;
	struct descriptor amd64, arm64, index; /* two images, and the index over both */
};

static const char *in_room(struct room *r, const char *name)
{
	return arena_printf(&r->arena, "%s/%s", r->dir, name);
}

static struct descriptor put(struct room *r, const char *type, const void *bytes, size_t len)
{
	struct descriptor d = {.media_type = type};
	struct err err = {0};

	CHECK_OK(layout_put(r->layout, type, bytes, len, &d, &err), &err);
	return d;
}

static struct descriptor put_zstd(struct room *r, const char *text)
{
	char out[512];
	size_t n = ZSTD_compress(out, sizeof(out), text, strlen(text), 3);

	return put(r, MEDIA_LAYER_ZSTD, out, n);
}

static struct descriptor put_gzip(struct room *r, const char *text)
{
	unsigned char out[512];
	z_stream z = {.next_in = (unsigned char *)text, .avail_in = (unsigned)strlen(text), .next_out = out,
	              .avail_out = sizeof(out)};

	CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	return put(r, MEDIA_LAYER_GZIP, out, z.total_out);
}

/* Four layers, "zstd", "gzip", "none" and "none" once more; `lie` gives the first a wrong diff ID. */
static struct descriptor put_image(struct room *r, const char *arch, bool lie)
{
	struct descriptor layers[] = {put_zstd(r, "zstd"), put_gzip(r, "gzip"), put(r, MEDIA_LAYER, "none", 4),
	                              put(r, MEDIA_LAYER, "none", 4)};
	const struct config_layer ids[] = {{.diff_id = digest_of(lie ? "ZSTD" : "zstd", 4)},
	                                   {.diff_id = digest_of("gzip", 4)},
	                                   {.diff_id = digest_of("none", 4)},
	                                   {.diff_id = digest_of("none", 4)}};
	struct config_settings s = {.platform = {.os = "linux"}};
	struct manifest m = {.media_type = MEDIA_MANIFEST, .layers = layers, .n_layers = 4};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct err err = {0};

	snprintf(s.platform.architecture, sizeof(s.platform.architecture), "%s", arch);
	CHECK_OK(config_make(NULL, &s, ids, 4, &text, &err), &err);
	m.config = put(r, MEDIA_CONFIG, text.ptr, text.len);
	strbuf_reset(&text);
	manifest_print(&m, &text);
	struct descriptor d = put(r, MEDIA_MANIFEST, text.ptr, text.len);

	d.platform = s.platform;
	return d;
}

static void room_init(struct room *r)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct err err = {0};

	*r = (struct room){0};
	test_tmpdir(r->dir);
	CHECK_OK(layout_open(in_room(r, "image"), LAYOUT_WRITE, &r->layout, &err), &err);
	r->store = layout_store(r->layout);
	r->amd64 = put_image(r, "amd64", false);
	r->arm64 = put_image(r, "arm64", false);
	struct descriptor entries[] = {r->amd64, r->arm64};
	const struct index ix = {.media_type = MEDIA_INDEX, .manifests = entries, .n_manifests = 2};

	index_print(&ix, &text);
	r->index = put(r, MEDIA_INDEX, text.ptr, text.len);
}

static void room_done(struct room *r)
{
	struct err err = {0};

	store_close(r->store);
	layout_close(r->layout);
	CHECK_OK(fs_remove_tree(r->dir, &err), &err);
	arena_done(&r->arena);
}

static void slurp(const char *path, struct strbuf *sb)
{
	struct err err = {0};

	CHECK_OK(fs_read_file(path, 8 << 20, sb, &err), &err);
}

/* ---- oci-archive ---- */

static const char *write_oci(struct room *r, const char *name, const struct descriptor *root)
{
	const struct archive_opts opts = {.from = r->store, .root = root, .tag = "v1"};
	struct err err = {0};

	CHECK_OK(archive_write_oci(in_room(r, name), &opts, &err), &err);
	return in_room(r, name);
}

/* Reads the index, both manifests and every blob through the store. */
static void check_content(struct room *r, const char *path)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20), blob = STRBUF_INIT(1 << 20);
	struct store *s = NULL;
	struct descriptor root;
	struct index ix = {0};
	struct manifest m = {0};
	struct err err = {0};

	CHECK_OK(archive_open_oci(path, &s, &err), &err);
	if (s == NULL)
		return;
	CHECK_OK(store_resolve(s, "v1", &r->arena, &root, &err), &err);
	CHECK(store_resolve(s, "v2", &r->arena, &root, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(digest_equal(&root.digest, &r->index.digest));
	CHECK_OK(store_read(s, &root, 1 << 20, &text, &err), &err);
	CHECK_OK(index_parse(text.ptr, text.len, NULL, &r->arena, &ix, &err), &err);
	for (size_t i = 0; i < ix.n_manifests; i++) {
		CHECK_OK(store_read(s, &ix.manifests[i], 1 << 20, &text, &err), &err);
		CHECK_OK(manifest_parse(text.ptr, text.len, NULL, &r->arena, &m, &err), &err);
		CHECK_OK(store_read(s, &m.config, 1 << 20, &blob, &err), &err);
		for (size_t j = 0; j < m.n_layers; j++)
			CHECK_OK(store_read(s, &m.layers[j], 1 << 20, &blob, &err), &err);
		CHECK_STR(strbuf_str(&blob), "none");
	}
	CHECK_INT(ix.n_manifests, 2);
	store_close(s);
}

static void oci_round_trip(void)
{
	struct room r;

	room_init(&r);
	check_content(&r, write_oci(&r, "a.tar", &r.index));
	room_done(&r);
}

static void oci_is_deterministic(void)
{
	AUTO(strbuf) struct strbuf a = STRBUF_INIT(8 << 20), b = STRBUF_INIT(8 << 20);
	struct room r;
	struct stat st;

	room_init(&r);
	slurp(write_oci(&r, "a.tar", &r.index), &a);
	slurp(write_oci(&r, "b.tar", &r.index), &b);
	CHECK(a.len > 10000 && a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0);
	CHECK(stat(in_room(&r, "a.tar"), &st) == 0 && (st.st_mode & 0777) == 0644);
	room_done(&r);
}

static void oci_compressed(void)
{
	AUTO(strbuf) struct strbuf a = STRBUF_INIT(8 << 20);
	struct room r;
	struct err err = {0};

	room_init(&r);
	slurp(write_oci(&r, "a.tar", &r.index), &a);
	gzFile gz = gzopen(in_room(&r, "a.tar.gz"), "wb");

	CHECK(gz != NULL && gzwrite(gz, a.ptr, (unsigned)a.len) == (int)a.len);
	gzclose(gz);
	check_content(&r, in_room(&r, "a.tar.gz"));
	size_t cap = ZSTD_compressBound(a.len);
	AUTO_FREE char *out = malloc(cap);
	size_t n = ZSTD_compress(out, cap, a.ptr, a.len, 3);

	CHECK_OK(fs_write_file(in_room(&r, "a.tar.zst"), out, n, 0644, &err), &err);
	check_content(&r, in_room(&r, "a.tar.zst"));
	CHECK(truncate(in_room(&r, "a.tar.zst"), (off_t)n / 2) == 0);
	struct store *s = NULL;

	CHECK(archive_open_oci(in_room(&r, "a.tar.zst"), &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	room_done(&r);
}

/* Every cut is refused, or what is left is read and each blob still verified. */
static void oci_cut_anywhere(void)
{
	AUTO(strbuf) struct strbuf a = STRBUF_INIT(8 << 20), blob = STRBUF_INIT(1 << 20);
	struct room r;
	struct err err = {0};

	room_init(&r);
	slurp(write_oci(&r, "a.tar", &r.index), &a);
	for (size_t len = 0; len + 1024 < a.len; len += 250) {
		struct store *s = NULL;

		CHECK_OK(fs_write_file(in_room(&r, "cut.tar"), a.ptr, len, 0644, &err), &err);
		if (archive_open_oci(in_room(&r, "cut.tar"), &s, &err) == 0) {
			struct descriptor root;

			CHECK_OK(store_resolve(s, "v1", &r.arena, &root, &err), &err);
			CHECK_OK(store_read(s, &root, 1 << 20, &blob, &err), &err);
		}
		store_close(s);
	}
	room_done(&r);
}

/* ---- hostile archives ---- */

struct member {
	const char *name, *text;
	mode_t type; /* 0 = regular */
};

#define HEX_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define VERSION   {"oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", 0}
#define NO_IMAGE  {"index.json", "{\"schemaVersion\":2,\"manifests\":[]}", 0}

static const char *make_tar(struct room *r, const struct member *members, size_t n)
{
	const char *path = in_room(r, "made.tar");
	struct archive *tar = archive_write_new();

	archive_write_set_format_ustar(tar);
	CHECK(archive_write_open_filename(tar, path) == ARCHIVE_OK);
	for (size_t i = 0; i < n; i++) {
		struct archive_entry *e = archive_entry_new();
		size_t len = members[i].type == 0 ? strlen(members[i].text) : 0;

		archive_entry_set_pathname(e, members[i].name);
		archive_entry_set_mode(e, (members[i].type != 0 ? members[i].type : S_IFREG) | 0644);
		archive_entry_set_size(e, (la_int64_t)len);
		if (members[i].type == S_IFLNK)
			archive_entry_set_symlink(e, members[i].text);
		CHECK(archive_write_header(tar, e) == ARCHIVE_OK);
		CHECK(archive_write_data(tar, members[i].text, len) == (la_ssize_t)len);
		archive_entry_free(e);
	}
	archive_write_free(tar);
	return path;
}

static int open_made(struct room *r, const struct member *members, size_t n, struct store **ret_store,
                     struct err *err)
{
	return archive_open_oci(make_tar(r, members, n), ret_store, err);
}

static void refuses_what_is_no_layout(void)
{
	static const struct member cases[][3] = {
		{{"a", "x", 0}, {"b", "x", 0}, {"c", "x", 0}},
		{VERSION, {"b", "x", 0}, {"c", "x", 0}},
		{NO_IMAGE, {"b", "x", 0}, {"c", "x", 0}},
		{VERSION, NO_IMAGE, NO_IMAGE},
		{VERSION, {"index.json", "/etc/passwd", S_IFLNK}, {"c", "x", 0}},
		{VERSION, {"../index.json", "{}", 0}, {"/index.json", "{}", 0}},
		{{"oci-layout", "{\"imageLayoutVersion\":\"2\"}", 0}, NO_IMAGE, {"c", "x", 0}},
		{{"oci-layout", "trash", 0}, NO_IMAGE, {"c", "x", 0}},
	};
	struct room r;
	struct store *s = NULL;
	struct err err = {0};

	room_init(&r);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		err = (struct err){0};
		CHECK(open_made(&r, cases[i], 3, &s, &err) != 0);
		CHECK(err.code == ERR_FORMAT || err.code == ERR_UNSUPPORTED);
		CHECK(s == NULL);
	}
	CHECK_OK(fs_write_file(in_room(&r, "text"), "no tar at all\n", 14, 0644, &err), &err);
	CHECK(archive_open_oci(in_room(&r, "text"), &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(archive_open_oci(in_room(&r, "absent"), &s, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(archive_open_oci(r.dir, &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	room_done(&r);
}

/* The last member may be skipped without being read: its end must be looked for. */
static void notices_a_cut_blob(void)
{
	struct room r;
	AUTO_FREE char *text = calloc(1, 300001);
	struct store *s = NULL;
	struct err err = {0};

	room_init(&r);
	memset(text, 'x', 300000);
	const struct member members[] = {VERSION, NO_IMAGE, {"blobs/sha256/" HEX_HELLO, text, 0}};
	const char *path = make_tar(&r, members, 3);

	CHECK_OK(archive_open_oci(path, &s, &err), &err);
	store_close(s);
	s = NULL;
	CHECK(truncate(path, 5 * 512 + 299999) == 0);
	CHECK(archive_open_oci(path, &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(truncate(path, 5 * 512 + 1000) == 0);
	CHECK(archive_open_oci(path, &s, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	room_done(&r);
}

static void verifies_members(void)
{
	const struct member members[] = {VERSION,
	                                 {"./index.json", "{\"schemaVersion\":2,\"manifests\":[]}", 0},
	                                 {"blobs/sha256/" HEX_HELLO, "hellO", 0},
	                                 {"blobs/sha256/../../../../tmp/x", "x", 0},
	                                 {"manifest.json", "[]", 0}};
	AUTO(strbuf) struct strbuf blob = STRBUF_INIT(1 << 20);
	struct descriptor d = {.digest = digest_of("hello", 5), .size = 5};
	struct room r;
	struct store *s = NULL;
	struct err err = {0};

	room_init(&r);
	CHECK_OK(open_made(&r, members, ARRAY_LEN(members), &s, &err), &err);
	CHECK(s != NULL && store_read(s, &d, 100, &blob, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	d.size = 4;
	CHECK(s != NULL && store_read(s, &d, 100, &blob, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	d.digest.bytes[0] ^= 1;
	CHECK(s != NULL && store_read(s, &d, 100, &blob, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	store_close(s);
	room_done(&r);
}

/* ---- docker-archive ---- */

static int write_docker(struct room *r, const char *name, const struct archive_opts *opts, struct err *err)
{
	struct archive_opts full = *opts;

	full.from = r->store;
	return archive_write_docker(in_room(r, name), &full, err);
}

/* "name=content\n" for each regular member, "name\n" for folders. */
static void list_tar(const char *path, struct strbuf *out)
{
	struct archive *tar = archive_read_new();
	struct archive_entry *e;
	char buf[4096];

	archive_read_support_format_tar(tar);
	CHECK(archive_read_open_filename(tar, path, 10240) == ARCHIVE_OK);
	while (archive_read_next_header(tar, &e) == ARCHIVE_OK) {
		CHECK(archive_entry_mtime(e) == 0 && archive_entry_uid(e) == 0 && archive_entry_gid(e) == 0);
		strbuf_adds(out, archive_entry_pathname(e));
		la_ssize_t n = archive_read_data(tar, buf, sizeof(buf));

		if (archive_entry_filetype(e) == AE_IFREG) {
			strbuf_addc(out, '=');
			strbuf_add(out, buf, n > 0 ? (size_t)n : 0);
		}
		strbuf_addc(out, '\n');
	}
	archive_read_free(tar);
}

static void docker_content(void)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(1 << 20), text = STRBUF_INIT(1 << 20),
	                           want = STRBUF_INIT(1 << 20);
	char hex[3][DIGEST_HEX_MAX], config[DIGEST_HEX_MAX];
	const struct digest ids[] = {digest_of("zstd", 4), digest_of("gzip", 4), digest_of("none", 4)};
	struct room r;
	struct manifest m;
	struct err err = {0};

	room_init(&r);
	const struct archive_opts opts = {.root = &r.index, .tag = "ghcr.io/o/app:v1",
	                                  .platform = &r.arm64.platform};

	CHECK_OK(write_docker(&r, "d.tar", &opts, &err), &err);
	list_tar(in_room(&r, "d.tar"), &list);
	CHECK_OK(store_read(r.store, &r.arm64, 1 << 20, &text, &err), &err);
	CHECK_OK(manifest_parse(text.ptr, text.len, NULL, &r.arena, &m, &err), &err);
	CHECK_OK(store_read(r.store, &m.config, 1 << 20, &text, &err), &err);
	for (int i = 0; i < 3; i++)
		digest_hex(&ids[i], hex[i]);
	digest_hex(&m.config.digest, config);
	strbuf_addf(&want,
	            "manifest.json=[{\"Config\":\"%s.json\",\"RepoTags\":[\"ghcr.io/o/app:v1\"],\"Layers\":["
	            "\"%s/layer.tar\",\"%s/layer.tar\",\"%s/layer.tar\",\"%s/layer.tar\"]}]\n%s.json=%s\n",
	            config, hex[0], hex[1], hex[2], hex[2], config, strbuf_str(&text));
	strbuf_addf(&want, "%s/\n%s/layer.tar=zstd\n%s/\n%s/layer.tar=gzip\n%s/\n%s/layer.tar=none\n", hex[0], hex[0],
	            hex[1], hex[1], hex[2], hex[2]);
	CHECK_STR(strbuf_str(&list), strbuf_str(&want));
	room_done(&r);
}

/* The image that a docker-archive shows has the configuration and the plain layers of the original. */
static void docker_is_read_back(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20), a = STRBUF_INIT(8 << 20);
	struct room r;
	struct err err = {0};
	struct descriptor root;
	struct manifest m, original;
	struct store *s = NULL;
	enum archive_form form = ARCHIVE_OCI;

	room_init(&r);
	const struct archive_opts opts = {.root = &r.amd64, .tag = "app:v1"};

	CHECK_OK(write_docker(&r, "d.tar", &opts, &err), &err);
	CHECK_OK(archive_form(in_room(&r, "d.tar"), &form, &err), &err);
	CHECK_INT(form, ARCHIVE_DOCKER);
	CHECK_OK(archive_open_docker(in_room(&r, "d.tar"), &s, &err), &err);
	CHECK(store_resolve(s, "v2", &r.arena, &root, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.hint, "app:v1") != NULL);
	CHECK(store_resolve(s, "pp:v1", &r.arena, &root, &err) != 0);
	CHECK_OK(store_resolve(s, "v1", &r.arena, &root, &err), &err);
	CHECK_OK(store_resolve(s, "app:v1", &r.arena, &root, &err), &err);
	CHECK_OK(store_resolve(s, NULL, &r.arena, &root, &err), &err);
	CHECK_OK(store_read(s, &root, 1 << 20, &text, &err), &err);
	CHECK_OK(manifest_parse(text.ptr, text.len, root.media_type, &r.arena, &m, &err), &err);
	CHECK_OK(store_read(r.store, &r.amd64, 1 << 20, &text, &err), &err);
	CHECK_OK(manifest_parse(text.ptr, text.len, r.amd64.media_type, &r.arena, &original, &err), &err);
	CHECK(digest_equal(&m.config.digest, &original.config.digest));
	CHECK_INT(m.n_layers, 4);
	CHECK_OK(store_read(s, &m.layers[0], 1 << 20, &text, &err), &err);
	CHECK_STR(strbuf_str(&text), "zstd");
	CHECK_OK(store_read(s, &m.config, 1 << 20, &text, &err), &err);
	store_close(s);
	/* Every cut is refused, or what is read is verified. */
	slurp(in_room(&r, "d.tar"), &a);
	for (size_t len = 0; len + 1024 < a.len; len += 250) {
		s = NULL;
		CHECK_OK(fs_write_file(in_room(&r, "cut.tar"), a.ptr, len, 0644, &err), &err);
		if (archive_open_docker(in_room(&r, "cut.tar"), &s, &err) == 0 &&
		    store_resolve(s, NULL, &r.arena, &root, &err) == 0)
			CHECK_OK(store_read(s, &root, 1 << 20, &text, &err), &err);
		store_close(s);
	}
	room_done(&r);
}

/* Folders are no files of an image, but each has a name. */
static void docker_members_are_counted(void)
{
	AUTO(tarfile) struct tarfile t = TARFILE_INIT;
	struct room r;
	struct err err = {0};
	struct store *s = NULL;

	room_init(&r);
	CHECK_OK(tarfile_open(&t, in_room(&r, "folders.tar"), &err), &err);
	for (int i = 0; i <= 65536; i++) {
		char name[32];

		snprintf(name, sizeof(name), "d%d/", i);
		CHECK_OK(tarfile_add_folder(&t, name, &err), &err);
	}
	CHECK_OK(tarfile_commit(&t, &err), &err);
	CHECK(archive_open_docker(in_room(&r, "folders.tar"), &s, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
	room_done(&r);
}

static void docker_tags(void)
{
	static const struct {
		const char *tag, *says; /* says NULL = refused */
	} cases[] = {{NULL, "\"RepoTags\":[]"},
	             {"app", "\"RepoTags\":[\"app:latest\"]"},
	             {"localhost:5000/app", "[\"localhost:5000/app:latest\"]"},
	             {"App:v1", NULL},
	             {"oci:dir:v1", NULL}};
	struct room r;

	room_init(&r);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(strbuf) struct strbuf list = STRBUF_INIT(1 << 20);
		const struct archive_opts opts = {.root = &r.amd64, .tag = cases[i].tag};
		const char *name = arena_printf(&r.arena, "%zu.tar", i);
		struct err err = {0};
		int result = write_docker(&r, name, &opts, &err);

		CHECK_INT(result, cases[i].says != NULL ? 0 : -1);
		CHECK_INT(fs_exists(in_room(&r, name)), cases[i].says != NULL);
		if (result != 0)
			continue;
		list_tar(in_room(&r, name), &list);
		CHECK(strstr(strbuf_str(&list), cases[i].says) != NULL);
	}
	room_done(&r);
}

static void docker_platforms(void)
{
	struct room r;
	struct archive_opts opts = {0};
	struct platform s390x = {"linux", "s390x", ""};
	struct err err = {0};

	room_init(&r);
	opts.root = &r.index;
	CHECK(write_docker(&r, "d.tar", &opts, &err) != 0);
	CHECK_INT(err.code, ERR_USAGE);
	opts.platform = &s390x;
	CHECK(write_docker(&r, "d.tar", &opts, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(!fs_exists(in_room(&r, "d.tar")));
	room_done(&r);
}

static void refuses_damage(void)
{
	struct room r;
	struct archive_opts opts = {0};
	char path[PATH_MAX];
	struct digest none = digest_of("none", 4);
	struct err err = {0};

	room_init(&r);
	struct descriptor liar = put_image(&r, "amd64", true);

	opts.root = &liar;
	CHECK(write_docker(&r, "d.tar", &opts, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK(strstr(err.msg, "diff ID") != NULL);
	CHECK_OK(layout_blob_path(r.layout, &none, path, &err), &err);
	CHECK_OK(fs_write_file(path, "nonE", 4, 0644, &err), &err);
	opts = (struct archive_opts){.root = &r.amd64, .from = r.store};
	CHECK(archive_write_oci(in_room(&r, "o.tar"), &opts, &err) != 0);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK(unlink(path) == 0);
	CHECK(archive_write_oci(in_room(&r, "o.tar"), &opts, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(!fs_exists(in_room(&r, "o.tar")) && !fs_exists(in_room(&r, "d.tar")));
	CHECK(archive_write_oci(in_room(&r, "absent/o.tar"), &opts, &err) != 0);
	room_done(&r);
}

/* A file-size limit stands for a full disk; it is inherited, so a child takes it. */
static void write_without_room(struct room *r)
{
	const struct archive_opts opts = {.from = r->store, .root = &r->index};
	struct err err = {0};

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096}) != 0)
		_exit(1);
	if (archive_write_oci(in_room(r, "o.tar"), &opts, &err) == 0 || err.code != ERR_IO)
		_exit(2);
	_exit(err.os_errno == EFBIG ? 0 : 3);
}

static void full_disk(void)
{
	struct room r;
	int status = -1;

	room_init(&r);
	pid_t pid = fork();

	if (pid == 0)
		write_without_room(&r);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(WEXITSTATUS(status), 0);
	CHECK(!fs_exists(in_room(&r, "o.tar")));
	room_done(&r);
}

int main(void)
{
	TEST("archive: an oci-archive gives back every document and blob", oci_round_trip);
	TEST("archive: the same image gives the same bytes", oci_is_deterministic);
	TEST("archive: gzip and zstd archives are read, cut ones refused", oci_compressed);
	TEST("archive: an archive cut anywhere never gives wrong bytes", oci_cut_anywhere);
	TEST("archive: a tar that is no layout is refused", refuses_what_is_no_layout);
	TEST("archive: a blob that is cut short is noticed on opening", notices_a_cut_blob);
	TEST("archive: members are verified and odd names passed over", verifies_members);
	TEST("archive: a docker-archive has plain layers, each content once", docker_content);
	TEST("archive: a docker-archive is read back as the image it holds", docker_is_read_back);
	TEST("archive: a docker-archive has so many members at most, folders too", docker_members_are_counted);
	TEST("archive: a docker-archive's name is checked and completed", docker_tags);
	TEST("archive: a docker-archive holds one platform", docker_platforms);
	TEST("archive: wrong diff IDs, damaged and missing blobs leave no file", refuses_damage);
	TEST("archive: a full disk is an error and leaves no file", full_disk);
	return test_done();
}
