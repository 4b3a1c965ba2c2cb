/*
 * One .deb (deb(5)): an ar archive of "debian-binary", "control.tar.*" and "data.tar.*". Maintainer
 * scripts are not run, and paths stay as the package has them.
 */
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/source/source_members.h"
#include "builder/layer/tar/tar_read.h"
#include "builder/layer/tar/unpack.h"

/* ar(5), the common format. */
enum { AR_MAGIC = 8, AR_HEADER = 60, AR_NAME = 16, AR_SIZE_AT = 48, AR_SIZE = 10, AR_END_AT = 58 };
enum { AR_MEMBERS_MAX = 64, FIELD_MAX = 256, VERSION_BYTES = 64 };

struct deb {
	struct tree *tree;
	const struct layer_path *item;
	const struct platform *platform;
	const struct strlist *include; /* NULL = everything */
	struct diags *diags;
	const struct entry_package *package; /* from its control file */
	int fd;
};

/* ---- the ar archive ---- */

struct part {
	char name[AR_NAME + 1];
	int64_t offset, len;
};

static int malformed(const char *what, struct err *err)
{
	err_set(err, ERR_FORMAT, "not a Debian package: %s", what);
	return err_hint(err, "The file is damaged, incomplete, or not a .deb: fetch it again.");
}

static int read_at(int fd, void *buf, size_t len, int64_t offset, size_t *ret_n, struct err *err)
{
	ssize_t n = fs_pread(fd, buf, len, offset);

	if (n < 0)
		return err_set(err, ERR_IO, "read");
	*ret_n = (size_t)n;
	return 0;
}

/* The part whose header is at `offset`; *ret_more = false at the end of the file. */
static int read_part(int fd, int64_t offset, struct part *p, bool *ret_more, struct err *err)
{
	char h[AR_HEADER];
	size_t n = 0, len = AR_NAME, digits = AR_SIZE;

	if (read_at(fd, h, sizeof(h), offset, &n, err) != 0)
		return -1;
	*ret_more = n > 0;
	if (n == 0)
		return 0;
	if (n < sizeof(h) || memcmp(h + AR_END_AT, "`\n", 2) != 0)
		return malformed("an ar header is damaged", err);
	while (len > 0 && (h[len - 1] == ' ' || h[len - 1] == '/'))
		len--;
	memcpy(p->name, h, len);
	p->name[len] = '\0';
	while (digits > 0 && h[AR_SIZE_AT + digits - 1] == ' ')
		digits--;
	if (!text_int64(h + AR_SIZE_AT, digits, &p->len) || p->len < 0)
		return malformed("an ar member has no size", err);
	p->offset = offset + AR_HEADER;
	return 0;
}

/* The bytes of one part. */
struct part_source {
	struct source source;
	int fd;
	struct part part;
};

static int part_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct part_source *p = (struct part_source *)s;
	size_t want = (int64_t)cap < p->part.len ? cap : (size_t)p->part.len, n = 0;

	if (want > 0 && read_at(p->fd, buf, want, p->part.offset, &n, err) != 0)
		return -1;
	if (n == 0 && want > 0)
		return malformed("it is cut short", err);
	p->part.offset += (int64_t)n;
	p->part.len -= (int64_t)n;
	*ret_n = n;
	return 0;
}

static void part_close(struct source *s)
{
	free(s);
}

static int open_part(const struct deb *deb, const struct part *part, struct source **ret_tar,
                     struct err *err)
{
	struct part_source *p = mem_zalloc(sizeof(*p));

	*p = (struct part_source){{part_read, part_close}, deb->fd, *part};
	return source_unpack(&p->source, ret_tar, err);
}

/* ---- control ---- */

/* Debian's names of architectures, where they are not Go's. */
static const struct {
	const char *debian, *go;
} architectures[] = {
	{"i386", "386"},        {"armhf", "arm"},         {"armel", "arm"},
	{"ppc64el", "ppc64le"}, {"mips64el", "mips64le"}, {"mipsel", "mipsle"},
};

