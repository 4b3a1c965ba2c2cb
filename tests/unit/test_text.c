/* Globs, nearest words, byte counts, whole numbers, UTF-8. */
#include "tests/harness.h"

#include "base/text.h"

static void globs(void)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} rows[] = {
		{"a", "a", true},
		{"a", "b", false},
		{"", "", true},
		{"*", "abc", true},
		{"*", "", true},
		{"*.so", "libx.so", true},
		{"*.so", "usr/lib/libx.so", true}, /* no '/': the last segment */
		{"*.so", "libx.so.1", false},
		{"*.so*", "libx.so.1", true},
		{"lib*.so.?", "liba.so.1", true},
		{"lib*.so.?", "liba.so.12", false},
		{"a*b*c", "aXXbYYc", true},
		{"a*b*c", "aXXbYY", false},
		{"?", "/", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false}, /* a star stays in its segment */
		{"a/*", "a", false},
		{"a/?/c", "a/b/c", true},
		{"a/?c", "a//c", false},
		{"*/b", "a/b", true},
		{"*/b", "x/a/b", false},
		/* ** */
		{"**", "a", true},
		{"**", "a/b/c", true},
		{"a/**", "a/b", true},
		{"a/**", "a/b/c", true},
		{"a/**", "b/a", false},
		{"**/c", "c", true},
		{"**/c", "a/b/c", true},
		{"**/c", "a/bc", false},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/b/c", true},
		{"a/**/c", "a/x/y/z/c", true},
		{"a/**/c", "a/x/yc", false},
		{"a/**/c", "ac", false},
		{"**/*.py", "x/y/z.py", true},
		{"**/*.py", "z.py", true},
		{"**/*.py", "x.py/y", false},
		{"**/test/**", "a/test/b", true},
		{"**/test/**", "a/tests/b", false},
		{"a/**/b/**/c", "a/1/b/2/3/c", true},
		{"a/**/b/**/c", "a/1/2/3/c", false},
		{"**/a/*/c", "a/a/b/c", true},
		{"**/a/*/c", "x/a/a/c", true},
		/* classes */
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]", "b", false},
		{"[!a-c]", "z", true},
		{"[^a]", "z", true},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"[-a]", "-", true},
		{"a/[!x]b", "a//b", false}, /* a class never matches '/' */
		{"a[", "a[", true},         /* unclosed: itself */
		{"[ab", "[ab", true},
		{"v[0-9]*", "v12", true},
		{"v[0-9]", "v", false},
		{"[!a]", "", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_glob(rows[i].pattern, rows[i].path) != rows[i].want) {
			CHECK(!"glob");
			printf("#   %s on %s\n", rows[i].pattern, rows[i].path);
		}
}

static void hostile_globs_end(void)
{
	char path[4096], pattern[201];

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (size_t i = 0; i < 200; i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[199] = 'b';
	pattern[200] = '\0';
	CHECK(!text_glob(pattern, path));
}

static void nearest_words(void)
{
	static const char *const words[] = {"platforms", "layers", "entrypoint", "env", "cmd"};

	CHECK_STR(text_nearest("platfroms", words, ARRAY_LEN(words)), "platforms");
	CHECK_STR(text_nearest("layer", words, ARRAY_LEN(words)), "layers");
	CHECK_STR(text_nearest("env", words, ARRAY_LEN(words)), "env");
	CHECK(text_nearest("zzzzzzzz", words, ARRAY_LEN(words)) == NULL);
	CHECK(text_nearest("", words, ARRAY_LEN(words)) == NULL);
	CHECK(text_nearest("env", words, 0) == NULL);
	CHECK_INT(text_distance("kitten", "sitting", 10), 3);
	CHECK_INT(text_distance("", "abc", 10), 3);
	CHECK_INT(text_distance("abc", "abc", 10), 0);
	CHECK_INT(text_distance("abcdef", "uvwxyz", 2), 3); /* limit + 1 */
}

static void byte_counts(void)
{
	static const struct {
		int64_t bytes;
		const char *want;
	} rows[] = {
		{0, "0 B"},
		{999, "999 B"},
		{1000, "1.0 kB"},
		{1500, "1.5 kB"},
		{999949, "999.9 kB"},
		{999950, "1.0 MB"},
		{12300000, "12.3 MB"},
		{5000000000, "5.0 GB"},
		{-5, "-5 B"},
		{-1500000, "-1.5 MB"},
		{INT64_MAX, "9.2 EB"},
		{INT64_MIN, "-9.2 EB"},
	};
	char out[TEXT_BYTES_MAX];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_STR(text_bytes(rows[i].bytes, out), rows[i].want);
}

static void whole_numbers(void)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{"0", true, 0},
		{"-0", true, 0},
		{"007", true, 7},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"99999999999999999999999", false, 0},
		{"", false, 0},
		{"-", false, 0},
		{"+1", false, 0},
		{" 1", false, 0},
		{"1 ", false, 0},
		{"1.0", false, 0},
		{"0x10", false, 0},
		{"--1", false, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t value = 0;

		CHECK_INT(text_int64(rows[i].text, strlen(rows[i].text), &value), rows[i].ok);
		CHECK_INT(value, rows[i].want);
	}
	int64_t part = 0;

	CHECK(text_int64("123:4", 3, &part) && part == 123); /* exactly len bytes */
}

