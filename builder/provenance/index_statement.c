#include "builder/provenance/index_statement.h"

#include "builder/provenance/statement.h"

static const cJSON *below(const cJSON *statement, const char *key)
{
	return json_get(json_get(statement, "predicate"), key);
}

/* Of a build's parameters, all but the platform. */
static cJSON *parameters(const cJSON *statement)
{
	cJSON *copy = cJSON_Duplicate(
		json_get(below(statement, "buildDefinition"), "externalParameters"), true);

	cJSON_DeleteItemFromObjectCaseSensitive(copy, "platform");
	return copy;
}

/* Runs and their times differ between machines that build parts; builder and spec do not. */
static bool agree(const cJSON *a, const cJSON *b)
{
	AUTO(json) cJSON *mine = parameters(a);
	AUTO(json) cJSON *other = parameters(b);

	return mine != NULL && other != NULL && cJSON_Compare(mine, other, true) &&
	       cJSON_Compare(json_get(below(a, "runDetails"), "builder"),
	                     json_get(below(b, "runDetails"), "builder"), true);
}

static void add_digest(cJSON *object, const struct digest *digest)
{
	char hex[DIGEST_HEX_MAX];

	json_add_string(json_add_object(object, "digest"), "sha256", digest_hex(digest, hex));
}

static void add_definition(cJSON *predicate, const struct provenance_part *parts, size_t n)
{
	const cJSON *from = below(parts[0].statement, "buildDefinition");
	cJSON *definition = json_add_object(predicate, "buildDefinition"), *list;
	cJSON *internal = cJSON_Duplicate(json_get(from, "internalParameters"), true);

	json_add_string(definition, "buildType", json_string(from, "buildType"));
	cJSON_AddItemToObject(definition, "externalParameters", parameters(parts[0].statement));
	if (internal != NULL)
		cJSON_AddItemToObject(definition, "internalParameters", internal);
	list = json_add_array(definition, "resolvedDependencies");
	for (size_t i = 0; i < n; i++) {
		cJSON *part = cJSON_CreateObject();

		json_add_string(part, "name", parts[i].platform);
		add_digest(part, &parts[i].digest);
		json_add_string(part, "mediaType", parts[i].media_type);
		json_push(list, part);
	}
}

static const char *name_of(const cJSON *statement)
{
	const cJSON *subjects = json_get(statement, "subject");

	return json_string(cJSON_IsArray(subjects) ? subjects->child : NULL, "name");
}

bool provenance_print_index(const struct provenance_part *parts, size_t n,
                            const struct digest *index, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *subject = cJSON_CreateObject(), *predicate;

	for (size_t i = 0; i < n; i++)
		if (!agree(parts[0].statement, parts[i].statement)) {
			cJSON_Delete(subject);
			return false;
		}
	json_add_string(doc, "_type", json_string(parts[0].statement, "_type"));
	json_push(json_add_array(doc, "subject"), subject);
	if (name_of(parts[0].statement) != NULL)
		json_add_string(subject, "name", name_of(parts[0].statement));
	add_digest(subject, index);
	json_add_string(doc, "predicateType", PROVENANCE_TYPE);
	predicate = json_add_object(doc, "predicate");
	add_definition(predicate, parts, n);
	cJSON_AddItemToObject(predicate, "runDetails",
	                      cJSON_Duplicate(below(parts[0].statement, "runDetails"), true));
	json_print(doc, sb);
	return true;
}
