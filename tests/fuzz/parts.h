/*
 * Several documents in one input: a line "%%" stands between them. Also a store of images over
 * them, and a file tree, so that what reads images can be fuzzed as it is.
 */
#ifndef SLIPWAY_TESTS_FUZZ_PARTS_H
#define SLIPWAY_TESTS_FUZZ_PARTS_H

#include <stdint.h>
#include <string.h>

#include "base/crypto/digest_stream.h"
#include "base/mem.h"
#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/store.h"

struct part {
	const char *text;
	size_t len;
};

struct parts {
	const char *at;
	size_t left;
};

/* The next document; empty ones when there are no more. */
static inline struct part parts_next(struct parts *p)
{
	const char *mark = p->left > 0 ? memmem(p->at, p->left, "\n%%\n", 4) : NULL;
	struct part part = {p->at, mark != NULL ? (size_t)(mark - p->at) : p->left};
	size_t taken = part.len + (mark != NULL ? 4 : 0);

	p->at += taken;
	p->left -= taken;
	if (part.len == 0)
		part.text = "";
	return part;
}

/* ---- images in memory ---- */

enum { MEMORY_BLOBS_MAX = 32 };

struct memory_store {
	struct store store;
	struct descriptor blobs[MEMORY_BLOBS_MAX];
	struct part bytes[MEMORY_BLOBS_MAX];
	size_t n;
	struct descriptor root;
};

static inline int memory_resolve(struct store *s, const char *tag, struct arena *a,
                                 struct descriptor *ret, struct err *err)
{
	(void)tag, (void)a, (void)err;
	*ret = ((struct memory_store *)(void *)s)->root;
	return 0;
}

static inline int memory_open(struct store *s, const struct descriptor *desc, struct source **ret,
                              struct err *err)
{
	struct memory_store *m = (struct memory_store *)(void *)s;

	for (size_t i = 0; i < m->n; i++)
		if (digest_equal(&m->blobs[i].digest, &desc->digest)) {
			*ret = source_verified(source_from_bytes(m->bytes[i].text, m->bytes[i].len),
			                       &desc->digest, desc->size);
			return 0;
		}
	return err_set(err, ERR_NOT_FOUND, "no such blob");
}

static inline void memory_close(struct store *s)
{
	(void)s;
}

/* The text is borrowed. */
static inline struct descriptor memory_put(struct memory_store *m, const char *media_type,
                                           struct part part)
{
	struct descriptor d = {.media_type = media_type,
	                       .digest = digest_of(part.text, part.len),
	                       .size = (int64_t)part.len};

	if (m->n < MEMORY_BLOBS_MAX) {
		m->bytes[m->n] = part;
		m->blobs[m->n++] = d;
	}
	return d;
}

static inline struct part memory_text(struct arena *a, const struct strbuf *sb)
{
	return (struct part){arena_strndup(a, strbuf_str(sb), sb->len), sb->len};
}

/*
 * The next document as the members of "config", and up to four more as layers, each with a letter
 * for its codec before it (z, g, else none).
 */
static inline void memory_image(struct memory_store *m, struct parts *p, size_t n_layers,
                                struct arena *a)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(1 << 20), text = STRBUF_INIT(1 << 20);
	struct manifest manifest = {.media_type = MEDIA_MANIFEST, .n_layers = n_layers};
	struct part members = parts_next(p);
	char hex[DIGEST_TEXT_MAX];

	*m = (struct memory_store){.store = {memory_resolve, memory_open, memory_close, NULL}};
	manifest.layers = arena_calloc(a, n_layers, sizeof(*manifest.layers));
	strbuf_addf(&config,
	            "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{%.*s},"
	            "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[",
	            (int)members.len, members.text);
	for (size_t i = 0; i < n_layers; i++) {
		struct part layer = parts_next(p);
		char codec = layer.len > 0 ? layer.text[0] : ' ';

		layer.text += layer.len > 0;
		layer.len -= layer.len > 0;
		manifest.layers[i] = memory_put(m,
		                                codec == 'z'   ? MEDIA_LAYER_ZSTD
		                                : codec == 'g' ? MEDIA_LAYER_GZIP
		                                               : MEDIA_LAYER,
		                                layer);
		strbuf_addf(&config, "%s\"%s\"", i > 0 ? "," : "",
		            digest_text(&manifest.layers[i].digest, hex));
	}
	strbuf_adds(&config, "]}}");
	manifest.config = memory_put(m, MEDIA_CONFIG, memory_text(a, &config));
	manifest_print(&manifest, &text);
	m->root = memory_put(m, MEDIA_MANIFEST, memory_text(a, &text));
	snprintf(m->root.platform.os, sizeof(m->root.platform.os), "linux");
	snprintf(m->root.platform.architecture, sizeof(m->root.platform.architecture), "amd64");
}

#endif
