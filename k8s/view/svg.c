#include "k8s/view/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void escape(struct strbuf *sb, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '<':
			strbuf_adds(sb, "&lt;");
			break;
		case '>':
			strbuf_adds(sb, "&gt;");
			break;
		case '&':
			strbuf_adds(sb, "&amp;");
			break;
		default:
			/* Control characters are not XML. */
			strbuf_addc(sb, (unsigned char)text[i] < 0x20 ? ' ' : text[i]);
		}
}

void svg_start(struct strbuf *sb, int width, int height, const char *title)
{
	strbuf_addf(sb,
	            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	            "viewBox=\"0 0 %d %d\" role=\"img\" "
	            "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<title>",
	            width, height, width, height);
	escape(sb, title, strlen(title));
	strbuf_addf(sb,
	            "</title>\n<defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" "
	            "refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
	            "<path d=\"M0 0L10 5L0 10z\" fill=\"#5a6b7b\"/></marker></defs>\n"
	            "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
	            width, height);
}

void svg_end(struct strbuf *sb)
{
	strbuf_adds(sb, "</svg>\n");
}

void svg_rect(struct strbuf *sb, const struct svg_box *box, int radius, const char *fill,
              const char *stroke)
{
	strbuf_addf(sb, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"",
	            box->x, box->y, box->width, box->height, radius, fill);
	if (stroke != NULL)
		strbuf_addf(sb, " stroke=\"%s\"", stroke);
	strbuf_adds(sb, "/>\n");
}

/* Bytes of the text that fit into `characters`, never within a UTF-8 sequence. */
static size_t fitting(const char *text, size_t characters)
{
	size_t at = 0, n = 0;

	for (; text[at] != '\0'; at++) {
		if (((unsigned char)text[at] & 0xc0) == 0x80)
			continue;
		if (n == characters)
			break;
		n++;
	}
	return at;
}

void svg_text(struct strbuf *sb, int x, int y, int max_width, const struct svg_font *font,
              const char *text)
{
	/* Average width of Latin letters in these fonts, on the safe side. */
	int hundredths = font->bold ? 60 : 55;
	size_t room = (size_t)(max_width * 100 / (font->size * hundredths));
	size_t len = fitting(text, room);

	strbuf_addf(sb, "<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\"%s%s>", x, y,
	            font->size, font->colour, font->bold ? " font-weight=\"bold\"" : "",
	            font->end ? " text-anchor=\"end\"" : "");
	if (text[len] != '\0') {
		escape(sb, text, fitting(text, room > 0 ? room - 1 : 0));
		strbuf_adds(sb, "\xe2\x80\xa6");
	} else {
		escape(sb, text, len);
	}
	strbuf_adds(sb, "</text>\n");
}

void svg_textf(struct strbuf *sb, int x, int y, int max_width, const struct svg_font *font,
               const char *fmt, ...)
{
	AUTO_FREE char *text = NULL;
	va_list args;

	va_start(args, fmt);
	int len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len >= 0)
		svg_text(sb, x, y, max_width, font, text);
}

void svg_arrow(struct strbuf *sb, const char *d, const char *colour, bool dashed)
{
	strbuf_addf(sb,
	            "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s "
	            "marker-end=\"url(#head)\"/>\n",
	            d, colour, dashed ? " stroke-dasharray=\"5 4\"" : "");
}

void svg_line(struct strbuf *sb, int x1, int y1, int x2, int y2, const char *colour)
{
	strbuf_addf(sb,
	            "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" "
	            "stroke-width=\"1.6\"/>\n",
	            x1, y1, x2, y2, colour);
}
