#include "builder/check/scan.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/check/script.h"
#include "builder/check/secret/search.h"
#include "builder/check/spool.h"
#include "builder/layer/elf/elf_cache.h"
#include "builder/layer/elf/elf_search.h"

enum {
	TEXT_BYTES_MAX_EACH = ELF_CACHE_BYTES_MAX, /* of one text that rules read */
	TEXT_BYTES_MAX_ALL = 8 << 20,              /* of all in a layer */
	KEPT_BYTES_MAX_EACH = 32 << 20,            /* of one text that the caller wants */
	KEPT_BYTES_MAX_ALL = 128 << 20,
	READ_BYTES = 128 << 10
};

/* The tools of one pass, reused from member to member. */
struct scanner {
	unsigned flags;
	struct budget *budget;
	struct progress *progress;
	unsigned task;
	struct layer_scan *scan;
	struct layer_reader *reader;
	struct secret_search secrets;
	struct spool spool;
	struct hasher hasher;
	unsigned char *buf;
};

/* What is done with the content of the member at work. */
struct member_content {
	bool is_elf, keep_text;
	bool wanted; /* by the caller, as a text */
	struct strbuf text;
	int64_t bytes;
	size_t kept; /* bytes in the scanner's buffer, if that is all of the content; else 0 */
	char head[SCRIPT_HEAD_MAX]; /* the first bytes */
	size_t head_len;
};

/* Texts that rules read: what configures loaders, and who the users are. */
static bool is_kept_text(const char *path)
{
	return strcmp(path, "etc/ld.so.cache") == 0 || strcmp(path, "etc/ld.so.preload") == 0 ||
	       (text_has_prefix(path, "etc/ld-musl-") && text_has_suffix(path, ".path")) ||
	       strcmp(path, "etc/passwd") == 0 || strcmp(path, "etc/group") == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* A dynamic loader keeps the list of its default folders among its texts. */
static void read_loader_dirs(struct scanner *s, struct scan_member *m)
{
	const void *bytes = spool_bytes(&s->spool);

	if (bytes == NULL || s->scan->arch == NULL ||
	    !elf_search_is_loader(NULL, base_name(m->path)))
		return;
	m->loader_dirs =
		elf_search_builtin(bytes, (size_t)s->spool.size, s->scan->arch, &s->scan->arena);
}

static void parse_elf(struct scanner *s, struct scan_member *m)
{
	struct elf_info *info = arena_alloc(&s->scan->arena, sizeof(*info));
	struct err err = {0};

	if (m->size > SPOOL_BYTES_MAX) {
		m->elf_error = arena_printf(&s->scan->arena, "it has more than %lld bytes",
		                            (long long)SPOOL_BYTES_MAX);
		return;
	}
	if (elf_parse_symbols(spool_read_at, &s->spool, s->spool.size, &s->scan->arena,
	                      &s->scan->room, info, &err) != 0) {
		m->elf_error = arena_strdup(&s->scan->arena, err.msg);
		return;
	}
	m->elf = info;
	read_loader_dirs(s, m);
}

/* The line of a byte of a text, 0 where the content is gone or is no text. */
static size_t line_of(const struct scanner *s, const struct member_content *c, int64_t offset)
{
	const unsigned char *at = s->buf, *end = s->buf + offset;
	size_t line = 1;

	if (offset >= (int64_t)c->kept || memchr(s->buf, '\0', c->kept) != NULL)
		return 0;
	while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		at++;
		line++;
	}
	return line;
}

/* Crypto libraries carry key pairs for their self-tests (FIPS 140): ELF, ar, Java's classes. */
static bool is_self_test(const struct scan_member *m, const struct secret_finding *f)
{
	if (f->kind != SECRET_PRIVATE_KEY && f->kind != SECRET_ENCRYPTED_KEY)
		return false;
	if (f->in_archive)
		return text_has_suffix(f->inner, ".class");
	return (m->elf != NULL && !m->elf->executable) || text_has_suffix(m->path, ".class") ||
	       text_has_suffix(m->path, ".a");
}

