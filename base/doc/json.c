/*
 * cJSON behind strict checks. cJSON accepts duplicate keys, bad UTF-8 and cuts strings at \u0000,
 * so one scan of the text comes first and one walk of the tree after.
 */
#include "base/doc/json.h"

#include <math.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/text.h"

static void *allocate(size_t size)
{
	return mem_realloc(NULL, size, 1);
}

void json_use_mem(void)
{
	cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = allocate, .free_fn = free});
}

/* 2^53: whole numbers up to here are exact in a double */
#define JSON_EXACT_MAX 9007199254740992.0

static int fail_at(const char *what, const char *text, size_t offset, const char *why,
                   struct err *err)
{
	unsigned line, column;

	text_position(text, offset, &line, &column);
	return err_set(err, ERR_FORMAT, "%s:%u:%u: %s", what, line, column, why);
}

/* What is wrong with the string byte at text[i], or NULL. */
static const char *string_problem(const char *text, size_t left)
{
	if (left >= 6 && memcmp(text, "\\u0000", 6) == 0)
		return "a NUL character in a string";
	return (unsigned char)text[0] < 0x20 ? "a control byte in a string" : NULL;
}

/* The index of the string's closing quote (or len) for the opening one at i. */
static size_t skip_string(const char *text, size_t len, size_t i, const char **ret_problem)
{
	for (i++; i < len && text[i] != '"'; i++) {
		*ret_problem = string_problem(text + i, len - i);
		if (*ret_problem != NULL)
			return i;
		if (text[i] == '\\')
			i++;
	}
	return i;
}

static size_t skip_digits(const char *text, size_t len, size_t i)
{
	while (i < len && text[i] >= '0' && text[i] <= '9')
		i++;
	return i;
}

/*
 * The index of the number's last byte (or of its fault). cJSON leaves numbers to strtod, which
 * takes "01", "1." and "-.5"; RFC 8259, section 6 does not.
 */
static size_t skip_number(const char *text, size_t len, size_t i, const char **ret_problem)
{
	*ret_problem = "a malformed number";
	i += text[i] == '-';
	size_t end = skip_digits(text, len, i);

	if (end == i || (text[i] == '0' && end > i + 1))
		return i;
	i = end;
	if (i < len && text[i] == '.') {
		end = skip_digits(text, len, ++i);
		if (end == i)
			return i;
		i = end;
	}
	if (i < len && (text[i] == 'e' || text[i] == 'E')) {
		i++;
		i += i < len && (text[i] == '+' || text[i] == '-');
		end = skip_digits(text, len, i);
		if (end == i)
			return i;
		i = end;
	}
	*ret_problem = NULL;
	return i - 1;
}

/* Depth, NUL, control bytes and numbers, before the parser's recursion sees the text. */
static int scan(const char *what, const char *text, size_t len, struct err *err)
{
	const char *nul = memchr(text, '\0', len), *problem = NULL;
	size_t i = 0;
	int depth = 0;

	if (nul != NULL)
		return fail_at(what, text, (size_t)(nul - text), "a NUL byte", err);
	for (; i < len && problem == NULL; i++) {
		if (text[i] == '"')
			i = skip_string(text, len, i, &problem);
		else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9'))
			i = skip_number(text, len, i, &problem);
		else if (text[i] == '{' || text[i] == '[')
			depth++;
		else if (text[i] == '}' || text[i] == ']')
			depth--;
		else if ((unsigned char)text[i] < 0x20 && strchr("\t\r\n", text[i]) == NULL)
			problem = "a control byte";
		if (depth > JSON_DEPTH_MAX)
			problem = "nested too deeply";
	}
	return problem == NULL ? 0 : fail_at(what, text, i > 0 ? i - 1 : 0, problem, err);
}

