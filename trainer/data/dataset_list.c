/*
 * dataset.json into a checked list.
 */
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "base/mem.h"
#include "trainer/classes/class_read.h"
#include "trainer/data/dataset.h"

enum { LIST_BYTES_MAX = 512 << 20 };

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

static char *copy_text(const struct jsonr *doc, const struct jsonr_node *obj, const char *key)
{
	const struct jsonr_node *node = jsonr_get(doc, obj, key);

	return node != NULL && node->type == JSONR_STRING ? mem_strdup(node->string) : NULL;
}

/* A number in the classes, if there are any; none at all for clips to be classified. */
static int read_label(const struct jsonr *doc, const struct jsonr_node *node,
                      const struct dataset_list *list, uint32_t *ret, struct err *err)
{
	*ret = DATASET_NO_LABEL;
	if (jsonr_get(doc, node, "label") == NULL && list->classes.n == 0)
		return 0;
	if (whole(doc, node, "label", INT32_MAX, ret, err) != 0)
		return -1;
	if (list->classes.n == 0 || *ret < list->classes.n)
		return 0;
	return err_set(err, ERR_FORMAT, "label %u, but there are %zu classes", *ret,
	               list->classes.n);
}

static int add_shard(const struct jsonr *doc, const struct jsonr_node *node,
                     struct dataset_list *list, struct err *err)
{
	const struct jsonr_node *file = jsonr_get(doc, node, "file");
	struct dataset_entry e = {.first = list->n_clips};

	if (file == NULL || file->type != JSONR_STRING || !stays_inside(file->string))
		return err_set(err, ERR_FORMAT, "'file' is not a path inside the folder");
	if (whole(doc, node, "clips", SHARD_CLIPS_MAX, &e.n_clips, err) != 0 ||
	    read_label(doc, node, list, &e.label, err) != 0)
		return -1;
	if (e.n_clips == 0)
		return 0;
	e.file = mem_strdup(file->string);
	e.source = copy_text(doc, node, "source");
	list->at = mem_vec_grow(list->at, list->n, &list->cap, sizeof(*list->at));
	list->at[list->n++] = e;
	list->n_clips += e.n_clips;
	return 0;
}

/* What is malformed here says nothing about the clips: passed over. */
static void read_rejected(const struct jsonr *doc, struct dataset_list *list)
{
	const struct jsonr_node *rejected = jsonr_get(doc, doc->nodes, "rejected"), *node;

	if (rejected == NULL || rejected->type != JSONR_ARRAY)
		return;
	node = jsonr_first(doc, rejected);
	for (size_t i = 0; i < rejected->n; i++, node = jsonr_next(doc, node)) {
		struct dataset_rejected r = {copy_text(doc, node, "source"),
		                             copy_text(doc, node, "reason")};

		if (r.source != NULL && r.reason != NULL) {
			vec_push(&list->rejected, r);
		} else {
			free(r.source);
			free(r.reason);
		}
	}
}

static int read_doc(const char *what, const struct jsonr *doc, struct dataset_list *list,
                    struct err *err)
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
	if (class_list_of_array(what, jsonr_get(doc, doc->nodes, "classes"), doc, &list->classes,
	                        err) != 0)
		return -1;
	if (shards == NULL || shards->type != JSONR_ARRAY)
		return err_set(err, ERR_FORMAT, "'shards' is not a list");
	node = jsonr_first(doc, shards);
	for (size_t i = 0; i < shards->n; i++, node = jsonr_next(doc, node))
		if (add_shard(doc, node, list, err) != 0)
			return err_wrap(err, "shard %zu", i);
	read_rejected(doc, list);
	return 0;
}

int dataset_list_parse(const char *what, const char *text, size_t len, struct dataset_list *ret,
                       struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct dataset_list list = {0};

	if (jsonr_parse(what, text, len, &doc, err) != 0)
		return -1;
	if (read_doc(what, &doc, &list, err) != 0) {
		dataset_list_done(&list);
		return err_wrap(err, "%s", what);
	}
	*ret = list;
	return 0;
}

static void dataset_entry_done(struct dataset_entry *e)
{
	free(e->file);
	free(e->source);
}

void dataset_list_done(struct dataset_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		dataset_entry_done(&list->at[i]);
	for (size_t i = 0; i < list->rejected.n; i++) {
		free(list->rejected.at[i].source);
		free(list->rejected.at[i].reason);
	}
	vec_done(&list->rejected);
	class_list_done(&list->classes);
	free(list->at);
	*list = (struct dataset_list){0};
}

int dataset_list_load(const char *folder, struct dataset_list *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char path[PATH_MAX];

	if (fs_join(path, folder, "dataset.json", err) != 0)
		return -1;
	if (fs_read_file(path, LIST_BYTES_MAX, &text, err) == 0)
		return dataset_list_parse(path, strbuf_str(&text), text.len, ret, err);
	if (err->code == ERR_NOT_FOUND)
		err_hint(err,
		         "Make it from a folder of videos: slipway-trainer prepare --source VIDEOS "
		         "--out '%s'.",
		         folder);
	return -1;
}

/* ---- labels ---- */

static int check_numbers(const struct dataset_list *list, const char *what,
                         const struct label_head *head, struct err *err)
{
	struct label_head own = {head->n_labels, &list->classes, what};

	if (label_head_check(&own, err) != 0)
		return -1;
	for (size_t i = 0; i < list->n; i++) {
		if (list->at[i].label >= head->n_labels)
			return err_set(err, ERR_SPEC,
			               "'%s': '%s' has label %u, but the model has %zu labels",
			               what, list->at[i].file, list->at[i].label, head->n_labels);
		list->at[i].number = list->at[i].label;
	}
	return 0;
}

int dataset_list_match(struct dataset_list *list, const char *what, const struct label_head *head,
                       struct err *err)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].label == DATASET_NO_LABEL)
			return err_set(
				err, ERR_SPEC,
				"'%s': the clips of '%s' have no label: they are there to be "
				"classified",
				what, list->at[i].file);
	if (list->classes.n == 0 || !label_head_is_named(head))
		return check_numbers(list, what, head, err);
	for (size_t i = 0; i < list->n; i++)
		if (label_head_number(head, list->classes.at[list->at[i].label], what,
		                      &list->at[i].number, err) != 0)
			return -1;
	return 0;
}
