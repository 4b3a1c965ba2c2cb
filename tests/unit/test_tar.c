/* tar headers: field by field, and read back by libarchive. */
#include "tests/harness.h"

#include <archive.h>
#include <archive_entry.h>

#include "builder/layer/tar/tar.h"

/* The headers of e, its content (zeros) and the end of an archive. */
static void make_archive(const struct entry *e, struct strbuf *sb)
{
	struct err err = {0};
	size_t n = e->type == ENTRY_FILE && e->size < 1 << 20 ? (size_t)e->size : 0;

	CHECK_OK(tar_header(e, sb, &err), &err);
	for (size_t i = 0; i < n + tar_padding((int64_t)n) + TAR_END_BYTES; i++)
		strbuf_addc(sb, 0);
}

static struct archive *read_back(const struct strbuf *sb, struct archive_entry **ret_entry)
{
	struct archive *a = archive_read_new();

	archive_read_support_format_tar(a);
	CHECK_INT(archive_read_open_memory(a, sb->ptr, sb->len), ARCHIVE_OK);
	/* libarchive warns of names the C locale cannot show. */
	CHECK(archive_read_next_header(a, ret_entry) >= ARCHIVE_WARN);
	return a;
}

static void golden_bytes(void)
{
	static const struct {
		size_t at, len;
		const char *bytes;
	} fields[] = {
	    {0, 10, "usr/bin/x\0"},
	    {100, 8, "0004755\0"},
	    {108, 8, "0000001\0"},
	    {116, 8, "0000002\0"},
	    {124, 12, "00000000013\0"},
	    {136, 12, "00000000144\0"},
	    {148, 8, "010775\0 "},
	    {156, 1, "0"},
	    {157, 1, "\0"},
	    {257, 8, "ustar\00000"},
	    {265, 1, "\0"},
	    {297, 1, "\0"},
	    {329, 8, "0000000\0"},
	    {337, 8, "0000000\0"},
	    {345, 1, "\0"},
	};
	struct entry e = {.path = "usr/bin/x",
			  .type = ENTRY_FILE,
			  .mode = 04755,
			  .uid = 1,
			  .gid = 2,
			  .size = 11,
			  .mtime = 100};
	AUTO(strbuf) struct strbuf sb = {0};
	struct err err = {0};

	CHECK_OK(tar_header(&e, &sb, &err), &err);
	CHECK_INT(sb.len, TAR_BLOCK);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (memcmp(sb.ptr + fields[i].at, fields[i].bytes, fields[i].len) != 0)
			printf("# field at %zu: '%.12s'\n", fields[i].at, sb.ptr + fields[i].at),
			    test_fail(__FILE__, __LINE__, "header field differs");
}

static void folders_end_in_a_slash(void)
{
	struct entry e = {.path = "a/b", .type = ENTRY_DIR, .mode = 0755};
	AUTO(strbuf) struct strbuf sb = {0};
	struct err err = {0};

	CHECK_OK(tar_header(&e, &sb, &err), &err);
	CHECK_STR(sb.ptr, "a/b/");
	CHECK_INT(sb.ptr[156], '5');
}

/* A path of `len` bytes: segments of `segment` letters. */
static char *long_path(size_t len, size_t segment, char *out)
{
	for (size_t i = 0; i < len; i++)
		out[i] = i % (segment + 1) == segment ? '/' : (char)('a' + i % 26);
	out[len] = '\0';
	if (out[len - 1] == '/')
		out[len - 1] = 'z';
	return out;
}

static void names_read_back(void)
{
	static const struct {
		size_t len, segment;
		bool pax;
	} cases[] = {{99, 30, false},  {100, 30, false}, {101, 30, false}, {150, 99, false},
		     {255, 51, false}, {256, 51, false}, {257, 51, true},  {150, 149, true},
		     {300, 30, true},  {4000, 100, true}};
	char path[5000];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct entry e = {.path = long_path(cases[i].len, cases[i].segment, path),
				  .type = ENTRY_FILE,
				  .mode = 0644,
				  .size = 700};
		AUTO(strbuf) struct strbuf sb = {0};
		struct archive_entry *got;
		struct archive *a;

		make_archive(&e, &sb);
		CHECK_INT(sb.ptr[156] == 'x', cases[i].pax);
		a = read_back(&sb, &got);
		CHECK_STR(archive_entry_pathname(got), path);
		CHECK_INT(archive_entry_size(got), 700);
		archive_read_free(a);
	}
}

static void long_and_strange_links(void)
{
	static const char *const names[] = {"short", "caf\xc3\xa9/x", "latin\xe9", NULL};
	char path[5000];

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *name = names[i] != NULL ? names[i] : long_path(400, 60, path);
		struct entry e = {.path = name, .type = ENTRY_SYMLINK, .mode = 0777, .link = name};
		AUTO(strbuf) struct strbuf sb = {0};
		struct archive_entry *got;
		struct archive *a;

		make_archive(&e, &sb);
		a = read_back(&sb, &got);
		CHECK_STR(archive_entry_pathname(got), name);
		CHECK_STR(archive_entry_symlink(got), name);
		archive_read_free(a);
	}
}

