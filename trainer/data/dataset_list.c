/*
 * dataset.json into a checked list.
 */
#include <string.h>

#include "base/jsonr.h"
#include "base/mem.h"
#include "trainer/data/dataset.h"

static const char format_name[] = "slipway-dataset/v1";

static int whole(const struct jsonr *doc, const struct jsonr_node *obj, const char *key,
                 uint32_t max, uint32_t *ret, struct err *err)
{
	const struct jsonr_node *node = jsonr_get(doc, obj, key);
	uint64_t value;

	if (node == NULL || !jsonr_whole(node, &value) || value > max)
		return err_set(err, ERR_FORMAT, "'%s' is not a number from 0 to %u", key, max);
	*ret = (uint32_t)value;
	return 0;
}

/* A file name that stays inside the folder. */
static bool stays_inside(const char *file)
{
	if (file[0] == '/' || file[0] == '\0' || strlen(file) > 1024)
		return false;
	for (const char *p = file; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
			return false;
	}
	return true;
}

static int add_shard(const struct jsonr *doc, const struct jsonr_node *node,
                     struct dataset_list *list, struct err *err)
{
	const struct jsonr_node *file = jsonr_get(doc, node, "file");
	struct dataset_entry e = {.first = list->n_clips};

	if (file == NULL || file->type != JSONR_STRING || !stays_inside(file->string))
		return err_set(err, ERR_FORMAT, "'file' is not a path inside the folder");
	if (whole(doc, node, "clips", SHARD_CLIPS_MAX, &e.n_clips, err) != 0 ||
	    whole(doc, node, "label", INT32_MAX, &e.label, err) != 0)
		return -1;
	if (e.n_clips == 0)
		return 0;
	e.file = mem_strdup(file->string);
	list->at = mem_vec_grow(list->at, list->n, &list->cap, sizeof(*list->at));
	list->at[list->n++] = e;
	list->n_clips += e.n_clips;
	return 0;
}

static int read_doc(const struct jsonr *doc, struct dataset_list *list, struct err *err)
{
	const struct jsonr_node *format = jsonr_get(doc, doc->nodes, "format");
	const struct jsonr_node *clip = jsonr_get(doc, doc->nodes, "clip");
	const struct jsonr_node *shards = jsonr_get(doc, doc->nodes, "shards"), *node;

	if (format == NULL || format->type != JSONR_STRING ||
	    strcmp(format->string, format_name) != 0)
		return err_set(err, ERR_FORMAT, "'format' is not '%s'", format_name);
	if (whole(doc, clip, "frames", SHARD_FRAMES_MAX, &list->shape.frames, err) != 0 ||
	    whole(doc, clip, "height", SHARD_SIDE_MAX, &list->shape.height, err) != 0 ||
	    whole(doc, clip, "width", SHARD_SIDE_MAX, &list->shape.width, err) != 0 ||
	    whole(doc, clip, "samples", INT32_MAX, &list->shape.samples, err) != 0)
		return err_wrap(err, "clip");
	if (clip_shape_check(&list->shape, err) != 0)
		return -1;
	if (shards == NULL || shards->type != JSONR_ARRAY)
		return err_set(err, ERR_FORMAT, "'shards' is not a list");
	node = jsonr_first(doc, shards);
	for (size_t i = 0; i < shards->n; i++, node = jsonr_next(doc, node))
		if (add_shard(doc, node, list, err) != 0)
			return err_wrap(err, "shard %zu", i);
	return 0;
}

int dataset_list_parse(const char *what, const char *text, size_t len, struct dataset_list *ret,
                       struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct dataset_list list = {0};

	if (jsonr_parse(what, text, len, &doc, err) != 0)
		return -1;
	if (read_doc(&doc, &list, err) != 0) {
		dataset_list_done(&list);
		return err_wrap(err, "%s", what);
	}
	*ret = list;
	return 0;
}

void dataset_list_done(struct dataset_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->at[i].file);
	free(list->at);
	*list = (struct dataset_list){0};
}
