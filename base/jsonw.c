#include "base/jsonw.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

void jsonw_init(struct jsonw *w, struct strbuf *sb, bool pretty)
{
	*w = (struct jsonw){.sb = sb, .pretty = pretty};
}

static void new_line(struct jsonw *w)
{
	if (!w->pretty)
		return;
	strbuf_addc(w->sb, '\n');
	for (int i = 0; i < w->depth; i++)
		strbuf_adds(w->sb, "  ");
}

/* What stands before any value: a comma where one is due, nothing after a key. */
static void before_value(struct jsonw *w)
{
	if (w->depth == 0)
		return;
	if (w->in_object[w->depth - 1]) {
		if (!w->after_key)
			BUG("JSON value without a key");
		w->after_key = false;
		return;
	}
	if (w->some[w->depth - 1])
		strbuf_addc(w->sb, ',');
	w->some[w->depth - 1] = true;
	new_line(w);
}

static void open_container(struct jsonw *w, bool object)
{
	before_value(w);
	if (w->depth == JSONW_DEPTH_MAX)
		BUG("JSON deeper than %d", JSONW_DEPTH_MAX);
	strbuf_addc(w->sb, object ? '{' : '[');
	w->in_object[w->depth] = object;
	w->some[w->depth] = false;
	w->depth++;
}

static void close_container(struct jsonw *w, bool object)
{
	if (w->depth == 0 || w->in_object[w->depth - 1] != object || w->after_key)
		BUG("JSON end without its begin");
	w->depth--;
	if (w->some[w->depth])
		new_line(w);
	strbuf_addc(w->sb, object ? '}' : ']');
	if (w->depth == 0 && w->pretty)
		strbuf_addc(w->sb, '\n');
}

void jsonw_begin_object(struct jsonw *w)
{
	open_container(w, true);
}

void jsonw_end_object(struct jsonw *w)
{
	close_container(w, true);
}

void jsonw_begin_array(struct jsonw *w)
{
	open_container(w, false);
}

void jsonw_end_array(struct jsonw *w)
{
	close_container(w, false);
}

void jsonw_key(struct jsonw *w, const char *key)
{
	if (w->depth == 0 || !w->in_object[w->depth - 1] || w->after_key)
		BUG("JSON key '%s' outside an object", key);
	if (w->some[w->depth - 1])
		strbuf_addc(w->sb, ',');
	w->some[w->depth - 1] = true;
	new_line(w);
	jsonw_quote(w->sb, key);
	strbuf_adds(w->sb, w->pretty ? ": " : ":");
	w->after_key = true;
}

static void quote_byte(struct strbuf *sb, unsigned char c)
{
	static const char *const escapes[256] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
		['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
	};

	if (escapes[c] != NULL)
		strbuf_adds(sb, escapes[c]);
	else if (c < 0x20 || c == 0x7f)
		strbuf_addf(sb, "\\u%04x", c);
	else
		strbuf_addc(sb, (char)c);
}

void jsonw_quote(struct strbuf *sb, const char *text)
{
	strbuf_addc(sb, '"');
	while (*text != '\0') {
		size_t n = text_utf8_length(text, strnlen(text, 4));

		if (n > 1) {
			strbuf_add(sb, text, n);
		} else if (n == 1) {
			quote_byte(sb, (unsigned char)*text);
		} else {
			strbuf_addc(sb, '?');
			n = 1;
		}
		text += n;
	}
	strbuf_addc(sb, '"');
}

void jsonw_string(struct jsonw *w, const char *value)
{
	if (value == NULL) {
		jsonw_null(w);
		return;
	}
	before_value(w);
	jsonw_quote(w->sb, value);
}

void jsonw_int(struct jsonw *w, int64_t value)
{
	before_value(w);
	strbuf_addf(w->sb, "%lld", (long long)value);
}

void jsonw_double(struct jsonw *w, double value)
{
	before_value(w);
	if (isfinite(value))
		strbuf_addf(w->sb, "%.17g", value);
	else
		strbuf_adds(w->sb, "null");
}

void jsonw_bool(struct jsonw *w, bool value)
{
	before_value(w);
	strbuf_adds(w->sb, value ? "true" : "false");
}

void jsonw_null(struct jsonw *w)
{
	before_value(w);
	strbuf_adds(w->sb, "null");
}
