/*
 * Makes small images in an OCI layout for tests: tar members byte by byte (ustar, so that malformed
 * layers can be made too), configuration, manifest, index. Everything can be made wrong on purpose.
 *
 *   struct image_make m = {.architecture = "arm64", .n_layers = 1};
 *   tar_file(&m.layers[0].tar, "usr/bin/p", 0755, bytes, len);
 *   struct descriptor desc = image_make(&m, layout, &arena);
 */
#ifndef SLIPWAY_TESTS_IMAGE_MAKE_H
#define SLIPWAY_TESTS_IMAGE_MAKE_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "builder/oci/layout.h"
#include "builder/oci/mediatype.h"

enum { IMAGE_MAKE_LAYERS = 130 };

struct layer_make {
	struct strbuf tar;
	const char *name;       /* annotation; NULL = none */
	const char *media_type; /* NULL = uncompressed tar */
	bool wrong_diff_id, corrupt;
};

struct image_make {
	const char *architecture;        /* of the index entry */
	const char *config_architecture; /* NULL = the same */
	struct layer_make layers[IMAGE_MAKE_LAYERS];
	size_t n_layers;
	const char *config; /* members of "config", as JSON text; NULL = none */
	int extra_history;  /* entries more than layers */
	const char *config_media_type;
};

/* width - 1 octal digits; the NUL behind them is there. */
static inline void tar_octal(char *field, size_t width, uint64_t value)
{
	for (size_t i = width - 1; i > 0; i--, value /= 8)
		field[i - 1] = (char)('0' + value % 8);
}

static inline void tar_member(struct strbuf *sb, const char *path, char type, unsigned mode,
                              const char *link, const void *bytes, size_t len)
{
	char h[512] = {0};
	unsigned sum = 0;
	static const char zeros[512];

	snprintf(h, 100, "%s", path);
	tar_octal(h + 100, 8, mode);
	tar_octal(h + 108, 8, 0);
	tar_octal(h + 116, 8, 0);
	tar_octal(h + 124, 12, len);
	tar_octal(h + 136, 12, 0);
	memset(h + 148, ' ', 8);
	h[156] = type;
	if (link != NULL)
		snprintf(h + 157, 100, "%s", link);
	memcpy(h + 257, "ustar\00000", 8);
	for (size_t i = 0; i < sizeof(h); i++)
		sum += (unsigned char)h[i];
	tar_octal(h + 148, 7, sum);
	strbuf_add(sb, h, sizeof(h));
	strbuf_add(sb, bytes, len);
	strbuf_add(sb, zeros, (512 - len % 512) % 512);
}

static inline void tar_file(struct strbuf *sb, const char *path, unsigned mode, const void *bytes,
                            size_t len)
{
	tar_member(sb, path, '0', mode, NULL, bytes, len);
}

static inline void tar_text(struct strbuf *sb, const char *path, const char *text)
{
	tar_file(sb, path, 0644, text, strlen(text));
}

static inline void tar_dir(struct strbuf *sb, const char *path, unsigned mode)
{
	tar_member(sb, path, '5', mode, NULL, "", 0);
}

static inline void tar_symlink(struct strbuf *sb, const char *path, const char *target)
{
	tar_member(sb, path, '2', 0777, target, "", 0);
}

static inline void tar_hardlink(struct strbuf *sb, const char *path, const char *target)
{
	tar_member(sb, path, '1', 0644, target, "", 0);
}

static inline struct descriptor image_put(struct layout *l, const char *media_type,
                                          const void *bytes, size_t len)
{
	struct descriptor desc = {0};
	struct err err = {0};

	if (layout_put(l, media_type, bytes, len, &desc, &err) != 0) {
		printf("# %s\n", err.msg);
		abort();
	}
	desc.media_type = media_type;
	return desc;
}

/* Changes a byte of a stored blob behind the layout's back. */
static inline void image_corrupt(struct layout *l, const struct digest *d)
{
	char path[PATH_MAX];
	struct err err = {0};
	FILE *f;

	if (layout_blob_path(l, d, path, &err) != 0 || chmod(path, 0644) != 0 ||
	    (f = fopen(path, "r+")) == NULL)
		abort();
	fseek(f, 700, SEEK_SET);
	fputc('!', f);
	fclose(f);
}

static inline struct descriptor image_layer(struct layer_make *m, struct layout *l, struct arena *a,
                                            struct digest *ret_diff_id)
{
	static const char end[1024];
	struct descriptor desc;

	strbuf_add(&m->tar, end, sizeof(end));
	*ret_diff_id = digest_of(m->tar.ptr, m->tar.len);
	desc = image_put(l, m->media_type != NULL ? m->media_type : MEDIA_LAYER, m->tar.ptr,
	                 m->tar.len);
	if (m->name != NULL)
		strmap_set(&desc.annotations, a, ANNOTATION_LAYER_NAME, m->name);
	if (m->wrong_diff_id)
		ret_diff_id->bytes[0] ^= 1;
	if (m->corrupt)
		image_corrupt(l, &desc.digest);
	strbuf_done(&m->tar);
	return desc;
}

/* Stores the image; the descriptor of its manifest, with platform. */
static inline struct descriptor image_make(struct image_make *m, struct layout *l, struct arena *a)
{
	AUTO(strbuf) struct strbuf config = STRBUF_INIT(1 << 20), bytes = STRBUF_INIT(1 << 20);
	struct manifest manifest = {.media_type = MEDIA_MANIFEST, .n_layers = m->n_layers};
	struct descriptor desc;
	char text[DIGEST_TEXT_MAX];

	manifest.layers = arena_calloc(a, m->n_layers + 1, sizeof(*manifest.layers));
	strbuf_addf(
		&config,
		"{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{%s},\"rootfs\":{\"type\":"
		"\"layers\",\"diff_ids\":[",
		m->config_architecture != NULL ? m->config_architecture : m->architecture,
		m->config != NULL ? m->config : "");
	for (size_t i = 0; i < m->n_layers; i++) {
		struct digest diff_id;

		manifest.layers[i] = image_layer(&m->layers[i], l, a, &diff_id);
		strbuf_addf(&config, "%s\"%s\"", i > 0 ? "," : "", digest_text(&diff_id, text));
	}
	strbuf_adds(&config, "]},\"history\":[");
	for (int i = 0; i < (int)m->n_layers + m->extra_history; i++)
		strbuf_addf(&config, "%s{\"created_by\":\"test\"}", i > 0 ? "," : "");
	strbuf_adds(&config, "]}");
	manifest.config =
		image_put(l, m->config_media_type != NULL ? m->config_media_type : MEDIA_CONFIG,
	                  config.ptr, config.len);
	manifest_print(&manifest, &bytes);
	desc = image_put(l, MEDIA_MANIFEST, bytes.ptr, bytes.len);
	snprintf(desc.platform.os, sizeof(desc.platform.os), "linux");
	snprintf(desc.platform.architecture, sizeof(desc.platform.architecture), "%s",
	         m->architecture);
	return desc;
}

/* Stores an index over the manifests. */
static inline struct descriptor image_index(struct descriptor *manifests, size_t n,
                                            struct layout *l)
{
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(1 << 20);
	const struct index index = {
		.media_type = MEDIA_INDEX, .manifests = manifests, .n_manifests = n};

	index_print(&index, &bytes);
	return image_put(l, MEDIA_INDEX, bytes.ptr, bytes.len);
}

#endif