static void utf8(void)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{"", true},
		{"plain", true},
		{"\xc3\xa9", true},
		{"\xe2\x82\xac", true},
		{"\xf0\x9f\x98\x80", true},
		{"\xf4\x8f\xbf\xbf", true},
		{"\xee\x80\x80", true},
		{"\x80", false}, /* lone continuation */
		{"\xc3", false}, /* cut */
		{"\xe2\x82", false},
		{"\xf0\x9f\x98", false},
		{"\xc0\x80", false}, /* overlong */
		{"\xc1\xbf", false},
		{"\xe0\x9f\xbf", false},
		{"\xf0\x8f\xbf\xbf", false},
		{"\xed\xa0\x80", false},     /* surrogate */
		{"\xf4\x90\x80\x80", false}, /* above U+10FFFF */
		{"\xf5\x80\x80\x80", false},
		{"\xff", false},
		{"a\xe2\x28\xa1", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(text_is_utf8(rows[i].text, strlen(rows[i].text)), rows[i].want);
	CHECK(text_is_utf8("a\0b", 3));
}

static void prefixes_and_suffixes(void)
{
	CHECK(text_has_prefix("sha256:x", "sha256:"));
	CHECK(!text_has_prefix("sha", "sha256:"));
	CHECK(text_has_suffix("a.yaml", ".yaml"));
	CHECK(!text_has_suffix("yaml", ".yaml"));
	CHECK(text_has_suffix("x", ""));
}

static void positions(void)
{
	unsigned line, column;

	text_position("ab\ncd", 0, &line, &column);
	CHECK(line == 1 && column == 1);
	text_position("ab\ncd", 2, &line, &column);
	CHECK(line == 1 && column == 3);
	text_position("ab\ncd", 4, &line, &column);
	CHECK(line == 2 && column == 2);
}

static void control_bytes_go(void)
{
	char text[] = "a\033[2Jb\x7f\xc3\xa4";

	text_make_printable(text);
	CHECK_STR(text, "a?[2Jb?\xc3\xa4");

	/* CSI as one character, as a bare byte, and what turns a line around; a character cut short. */
	char more[] = "\xc2\x9b" "31m\x9b|\xe2\x80\xae|\xe2\x81\xa9|\xe2\x82";

	text_make_printable(more);
	CHECK_STR(more, "?31m?|?|?|??");

	char lines[] = "a\n\tb\r\0c";

	CHECK_INT(text_filter(lines, 7, "\n\t"), 7);
	CHECK_STR(lines, "a\n\tb??c");
}

int main(void)
{
	TEST("text: globs", globs);
	TEST("text: a hostile glob ends", hostile_globs_end);
	TEST("text: the nearest word", nearest_words);
	TEST("text: byte counts for people", byte_counts);
	TEST("text: whole numbers and their limits", whole_numbers);
	TEST("text: UTF-8", utf8);
	TEST("text: prefixes and suffixes", prefixes_and_suffixes);
	TEST("text: line and column of an offset", positions);
	TEST("text: control bytes become question marks, UTF-8 stays", control_bytes_go);
	return test_done();
}
