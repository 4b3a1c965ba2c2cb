#include "builder/sbom/inventory_json.h"

#include "base/doc/json.h"
#include "base/jsonw.h"

/* The texts of each part of an inventory, by their names in the line. */
struct text_row {
	const char *key;
	size_t offset;
};

static const struct text_row package_texts[] = {
	{"name", offsetof(struct sbom_package, name)},
	{"version", offsetof(struct sbom_package, version)},
	{"architecture", offsetof(struct sbom_package, architecture)},
	{"source", offsetof(struct sbom_package, source)},
	{"source_version", offsetof(struct sbom_package, source_version)},
	{"maintainer", offsetof(struct sbom_package, maintainer)},
	{"database", offsetof(struct sbom_package, database)},
	{"from", offsetof(struct sbom_package, from)},
};

static const struct text_row object_texts[] = {
	{"path", offsetof(struct sbom_object, path)},
	{"soname", offsetof(struct sbom_object, soname)},
	{"build_id", offsetof(struct sbom_object, build_id)},
};

static const struct text_row distro_texts[] = {
	{"id", offsetof(struct sbom_distro, id)},
	{"version_id", offsetof(struct sbom_distro, version_id)},
	{"codename", offsetof(struct sbom_distro, codename)},
	{"name", offsetof(struct sbom_distro, name)},
};

/* ---- writing ---- */

static void put_texts(struct jsonw *w, const void *object, const struct text_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *text =
			*(const char *const *)(const void *)((const char *)object + rows[i].offset);

		if (text == NULL)
			continue;
		jsonw_key(w, rows[i].key);
		jsonw_string(w, text);
	}
}

static void put_int(struct jsonw *w, const char *key, int64_t value)
{
	jsonw_key(w, key);
	jsonw_int(w, value);
}

static void put_object(struct jsonw *w, const struct sbom_object *o)
{
	jsonw_begin_object(w);
	put_texts(w, o, object_texts, ARRAY_LEN(object_texts));
	put_int(w, "machine", o->machine);
	put_int(w, "bits", o->bits);
	put_int(w, "executable", o->executable);
	if (o->package != NULL)
		put_int(w, "package", (int64_t)o->package->number);
	jsonw_key(w, "needed");
	jsonw_begin_array(w);
	for (size_t i = 0; i < o->needed.n; i++)
		jsonw_string(w, o->needed.at[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

void inventory_json(const struct inventory *inv, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, false);
	jsonw_begin_object(&w);
	jsonw_key(&w, "distro");
	jsonw_begin_object(&w);
	put_texts(&w, &inv->distro, distro_texts, ARRAY_LEN(distro_texts));
	jsonw_end_object(&w);
	jsonw_key(&w, "packages");
	jsonw_begin_array(&w);
	for (size_t i = 0; i < inv->packages.n; i++) {
		jsonw_begin_object(&w);
		put_int(&w, "kind", inv->packages.at[i]->kind);
		put_texts(&w, inv->packages.at[i], package_texts, ARRAY_LEN(package_texts));
		jsonw_end_object(&w);
	}
	jsonw_end_array(&w);
	jsonw_key(&w, "objects");
	jsonw_begin_array(&w);
	for (size_t i = 0; i < inv->objects.n; i++)
		put_object(&w, inv->objects.at[i]);
	jsonw_end_array(&w);
	jsonw_key(&w, "gaps");
	jsonw_begin_array(&w);
	for (size_t i = 0; i < inv->gaps.n; i++)
		jsonw_string(&w, inv->gaps.at[i]);
	jsonw_end_array(&w);
	jsonw_end_object(&w);
}

/* ---- reading ---- */

static void get_texts(const cJSON *from, void *object, const struct text_row *rows, size_t n,
                      struct arena *a)
{
	for (size_t i = 0; i < n; i++)
		*(const char **)(void *)((char *)object + rows[i].offset) =
			arena_strdup(a, json_string(from, rows[i].key));
}

static int bad(struct err *err)
{
	return err_set(err, ERR_FORMAT, "not an inventory");
}

static int get_package(struct inventory *inv, const cJSON *from, struct err *err)
{
	struct sbom_package *p = inventory_add(inv);
	int64_t kind = 0;

	get_texts(from, p, package_texts, ARRAY_LEN(package_texts), inv->arena);
	if (json_size(from, "kind", &kind, err) != 0)
		return -1;
	if (kind > PACKAGE_RPM || p->name == NULL || p->version == NULL)
		return bad(err);
	p->kind = (enum package_kind)kind;
	p->number = inv->packages.n - 1;
	return 0;
}

static void get_needed(struct sbom_object *o, const cJSON *array, struct arena *a)
{
	const cJSON *item;

	o->needed.at = arena_calloc(a, (size_t)cJSON_GetArraySize(array), sizeof(*o->needed.at));
	cJSON_ArrayForEach (item, array) {
		if (cJSON_IsString(item))
			o->needed.at[o->needed.n++] = arena_strdup(a, item->valuestring);
	}
}

static int get_object(struct inventory *inv, const cJSON *from, struct err *err)
{
	struct sbom_object *o = arena_alloc(inv->arena, sizeof(*o));
	int64_t machine = 0, bits = 0, executable = 0, package = -1;

	get_texts(from, o, object_texts, ARRAY_LEN(object_texts), inv->arena);
	if (json_size(from, "machine", &machine, err) != 0 ||
	    json_size(from, "bits", &bits, err) != 0 ||
	    json_size(from, "executable", &executable, err) != 0 ||
	    (json_get(from, "package") != NULL && json_size(from, "package", &package, err) != 0))
		return -1;
	if (o->path == NULL || machine > UINT16_MAX || bits > 64 ||
	    package >= (int64_t)inv->packages.n)
		return bad(err);
	o->machine = (uint16_t)machine;
	o->bits = (unsigned)bits;
	o->executable = executable != 0;
	o->package = package >= 0 ? inv->packages.at[package] : NULL;
	get_needed(o, json_get(from, "needed"), inv->arena);
	vec_push(&inv->objects, o);
	return 0;
}

int inventory_parse(const char *text, size_t len, struct inventory *inv, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	const cJSON *item;

	if (json_parse("inventory", text, len, &doc, err) != 0)
		return -1;
	get_texts(json_get(doc, "distro"), &inv->distro, distro_texts, ARRAY_LEN(distro_texts),
	          inv->arena);
	cJSON_ArrayForEach (item, json_get(doc, "packages")) {
		if (get_package(inv, item, err) != 0)
			return -1;
	}
	cJSON_ArrayForEach (item, json_get(doc, "objects")) {
		if (get_object(inv, item, err) != 0)
			return -1;
	}
	cJSON_ArrayForEach (item, json_get(doc, "gaps")) {
		if (cJSON_IsString(item))
			vec_push(&inv->gaps, arena_strdup(inv->arena, item->valuestring));
	}
	return 0;
}
