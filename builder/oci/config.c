#include "builder/oci/config.h"

#include <string.h>

/* ---- reading ---- */

static int parse_strings(const cJSON *array, const char *name, struct arena *a,
                         struct strlist *ret_list, struct err *err)
{
	const cJSON *item = NULL;
	struct strlist list = {0};

	if (array == NULL || cJSON_IsNull(array))
		return 0;
	if (!cJSON_IsArray(array))
		return err_set(err, ERR_FORMAT, "%s is not an array", name);
	list.at = arena_calloc(a, (size_t)cJSON_GetArraySize(array), sizeof(*list.at));
	cJSON_ArrayForEach (item, array) {
		if (!cJSON_IsString(item))
			return err_set(err, ERR_FORMAT, "%s has an entry that is not a string",
			               name);
		list.at[list.n++] = arena_strdup(a, item->valuestring);
	}
	*ret_list = list;
	return 0;
}

static int parse_diff_ids(const cJSON *doc, struct arena *a, struct image_config *c,
                          struct err *err)
{
	struct strlist texts = {0};

	if (json_get(json_get(doc, "rootfs"), "diff_ids") == NULL)
		return err_set(err, ERR_FORMAT, "rootfs.diff_ids is missing");
	if (parse_strings(json_get(json_get(doc, "rootfs"), "diff_ids"), "rootfs.diff_ids", a,
	                  &texts, err) != 0)
		return -1;
	c->diff_ids = arena_calloc(a, texts.n, sizeof(*c->diff_ids));
	for (size_t i = 0; i < texts.n; i++)
		if (digest_parse(texts.at[i], &c->diff_ids[i], err) != 0)
			return err_wrap(err, "rootfs.diff_ids[%zu]", i);
	c->n_diff_ids = texts.n;
	return 0;
}

static int parse_history(const cJSON *array, struct arena *a, struct image_config *c,
                         struct err *err)
{
	const cJSON *item = NULL;

	if (array == NULL || cJSON_IsNull(array))
		return 0;
	if (!cJSON_IsArray(array))
		return err_set(err, ERR_FORMAT, "history is not an array");
	c->has_history = true;
	c->history = arena_calloc(a, (size_t)cJSON_GetArraySize(array), sizeof(*c->history));
	cJSON_ArrayForEach (item, array) {
		struct history *h = &c->history[c->n_history++];

		h->created = arena_strdup(a, json_string(item, "created"));
		h->created_by = arena_strdup(a, json_string(item, "created_by"));
		h->comment = arena_strdup(a, json_string(item, "comment"));
		h->empty_layer = cJSON_IsTrue(json_get(item, "empty_layer"));
		c->n_nonempty_history += !h->empty_layer;
	}
	return 0;
}

static int parse_part(const cJSON *doc, const char *key, bool required, char out[PLATFORM_PART_MAX],
                      struct err *err)
{
	const char *text = json_string(doc, key);

	if (text == NULL && !required)
		return 0;
	if (text == NULL || strlen(text) >= PLATFORM_PART_MAX)
		return err_set(err, ERR_FORMAT, "%s is missing or too long", key);
	snprintf(out, PLATFORM_PART_MAX, "%s", text);
	return 0;
}

static int parse_platform(const cJSON *doc, struct platform *p, struct err *err)
{
	if (parse_part(doc, "os", true, p->os, err) != 0 ||
	    parse_part(doc, "architecture", true, p->architecture, err) != 0 ||
	    parse_part(doc, "variant", false, p->variant, err) != 0)
		return -1;
	platform_normalise(p);
	return 0;
}

int config_parse(const char *bytes, size_t len, struct arena *a, struct image_config *ret_config,
                 struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct image_config c = {0};

	if (len > CONFIG_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "image configuration of %zu bytes, at most %d", len,
		               CONFIG_BYTES_MAX);
	if (json_parse("image configuration", bytes, len, &doc, err) != 0)
		return -1;
	const cJSON *run = json_get(doc, "config");

	if (parse_platform(doc, &c.platform, err) != 0 || parse_diff_ids(doc, a, &c, err) != 0 ||
	    parse_history(json_get(doc, "history"), a, &c, err) != 0 ||
	    parse_strings(json_get(run, "Entrypoint"), "config.Entrypoint", a, &c.entrypoint,
	                  err) != 0 ||
	    parse_strings(json_get(run, "Cmd"), "config.Cmd", a, &c.cmd, err) != 0)
		return err_wrap(err, "image configuration");
	c.user = arena_strdup(a, json_string(run, "User"));
	*ret_config = c;
	return 0;
}

