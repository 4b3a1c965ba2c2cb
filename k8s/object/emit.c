#include "k8s/object/emit.h"

#include <string.h>

static void comment(const char *text, struct strbuf *sb)
{
	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, "\n");

		strbuf_adds(sb, "# ");
		for (size_t i = 0; i < len; i++)
			strbuf_addc(sb, (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?'
			                                                                 : text[i]);
		strbuf_addc(sb, '\n');
		text += len + (text[len] == '\n');
	}
}

void k8s_file_text(const struct k8s_output *out, const struct k8s_output_file *file,
                   enum k8s_format format, bool foreign, struct strbuf *sb)
{
	bool first = true;

	for (size_t k = 0; k < file->n; k++) {
		const struct k8s_document *d = &file->at[k];

		if (d->foreign && !foreign)
			continue;
		if (format != K8S_YAML) {
			json_print_pretty(d->doc, sb);
			continue;
		}
		if (!first || sb->len > 0)
			strbuf_adds(sb, "---\n");
		if (first)
			comment(file->about, sb);
		first = false;
		k8s_yaml(d->doc, out->notes, out->n_notes, sb);
	}
}

static bool chosen(const struct k8s_output_file *file, struct k8s_scope scope)
{
	return file->choice == NULL || scope.choice == NULL ||
	       strcmp(file->choice, scope.choice) == 0;
}

static void list(const struct k8s_output *out, struct k8s_scope scope, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();

	json_add_string(doc, "apiVersion", "v1");
	json_add_string(doc, "kind", "List");
	cJSON *items = json_add_array(doc, "items");

	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < out->files[i].n; k++)
			if (chosen(&out->files[i], scope) &&
			    (scope.foreign || !out->files[i].at[k].foreign))
				cJSON_AddItemReferenceToArray(items, out->files[i].at[k].doc);
	json_print_pretty(doc, sb);
}

void k8s_stream(const struct k8s_output *out, enum k8s_format format, struct k8s_scope scope,
                struct strbuf *sb)
{
	if (format == K8S_LIST) {
		list(out, scope, sb);
		return;
	}
	for (size_t i = 0; i < out->n; i++)
		if (chosen(&out->files[i], scope))
			k8s_file_text(out, &out->files[i], format, scope.foreign, sb);
}
