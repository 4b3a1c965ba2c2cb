#include "k8s/deploy/prices.h"

#include <stdio.h>
#include <string.h>

#include "base/doc/yaml.h"
#include "base/slurp.h"
#include "base/text.h"

enum { DECIMALS = 6, WHOLE_DIGITS_MAX = 9 };

bool price_parse(const char *text, int64_t *ret_micros)
{
	size_t whole = strspn(text, "0123456789"), decimals = 0;
	int64_t value, part = 0;

	if (whole == 0 || whole > WHOLE_DIGITS_MAX || !text_int64(text, whole, &value))
		return false;
	if (text[whole] == '.') {
		decimals = strspn(text + whole + 1, "0123456789");
		if (decimals == 0 || decimals > DECIMALS ||
		    !text_int64(text + whole + 1, decimals, &part))
			return false;
		whole++;
	}
	if (text[whole + decimals] != '\0')
		return false;
	for (size_t i = decimals; i < DECIMALS; i++)
		part *= 10;
	*ret_micros = value * MICROS + part;
	return true;
}

void prices_of_map(const struct strmap *map, struct arena *a, struct prices *ret)
{
	const char *currency = strmap_get(map, PRICE_CURRENCY);

	*ret = (struct prices){.currency = currency != NULL ? currency : "USD"};
	for (size_t i = 0; i < map->n; i++)
		strmap_set(&ret->table, a, map->at[i].key, map->at[i].value);
}

/* One row of either form. */
static void add_row(struct strmap *map, const struct strpair *row, struct srcpos at,
                    struct arena *a, struct diags *diags)
{
	int64_t micros;

	if (strmap_get(map, row->key) != NULL)
		diags_add(diags, DIAG_ERROR, at, "'%s' has two prices", row->key);
	else if (strcmp(row->key, PRICE_CURRENCY) != 0 && !price_parse(row->value, &micros))
		diags_add(diags, DIAG_ERROR, at,
		          "'%s' is not a price for '%s': write a number such as 21.50", row->value,
		          row->key);
	else
		strmap_set(map, a, row->key, row->value);
}

/* ---- YAML ---- */

static int read_yaml(const char *path, const struct strbuf *text, struct arena *a,
                     struct diags *diags, struct strmap *map, struct err *err)
{
	struct yaml_node *root;

	if (yaml_parse(path, strbuf_str(text), text->len, a, &root, diags, err) != 0)
		return -1;
	if (root == NULL || root->kind != YAML_MAPPING)
		return err_set(err, ERR_SPEC, "'%s' is not a mapping of instance types to prices",
		               path);
	for (size_t i = 0; i < root->n_pairs; i++) {
		const struct yaml_node *value = root->pairs[i].value;
		struct strpair row = {root->pairs[i].key->text, value->text};

		if (value->kind == YAML_SCALAR)
			add_row(map, &row, value->at, a, diags);
		else
			diags_add(diags, DIAG_ERROR, value->at, "'%s' needs a single price",
			          row.key);
	}
	return 0;
}

/* ---- CSV ---- */

static const char *trimmed(struct arena *a, const char *text, size_t len)
{
	while (len > 0 && strchr(" \t\r\"", text[0]) != NULL)
		text++, len--;
	while (len > 0 && strchr(" \t\r\"", text[len - 1]) != NULL)
		len--;
	return arena_strndup(a, text, len);
}

/* A head ("type,price") is what stands in the first line and has no price. */
static void read_csv_line(const char *line, size_t len, struct srcpos at, struct arena *a,
                          struct diags *diags, struct strmap *map)
{
	const char *comma = memchr(line, ',', len);
	int64_t micros;

	if (trimmed(a, line, len)[0] == '\0' || line[0] == '#')
		return;
	if (comma == NULL) {
		diags_add(diags, DIAG_ERROR, at, "expected TYPE,PRICE");
		return;
	}
	struct strpair row = {trimmed(a, line, (size_t)(comma - line)),
	                      trimmed(a, comma + 1, len - (size_t)(comma + 1 - line))};

	if (at.line == 1 && !price_parse(row.value, &micros) &&
	    strcmp(row.key, PRICE_CURRENCY) != 0)
		return;
	add_row(map, &row, at, a, diags);
}

static void read_csv(const char *path, const char *text, struct arena *a, struct diags *diags,
                     struct strmap *map)
{
	struct srcpos at = {.file = arena_strdup(a, path), .line = 1, .column = 1};

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		read_csv_line(text, len, at, a, diags, map);
		text += len + (text[len] == '\n');
		at.line++;
	}
}

int prices_load(const char *path, struct arena *a, struct diags *diags, struct prices *ret,
                struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct strmap map = {0};
	size_t errors = diags->n_errors;

	if (slurp_file(path, PRICES_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "read prices");
	if (!text_is_utf8(strbuf_str(&text), text.len) || strlen(strbuf_str(&text)) != text.len)
		return err_set(err, ERR_FORMAT, "'%s' is not a text file", path);
	if (text_has_suffix(path, ".csv"))
		read_csv(path, strbuf_str(&text), a, diags, &map);
	else if (read_yaml(path, &text, a, diags, &map, err) != 0)
		return -1;
	if (diags->n_errors > errors)
		return err_set(err, ERR_SPEC, "'%s' is not a price table", path);
	prices_of_map(&map, a, ret);
	return 0;
}

/* ---- asking ---- */

bool prices_instance(const struct prices *p, const char *type, const char *capacity,
                     int64_t *ret_micros)
{
	char key[128];
	const char *text;

	if (type == NULL || capacity == NULL)
		return false;
	snprintf(key, sizeof(key), "%s/%s", type, capacity);
	text = strmap_get(&p->table, key);
	if (text == NULL && strcmp(capacity, "on-demand") == 0)
		text = strmap_get(&p->table, type);
	return text != NULL && price_parse(text, ret_micros);
}

bool prices_storage(const struct prices *p, const char *key, int64_t gib, int64_t *ret_micros)
{
	const char *text = strmap_get(&p->table, key);
	int64_t month;

	if (text == NULL || gib <= 0 || gib > 1 << 20 || !price_parse(text, &month) ||
	    month > INT64_MAX / (1 << 20))
		return false;
	*ret_micros = month * gib / HOURS_PER_MONTH;
	return true;
}

const char *price_text(const struct prices *p, int64_t micros, char out[PRICE_TEXT_MAX])
{
	char digits[32];
	size_t len =
		(size_t)snprintf(digits, sizeof(digits), "%lld.%04lld",
	                         (long long)(micros / MICROS), (long long)(micros % MICROS / 100));

	for (int i = 0; i < 2 && digits[len - 1] == '0'; i++)
		digits[--len] = '\0';
	snprintf(out, PRICE_TEXT_MAX, "%s %.16s", digits, p->currency);
	return out;
}
