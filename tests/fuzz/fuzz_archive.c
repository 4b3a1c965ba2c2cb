/*
 * Any bytes as an archive of an image. The first says how the rest is meant: as the file itself, or
 * as documents from which one is made ("NAME\nCONTENT" of a docker-archive, index.json and blobs of
 * an oci-archive), plain or compressed. Whatever is given out has the digest under which it was.
 */
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fs.h"
#include "builder/check/check.h"
#include "builder/oci/archive.h"
#include "tests/fuzz/parts.h"
#include "tests/tar_make.h"

enum { AS_IT_IS, DOCKER, OCI, KINDS, GZIPPED = 0x10, BYTES_MAX = 4 << 20, MEMBERS = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put(struct strbuf *tar, const char *name, struct part content)
{
	const struct tar_make m = {.name = name,
	                           .type = '0',
	                           .mode = 0644,
	                           .content = content.text,
	                           .len = content.len};

	tar_make_add(tar, &m);
}

/* A name that ends in '>' is that of a symbolic link; its content is where it leads. */
static void put_named(struct strbuf *tar, struct part p, struct arena *a)
{
	const char *end = memchr(p.text, '\n', p.len);
	size_t n = end != NULL ? (size_t)(end - p.text) : p.len;
	char *name = arena_strndup(a, p.text, n);
	struct part content = {end != NULL ? end + 1 : "", end != NULL ? p.len - n - 1 : 0};

	if (n == 0 || name[n - 1] != '>') {
		put(tar, name, content);
		return;
	}
	name[n - 1] = '\0';
	const struct tar_make link = {
		.name = name, .type = '2', .link = arena_strndup(a, content.text, content.len)};

	tar_make_add(tar, &link);
}

static void put_blob(struct strbuf *tar, struct part p)
{
	const struct digest digest = digest_of(p.text, p.len);
	char hex[DIGEST_HEX_MAX], name[128];

	snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(&digest, hex));
	put(tar, name, p);
}

static void make_archive(unsigned kind, struct parts parts, struct strbuf *tar, struct arena *a)
{
	static const char version[] = "{\"imageLayoutVersion\":\"1.0.0\"}";

	if (kind == AS_IT_IS) {
		strbuf_add(tar, parts.at, parts.left);
		return;
	}
	if (kind == OCI) {
		put(tar, "oci-layout", (struct part){version, sizeof(version) - 1});
		put(tar, "index.json", parts_next(&parts));
	}
	for (int i = 0; i < MEMBERS && parts.left > 0; i++) {
		if (kind == OCI)
			put_blob(tar, parts_next(&parts));
		else
			put_named(tar, parts_next(&parts), a);
	}
	tar_make_end(tar);
}

static int write_file(const struct strbuf *tar, bool gzipped, struct err *err)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	gzFile gz = NULL;

	if (fd < 0)
		abort();
	if (!gzipped && fs_write_all(fd, strbuf_str(tar), tar->len, err) != 0)
		abort();
	if (gzipped) {
		gz = gzdopen(dup(fd), "wb1");
		gzwrite(gz, strbuf_str(tar), (unsigned)tar->len);
		gzclose(gz);
	}
	return fd;
}

static void read_image(struct store *s)
{
	static const struct check_opts opts = {.threads = 1};
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct descriptor root;
	struct check_report report;
	struct err err = {0};

	(void)store_resolve(s, "v1", &a, &root, &err);
	if (store_resolve(s, NULL, &a, &root, &err) == 0) {
		const struct digest want = root.digest;

		if (store_read(s, &root, 1 << 20, &text, &err) == 0) {
			const struct digest got = digest_of(text.ptr, text.len);

			if (!digest_equal(&got, &want))
				BUG("bytes under a wrong digest");
		}
		(void)check_image(s, &root, &opts, &a, &report, &d, &err);
	}
	store_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(BYTES_MAX);
	AUTO_CLOSE int fd = -1;
	struct store *s = NULL;
	enum archive_form form;
	struct err err = {0};
	char path[64];

	if (size == 0)
		return 0;
	make_archive((data[0] & 0xfu) % KINDS, (struct parts){(const char *)data + 1, size - 1},
	             &tar, &a);
	fd = write_file(&tar, (data[0] & GZIPPED) != 0, &err);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)archive_form(path, &form, &err);
	if (archive_open_docker(path, &s, &err) == 0)
		read_image(s);
	if (archive_open_oci(path, &s, &err) == 0)
		read_image(s);
	return 0;
}
