#include "trainer/classes/class_read.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "base/text.h"

enum { DOCUMENT_BYTES_MAX = 512 << 20 };

char *class_placeholder(size_t i, char out[CLASS_PLACEHOLDER_MAX])
{
	snprintf(out, CLASS_PLACEHOLDER_MAX, "LABEL_%zu", i);
	return out;
}

/* Takes *list, whole or not. */
static int seal(struct class_list *list, const char *what, struct class_list *ret, struct err *err)
{
	if (class_list_seal(list, what, err) != 0) {
		class_list_done(list);
		return -1;
	}
	*ret = *list;
	return 0;
}

int class_list_of_array(const char *what, const struct jsonr_node *node, const struct jsonr *doc,
                        struct class_list *ret, struct err *err)
{
	struct class_list list = {0};
	const struct jsonr_node *m;

	if (node == NULL) {
		*ret = list;
		return 0;
	}
	if (node->type != JSONR_ARRAY || node->n > CLASSES_MAX)
		return err_set(err, ERR_FORMAT, "'%s': 'classes' is not a list of at most %d names",
		               what, CLASSES_MAX);
	m = jsonr_first(doc, node);
	for (size_t i = 0; i < node->n; i++, m = jsonr_next(doc, m)) {
		if (m->type != JSONR_STRING) {
			class_list_done(&list);
			return err_set(err, ERR_FORMAT, "'%s': class %zu is not a name", what, i);
		}
		class_list_add(&list, m->string);
	}
	return seal(&list, what, ret, err);
}

int class_entries_add(struct class_entries *e, const char *number, const char *name,
                      struct err *err)
{
	int64_t i;

	if (!text_int64(number, strlen(number), &i) || i < 0 || i >= CLASSES_MAX)
		return err_set(err, ERR_FORMAT, "id2label: '%.40s' is not a number from 0 to %d",
		               number, CLASSES_MAX - 1);
	while (e->n <= (size_t)i)
		vec_push(e, NULL);
	if (e->at[i] != NULL)
		return err_set(err, ERR_FORMAT, "id2label: %lld is there twice", (long long)i);
	e->at[i] = mem_strdup(name);
	return 0;
}

static bool is_placeholder(const char *name, size_t i)
{
	char text[CLASS_PLACEHOLDER_MAX];

	return strcmp(name, class_placeholder(i, text)) == 0;
}

int class_entries_end(struct class_entries *e, const char *what, struct class_list *ret,
                      struct err *err)
{
	struct class_list list = {0};
	size_t n = e->n;

	for (size_t i = 0; i < n; i++)
		if (e->at[i] == NULL)
			return err_set(err, ERR_FORMAT, "'%s': id2label has %zu, but not %zu", what,
			               n - 1, i);
	while (n > 0 && is_placeholder(e->at[n - 1], n - 1))
		n--;
	for (size_t i = 0; i < n; i++)
		class_list_add(&list, e->at[i]);
	return seal(&list, what, ret, err);
}

void class_entries_done(struct class_entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->at[i]);
	vec_done(e);
}

int class_list_of_id2label(const char *what, const struct jsonr_node *node, const struct jsonr *doc,
                           struct class_list *ret, struct err *err)
{
	AUTO(class_entries) struct class_entries e = {0};
	const struct jsonr_node *m;

	if (node == NULL || node->type == JSONR_NULL) {
		*ret = (struct class_list){0};
		return 0;
	}
	if (node->type != JSONR_OBJECT)
		return err_set(err, ERR_FORMAT, "'%s': 'id2label' is not an object", what);
	m = jsonr_first(doc, node);
	for (size_t i = 0; i < node->n; i++, m = jsonr_next(doc, m)) {
		if (m->type != JSONR_STRING)
			return err_set(err, ERR_FORMAT, "'%s': id2label: %.40s is not a name", what,
			               m->key);
		if (class_entries_add(&e, m->key, m->string, err) != 0)
			return err_wrap(err, "'%s'", what);
	}
	return class_entries_end(&e, what, ret, err);
}

int class_list_of_lines(const char *what, const char *text, size_t len, struct class_list *ret,
                        struct err *err)
{
	struct class_list list = {0};

	if (memchr(text, '\0', len) != NULL)
		return err_set(err, ERR_FORMAT, "'%s' is not text: it holds a NUL", what);
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;
		size_t cut = n > 0 && text[n - 1] == '\r' ? n - 1 : n;
		AUTO_FREE char *name = mem_strndup(text, cut);

		if (cut > 0)
			class_list_add(&list, name);
		n += end != NULL;
		text += n;
		len -= n;
	}
	return seal(&list, what, ret, err);
}

static int of_document(const char *path, const struct strbuf *text, struct class_list *ret,
                       struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	const struct jsonr_node *classes, *id2label;

	if (jsonr_parse(path, strbuf_str(text), text->len, &doc, err) != 0)
		return -1;
	classes = jsonr_get(&doc, doc.nodes, "classes");
	id2label = jsonr_get(&doc, doc.nodes, "id2label");
	if (classes != NULL)
		return class_list_of_array(path, classes, &doc, ret, err);
	return class_list_of_id2label(path, id2label, &doc, ret, err);
}

static int load_file(const char *path, struct class_list *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (slurp_file(path, DOCUMENT_BYTES_MAX, &text, err) != 0)
		return -1;
	if (strbuf_str(&text)[0] == '{')
		return of_document(path, &text, ret, err);
	return class_list_of_lines(path, strbuf_str(&text), text.len, ret, err);
}

int class_list_load(const char *path, struct class_list *ret, struct err *err)
{
	static const char *const names[] = {"dataset.json", "config.json"};
	char file[PATH_MAX];
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return load_file(path, ret, err);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (fs_join(file, path, names[i], err) != 0)
			return -1;
		if (fs_exists(file))
			return load_file(file, ret, err);
	}
	return err_set(err, ERR_NOT_FOUND, "'%s' has neither a dataset.json nor a config.json",
	               path);
}
