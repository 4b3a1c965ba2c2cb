/*
 * dataset.json: what the trainer reads, and what the next run of prepare need not do again.
 */
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "base/text.h"
#include "trainer/prepare/prepare.h"

enum { RECORD_BYTES_MAX = 512 << 20 };

static void add_shape(struct jsonw *w, const struct clip_shape *s)
{
	jsonw_key(w, "clip");
	jsonw_begin_object(w);
	jsonw_key(w, "frames");
	jsonw_int(w, s->frames);
	jsonw_key(w, "height");
	jsonw_int(w, s->height);
	jsonw_key(w, "width");
	jsonw_int(w, s->width);
	jsonw_key(w, "samples");
	jsonw_int(w, s->samples);
	jsonw_end_object(w);
}

/* Times of change need all their digits, which a JSON number may lose: a text. */
static void add_source(struct jsonw *w, const struct video *v)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)v->mtime_ns);
	jsonw_key(w, "source");
	jsonw_string(w, v->path);
	jsonw_key(w, "size");
	jsonw_int(w, (int64_t)v->size);
	jsonw_key(w, "mtime_ns");
	jsonw_string(w, text);
}

static void add_outcome(struct jsonw *w, const struct video *v, const struct video_outcome *o)
{
	jsonw_begin_object(w);
	if (o->file != NULL) {
		jsonw_key(w, "file");
		jsonw_string(w, o->file);
		jsonw_key(w, "clips");
		jsonw_int(w, o->clips);
		if (v->label != VIDEO_NO_LABEL) {
			jsonw_key(w, "label");
			jsonw_int(w, v->label);
		}
	} else {
		jsonw_key(w, "reason");
		jsonw_string(w, o->reason);
	}
	add_source(w, v);
	jsonw_end_object(w);
}

static void add_outcomes(struct jsonw *w, const char *key, const struct videos *videos,
                         const struct video_outcome *outcomes, bool rejected)
{
	jsonw_key(w, key);
	jsonw_begin_array(w);
	for (size_t i = 0; i < videos->n; i++)
		if ((outcomes[i].file == NULL) == rejected)
			add_outcome(w, &videos->at[i], &outcomes[i]);
	jsonw_end_array(w);
}

int prepare_record(const struct prepare_options *o, const struct videos *videos,
                   const struct video_outcome *outcomes, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_BYTES_MAX);
	AUTO(strbuf) struct strbuf old = STRBUF_INIT(0);
	struct err unread = {0};
	char path[PATH_MAX];
	struct jsonw w;

	jsonw_init(&w, &text, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "format");
	jsonw_string(&w, "slipway-dataset/v1");
	add_shape(&w, &o->shape);
	jsonw_key(&w, "max_clips");
	jsonw_int(&w, o->limits.max_clips);
	jsonw_key(&w, "classes");
	jsonw_begin_array(&w);
	for (size_t i = 0; i < videos->classes.n; i++)
		jsonw_string(&w, videos->classes.at[i]);
	jsonw_end_array(&w);
	add_outcomes(&w, "shards", videos, outcomes, false);
	add_outcomes(&w, "rejected", videos, outcomes, true);
	jsonw_end_object(&w);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "over %d bytes of dataset.json", RECORD_BYTES_MAX);
	if (fs_join(path, o->out, "dataset.json", err) != 0)
		return -1;
	if (fs_read_file(path, RECORD_BYTES_MAX, &old, &unread) == 0 && old.len == text.len &&
	    memcmp(old.ptr, text.ptr, text.len) == 0)
		return 0;
	return fs_write_file(path, text.ptr, text.len, 0644, err);
}

/* ---- what the last run wrote ---- */

static const char *text_of(const struct jsonr *doc, const struct jsonr_node *obj, const char *key)
{
	const struct jsonr_node *n = jsonr_get(doc, obj, key);

	return n != NULL && n->type == JSONR_STRING ? n->string : NULL;
}

static bool number_is(const struct jsonr *doc, const struct jsonr_node *obj, const char *key,
                      uint64_t want)
{
	const struct jsonr_node *n = jsonr_get(doc, obj, key);
	uint64_t value;

	return n != NULL && jsonr_whole(n, &value) && value == want;
}

static bool same_recipe(const struct prepare_options *o, const struct jsonr *doc)
{
	const struct jsonr_node *clip = jsonr_get(doc, doc->nodes, "clip");

	return number_is(doc, clip, "frames", o->shape.frames) &&
	       number_is(doc, clip, "height", o->shape.height) &&
	       number_is(doc, clip, "width", o->shape.width) &&
	       number_is(doc, clip, "samples", o->shape.samples) &&
	       number_is(doc, doc->nodes, "max_clips", o->limits.max_clips);
}

static int compare_path(const void *key, const void *item)
{
	return strcmp(key, ((const struct video *)item)->path);
}

/* Whether the shard is still there and whole in size; its clips are checked when they are read. */
static bool shard_stands(const struct prepare_options *o, const char *file, uint32_t *ret_clips)
{
	struct err unusable = {0};
	struct shard s = {0};
	char path[PATH_MAX];
	bool good = fs_join(path, o->out, file, &unusable) == 0 &&
	            shard_open(path, &s, &unusable) == 0 &&
	            memcmp(&s.shape, &o->shape, sizeof(s.shape)) == 0 && s.n_clips > 0;

	*ret_clips = good ? (uint32_t)s.n_clips : 0;
	return good;
}

static void recall_one(const struct prepare_options *o, const struct jsonr *doc,
                       const struct jsonr_node *node, const struct videos *videos,
                       struct video_outcome *outcomes)
{
	const char *source = text_of(doc, node, "source"), *mtime = text_of(doc, node, "mtime_ns");
	const char *file = text_of(doc, node, "file"), *reason = text_of(doc, node, "reason");
	const struct video *v = NULL;
	struct video_outcome *out;
	int64_t when;

	if (source != NULL)
		v = bsearch(source, videos->at, videos->n, sizeof(*videos->at), compare_path);
	if (v == NULL || v->missing || mtime == NULL || !text_int64(mtime, strlen(mtime), &when) ||
	    when != v->mtime_ns || !number_is(doc, node, "size", v->size))
		return;
	out = &outcomes[v - videos->at];
	if (out->known)
		return;
	if (file != NULL && shard_stands(o, file, &out->clips)) {
		out->file = mem_strdup(file);
		out->known = true;
	} else if (file == NULL && reason != NULL) {
		out->reason = mem_strdup(reason);
		out->known = true;
	}
}

void prepare_recall(const struct prepare_options *o, const struct videos *videos,
                    struct video_outcome *outcomes)
{
	static const char *const lists[] = {"shards", "rejected"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};
	struct err unread = {0};
	char path[PATH_MAX];

	if (fs_join(path, o->out, "dataset.json", &unread) != 0 ||
	    fs_read_file(path, RECORD_BYTES_MAX, &text, &unread) != 0 ||
	    jsonr_parse(path, strbuf_str(&text), text.len, &doc, &unread) != 0 ||
	    !same_recipe(o, &doc))
		return;
	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		const struct jsonr_node *list = jsonr_get(&doc, doc.nodes, lists[k]), *node;

		if (list == NULL || list->type != JSONR_ARRAY)
			continue;
		node = jsonr_first(&doc, list);
		for (size_t i = 0; i < list->n; i++, node = jsonr_next(&doc, node))
			recall_one(o, &doc, node, videos, outcomes);
	}
}
