#include "base/doc/json_patch.h"

#include <string.h>

#include "base/doc/json_pointer.h"

static const char *const op_names[] = {
	[JSON_OP_ADD] = "add",   [JSON_OP_REMOVE] = "remove", [JSON_OP_REPLACE] = "replace",
	[JSON_OP_MOVE] = "move", [JSON_OP_COPY] = "copy",     [JSON_OP_TEST] = "test"};
_Static_assert(ARRAY_LEN(op_names) == JSON_OPS, "op_names: one for each");
const struct choices json_op_choices = CHOICES(op_names);

void json_change_done(struct json_change *change)
{
	cJSON_Delete(change->gone);
	vec_done(&change->put);
	change->gone = NULL;
}

/* ---- what every change does ---- */

static cJSON *copy_of(const cJSON *value)
{
	cJSON *copy = cJSON_Duplicate(value, true);

	if (copy == NULL)
		mem_exhausted("cJSON");
	return copy;
}

static void keep_gone(struct json_change *change, cJSON *item)
{
	if (change->gone == NULL)
		change->gone = cJSON_CreateArray();
	json_push(change->gone, item);
}

static void take_away(struct json_change *change, cJSON *parent, cJSON *item)
{
	keep_gone(change, cJSON_DetachItemViaPointer(parent, item));
}

/* The item gets another's value and stays where it is, under its own name; `value` is consumed, and
 * what it gets instead is gone. */
static void put_value(struct json_change *change, cJSON *item, cJSON *value)
{
	const int name_flags = cJSON_StringIsConst;
	const cJSON old = *item;

	item->type = (old.type & name_flags) | (value->type & ~name_flags);
	item->child = value->child;
	item->valuestring = value->valuestring;
	item->valueint = value->valueint;
	item->valuedouble = value->valuedouble;
	value->type = (value->type & name_flags) | (old.type & ~name_flags);
	value->child = old.child;
	value->valuestring = old.valuestring;
	value->valueint = old.valueint;
	value->valuedouble = old.valuedouble;
	keep_gone(change, value);
	vec_push(&change->put, item);
}

/* A new member or entry; `value` is consumed. */
static void add_value(struct json_change *change, const struct json_place *place, cJSON *value)
{
	if (place->index < 0)
		cJSON_AddItemToObject(place->parent, strbuf_str(&place->key), value);
	else
		json_insert(place->parent, cJSON_GetArrayItem(place->parent, place->index), value);
	vec_push(&change->put, value);
}

/* Counts nodes up to the limits; false beyond them. */
static bool count(const cJSON *node, int depth, size_t *n)
{
	if (depth > JSON_DEPTH_MAX)
		return false;
	for (const cJSON *child = node->child; child != NULL; child = child->next)
		if (++*n > JSON_PATCH_NODES_MAX || !count(child, depth + 1, n))
			return false;
	return true;
}

static int check_size(const cJSON *doc, struct err *err)
{
	size_t n = 0;

	if (count(doc, 1, &n))
		return 0;
	return err_set(err, ERR_LIMIT,
	               "the object would have more than %d values, or more than %d levels",
	               (int)JSON_PATCH_NODES_MAX, (int)JSON_DEPTH_MAX);
}

/* ---- RFC 7386 ---- */

/* A value without the nulls that would have removed something. */
static cJSON *without_nulls(const cJSON *value)
{
	if (!cJSON_IsObject(value))
		return copy_of(value);
	cJSON *object = cJSON_CreateObject();

	for (const cJSON *member = value->child; member != NULL; member = member->next)
		if (!cJSON_IsNull(member))
			cJSON_AddItemToObject(object, member->string, without_nulls(member));
	return object;
}

static void merge(cJSON *doc, const cJSON *patch, struct json_change *change)
{
	for (const cJSON *member = patch->child; member != NULL; member = member->next) {
		struct json_place place = {
			.parent = doc,
			.item = cJSON_GetObjectItemCaseSensitive(doc, member->string),
			.index = -1};

		if (cJSON_IsNull(member)) {
			if (place.item != NULL)
				take_away(change, doc, place.item);
		} else if (cJSON_IsObject(member) && cJSON_IsObject(place.item)) {
			merge(place.item, member, change);
		} else if (place.item != NULL) {
			put_value(change, place.item, without_nulls(member));
		} else {
			strbuf_adds(&place.key, member->string);
			add_value(change, &place, without_nulls(member));
			strbuf_done(&place.key);
		}
	}
}