static int check_keys(const char *what, const cJSON *obj, struct err *err)
{
	size_t n = (size_t)cJSON_GetArraySize(obj), i = 0;
	AUTO_FREE const char **keys = mem_calloc(n + 1, sizeof(*keys));
	const cJSON *child = NULL;

	cJSON_ArrayForEach (child, obj)
		keys[i++] = child->string;
	qsort(keys, n, sizeof(*keys), text_compare);
	for (i = 1; i < n; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return err_set(err, ERR_FORMAT, "%s: key '%.80s' appears twice", what,
			               keys[i]);
	return 0;
}

static int check_tree(const char *what, const cJSON *node, struct err *err)
{
	const cJSON *child = NULL;

	if (cJSON_IsObject(node) && check_keys(what, node, err) != 0)
		return -1;
	if (cJSON_IsNumber(node) && !isfinite(node->valuedouble))
		return err_set(err, ERR_FORMAT, "%s: a number out of range", what);
	cJSON_ArrayForEach (child, node) {
		if (check_tree(what, child, err) != 0)
			return -1;
	}
	return 0;
}

int json_parse(const char *what, const char *text, size_t len, cJSON **ret_doc, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	const char *end = NULL;

	if (text == NULL || len == 0)
		return err_set(err, ERR_FORMAT, "%s: empty", what);
	if (!text_is_utf8(text, len))
		return err_set(err, ERR_FORMAT, "%s: not UTF-8", what);
	if (scan(what, text, len, err) != 0)
		return -1;
	doc = cJSON_ParseWithLengthOpts(text, len, &end, 0);
	if (doc == NULL)
		return fail_at(what, text, end != NULL ? (size_t)(end - text) : 0, "not JSON", err);
	for (; end < text + len; end++)
		if (strchr(" \t\r\n", *end) == NULL)
			return fail_at(what, text, (size_t)(end - text), "text after the document",
			               err);
	if (check_tree(what, doc, err) != 0)
		return -1;
	*ret_doc = doc;
	doc = NULL;
	return 0;
}

void json_done(cJSON **doc)
{
	cJSON_Delete(*doc);
	*doc = NULL;
}

const cJSON *json_get(const cJSON *obj, const char *key)
{
	return cJSON_IsObject(obj) ? cJSON_GetObjectItemCaseSensitive(obj, key) : NULL;
}

const char *json_string(const cJSON *obj, const char *key)
{
	const cJSON *item = json_get(obj, key);

	return cJSON_IsString(item) ? item->valuestring : NULL;
}

int json_size(const cJSON *obj, const char *key, int64_t *ret_value, struct err *err)
{
	const cJSON *item = json_get(obj, key);

	if (!cJSON_IsNumber(item))
		return err_set(err, ERR_FORMAT, "'%s' is missing or not a number", key);
	if (!(item->valuedouble >= 0 && item->valuedouble <= JSON_EXACT_MAX) ||
	    floor(item->valuedouble) != item->valuedouble)
		return err_set(err, ERR_FORMAT, "'%s' is not a whole number of at least 0", key);
	*ret_value = (int64_t)item->valuedouble;
	return 0;
}

static void print_number(double value, struct strbuf *sb)
{
	if (floor(value) == value && fabs(value) <= JSON_EXACT_MAX)
		strbuf_addf(sb, "%lld", (long long)value);
	else
		strbuf_addf(sb, "%.17g", value);
}

static void new_line(struct strbuf *sb, int depth)
{
	if (depth < 0)
		return;
	strbuf_addc(sb, '\n');
	for (int i = 0; i < depth; i++)
		strbuf_adds(sb, "  ");
}

static void print_node(const cJSON *node, int depth, struct strbuf *sb);

static void print_children(const cJSON *node, bool object, int depth, struct strbuf *sb)
{
	const int below = depth < 0 ? -1 : depth + 1;
	const cJSON *child = NULL;

	strbuf_addc(sb, object ? '{' : '[');
	cJSON_ArrayForEach (child, node) {
		if (child != node->child)
			strbuf_addc(sb, ',');
		new_line(sb, below);
		if (object) {
			jsonw_quote(sb, child->string);
			strbuf_adds(sb, depth < 0 ? ":" : ": ");
		}
		print_node(child, below, sb);
	}
	if (node->child != NULL)
		new_line(sb, depth);
	strbuf_addc(sb, object ? '}' : ']');
}

/* depth < 0: compact. */
static void print_node(const cJSON *node, int depth, struct strbuf *sb)
{
	if (cJSON_IsString(node))
		jsonw_quote(sb, node->valuestring);
	else if (cJSON_IsNumber(node))
		print_number(node->valuedouble, sb);
	else if (cJSON_IsBool(node))
		strbuf_adds(sb, cJSON_IsTrue(node) ? "true" : "false");
	else if (cJSON_IsObject(node) || cJSON_IsArray(node))
		print_children(node, cJSON_IsObject(node), depth, sb);
	else
		strbuf_adds(sb, "null");
}

void json_print(const cJSON *doc, struct strbuf *sb)
{
	print_node(doc, -1, sb);
}

void json_print_pretty(const cJSON *doc, struct strbuf *sb)
{
	print_node(doc, 0, sb);
	strbuf_addc(sb, '\n');
}

static cJSON *item_or_end(cJSON *item)
{
	if (item == NULL)
		mem_exhausted("cJSON");
	return item;
}

cJSON *json_add_object(cJSON *obj, const char *key)
{
	return item_or_end(cJSON_AddObjectToObject(obj, key));
}

cJSON *json_add_array(cJSON *obj, const char *key)
{
	return item_or_end(cJSON_AddArrayToObject(obj, key));
}

void json_add_string(cJSON *obj, const char *key, const char *value)
{
	if (value != NULL)
		item_or_end(cJSON_AddStringToObject(obj, key, value));
}

void json_add_int(cJSON *obj, const char *key, int64_t value)
{
	item_or_end(cJSON_AddNumberToObject(obj, key, (double)value));
}

void json_add_bool(cJSON *obj, const char *key, bool value)
{
	item_or_end(cJSON_AddBoolToObject(obj, key, value));
}

void json_push(cJSON *array, cJSON *item)
{
	cJSON_AddItemToArray(array, item_or_end(item));
}

void json_insert(cJSON *array, cJSON *before, cJSON *item)
{
	if (before == NULL) {
		json_push(array, item);
		return;
	}
	item->next = before;
	item->prev = before->prev;
	before->prev = item;
	if (array->child == before)
		array->child = item;
	else
		item->prev->next = item;
}

void json_push_string(cJSON *array, const char *value)
{
	json_push(array, cJSON_CreateString(value));
}
