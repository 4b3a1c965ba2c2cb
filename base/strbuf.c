#include "base/strbuf.h"

#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { STRBUF_MAX_DEFAULT = 1 << 30 };

void strbuf_done(struct strbuf *sb)
{
	free(sb->ptr);
	*sb = (struct strbuf){.max = sb->max};
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->overflow = false;
	if (sb->ptr != NULL)
		sb->ptr[0] = '\0';
}

/* Room for len bytes more and the NUL; false (and overflow set) beyond the maximum. */
static bool reserve(struct strbuf *sb, size_t len)
{
	size_t max = sb->max != 0 ? sb->max : STRBUF_MAX_DEFAULT;

	if (len > max || sb->len > max - len) {
		sb->overflow = true;
		return false;
	}
	size_t need = sb->len + len + 1;

	if (need <= sb->cap)
		return true;
	sb->cap = need < 64 ? 64 : need + need / 2;
	sb->ptr = mem_realloc(sb->ptr, sb->cap, 1);
	return true;
}

void strbuf_add(struct strbuf *sb, const void *bytes, size_t len)
{
	if (!reserve(sb, len))
		return;
	if (len > 0)
		memcpy(sb->ptr + sb->len, bytes, len);
	sb->len += len;
	sb->ptr[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *text)
{
	strbuf_add(sb, text, strlen(text));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, fmt, args);

	va_end(args);
	if (len < 0)
		BUG("format '%s'", fmt);
	if (reserve(sb, (size_t)len)) {
		vsnprintf(sb->ptr + sb->len, (size_t)len + 1, fmt, again);
		sb->len += (size_t)len;
	}
	va_end(again);
}

const char *strbuf_str(const struct strbuf *sb)
{
	return sb->ptr != NULL ? sb->ptr : "";
}

char *strbuf_take(struct strbuf *sb)
{
	char *text = sb->ptr != NULL ? sb->ptr : mem_strdup("");

	*sb = (struct strbuf){.max = sb->max};
	return text;
}
