#include <stdio.h>

#include "base/jsonw.h"
#include "trainer/classes/class_read.h"
#include "trainer/model/config_fields.h"

static void print_field(struct jsonw *w, const struct model_config *c, const struct model_field *f)
{
	const void *slot = (const char *)c + f->offset;

	jsonw_key(w, f->key);
	switch (f->type) {
	case FIELD_SIZE:
		if (f->min == 0 && *(const size_t *)slot == 0)
			jsonw_null(w);
		else
			jsonw_int(w, (int64_t) * (const size_t *)slot);
		break;
	case FIELD_BOOL:
		jsonw_bool(w, *(const bool *)slot);
		break;
	case FIELD_FRACTION:
		jsonw_double(w, *(const double *)slot);
		break;
	case FIELD_SHAPE:
		jsonw_string(w, c->cross_attention_shape == SHAPE_KV ? "kv" : "q");
		break;
	case FIELD_GELU:
		jsonw_string(w, c->hidden_act == GELU_ERF ? "gelu" : "gelu_new");
		break;
	case FIELD_OUTPUT:
		jsonw_begin_array(w);
		jsonw_int(w, 1);
		jsonw_int(w, (int64_t)c->num_frames);
		jsonw_int(w, (int64_t)c->image_height);
		jsonw_int(w, (int64_t)c->image_width);
		jsonw_end_array(w);
		break;
	}
}

/* The name of label i, as Hugging Face has it. */
static const char *label_name(const struct class_list *classes, size_t i,
                              char room[CLASS_PLACEHOLDER_MAX])
{
	return i < classes->n ? classes->at[i] : class_placeholder(i, room);
}

/* Every output of the head has a name there: num_labels is the number of id2label's entries. */
static void print_labels(struct jsonw *w, const struct model_config *c,
                         const struct class_list *classes)
{
	char room[CLASS_PLACEHOLDER_MAX], number[32];

	jsonw_key(w, "id2label");
	jsonw_begin_object(w);
	for (size_t i = 0; i < c->num_labels; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		jsonw_key(w, number);
		jsonw_string(w, label_name(classes, i, room));
	}
	jsonw_end_object(w);
	jsonw_key(w, "label2id");
	jsonw_begin_object(w);
	for (size_t i = 0; i < c->num_labels; i++) {
		jsonw_key(w, label_name(classes, i, room));
		jsonw_int(w, (int64_t)i);
	}
	jsonw_end_object(w);
}

void model_config_print(const struct model_config *c, const struct class_list *classes,
                        struct strbuf *sb)
{
	const struct model_field *f;
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "model_type");
	jsonw_string(&w, "perceiver");
	jsonw_key(&w, "architectures");
	jsonw_begin_array(&w);
	jsonw_string(&w, "PerceiverForMultimodalAutoencoding");
	jsonw_end_array(&w);
	jsonw_key(&w, "d_model");
	jsonw_int(&w, (int64_t)model_dims(c).channels);
	for (size_t i = 0; (f = model_field_at(i)) != NULL; i++)
		print_field(&w, c, f);
	if (classes != NULL && classes->n > 0)
		print_labels(&w, c, classes);
	jsonw_end_object(&w);
}
