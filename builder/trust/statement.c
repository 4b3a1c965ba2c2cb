#include "builder/trust/statement.h"

#include <string.h>

#include "base/text.h"

enum { STATEMENT_ANNOTATIONS_MAX = 1024 };

static int parse_annotations(const cJSON *obj, struct arena *a, struct strmap *map, struct err *err)
{
	const cJSON *item = NULL;

	if (obj == NULL || cJSON_IsNull(obj))
		return 0;
	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "annotations is not an object");
	cJSON_ArrayForEach (item, obj) {
		if (map->n == STATEMENT_ANNOTATIONS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d annotations",
			               STATEMENT_ANNOTATIONS_MAX);
		/* Attestations may carry any value there; only texts can be asked for. */
		if (cJSON_IsString(item))
			strmap_set(map, a, item->string, item->valuestring);
	}
	return 0;
}

/* *ret_has is false for a subject of another algorithm: it is none that we could compare. */
static int parse_subject(const cJSON *obj, struct arena *a, struct statement_subject *s,
                         bool *ret_has, struct err *err)
{
	const char *hex = json_string(json_get(obj, "digest"), "sha256");
	char text[DIGEST_TEXT_MAX];

	*ret_has = hex != NULL;
	if (!cJSON_IsObject(obj) || !cJSON_IsObject(json_get(obj, "digest")))
		return err_set(err, ERR_FORMAT, "a subject has no digest");
	if (hex == NULL)
		return 0;
	if (strlen(hex) != 2 * DIGEST_BYTES)
		return err_set(err, ERR_FORMAT, "a subject's sha256 is not 64 hex digits");
	snprintf(text, sizeof(text), "sha256:%s", hex);
	if (digest_parse(text, &s->digest, err) != 0)
		return -1;
	s->name = arena_strdup(a, json_string(obj, "name"));
	return parse_annotations(json_get(obj, "annotations"), a, &s->annotations, err);
}

static int parse_subjects(const cJSON *array, struct arena *a, struct trust_statement *s,
                          struct err *err)
{
	size_t n = cJSON_IsArray(array) ? (size_t)cJSON_GetArraySize(array) : 0;
	const cJSON *item = NULL;

	if (n == 0)
		return err_set(err, ERR_FORMAT, "it has no subject");
	if (n > STATEMENT_SUBJECTS_MAX)
		return err_set(err, ERR_LIMIT, "it has %zu subjects, at most %d", n,
		               STATEMENT_SUBJECTS_MAX);
	s->subjects = arena_calloc(a, n, sizeof(*s->subjects));
	cJSON_ArrayForEach (item, array) {
		bool has = false;

		if (parse_subject(item, a, &s->subjects[s->n_subjects], &has, err) != 0)
			return -1;
		s->n_subjects += has;
	}
	return 0;
}

static int parse(const cJSON *doc, struct arena *a, struct trust_statement *s, struct err *err)
{
	const char *type = json_string(doc, "_type");

	if (type == NULL ||
	    (strcmp(type, STATEMENT_TYPE) != 0 && strcmp(type, STATEMENT_TYPE_OLD) != 0))
		return err_set(err, ERR_FORMAT, "its type is '%.80s'", type != NULL ? type : "");
	s->type = arena_strdup(a, type);
	s->predicate_type = arena_strdup(a, json_string(doc, "predicateType"));
	if (s->predicate_type == NULL)
		return err_set(err, ERR_FORMAT, "it has no predicateType");
	return parse_subjects(json_get(doc, "subject"), a, s, err);
}

int statement_parse(const char *text, size_t len, struct arena *a,
                    struct trust_statement *ret_statement, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct trust_statement s = {0};

	if (json_parse("statement", text, len, &doc, err) != 0)
		return -1;
	if (parse(doc, a, &s, err) != 0)
		return err_wrap(err, "statement");
	*ret_statement = s;
	return 0;
}

const struct statement_subject *statement_about(const struct trust_statement *s,
                                                const struct digest *digest)
{
	for (size_t i = 0; i < s->n_subjects; i++)
		if (digest_equal(&s->subjects[i].digest, digest))
			return &s->subjects[i];
	return NULL;
}

void statement_print_sign(const struct digest *digest, const struct strmap *annotations,
                          struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *subject = cJSON_CreateObject(), *map;
	char hex[DIGEST_HEX_MAX];

	json_add_string(doc, "_type", STATEMENT_TYPE);
	json_push(json_add_array(doc, "subject"), subject);
	json_add_string(json_add_object(subject, "digest"), "sha256", digest_hex(digest, hex));
	map = json_add_object(subject, "annotations");
	for (size_t i = 0; i < annotations->n; i++)
		json_add_string(map, annotations->at[i].key, annotations->at[i].value);
	json_add_string(doc, "predicateType", PREDICATE_SIGN);
	json_add_object(doc, "predicate");
	json_print(doc, sb);
}

void statement_print(const struct digest *digest, const char *predicate_type, const char *predicate,
                     size_t len, struct strbuf *sb)
{
	char hex[DIGEST_HEX_MAX];

	strbuf_addf(sb,
	            "{\"_type\":\"%s\",\"subject\":[{\"digest\":{\"sha256\":\"%s\"}}],"
	            "\"predicateType\":\"%s\",\"predicate\":",
	            STATEMENT_TYPE, digest_hex(digest, hex), predicate_type);
	strbuf_add(sb, predicate, len);
	strbuf_addc(sb, '}');
}

int statement_predicate(const char *text, size_t len, struct strbuf *sb, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	const cJSON *predicate;

	if (json_parse("statement", text, len, &doc, err) != 0)
		return -1;
	predicate = json_get(doc, "predicate");
	if (predicate == NULL)
		return err_set(err, ERR_FORMAT, "statement: it has no predicate");
	json_print(predicate, sb);
	strbuf_addc(sb, '\n');
	return 0;
}