static const char *go_architecture(const char *debian)
{
	for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
		if (strcmp(debian, architectures[i].debian) == 0)
			return architectures[i].go;
	return debian;
}

/* The value of a field of the first paragraph (deb822(5)); "" when it is absent. */
static void control_field(const char *text, const char *key, char out[FIELD_MAX])
{
	size_t key_len = strlen(key);

	out[0] = '\0';
	while (*text != '\0' && *text != '\n') {
		size_t len = strcspn(text, "\n");

		if (len > key_len && strncasecmp(text, key, key_len) == 0 && text[key_len] == ':') {
			const char *value = text + key_len + 1, *end = text + len;

			value += strspn(value, " \t");
			while (end > value &&
			       (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t'))
				end--;
			size_t n = (size_t)(end - value);

			n = n < FIELD_MAX - 1 ? n : FIELD_MAX - 1;
			memcpy(out, value, n);
			out[n] = '\0';
			return;
		}
		text += len + (text[len] == '\n');
	}
}

static const char *keep_field(const struct deb *deb, const char *text, const char *key)
{
	char value[FIELD_MAX];

	control_field(text, key, value);
	return value[0] != '\0' ? arena_strdup(deb->tree->arena, value) : NULL;
}

static void keep_package(struct deb *deb, const char *text)
{
	struct entry_package *package = arena_alloc(deb->tree->arena, sizeof(*package));

	*package = (struct entry_package){
		.name = keep_field(deb, text, "Package"),
		.version = keep_field(deb, text, "Version"),
		.architecture = keep_field(deb, text, "Architecture"),
		.source = keep_field(deb, text, "Source"),
		.maintainer = keep_field(deb, text, "Maintainer"),
		.file = arena_strdup(deb->tree->arena, deb->item->path),
	};
	deb->package = package;
}

static int judge_control(struct deb *deb, const char *text, struct err *err)
{
	char name[FIELD_MAX], version[FIELD_MAX], architecture[FIELD_MAX];

	control_field(text, "Package", name);
	control_field(text, "Version", version);
	control_field(text, "Architecture", architecture);
	keep_package(deb, text);
	if (name[0] == '\0' || version[0] == '\0' || architecture[0] == '\0')
		return malformed("its control file lacks Package, Version or Architecture", err);
	if (strcmp(architecture, "all") == 0 ||
	    strcmp(go_architecture(architecture), deb->platform->architecture) == 0)
		return 0;
	struct diag *diag = diags_add(deb->diags, DIAG_ERROR, deb->item->at,
	                              "layer '%s': '%s': package %s %s is for %s, not for %s",
	                              deb->tree->label, deb->item->path, name, version,
	                              architecture, deb->platform->architecture);

	diag_hint(deb->diags, diag, "use ${arch} in the path, or limit the layer with 'platforms'");
	return 0;
}

struct content_source {
	struct source source;
	struct tar_reader *tar;
};

static int deb_content_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return tar_reader_read(((struct content_source *)s)->tar, buf, cap, ret_n, err);
}

static int find_control(struct deb *deb, struct tar_reader *tar, struct err *err)
{
	struct content_source content = {{deb_content_read, NULL}, tar};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONTROL_BYTES_MAX);
	struct member m;
	bool more;

	do {
		if (tar_reader_next(tar, &m, &more, err) != 0)
			return -1;
		if (!more)
			return malformed("it has no control file", err);
	} while (m.type != MEMBER_FILE || strcmp(m.path, "control") != 0);
	if (stream_read_all(&content.source, &text, err) != 0)
		return -1;
	return judge_control(deb, strbuf_str(&text), err);
}