/* ---- making ---- */

/* Sets obj[key], in place when it is there, so that a base's order is kept. */
static void set_key(cJSON *obj, const char *key, cJSON *value)
{
	if (cJSON_HasObjectItem(obj, key) && json_get(obj, key) != NULL)
		cJSON_ReplaceItemInObjectCaseSensitive(obj, key, value);
	else
		cJSON_AddItemToObject(obj, key, value);
}

static void put_string(cJSON *obj, const char *key, const char *value)
{
	if (value != NULL)
		set_key(obj, key, cJSON_CreateString(value));
}

static cJSON *string_array(const struct strlist *list)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < list->n; i++)
		json_push_string(array, list->at[i]);
	return array;
}

/* Docker's sets are objects with empty values: {"8080/tcp": {}}. */
static void put_set(cJSON *obj, const char *key, const struct strlist *list)
{
	if (list->n == 0)
		return;
	cJSON *set = (cJSON *)json_get(obj, key);

	if (!cJSON_IsObject(set)) {
		set = cJSON_CreateObject();
		set_key(obj, key, set);
	}
	for (size_t i = 0; i < list->n; i++)
		set_key(set, list->at[i], cJSON_CreateObject());
}

/* "NAME=VALUE" of a base with this name, or NULL. */
static cJSON *find_env(cJSON *array, const char *name)
{
	size_t len = strlen(name);
	cJSON *item = NULL;

	cJSON_ArrayForEach (item, array) {
		if (cJSON_IsString(item) && strncmp(item->valuestring, name, len) == 0 &&
		    item->valuestring[len] == '=')
			return item;
	}
	return NULL;
}

static void put_env(cJSON *run, const struct strmap *env)
{
	cJSON *array = (cJSON *)json_get(run, "Env");

	if (env->n == 0)
		return;
	if (!cJSON_IsArray(array)) {
		array = cJSON_CreateArray();
		set_key(run, "Env", array);
	}
	for (size_t i = 0; i < env->n; i++) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
		cJSON *old = find_env(array, env->at[i].key);

		strbuf_addf(&text, "%s=%s", env->at[i].key, env->at[i].value);
		if (old != NULL)
			cJSON_ReplaceItemViaPointer(array, old,
			                            cJSON_CreateString(strbuf_str(&text)));
		else
			json_push_string(array, strbuf_str(&text));
	}
}

static void put_labels(cJSON *run, const struct strmap *labels)
{
	cJSON *map = (cJSON *)json_get(run, "Labels");

	if (labels->n == 0)
		return;
	if (!cJSON_IsObject(map)) {
		map = cJSON_CreateObject();
		set_key(run, "Labels", map);
	}
	for (size_t i = 0; i < labels->n; i++)
		put_string(map, labels->at[i].key, labels->at[i].value);
}

/* The base's numbers are for the base's test: nothing of it stays. */
static void put_healthcheck(cJSON *run, const struct healthcheck *h)
{
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {{"Interval", h->interval},
	               {"Timeout", h->timeout},
	               {"StartPeriod", h->start_period},
	               {"StartInterval", h->start_interval},
	               {"Retries", h->retries}};

	if (!h->set)
		return;
	cJSON *obj = cJSON_CreateObject();

	set_key(run, "Healthcheck", obj);
	set_key(obj, "Test", string_array(&h->test));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value != 0)
			json_add_int(obj, numbers[i].key, numbers[i].value);
}

