#include "k8s/object/render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "k8s/object/shared.h"

void k8s_output_done(struct k8s_output *out)
{
	for (size_t i = 0; i < out->n; i++) {
		for (size_t k = 0; k < out->files[i].n; k++)
			cJSON_Delete(out->files[i].at[k].doc);
		free(out->files[i].at);
	}
	free(out->files);
	free(out->notes);
	arena_done(&out->arena);
	*out = (struct k8s_output){0};
}

void k8s_file(struct k8s_output *out, const char *name, const char *about)
{
	struct k8s_output_file file = {.renderer = out->renderer,
	                               .folder = out->folder,
	                               .name = arena_strdup(&out->arena, name),
	                               .about = arena_strdup(&out->arena, about)};

	out->files = mem_vec_grow(out->files, out->n, &out->cap, sizeof(*out->files));
	out->files[out->n++] = file;
}

void k8s_choice(struct k8s_output *out, const char *target)
{
	out->files[out->n - 1].choice = target;
}

static cJSON *add_document(struct k8s_output *out, bool foreign)
{
	struct k8s_document document = {.doc = cJSON_CreateObject(), .foreign = foreign};

	if (document.doc == NULL)
		mem_exhausted("cJSON");
	if (out->n == 0)
		BUG("a renderer adds an object before it names a file");
	struct k8s_output_file *file = &out->files[out->n - 1];

	file->at = mem_vec_grow(file->at, file->n, &file->cap, sizeof(*file->at));
	file->at[file->n++] = document;
	return document.doc;
}

cJSON *k8s_add_foreign(struct k8s_output *out)
{
	return add_document(out, true);
}

static const char *part_of(const struct k8s_output *out)
{
	return out->n > 0 ? out->files[out->n - 1].part : NULL;
}

void k8s_share(struct k8s_output *out, const char *part)
{
	out->files[out->n - 1].part = part;
}

/* What the spec wants on every object of the fleet; on a shared one, that the fleet uses it. */
static void add_marks(struct k8s_output *out, cJSON *metadata, cJSON *labels)
{
	const struct cluster_section *cluster = out->fleet->cluster;

	if (part_of(out) != NULL) {
		json_add_string(json_add_object(metadata, "annotations"),
		                shared_user_key(out->fleet->name, &out->arena),
		                out->fleet->namespace);
		return;
	}
	k8s_add_map(labels, &cluster->labels);
	if (cluster->annotations.n > 0)
		k8s_add_map(json_add_object(metadata, "annotations"), &cluster->annotations);
}

cJSON *k8s_add(struct k8s_output *out, const char *api_version, const char *kind,
               const char *namespace, const char *name)
{
	cJSON *doc = add_document(out, false);

	json_add_string(doc, "apiVersion", api_version);
	json_add_string(doc, "kind", kind);
	cJSON *metadata = json_add_object(doc, "metadata");

	json_add_string(metadata, "name", name);
	json_add_string(metadata, "namespace", namespace);
	cJSON *labels = json_add_object(metadata, "labels");

	k8s_labels(out, labels, name);
	add_marks(out, metadata, labels);
	return doc;
}

const char *k8s_origin(struct k8s_output *out, struct srcpos pos, const char *path)
{
	if (strncmp(pos.file, "--set ", strlen("--set ")) == 0)
		return pos.file;
	return arena_printf(&out->arena, "%s:%u %s", out->fleet->file, pos.line, path);
}

void k8s_note(struct k8s_output *out, const cJSON *object, const char *key, struct srcpos pos,
              const char *path)
{
	const cJSON *item = json_get(object, key);
	struct k8s_note note = {.item = item};

	if (item == NULL || pos.file == NULL)
		return;
	note.text = k8s_origin(out, pos, path);
	out->notes = mem_vec_grow(out->notes, out->n_notes, &out->cap_notes, sizeof(*out->notes));
	out->notes[out->n_notes++] = note;
}

void k8s_selector(const struct k8s_output *out, cJSON *match_labels, const char *name)
{
	json_add_string(match_labels, "app.kubernetes.io/name", name);
	json_add_string(match_labels, "app.kubernetes.io/instance",
	                part_of(out) != NULL ? SHARED_INSTANCE : out->fleet->name);
}

void k8s_labels(const struct k8s_output *out, cJSON *labels, const char *name)
{
	k8s_selector(out, labels, name);
	json_add_string(labels, "app.kubernetes.io/component", out->renderer->name);
	json_add_string(labels, "app.kubernetes.io/part-of",
	                part_of(out) != NULL ? part_of(out) : out->fleet->name);
	json_add_string(labels, "app.kubernetes.io/managed-by", "slipway");
	json_add_string(labels, "slipway/owner",
	                part_of(out) != NULL ? SHARED_OWNER : out->fleet->name);
}

void k8s_addf(cJSON *object, const char *key, const char *fmt, ...)
{
	AUTO_FREE char *formatted = NULL;
	va_list args;

	va_start(args, fmt);
	int len = vasprintf(&formatted, fmt, args);
	va_end(args);
	if (len < 0)
		mem_exhausted("a text");
	json_add_string(object, key, formatted);
}

void k8s_put_string(cJSON *object, const char *key, const char *value)
{
	cJSON *there = cJSON_GetObjectItemCaseSensitive(object, key);

	if (there == NULL)
		json_add_string(object, key, value);
	else if (cJSON_SetValuestring(there, value) == NULL)
		mem_exhausted("a text");
}

void k8s_add_map(cJSON *object, const struct strmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		k8s_put_string(object, map->at[i].key, map->at[i].value);
}

cJSON *k8s_add_strings(cJSON *object, const char *key, const char *const *at, size_t n)
{
	cJSON *array = json_add_array(object, key);

	for (size_t i = 0; i < n; i++)
		json_push_string(array, at[i]);
	return array;
}

cJSON *k8s_push_object(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	json_push(array, object);
	return object;
}

void k8s_env(cJSON *env, const char *name, const char *value)
{
	cJSON *entry = k8s_push_object(env);

	json_add_string(entry, "name", name);
	json_add_string(entry, "value", value);
}

void k8s_env_field(cJSON *env, const char *name, const char *field_path)
{
	cJSON *entry = k8s_push_object(env), *ref;

	json_add_string(entry, "name", name);
	ref = json_add_object(json_add_object(entry, "valueFrom"), "fieldRef");
	/* The server's default, said: a reference is one value, and to a second field manager it
	 * would differ from what was applied. */
	json_add_string(ref, "apiVersion", "v1");
	json_add_string(ref, "fieldPath", field_path);
}