static int read_control(struct deb *deb, const struct part *part, struct err *err)
{
	struct source *in;

	if (open_part(deb, part, &in, err) != 0)
		return -1;
	struct tar_reader *tar = tar_reader_new(in);
	int rc = find_control(deb, tar, err);

	tar_reader_free(tar);
	source_close(in);
	return rc;
}

/* ---- data ---- */

static int read_data(const struct deb *deb, const struct part *part, struct err *err)
{
	static const struct strlist none = {NULL, 0};
	const struct members_rules rules = {
		.name = arena_strdup(deb->tree->arena, deb->item->path),
		.to = "",
		.select = {.include = deb->include != NULL ? deb->include : &none,
	                   .exclude = &none},
		.may_lack = deb->include != NULL,
		.xattrs = &none,
		.at = deb->item->at,
	};
	const size_t first = deb->tree->n;
	struct source *in;

	if (open_part(deb, part, &in, err) != 0)
		return -1;
	int rc = members_add(deb->tree, in, &rules, deb->diags, err);

	source_close(in);
	for (size_t i = first; i < deb->tree->n; i++)
		deb->tree->at[i].package = deb->package;
	return rc;
}

static int check_version(const struct deb *deb, const struct part *part, struct err *err)
{
	char text[VERSION_BYTES] = {0};
	size_t n = 0;

	if (read_at(deb->fd, text, sizeof(text) - 1, part->offset, &n, err) != 0)
		return -1;
	if (strcmp(part->name, "debian-binary") != 0)
		return malformed("its first part is not debian-binary", err);
	if (!text_has_prefix(text, "2."))
		return err_set(err, ERR_UNSUPPORTED, "package format %.*s, not 2.x",
		               (int)strcspn(text, "\n"), text);
	return 0;
}

/*
 * deb(5): the version first, then control, then data; parts whose names start with '_' are ignored.
 */
static int read_parts(struct deb *deb, struct err *err)
{
	int64_t offset = AR_MAGIC;
	bool control = false;

	for (size_t i = 0; i < AR_MEMBERS_MAX; i++) {
		struct part part = {0};
		bool more = false;

		if (read_part(deb->fd, offset, &part, &more, err) != 0)
			return -1;
		if (!more)
			break;
		if (i == 0 && check_version(deb, &part, err) != 0)
			return -1;
		if (text_has_prefix(part.name, "data.tar"))
			return control ? read_data(deb, &part, err)
			               : malformed("it has no control.tar", err);
		if (text_has_prefix(part.name, "control.tar")) {
			control = true;
			if (read_control(deb, &part, err) != 0)
				return -1;
		}
		if (part.len > INT64_MAX - part.offset - 1)
			return malformed("an ar member is too large", err);
		offset = part.offset + part.len + part.len % 2;
	}
	return malformed("it has no data.tar", err);
}

static int read_deb(struct deb *deb, struct err *err)
{
	char magic[AR_MAGIC];
	size_t n = 0;

	if (read_at(deb->fd, magic, sizeof(magic), 0, &n, err) != 0)
		return -1;
	if (n != sizeof(magic) || memcmp(magic, "!<arch>\n", sizeof(magic)) != 0)
		return malformed("it is not an ar archive", err);
	return read_parts(deb, err);
}

int deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
            const struct strlist *include, struct diags *d, struct err *err)
{
	struct deb deb = {
		.tree = t, .item = item, .platform = platform, .include = include, .diags = d};

	if (archive_open(t, item->path, item->at, d, &deb.fd) != 0)
		return 0;
	int rc = read_deb(&deb, err);

	close(deb.fd);
	if (rc != 0 && archive_problem(t, item->path, item->at, d, err))
		return 0;
	return rc == 0 ? 0 : err_wrap(err, "layer '%s': '%s'", t->label, item->path);
}

int source_deb_add(struct tree *t, const struct layer_path *item, const struct platform *platform,
                   struct diags *d, struct err *err)
{
	return deb_add(t, item, platform, NULL, d, err);
}
