#include <stdlib.h>
#include <string.h>

#include "base/slurp.h"
#include "trainer/model/config_fields.h"

static int bad_value(const char *key, const char *text, const char *wanted, struct err *err)
{
	return err_set(err, ERR_SPEC, "config: %s is '%.60s', expected %s", key, text, wanted);
}

static int set_size(const struct model_field *f, size_t *slot, const char *text, struct err *err)
{
	char *end = NULL;
	unsigned long value;

	if (f->min == 0 && (strcmp(text, "null") == 0 || text[0] == '\0')) {
		*slot = 0;
		return 0;
	}
	value = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
	if (end == NULL || *end != '\0')
		return bad_value(f->key, text, "a whole number", err);
	*slot = value;
	return model_field_range(f->key, value, f->min, f->max, err);
}

/* "1,T,H,W", spaces and brackets allowed. */
static int set_output_shape(struct model_config *c, const char *text, struct err *err)
{
	size_t value[4] = {0}, n = 0;

	for (const char *p = text; *p != '\0';) {
		char *end;

		if (strchr("[], \t\n-", *p) != NULL) {
			p++;
			continue;
		}
		if (*p < '0' || *p > '9' || n == 4)
			return bad_value("output_shape", text, "four whole numbers", err);
		value[n++] = strtoul(p, &end, 10);
		p = end;
	}
	if (n != 4)
		return bad_value("output_shape", text, "four whole numbers", err);
	if (model_field_range("output_shape frames", value[1], 1, 1024, err) != 0)
		return -1;
	c->num_frames = value[1];
	c->image_height = value[2];
	c->image_width = value[3];
	return 0;
}

static int set_word(const char *key, const char *text, const char *const words[2], int *slot,
                    struct err *err)
{
	char wanted[80];

	for (int i = 0; i < 2; i++) {
		if (strcmp(text, words[i]) == 0) {
			*slot = i;
			return 0;
		}
	}
	snprintf(wanted, sizeof(wanted), "'%s' or '%s'", words[0], words[1]);
	return bad_value(key, text, wanted, err);
}

static int set_field(struct model_config *c, const struct model_field *f, const char *text,
                     struct err *err)
{
	static const char *const bools[] = {"false", "true"}, *const shapes[] = {"kv", "q"},
				 *const gelus[] = {"gelu", "gelu_new"};
	void *slot = (char *)c + f->offset;
	int word = 0, rc;

	switch (f->type) {
	case FIELD_SIZE:
		return set_size(f, slot, text, err);
	case FIELD_OUTPUT:
		return set_output_shape(c, text, err);
	case FIELD_FRACTION: {
		char *end;

		*(double *)slot = strtod(text, &end);
		return end != text && *end == '\0' ? 0 : bad_value(f->key, text, "a number", err);
	}
	case FIELD_BOOL:
		rc = set_word(f->key, text, bools, &word, err);
		*(bool *)slot = word == 1;
		return rc;
	case FIELD_SHAPE:
		rc = set_word(f->key, text, shapes, &word, err);
		c->cross_attention_shape = (enum attention_shape)word;
		return rc;
	case FIELD_GELU:
		rc = set_word(f->key, text, gelus, &word, err);
		c->hidden_act = (enum gelu_form)word;
		return rc;
	}
	return 0;
}

enum config_key model_config_set(struct model_config *c, const char *key, const char *text,
                                 struct err *err)
{
	const struct model_field *f = model_field_find(key);

	if (f != NULL)
		return set_field(c, f, text, err) == 0 ? CONFIG_KEY_SET : CONFIG_KEY_BAD;
	if (model_field_is_unused(key))
		return CONFIG_KEY_UNUSED;
	return CONFIG_KEY_UNKNOWN;
}

/* The text model_config_set takes for a JSON value; lists of scalars become "1,2,3". */
static void node_text(const struct jsonr *doc, const struct jsonr_node *n, struct strbuf *sb)
{
	const struct jsonr_node *m;

	switch (n->type) {
	case JSONR_NULL:
		strbuf_adds(sb, "null");
		break;
	case JSONR_BOOL:
		strbuf_adds(sb, n->number != 0 ? "true" : "false");
		break;
	case JSONR_NUMBER:
		strbuf_addf(sb, "%.17g", n->number);
		break;
	case JSONR_STRING:
		strbuf_adds(sb, n->string);
		break;
	case JSONR_ARRAY:
		m = jsonr_first(doc, n);
		for (size_t i = 0; i < n->n; i++, m = jsonr_next(doc, m)) {
			strbuf_adds(sb, i > 0 ? "," : "");
			if (m->type == JSONR_NUMBER)
				strbuf_addf(sb, "%.17g", m->number);
		}
		break;
	case JSONR_OBJECT:
		strbuf_adds(sb, "{}");
		break;
	}
}

int model_config_labels(struct model_config *c, const struct label_counts *n, struct err *err)
{
	if (n->named == 0)
		return 0;
	if (n->given == 0)
		c->num_labels = n->named;
	else if (n->given < n->named)
		return err_set(err, ERR_SPEC,
		               "config: num_labels is %zu, but id2label names %zu classes",
		               n->given, n->named);
	return model_field_range("id2label", n->named, 1, 1 << 20, err);
}

static int read_member(struct model_config *c, const struct jsonr *doc, const struct jsonr_node *m,
                       struct label_counts *n, struct strbuf *remarks, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);
	enum config_key outcome;

	if (strcmp(m->key, "id2label") == 0) {
		n->named = m->type == JSONR_OBJECT ? m->n : 0;
		return 0;
	}
	node_text(doc, m, &text);
	outcome = model_config_set(c, m->key, strbuf_str(&text), err);
	if (outcome == CONFIG_KEY_BAD)
		return -1;
	if (strcmp(m->key, "num_labels") == 0)
		n->given = c->num_labels;
	if (remarks != NULL && outcome == CONFIG_KEY_UNKNOWN)
		strbuf_addf(remarks, "config: unknown key '%s' is ignored\n", m->key);
	if (remarks != NULL && outcome == CONFIG_KEY_UNUSED)
		strbuf_addf(remarks, "config: key '%s' has no effect on this model\n", m->key);
	return 0;
}

int model_config_read(struct model_config *c, const struct jsonr *doc, const struct jsonr_node *obj,
                      struct strbuf *remarks, struct err *err)
{
	struct label_counts n = {0};
	const struct jsonr_node *m;

	if (obj->type != JSONR_OBJECT)
		return err_set(err, ERR_SPEC, "config: expected an object");
	m = jsonr_first(doc, obj);
	for (size_t i = 0; i < obj->n; i++, m = jsonr_next(doc, m))
		if (read_member(c, doc, m, &n, remarks, err) != 0)
			return -1;
	if (model_config_labels(c, &n, err) != 0)
		return -1;
	return model_config_check(c, err);
}

int model_config_load(struct model_config *c, const char *path, struct strbuf *remarks,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};

	if (slurp_file(path, 16 << 20, &text, err) != 0)
		return err_wrap(err, "read config");
	if (jsonr_parse(path, strbuf_str(&text), text.len, &doc, err) != 0)
		return -1;
	if (model_config_read(c, &doc, doc.nodes, remarks, err) != 0)
		return err_wrap(err, "%s", path);
	return 0;
}
