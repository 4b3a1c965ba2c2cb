#include "builder/cli/terminal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

enum { CHUNK = 4096, CHARACTER_MAX = 4 };

struct filter {
	FILE *to;
	int *ret_errno;           /* NULL = nobody asks */
	char held[CHARACTER_MAX]; /* the begun character at the end of what was written last */
	size_t n_held;
};

/* Bytes at the end of the text that may be a character of which more is to come. */
static size_t begun_character(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && n < CHARACTER_MAX - 1) {
		unsigned char c = (unsigned char)text[len - ++n];

		if (c >= 0xc0)
			return text_utf8_length(text + len - n, n) == 0 ? n : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static bool put(struct filter *f, const char *bytes, size_t len, bool last)
{
	char text[CHUNK + CHARACTER_MAX];
	size_t n = f->n_held + len, held;

	memcpy(text, f->held, f->n_held);
	memcpy(text + f->n_held, bytes, len);
	held = last ? 0 : begun_character(text, n);
	memcpy(f->held, text + n - held, held);
	f->n_held = held;
	n = text_filter(text, n - held, "\n\t");
	return fwrite(text, 1, n, f->to) == n;
}

static bool put_all(struct filter *f, const char *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += CHUNK)
		if (!put(f, bytes + at, len - at < CHUNK ? len - at : CHUNK, false))
			return false;
	return fflush(f->to) == 0;
}

static ssize_t filter_write(void *cookie, const char *bytes, size_t len)
{
	struct filter *f = cookie;

	if (put_all(f, bytes, len))
		return (ssize_t)len;
	if (f->ret_errno != NULL)
		*f->ret_errno = errno;
	return 0;
}

static int filter_close(void *cookie)
{
	struct filter *f = cookie;
	bool written = put(f, "", 0, true) && fflush(f->to) == 0;

	free(f);
	return written ? 0 : EOF;
}

FILE *terminal_filter(FILE *to, int *ret_errno)
{
	struct filter *f = mem_zalloc(sizeof(*f));
	FILE *stream;

	f->to = to;
	f->ret_errno = ret_errno;
	stream = fopencookie(f, "w",
	                     (cookie_io_functions_t){.write = filter_write, .close = filter_close});
	if (stream == NULL)
		free(f);
	else
		setvbuf(stream, NULL, isatty(fileno(to)) ? _IOLBF : _IOFBF, BUFSIZ);
	return stream;
}

void terminal_control(FILE *filter, FILE *to, const char *sequence)
{
	fflush(filter);
	fputs(sequence, to);
}
