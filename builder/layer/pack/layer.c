/* See layer.h. The order of attempts: stat key, shape and diff ID, the whole pipeline. */
#include "builder/layer/pack/layer.h"

#include <fcntl.h>

#include "base/cpus.h"
#include "base/pool.h"
#include "base/timestamp.h"
#include "builder/layer/pack/blocks.h"
#include "builder/layer/pack/compress.h"
#include "builder/layer/pack/keys.h"
#include "builder/layer/pack/pack.h"
#include "builder/layer/pack/ztocs.h"
#include "builder/layer/ztoc/spans.h"
#include "builder/layer/ztoc/toc.h"

enum {
	WRITEBACK = 16 << 20, /* bytes after which the kernel is asked to start writing to disk */
	FORMAT_MAX = 128
};

/* What one call of layer_write works on. */
struct layer_job {
	const struct tree *tree;
	const struct layer_opts *opts;
	int level;
	char format[FORMAT_MAX];
	bool has_stat, stat_usable;
	struct digest stat_key, shape_key;
	unsigned task; /* progress */
};

static void format_text(char out[FORMAT_MAX], enum compression compression, int level)
{
	if (compression == COMPRESSION_NONE)
		snprintf(out, FORMAT_MAX, "%d %s", LAYER_FORMAT_VERSION,
		         codec_encoder(compression));
	else
		snprintf(out, FORMAT_MAX, "%d %s level %d", LAYER_FORMAT_VERSION,
		         codec_encoder(compression), level);
}

char *layer_format_text(enum compression compression, int level, struct arena *a)
{
	char text[FORMAT_MAX];
	struct err ignored = {0};
	int known = level;

	if (codec_level(compression, level, &known, &ignored) != 0)
		known = level;
	format_text(text, compression, known);
	return arena_strdup(a, text);
}

/* ---- writing to disk early ---- */

/*
 * The blob is flushed before it gets its name. Asking the kernel to start while compression still
 * runs keeps that flush short.
 */
struct early_sink {
	struct sink sink;
	struct layout_blob *blob;
	int64_t written, asked;
};

static int early_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	struct early_sink *e = (struct early_sink *)s;

	if (sink_write(&e->blob->hashed.sink, bytes, len, err) != 0)
		return -1;
	e->written += (int64_t)len;
	if (e->written - e->asked >= WRITEBACK) {
		(void)sync_file_range(e->blob->file.fd, e->asked, e->written - e->asked,
		                      SYNC_FILE_RANGE_WRITE);
		e->asked = e->written;
	}
	return 0;
}

/* ---- the passes ---- */

static void take_blob(const struct layer_job *j, const struct cache_blob *blob, bool cached,
                      struct layer_result *ret)
{
	*ret = (struct layer_result){.diff_id = blob->diff_id,
	                             .digest = blob->digest,
	                             .media_type = media_layer(j->opts->compression),
	                             .size = blob->size,
	                             .raw_size = blob->raw_size,
	                             .cached = cached};
}

static void remember_stat(const struct layer_job *j, const struct digest *diff_id)
{
	if (j->has_stat && j->stat_usable)
		cache_put_stat(j->opts->cache, &j->stat_key, diff_id);
}

static int start_job(struct layer_job *j, struct err *err)
{
	struct timespec now;

	if (codec_level(j->opts->compression, j->opts->level, &j->level, err) != 0)
		return -1;
	format_text(j->format, j->opts->compression, j->level);
	if (j->opts->cache == NULL)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	if (keys_stat(j->tree, timespec_ns(now), &j->stat_key, &j->stat_usable, err) != 0)
		return -1;
	j->has_stat = true;
	j->shape_key = keys_shape(j->tree);
	return 0;
}

/* Nothing is read: the sources' stat data say that the tar is known. */
static bool try_stat(const struct layer_job *j, struct cache_blob *ret_blob)
{
	struct digest diff_id;

	return j->has_stat && j->stat_usable &&
	       cache_find_stat(j->opts->cache, &j->stat_key, &diff_id) &&
	       cache_find_blob(j->opts->cache, &diff_id, j->format, j->opts->layout, ret_blob);
}

/* A tar of this shape is known: hash this one before compressing it. *ret_hit says whether it was
 * worth it. */
static int try_hash(struct layer_job *j, bool *ret_hit, struct cache_blob *ret_blob,
                    struct err *err)
{
	AUTO(hash_out) struct hash_out h = {0};
	struct digest diff_id;

	*ret_hit = false;
	if (!j->has_stat || !cache_find_shape(j->opts->cache, &j->shape_key))
		return 0;
	hash_out_init(&h);
	if (pack_tree(j->tree, &h.out, j->opts->progress, j->task, err) != 0)
		return -1;
	diff_id = hash_out_final(&h);
	*ret_hit = cache_find_blob(j->opts->cache, &diff_id, j->format, j->opts->layout, ret_blob);
	if (*ret_hit)
		remember_stat(j, &diff_id);
	else
		progress_advance(j->opts->progress, j->task, -tree_bytes(j->tree));
	return 0;
}