int json_merge(cJSON *doc, const cJSON *patch, struct json_change *change, struct err *err)
{
	merge(doc, patch, change);
	return check_size(doc, err);
}

/* ---- RFC 6902 ---- */

/* Adding over a member replaces it; over an entry of an array, it makes room. `value` is consumed.
 */
static void put_at(struct json_change *change, const struct json_place *place, cJSON *value)
{
	if (place->item != NULL && place->index < 0)
		put_value(change, place->item, value);
	else
		add_value(change, place, value);
}

static int source_of(cJSON *doc, const struct json_operation *o, struct json_place *ret,
                     struct err *err)
{
	if (json_pointer_walk(doc, o->from, ret, err) != 0)
		return -1;
	return ret->item != NULL ? 0 : json_place_empty(o->from, ret, err);
}

/* Nothing goes into itself, and the place is looked for before the value leaves its own. */
static int move(cJSON *doc, const struct json_operation *o, struct json_change *change,
                struct err *err)
{
	AUTO(json_place) struct json_place from = {0}, to = {0};
	size_t len = strlen(o->from);

	if (source_of(doc, o, &from, err) != 0)
		return -1;
	if (strncmp(o->path, o->from, len) == 0 && o->path[len] == '/')
		return err_set(err, ERR_CONFLICT, "%.300s cannot move into itself", o->from);
	if (strcmp(o->path, o->from) == 0)
		return 0;
	cJSON *value = copy_of(from.item);

	/* The pointer says where the value shall be once it is no longer where it was. */
	take_away(change, from.parent, from.item);
	if (json_pointer_walk(doc, o->path, &to, err) == 0) {
		put_at(change, &to, value);
		return 0;
	}
	add_value(change, &from, value);
	return -1;
}

static int copy(cJSON *doc, const struct json_operation *o, struct json_change *change,
                struct err *err)
{
	AUTO(json_place) struct json_place from = {0}, to = {0};

	if (source_of(doc, o, &from, err) != 0 || json_pointer_walk(doc, o->path, &to, err) != 0)
		return -1;
	put_at(change, &to, copy_of(from.item));
	return 0;
}

static int not_equal(const struct json_operation *o, const cJSON *item, struct err *err)
{
	AUTO(strbuf) struct strbuf is = STRBUF_INIT(1 << 20), wanted = STRBUF_INIT(1 << 20);

	json_print(item, &is);
	json_print(o->value, &wanted);
	return err_set(err, ERR_CONFLICT, "%.300s is %.200s, and not %.200s", o->path,
	               strbuf_str(&is), strbuf_str(&wanted));
}

static int act(cJSON *doc, const struct json_operation *o, struct json_change *change,
               struct err *err)
{
	AUTO(json_place) struct json_place place = {0};

	if (json_pointer_walk(doc, o->path, &place, err) != 0)
		return -1;
	if (o->op != JSON_OP_ADD && place.item == NULL)
		return json_place_empty(o->path, &place, err);
	if (o->op == JSON_OP_ADD)
		put_at(change, &place, copy_of(o->value));
	else if (o->op == JSON_OP_REPLACE)
		put_value(change, place.item, copy_of(o->value));
	else if (o->op == JSON_OP_REMOVE)
		take_away(change, place.parent, place.item);
	else if (!cJSON_Compare(place.item, o->value, true))
		return not_equal(o, place.item, err);
	return 0;
}

int json_operate(cJSON *doc, const struct json_operation *operation, struct json_change *change,
                 struct err *err)
{
	static int (*const acts[])(cJSON *, const struct json_operation *, struct json_change *,
	                           struct err *) = {
		[JSON_OP_ADD] = act,   [JSON_OP_REMOVE] = act, [JSON_OP_REPLACE] = act,
		[JSON_OP_MOVE] = move, [JSON_OP_COPY] = copy,  [JSON_OP_TEST] = act,
	};

	_Static_assert(ARRAY_LEN(acts) == JSON_OPS, "acts: one for each");
	if (acts[operation->op](doc, operation, change, err) != 0)
		return -1;
	return check_size(doc, err);
}