/* What documents show as an example, of the kinds that cannot be told from real ones. */
static bool is_example(const struct scan_member *m, enum secret_kind kind)
{
	static const char *const folders[] = {"usr/share/doc/", "usr/share/man/",
	                                      "usr/share/info/"};
	/* The README of a Python package. */
	static const char *const names[] = {"-info/PKG-INFO", "-info/METADATA"};

	if (kind != SECRET_JWT && kind != SECRET_WIREGUARD && kind != SECRET_GOOGLE_API)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (text_has_prefix(m->path, folders[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_has_suffix(m->path, names[i]))
			return true;
	return false;
}

static void note_secrets(struct scanner *s, const struct member_content *c, struct scan_member *m)
{
	secret_search_end(&s->secrets);
	for (size_t i = 0; i < s->secrets.findings.n; i++) {
		const struct secret_finding *f = &s->secrets.findings.at[i];
		struct scan_secret secret = {.member = m, .kind = f->kind, .offset = f->offset};

		if (is_self_test(m, f) || is_example(m, f->kind))
			continue;
		if (f->in_archive)
			secret.inner = arena_strdup(&s->scan->arena, f->inner);
		else
			secret.line = line_of(s, c, f->offset);
		vec_push(&s->scan->secrets, secret);
	}
	/* A later pass would be needed for large ones, so their digest is not said. */
	if (s->secrets.findings.n > 0 && c->kept > 0 && digest_is_zero(&m->content))
		m->content = digest_of(s->buf, c->kept);
}

static void take_head(struct member_content *c, const unsigned char *bytes, size_t n)
{
	size_t room = sizeof(c->head) - c->head_len;

	n = n < room ? n : room;
	memcpy(c->head + c->head_len, bytes, n);
	c->head_len += n;
}

static int take_chunk(struct scanner *s, struct member_content *c, size_t n, struct err *err)
{
	take_head(c, s->buf, n);
	if (c->bytes == 0)
		c->is_elf = (s->flags & SCAN_ELF) != 0 && elf_is_elf(s->buf, n);
	c->bytes += (int64_t)n;
	if ((s->flags & SCAN_SECRETS) != 0)
		secret_search_feed(&s->secrets, s->buf, n);
	if ((s->flags & SCAN_DIGESTS) != 0)
		hasher_update(&s->hasher, s->buf, n);
	if (c->keep_text)
		strbuf_add(&c->text, s->buf, n);
	return c->is_elf && c->bytes <= SPOOL_BYTES_MAX ? spool_write(&s->spool, s->buf, n, err)
	                                                : 0;
}

/* Fills the buffer as far as there are bytes. */
static int fill_buffer(struct scanner *s, size_t *ret_n, struct err *err)
{
	size_t n = 1;

	for (*ret_n = 0; n > 0 && *ret_n < READ_BYTES; *ret_n += n)
		/* A hole has no bytes at which reading would notice a request to stop. */
		if (interrupt_check(err) != 0 ||
		    layer_reader_read(s->reader, s->buf + *ret_n, READ_BYTES - *ret_n, &n, err) !=
		            0)
			return -1;
	return 0;
}

static int read_chunks(struct scanner *s, struct member_content *c, struct err *err)
{
	size_t n = READ_BYTES;

	while (n == READ_BYTES) {
		if (fill_buffer(s, &n, err) != 0 || (n > 0 && take_chunk(s, c, n, err) != 0))
			return -1;
	}
	c->kept = c->bytes == (int64_t)n ? n : 0;
	return 0;
}

/* What is too large, or one too many, is unknown to the rules as if it were not there. */
static void keep_text(struct layer_scan *scan, struct scan_member *m, const struct strbuf *text,
                      bool wanted)
{
	size_t *bytes = wanted ? &scan->kept_bytes : &scan->text_bytes;
	const size_t most = wanted ? KEPT_BYTES_MAX_ALL : TEXT_BYTES_MAX_ALL;

	if (text->overflow || text->len > most - *bytes)
		return;
	*bytes += text->len;
	m->text_len = text->len;
	m->text = memcpy(arena_alloc(&scan->arena, text->len + 1), strbuf_str(text), text->len);
}

/* What the rules want of a file's beginning. */
static void keep_head(struct scanner *s, struct scan_member *m, const struct member_content *c)
{
	if ((s->flags & SCAN_ELF) == 0 || c->is_elf || (m->mode & 0111) == 0)
		return;
	m->head_len = script_head_kept(c->head, c->head_len);
	m->head = arena_memdup(&s->scan->arena, c->head, m->head_len);
}

static int read_content(struct scanner *s, struct scan_member *m, struct err *err)
{
	struct member_content c = {.text = STRBUF_INIT(TEXT_BYTES_MAX_EACH)};
	int rc;

	c.wanted = s->scan->keep != NULL && s->scan->keep(m->path);
	if (c.wanted)
		c.text.max = KEPT_BYTES_MAX_EACH;
	c.keep_text = c.wanted || ((s->flags & SCAN_ELF) != 0 && is_kept_text(m->path));
	spool_reset(&s->spool);
	if ((s->flags & SCAN_SECRETS) != 0)
		secret_search_begin(&s->secrets, m->path);
	if ((s->flags & SCAN_DIGESTS) != 0)
		hasher_init(&s->hasher);
	rc = read_chunks(s, &c, err);
	if ((s->flags & SCAN_DIGESTS) != 0)
		m->content = hasher_final(&s->hasher);
	if (rc == 0 && c.is_elf)
		parse_elf(s, m);
	if (rc == 0)
		keep_head(s, m, &c);
	if (rc == 0 && c.keep_text)
		keep_text(s->scan, m, &c.text, c.wanted);
	if (rc == 0 && (s->flags & SCAN_SECRETS) != 0)
		note_secrets(s, &c, m);
	strbuf_done(&c.text);
	return rc;
}

static void copy_xattrs(struct scan_member *m, const struct member *from)
{
	struct hasher h = {0};

	if (from->n_xattrs == 0)
		return;
	hasher_init(&h);
	for (size_t i = 0; i < from->n_xattrs; i++) {
		const struct entry_xattr *x = &from->xattrs[i];
		uint64_t len = x->len;

		m->capability |= strcmp(x->name, "security.capability") == 0;
		hasher_update(&h, x->name, strlen(x->name) + 1);
		hasher_update(&h, &len, sizeof(len));
		hasher_update(&h, x->value, x->len);
	}
	m->xattrs = hasher_final(&h);
	hasher_done(&h);
}

static struct scan_member *copy_member(struct layer_scan *scan, const struct member *from)
{
	struct scan_member *m = arena_alloc(&scan->arena, sizeof(*m));

	*m = (struct scan_member){
		.path = arena_strdup(&scan->arena, from->path),
		.type = from->type,
		.mode = from->mode,
		.uid = from->uid,
		.gid = from->gid,
		.mtime = from->mtime,
		.size = from->size,
		.link = arena_strdup(&scan->arena, from->link),
	};
	copy_xattrs(m, from);
	return m;
}

static int read_members(struct scanner *s, struct err *err)
{
	struct member member;
	size_t mark = 0;
	bool more = true;

	while (true) {
		struct scan_member *m;

		if (interrupt_check(err) != 0 ||
		    layer_reader_next(s->reader, &member, &more, err) != 0)
			return -1;
		if (!more)
			break;
		m = copy_member(s->scan, &member);
		vec_push(&s->scan->members, m);
		if (m->type == MEMBER_FILE && s->flags != 0 && read_content(s, m, err) != 0)
			return err_wrap(err, "'%s'", m->path);
		budget_spend_arena(s->budget, &s->scan->arena, &mark);
		if (budget_check(s->budget, err) != 0)
			return -1;
	}
	return layer_reader_finish(s->reader, &s->scan->diff_id, &s->scan->raw_size, err);
}

/* Reading a blob that is wrong is the image's fault, everything else is the machine's. */
static bool is_image_fault(const struct err *err)
{
	return err->code == ERR_DIGEST || err->code == ERR_FORMAT || err->code == ERR_LIMIT ||
	       err->code == ERR_NOT_FOUND || err->code == ERR_UNSUPPORTED;
}

/* Tells progress of the compressed bytes as they are read. */
struct watched_blob {
	struct source source;
	struct source *in;
	struct scanner *scanner;
};

static int watched_read(struct source *source, void *buf, size_t cap, size_t *ret_n,
                        struct err *err)
{
	struct watched_blob *w = (struct watched_blob *)source;

	if (source_read(w->in, buf, cap, ret_n, err) != 0)
		return -1;
	progress_advance(w->scanner->progress, w->scanner->task, (int64_t)*ret_n);
	return 0;
}

static void watched_close(struct source *source)
{
	source_close(((struct watched_blob *)source)->in);
	free(source);
}

static int scan_blob(struct store *store, struct scanner *s, struct err *err)
{
	struct source *blob = NULL;
	struct watched_blob *w;

	if (store_open(store, s->scan->desc, &blob, err) != 0)
		return -1;
	w = mem_zalloc(sizeof(*w));
	*w = (struct watched_blob){{watched_read, watched_close}, blob, s};
	if (layer_reader_open_within(&w->source, s->scan->desc->media_type, s->budget, &s->reader,
	                             err) != 0)
		return -1;
	return read_members(s, err);
}

int layer_scan_run(struct store *store, unsigned flags, struct budget *budget,
                   struct progress *progress, struct layer_scan *scan, struct err *err)
{
	struct scanner s = {.flags = flags,
	                    .budget = budget,
	                    .progress = progress,
	                    .scan = scan,
	                    .spool = SPOOL_INIT};
	struct err failure = {0};
	char label[DIGEST_TEXT_MAX + 8], hex[DIGEST_HEX_MAX];
	int rc;

	snprintf(label, sizeof(label), "%s %.12s", scan->task != NULL ? scan->task : "check",
	         digest_hex(&scan->desc->digest, hex));
	s.task = progress_start(progress, label, scan->desc->size);
	secret_search_init(&s.secrets, scan->desc->size);
	s.buf = mem_calloc(1, READ_BYTES);
	rc = scan_blob(store, &s, &failure);
	layer_reader_close(s.reader);
	scan->n_archives_too_large = s.secrets.n_too_large;
	scan->n_archives_unreadable = s.secrets.n_unreadable;
	secret_search_done(&s.secrets);
	spool_done(&s.spool);
	hasher_done(&s.hasher);
	free(s.buf);
	progress_finish(progress, s.task, rc == 0 ? "done" : "failed");
	if (rc != 0 && !is_image_fault(&failure)) {
		*err = failure;
		return err_wrap(err, "read layer %.12s", hex);
	}
	scan->failure = failure;
	return 0;
}

void layer_scan_done(struct layer_scan *scan)
{
	vec_done(&scan->members);
	vec_done(&scan->secrets);
	elf_room_done(&scan->room);
	arena_done(&scan->arena);
}