static void put_run(cJSON *doc, const struct config_settings *s)
{
	cJSON *run = (cJSON *)json_get(doc, "config");

	if (!cJSON_IsObject(run)) {
		run = cJSON_CreateObject();
		set_key(doc, "config", run);
	}
	put_string(run, "User", s->user);
	put_set(run, "ExposedPorts", &s->ports);
	put_env(run, &s->env);
	if (s->has_entrypoint) {
		set_key(run, "Entrypoint", string_array(&s->entrypoint));
		if (!s->has_cmd)
			cJSON_DeleteItemFromObjectCaseSensitive(run, "Cmd");
	}
	if (s->has_cmd)
		set_key(run, "Cmd", string_array(&s->cmd));
	put_set(run, "Volumes", &s->volumes);
	put_string(run, "WorkingDir", s->workdir);
	put_labels(run, &s->labels);
	put_string(run, "StopSignal", s->stop_signal);
	put_healthcheck(run, &s->healthcheck);
}

static void push_history(cJSON *array, const struct history *h)
{
	cJSON *obj = cJSON_CreateObject();

	json_add_string(obj, "created", h->created);
	json_add_string(obj, "created_by", h->created_by);
	json_add_string(obj, "comment", h->comment);
	if (h->empty_layer)
		json_add_bool(obj, "empty_layer", true);
	json_push(array, obj);
}

/*
 * A base may lack history (or part of it) although it has layers; registries and scanners then
 * count wrongly, so entries are made up for its layers before ours follow.
 */
static void complete_history(cJSON *history, size_t n_base_layers)
{
	const cJSON *item = NULL;
	size_t n = 0;

	cJSON_ArrayForEach (item, history)
		n += !cJSON_IsTrue(json_get(item, "empty_layer"));
	for (; n < n_base_layers; n++)
		push_history(history, &(struct history){.created_by = "base image"});
}

static void put_layers(cJSON *doc, const struct config_layer *layers, size_t n)
{
	cJSON *rootfs = (cJSON *)json_get(doc, "rootfs"),
	      *history = (cJSON *)json_get(doc, "history");

	if (!cJSON_IsObject(rootfs)) {
		rootfs = cJSON_CreateObject();
		json_add_string(rootfs, "type", "layers");
		set_key(doc, "rootfs", rootfs);
	}
	cJSON *ids = (cJSON *)json_get(rootfs, "diff_ids");

	if (!cJSON_IsArray(ids)) {
		ids = cJSON_CreateArray();
		set_key(rootfs, "diff_ids", ids);
	}
	if (!cJSON_IsArray(history)) {
		history = cJSON_CreateArray();
		set_key(doc, "history", history);
	}
	complete_history(history, (size_t)cJSON_GetArraySize(ids));
	for (size_t i = 0; i < n; i++) {
		char text[DIGEST_TEXT_MAX];

		json_push_string(ids, digest_text(&layers[i].diff_id, text));
		push_history(history, &layers[i].history);
	}
}

static int check_base(const cJSON *base, const struct platform *want, struct err *err)
{
	struct platform have = {0};
	char a[PLATFORM_TEXT_MAX], b[PLATFORM_TEXT_MAX];

	if (base == NULL)
		return 0;
	if (!cJSON_IsObject(base))
		return err_set(err, ERR_FORMAT, "the base's configuration is not an object");
	if (parse_platform(base, &have, err) != 0)
		return err_wrap(err, "the base's configuration");
	if (platform_match(want, &have) == 0)
		return err_set(err, ERR_FORMAT, "the base is for %s, the image for %s",
		               platform_text(&have, a), platform_text(want, b));
	return 0;
}

int config_make(const cJSON *base, const struct config_settings *s,
                const struct config_layer *layers, size_t n_layers, struct strbuf *sb,
                struct err *err)
{
	AUTO(json) cJSON *doc = NULL;

	if (check_base(base, &s->platform, err) != 0)
		return -1;
	doc = base != NULL ? cJSON_Duplicate(base, 1) : cJSON_CreateObject();
	put_string(doc, "created", s->created);
	put_string(doc, "author", s->author);
	put_string(doc, "architecture", s->platform.architecture);
	put_string(doc, "os", s->platform.os);
	if (s->platform.variant[0] != '\0')
		put_string(doc, "variant", s->platform.variant);
	put_run(doc, s);
	put_layers(doc, layers, n_layers);
	json_print(doc, sb);
	if (sb->overflow)
		return err_set(err, ERR_LIMIT, "image configuration larger than %zu bytes",
		               sb->max);
	return 0;
}