static void hard_links(void)
{
	struct entry e = {
	    .path = "b", .type = ENTRY_HARDLINK, .mode = 0644, .link = "a", .size = 0};
	AUTO(strbuf) struct strbuf sb = {0};
	struct archive_entry *got;
	struct archive *a;

	make_archive(&e, &sb);
	a = read_back(&sb, &got);
	CHECK_STR(archive_entry_hardlink(got), "a");
	CHECK_INT(archive_entry_size(got), 0);
	archive_read_free(a);
}

static void big_numbers(void)
{
	struct entry e = {.path = "big",
			  .type = ENTRY_FILE,
			  .mode = 0600,
			  .uid = 2097152,
			  .gid = 4294967294U,
			  .size = INT64_C(8589934592),
			  .mtime = -5};
	AUTO(strbuf) struct strbuf sb = {0};
	struct archive_entry *got;
	struct archive *a;

	make_archive(&e, &sb);
	a = read_back(&sb, &got);
	CHECK_INT(archive_entry_size(got), INT64_C(8589934592));
	CHECK_INT(archive_entry_uid(got), 2097152);
	CHECK_INT(archive_entry_gid(got), 4294967294U);
	CHECK_INT(archive_entry_mtime(got), -5);
	archive_read_free(a);
}

static void largest_plain_numbers(void)
{
	struct entry e = {.path = "big",
			  .type = ENTRY_FILE,
			  .uid = 2097151,
			  .gid = 2097151,
			  .size = INT64_C(8589934591),
			  .mtime = INT64_C(8589934591)};
	AUTO(strbuf) struct strbuf sb = {0};
	struct err err = {0};

	CHECK_OK(tar_header(&e, &sb, &err), &err);
	CHECK_INT(sb.len, TAR_BLOCK);
	CHECK_STR(sb.ptr + 124, "77777777777");
}

static void xattrs(void)
{
	static const char capability[20] = {1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0};
	struct entry_xattr list[] = {{"security.capability", capability, sizeof(capability)},
				     {"user.note", "a\nb=c", 5}};
	struct entry e = {.path = "bin/ping", .type = ENTRY_FILE, .xattrs = list, .n_xattrs = 2};
	AUTO(strbuf) struct strbuf sb = {0};
	struct archive_entry *got;
	struct archive *a;
	const char *name;
	const void *value;
	size_t len, seen = 0;

	make_archive(&e, &sb);
	CHECK_STR(sb.ptr, "PaxHeaders/ping");
	a = read_back(&sb, &got);
	archive_entry_xattr_reset(got);
	while (archive_entry_xattr_next(got, &name, &value, &len) == ARCHIVE_OK) {
		if (strcmp(name, "security.capability") == 0)
			seen += len == 20 && memcmp(value, capability, 20) == 0;
		else if (strcmp(name, "user.note") == 0)
			seen += len == 5 && memcmp(value, "a\nb=c", 5) == 0;
	}
	CHECK_INT(seen, 2);
	archive_read_free(a);
}

static void record_length_counts_itself(void)
{
	/* "LEN linkpath=...\n" around the lengths where LEN gets a digit more. */
	for (size_t len = 80; len < 1100; len++) {
		char target[1200];
		struct entry e = {
		    .path = "l", .type = ENTRY_SYMLINK, .link = long_path(len, 50, target)};
		AUTO(strbuf) struct strbuf sb = {0};
		struct err err = {0};
		char *end;
		unsigned long n;

		CHECK_OK(tar_header(&e, &sb, &err), &err);
		if (sb.ptr[156] != 'x')
			continue;
		n = strtoul(sb.ptr + TAR_BLOCK, &end, 10);
		CHECK(*end == ' ' && sb.ptr[TAR_BLOCK + n - 1] == '\n');
	}
}

static void refuses_what_no_tar_holds(void)
{
	static char huge[TAR_PAX_BYTES_MAX + 1];
	struct entry_xattr odd = {"user.a=b", "x", 1}, large = {"user.a", huge, sizeof(huge)};
	struct entry e = {.path = "f", .type = ENTRY_FILE, .xattrs = &odd, .n_xattrs = 1};
	AUTO(strbuf) struct strbuf sb = {0};
	struct err err = {0};

	CHECK(tar_header(&e, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_FORMAT);
	e.xattrs = &large;
	CHECK(tar_header(&e, &sb, &err) != 0);
	CHECK_INT(err.code, ERR_LIMIT);
}

static void padding(void)
{
	CHECK_INT(tar_padding(0), 0);
	CHECK_INT(tar_padding(1), 511);
	CHECK_INT(tar_padding(512), 0);
	CHECK_INT(tar_padding(513), 511);
}

int main(void)
{
	TEST("tar: a plain header has these bytes", golden_bytes);
	TEST("tar: a folder's name ends in a slash", folders_end_in_a_slash);
	TEST("tar: names of any length read back, with pax only where ustar ends", names_read_back);
	TEST("tar: long, UTF-8 and Latin-1 link targets read back", long_and_strange_links);
	TEST("tar: hard links name their file and hold nothing", hard_links);
	TEST("tar: numbers beyond ustar read back", big_numbers);
	TEST("tar: the largest numbers of ustar need no pax", largest_plain_numbers);
	TEST("tar: extended attributes read back byte for byte", xattrs);
	TEST("tar: a pax record's length counts itself", record_length_counts_itself);
	TEST("tar: unwritable and oversized attributes are refused", refuses_what_no_tar_holds);
	TEST("tar: padding to 512", padding);
	return test_done();
}
