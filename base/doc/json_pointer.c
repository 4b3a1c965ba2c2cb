#include "base/doc/json_pointer.h"

#include <string.h>

#include "base/attr.h"
#include "base/doc/json_patch.h"
#include "base/text.h"

enum { KEY_MAX = 1 << 12, INDEX_DIGITS_MAX = 6 };

void json_place_done(struct json_place *place)
{
	strbuf_done(&place->key);
}

const char *json_pointer_check(const char *text, const char **ret_hint)
{
	*ret_hint = "write the members on the way, as in /spec/template/spec/containers/0/image; "
		    "in their names ~1 stands for / and ~0 for ~";
	if (text[0] != '/' || text[1] == '\0' || strlen(text) > KEY_MAX)
		return "is not a JSON pointer";
	for (const char *p = text; (p = strchr(p, '~')) != NULL; p++)
		if (p[1] != '0' && p[1] != '1')
			return "is not a JSON pointer";
	return NULL;
}

/* The part at `path`, which stands behind a '/'; returns what follows it. */
static const char *next_part(const char *path, struct strbuf *ret)
{
	strbuf_reset(ret);
	for (; *path != '\0' && *path != '/'; path++)
		if (*path == '~')
			strbuf_addc(ret, *++path == '1' ? '/' : '~');
		else
			strbuf_addc(ret, *path);
	return path;
}

/* -1 for what is not an index: digits without a leading zero. */
static int index_of(const char *key, int n)
{
	size_t len = strlen(key);
	int64_t value;

	if (strcmp(key, "-") == 0)
		return n;
	if (len == 0 || len > INDEX_DIGITS_MAX || (len > 1 && key[0] == '0') ||
	    strspn(key, "0123456789") != len || !text_int64(key, len, &value) || value > n)
		return -1;
	return (int)value;
}

/* `end` is behind the part that the place's key is. */
static int nowhere(const char *path, const char *end, const struct json_place *place,
                   struct err *err)
{
	AUTO(strbuf) struct strbuf parent = STRBUF_INIT(KEY_MAX + 1);
	const char *key = strbuf_str(&place->key);
	size_t len = (size_t)(end - path);

	while (len > 0 && path[len - 1] != '/')
		len--;
	strbuf_add(&parent, path, len > 0 ? len - 1 : 0);
	if (parent.len == 0)
		strbuf_adds(&parent, "the object");
	if (cJSON_IsArray(place->parent))
		return err_set(err, ERR_NOT_FOUND, "%.300s is a list of %d, and has no '%.100s'",
		               strbuf_str(&parent), cJSON_GetArraySize(place->parent), key);
	if (cJSON_IsObject(place->parent))
		return err_set(err, ERR_NOT_FOUND, "there is no '%.100s' in %.300s", key,
		               strbuf_str(&parent));
	return err_set(err, ERR_NOT_FOUND, "%.300s is a value without members",
	               strbuf_str(&parent));
}

int json_place_empty(const char *path, const struct json_place *place, struct err *err)
{
	return nowhere(path, path + strlen(path), place, err);
}

/* Sets item and index of the place by its parent and key; false where that cannot be. */
static bool look(struct json_place *place)
{
	const char *key = strbuf_str(&place->key);

	place->index = -1;
	if (cJSON_IsObject(place->parent)) {
		place->item = cJSON_GetObjectItemCaseSensitive(place->parent, key);
		return true;
	}
	if (!cJSON_IsArray(place->parent))
		return false;
	place->index = index_of(key, cJSON_GetArraySize(place->parent));
	place->item = place->index >= 0 ? cJSON_GetArrayItem(place->parent, place->index) : NULL;
	return place->index >= 0;
}

int json_pointer_walk(cJSON *doc, const char *path, struct json_place *ret, struct err *err)
{
	const char *at = path;

	ret->key = (struct strbuf)STRBUF_INIT(KEY_MAX + 1);
	ret->item = doc;
	while (*at == '/') {
		if (ret->item == NULL)
			return nowhere(path, at, ret, err);
		ret->parent = ret->item;
		at = next_part(at + 1, &ret->key);
		if (!look(ret))
			return nowhere(path, at, ret, err);
	}
	return 0;
}
