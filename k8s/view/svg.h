/*
 * Writing SVG: the few shapes that the diagram is made of, with texts escaped. Lengths are pixels.
 * Thread rule: pure.
 */
#ifndef SLIPWAY_K8S_VIEW_SVG_H
#define SLIPWAY_K8S_VIEW_SVG_H

#include "base/strbuf.h"

struct svg_box {
	int x, y, width, height;
};

/* How a text looks. */
struct svg_font {
	int size;
	const char *colour;
	bool bold;
	bool end; /* the text ends at x instead of starting there */
};

void svg_start(struct strbuf *sb, int width, int height, const char *title);
void svg_end(struct strbuf *sb);

/* Rounded corners; stroke NULL = none. */
void svg_rect(struct strbuf *sb, const struct svg_box *box, int radius, const char *fill,
              const char *stroke);

/* A text on the base line y, cut with an ellipsis where it would be wider than max_width. */
void svg_text(struct strbuf *sb, int x, int y, int max_width, const struct svg_font *font,
              const char *text);
void svg_textf(struct strbuf *sb, int x, int y, int max_width, const struct svg_font *font,
               const char *fmt, ...) PRINTF_LIKE(6, 7);

/* A path with an arrow head at its end; `d` as in SVG. */
void svg_arrow(struct strbuf *sb, const char *d, const char *colour, bool dashed);
void svg_line(struct strbuf *sb, int x1, int y1, int x2, int y2, const char *colour);

#endif
