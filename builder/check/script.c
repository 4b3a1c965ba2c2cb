#include "builder/check/script.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

enum { LOOK_BYTES = 64 /* enough to tell what a file without "#!" is */ };

#define BLANK " \t"

static bool has_shebang(const char *head, size_t len)
{
	return len >= 2 && head[0] == '#' && head[1] == '!';
}

/* The bytes up to the first newline or NUL. */
static size_t line_length(const char *head, size_t len)
{
	size_t n = 0;

	while (n < len && head[n] != '\n' && head[n] != '\0')
		n++;
	return n;
}

size_t script_head_kept(const char *head, size_t len)
{
	size_t n = has_shebang(head, len) ? line_length(head, len) + 1 : LOOK_BYTES;

	return n < len ? n : len;
}

/* Cuts blanks, and the carriage return of a DOS text, off the end. */
static void trim_end(char *text, bool *ret_carriage_return)
{
	size_t len = strlen(text);

	while (len > 0 && strchr(BLANK, text[len - 1]) != NULL)
		len--;
	*ret_carriage_return = len > 0 && text[len - 1] == '\r';
	while (len > 0 && strchr(BLANK "\r", text[len - 1]) != NULL)
		len--;
	text[len] = '\0';
}

enum script_kind script_read(const char *head, size_t len, struct arena *a,
                             struct script_line *ret_line)
{
	struct script_line line = {0};
	size_t end = line_length(head, len), name_len;
	bool whole = end < SCRIPT_HEAD_MAX;
	char *text;

	if (!has_shebang(head, len))
		return SCRIPT_NONE;
	/* Without a line's end the kernel keeps the last byte for a NUL. */
	text = arena_strndup(a, head + 2, (whole ? end : SCRIPT_HEAD_MAX - 1) - 2);
	text += strspn(text, BLANK);
	name_len = strcspn(text, BLANK);
	if (!whole && text[0] != '\0' && text[name_len] == '\0')
		return SCRIPT_TOO_LONG;
	trim_end(text, &line.carriage_return);
	line.cut = !whole;
	line.carriage_return &= whole;
	if (text[0] == '\0')
		return SCRIPT_NO_INTERPRETER;
	name_len = strcspn(text, BLANK);
	line.interpreter = arena_strndup(a, text, name_len);
	text += name_len;
	text += strspn(text, BLANK);
	line.argument = text[0] != '\0' ? text : NULL;
	*ret_line = line;
	return SCRIPT_READ;
}

const char *script_looks_like(const char *head, size_t len)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} starts[] = {
		{"\xef\xbb\xbf#!", 5, "begins with a byte order mark, which hides its `#!`"},
		{"\xef\xbb\xbf", 3, "begins with a byte order mark and has no `#!` line"},
		{"\xff\xfe", 2, "is text in UTF-16"},
		{"\xfe\xff", 2, "is text in UTF-16"},
		{"MZ", 2, "is a program for Windows"},
		{"\xcf\xfa\xed\xfe", 4, "is a program for macOS"},
		{"\xca\xfe\xba\xbe", 4, "is a Java class or a program for macOS"},
		{"PK\x03\x04", 4, "is a zip or jar archive"},
		{"\x1f\x8b", 2, "is compressed with gzip"},
		{"!<arch>", 7, "is a static library or a Debian package"},
		{"BC\xc0\xde", 4, "is LLVM bitcode"},
	};
	size_t blank = 0;

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (len >= starts[i].len && memcmp(head, starts[i].bytes, starts[i].len) == 0)
			return starts[i].what;
	while (blank < len && strchr(BLANK "\r\n", head[blank]) != NULL && head[blank] != '\0')
		blank++;
	return blank > 0 && has_shebang(head + blank, len - blank)
	               ? "has blanks or empty lines before its `#!`"
	               : NULL;
}

/* NAME=VALUE, which env puts into the environment. */
static bool sets_variable(const char *word, size_t len)
{
	return memchr(word, '=', len) != NULL;
}

const char *script_env_command(const char *argument, struct arena *a)
{
	if (argument[0] != '-')
		return strchr(argument, '=') == NULL ? argument : NULL;
	if (!text_has_prefix(argument, "-S") || strpbrk(argument, "'\"\\$#") != NULL)
		return NULL;
	argument += strlen("-S");
	while (true) {
		size_t len;

		argument += strspn(argument, BLANK);
		len = strcspn(argument, BLANK);
		if (len == 0 || argument[0] == '-' || text_has_prefix(argument, "PATH="))
			return NULL;
		if (!sets_variable(argument, len))
			return arena_strndup(a, argument, len);
		argument += len;
	}
}