/* Tar through the block pipeline into `out`; `spans` (NULL = none) sees it pass. */
static int pack_blocks(const struct layer_job *j, struct sink *out, struct spans_writer *spans,
                       struct cache_blob *blob, struct err *err)
{
	AUTO(blocks) struct blocks b = {0};
	struct blocks_opts opts = {.compression = j->opts->compression,
	                           .level = j->level,
	                           .threads =
	                                   j->opts->threads != 0 ? j->opts->threads : cpus_usable(),
	                           .out = out,
	                           .spans = spans};

	if (blocks_start(&b, &opts, err) != 0 ||
	    pack_tree(j->tree, &b.out, j->opts->progress, j->task, err) != 0 ||
	    blocks_finish(&b, err) != 0)
		return -1;
	blob->diff_id = blocks_raw_digest(&b);
	blob->raw_size = b.raw_size;
	return 0;
}

static int write_blob(const struct layer_job *j, struct spans_writer *spans,
                      struct cache_blob *blob, struct err *err)
{
	struct layout_blob file;
	struct early_sink out = {.sink = {.write = early_write}, .blob = &file};
	int rc;

	if (layout_blob_begin(j->opts->layout, &file, err) != 0)
		return -1;
	rc = pack_blocks(j, &out.sink, spans, blob, err);
	if (rc == 0)
		rc = layout_blob_commit(&file, NULL, &blob->digest, &blob->size, err);
	layout_blob_done(&file);
	if (rc == 0 && j->opts->compression == COMPRESSION_NONE)
		blob->diff_id = blob->digest;
	return rc;
}

static void remember_all(const struct layer_job *j, const struct cache_blob *blob)
{
	if (j->opts->cache == NULL)
		return;
	cache_put_blob(j->opts->cache, j->format, j->opts->layout, blob);
	cache_put_shape(j->opts->cache, &j->shape_key);
	remember_stat(j, &blob->diff_id);
}

/* ---- zTOCs ---- */

static struct ztocs ztocs_of(const struct layer_job *j)
{
	return (struct ztocs){j->opts->layout, j->opts->cache, j->opts->progress};
}

/* The blob, and its zTOC from what was seen of it. */
static int write_with_ztoc(const struct layer_job *j, struct cache_blob *blob,
                           struct descriptor *ret_ztoc, struct err *err)
{
	AUTO(ztoc) struct ztoc z = {0};
	const struct ztocs ztocs = ztocs_of(j);
	struct spans_writer *spans;
	int rc;

	ztoc_init(&z, ZTOC_SPAN_BYTES);
	spans = spans_writer_new(&z);
	rc = write_blob(j, spans, blob, err);
	spans_writer_free(spans);
	if (rc != 0 || blob->size < ZTOCS_LAYER_MIN)
		return rc;
	if (toc_of_tree(j->tree, &z, err) != 0)
		return -1;
	return ztocs_put(&ztocs, &z, &blob->digest, ret_ztoc, err);
}

/* The zTOC of a blob that was not packed now. */
static int find_ztoc(const struct layer_job *j, const struct cache_blob *blob,
                     struct descriptor *ret_ztoc, struct err *err)
{
	const struct descriptor desc = {.media_type = media_layer(COMPRESSION_GZIP),
	                                .digest = blob->digest,
	                                .size = blob->size};
	const struct ztocs ztocs = ztocs_of(j);
	struct ztocs_layer layer = {.desc = &desc};
	int rc;

	if (blob->size < ZTOCS_LAYER_MIN)
		return 0;
	layer.store = layout_store(j->opts->layout);
	rc = ztocs_of_layer(&ztocs, &layer, ret_ztoc, err);
	store_close(layer.store);
	return rc;
}

/* ---- all of it ---- */

static int make_blob(const struct layer_job *j, bool ztoc, struct cache_blob *blob,
                     struct descriptor *ret_ztoc, struct err *err)
{
	int rc = ztoc ? write_with_ztoc(j, blob, ret_ztoc, err) : write_blob(j, NULL, blob, err);

	if (rc == 0)
		remember_all(j, blob);
	return rc;
}

static int run_job(struct layer_job *j, struct layer_result *ret_result, struct err *err)
{
	bool with_ztoc = j->opts->ztoc && j->opts->compression == COMPRESSION_GZIP;
	struct descriptor ztoc = {0};
	struct cache_blob blob = {0};
	bool cached = try_stat(j, &blob);

	if (!cached && try_hash(j, &cached, &blob, err) != 0)
		return -1;
	if (cached && with_ztoc && find_ztoc(j, &blob, &ztoc, err) != 0)
		return -1;
	if (!cached && make_blob(j, with_ztoc, &blob, &ztoc, err) != 0)
		return -1;
	take_blob(j, &blob, cached, ret_result);
	ret_result->ztoc = ztoc;
	return 0;
}

int layer_write(const struct tree *t, const struct layer_opts *opts,
                struct layer_result *ret_result, struct err *err)
{
	const char *label = t->label != NULL ? t->label : "layer";
	struct layer_job j = {.tree = t, .opts = opts};
	struct layer_result result;

	if (start_job(&j, err) != 0)
		return err_wrap(err, "layer '%s'", label);
	j.task = progress_start(opts->progress, label, tree_bytes(t));
	if (run_job(&j, &result, err) != 0) {
		progress_finish(opts->progress, j.task, "failed");
		return err_wrap(err, "layer '%s'", label);
	}
	progress_finish(opts->progress, j.task, result.cached ? "cached" : "packed");
	*ret_result = result;
	return 0;
}
