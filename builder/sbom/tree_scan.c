#include "builder/sbom/tree_scan.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "builder/layer/elf/elf.h"
#include "builder/sbom/inventory.h"

enum { SCAN_TEXT_MAX = 32 << 20, READ_BYTES = 256 << 10, MAGIC = 4, SCAN_THREADS_MAX = 4 };

struct tree_member {
	struct scan_member member;
	const struct entry *entry;
};

const struct entry *tree_scan_entry(const struct scan_member *m)
{
	return ((const struct tree_member *)(const void *)m)->entry;
}

/* One part of the members, with an arena of its own: parts are read by several threads. */
struct scan_part {
	struct arena arena;
	size_t first, end;
};

struct tree_scanning {
	const struct tree *tree;
	struct layer_scan *scan;
	bool digests;
	struct scan_part parts[SCAN_THREADS_MAX];
};

/* ---- ELF ---- */

/* The bytes of an entry on disk or in the spool. */
struct entry_bytes {
	int fd;
	int64_t offset;
	uint64_t size;
};

static int entry_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const struct entry_bytes *b = ctx;
	ssize_t n;

	if (offset > b->size || len > b->size - offset)
		return err_set(err, ERR_FORMAT, "ELF file is cut short");
	n = fs_pread(b->fd, buf, len, b->offset + (int64_t)offset);
	return n == (ssize_t)len ? 0 : err_set(err, ERR_IO, "read");
}

static bool may_be_elf(const struct entry *e)
{
	const char *slash = strrchr(e->path, '/');

	return e->size > MAGIC &&
	       ((e->mode & 0111) != 0 || strstr(slash != NULL ? slash : e->path, ".so") != NULL);
}

/* What cannot be read as ELF is a file like others: the image check says what is wrong with it. */
static void read_elf(const struct tree *t, const struct entry *e, struct scan_member *m,
                     struct arena *a)
{
	AUTO_CLOSE int own = -1;
	struct entry_bytes bytes = {
		.fd = t->spool_fd, .offset = e->offset, .size = (uint64_t)e->size};
	struct elf_info *info;
	struct err ignored = {0};
	char magic[MAGIC];

	if (e->content == CONTENT_PATH) {
		own = open(e->source, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		bytes.fd = own;
		bytes.offset = 0;
	}
	if (e->content == CONTENT_BYTES || bytes.fd < 0 ||
	    fs_pread(bytes.fd, magic, MAGIC, bytes.offset) != MAGIC || !elf_is_elf(magic, MAGIC))
		return;
	info = arena_alloc(a, sizeof(*info));
	if (elf_parse(entry_read_at, &bytes, bytes.size, a, info, &ignored) == 0)
		m->elf = info;
}

/* ---- digests and texts ---- */

static int read_digest(const struct tree *t, const struct entry *e, struct scan_member *m,
                       struct err *err)
{
	AUTO(hasher) struct hasher h = {0};
	AUTO_FREE char *buf = mem_calloc(1, READ_BYTES);
	struct source *in = NULL;
	size_t n = 1;
	int rc = 0;

	hasher_init(&h);
	if (e->size > 0 && tree_open_content(t, e, &in, err) != 0)
		return -1;
	while (in != NULL && rc == 0 && n > 0) {
		rc = source_read(in, buf, READ_BYTES, &n, err);
		if (rc == 0)
			hasher_update(&h, buf, n);
	}
	source_close(in);
	m->content = hasher_final(&h);
	return rc;
}

static int read_text(const struct tree *t, const struct entry *e, struct scan_member *m,
                     struct arena *a, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(SCAN_TEXT_MAX);
	struct source *in;
	int rc;

	if (e->size == 0 || e->size > SCAN_TEXT_MAX)
		return 0;
	if (tree_open_content(t, e, &in, err) != 0)
		return -1;
	rc = stream_read_all(in, &text, err);
	source_close(in);
	if (rc != 0)
		return -1;
	m->text_len = text.len;
	m->text = arena_strndup(a, strbuf_str(&text), text.len);
	return 0;
}

/* ---- members ---- */

static const enum member_type types[] = {[ENTRY_FILE] = MEMBER_FILE,
                                         [ENTRY_DIR] = MEMBER_DIR,
                                         [ENTRY_SYMLINK] = MEMBER_SYMLINK,
                                         [ENTRY_HARDLINK] = MEMBER_HARDLINK};

static void add_members(struct tree_scanning *s)
{
	const struct tree *t = s->tree;
	struct tree_member *all = arena_calloc(&s->scan->arena, t->n, sizeof(*all));

	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->at[i];

		all[i] = (struct tree_member){.member = {.path = e->path,
		                                         .type = types[e->type],
		                                         .mode = e->mode,
		                                         .uid = e->uid,
		                                         .gid = e->gid,
		                                         .mtime = e->mtime,
		                                         .size = e->size,
		                                         .link = e->link},
		                              .entry = e};
		vec_push(&s->scan->members, &all[i].member);
	}
}

static int read_part(void *ctx, size_t at, struct err *err)
{
	struct tree_scanning *s = ctx;
	struct scan_part *part = &s->parts[at];

	for (size_t i = part->first; i < part->end; i++) {
		const struct entry *e = &s->tree->at[i];
		struct scan_member *m = s->scan->members.at[i];

		if (e->type != ENTRY_FILE)
			continue;
		if (i % 256 == 0 && interrupt_check(err) != 0)
			return -1;
		if (may_be_elf(e))
			read_elf(s->tree, e, m, &part->arena);
		if ((inventory_keeps(e->path) &&
		     read_text(s->tree, e, m, &part->arena, err) != 0) ||
		    (s->digests && read_digest(s->tree, e, m, err) != 0))
			return err_wrap(err, "'%s'", e->path);
	}
	return 0;
}

int tree_scan(const struct tree *t, bool digests, struct layer_scan *scan, struct err *err)
{
	struct tree_scanning s = {.tree = t, .scan = scan, .digests = digests};
	const size_t n = SCAN_THREADS_MAX;
	unsigned threads = cpus_usable();

	add_members(&s);
	for (size_t i = 0; i < n; i++) {
		s.parts[i].first = t->n * i / n;
		s.parts[i].end = t->n * (i + 1) / n;
	}
	int rc = pool_run(n, threads < n ? threads : (unsigned)n, read_part, &s, err);

	for (size_t i = 0; i < n; i++)
		arena_join(&scan->arena, &s.parts[i].arena);
	return rc;
}
