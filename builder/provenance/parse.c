/*
 * A statement read back. What is in it and is not known here would not be repeated by a rebuild,
 * nor compared: it is refused.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/doc/json.h"
#include "builder/provenance/statement.h"

enum { LIST_MAX = 65536 /* entries of one list */ };

#define STATEMENT_V1 "https://in-toto.io/Statement/v1"

static const char *copied(const cJSON *obj, const char *key, struct arena *a)
{
	return arena_strdup(a, json_string(obj, key));
}

static int check_keys(const cJSON *obj, const char *where, const char *const known[], size_t n,
                      struct err *err)
{
	const cJSON *item = NULL;

	if (!cJSON_IsObject(obj))
		return err_set(err, ERR_FORMAT, "%s is not an object", where);
	cJSON_ArrayForEach (item, obj) {
		size_t i = 0;

		while (i < n && strcmp(known[i], item->string) != 0)
			i++;
		if (i < n)
			continue;
		err_set(err, ERR_UNSUPPORTED, "it has %s.%.100s, which this slipway does not know",
		        where, item->string);
		return err_hint(err, "use the slipway that wrote it, or a newer one");
	}
	return 0;
}

static int parse_list(const cJSON *obj, const char *key, struct arena *a, struct strlist *ret_list,
                      struct err *err)
{
	const cJSON *array = json_get(obj, key), *item = NULL;
	struct strlist list = {0};

	if (array == NULL)
		return 0;
	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > LIST_MAX)
		return err_set(err, ERR_FORMAT, "%s is not a list of at most %d texts", key,
		               LIST_MAX);
	list.at = arena_calloc(a, (size_t)cJSON_GetArraySize(array), sizeof(*list.at));
	cJSON_ArrayForEach (item, array) {
		if (!cJSON_IsString(item))
			return err_set(err, ERR_FORMAT, "%s holds something else than texts", key);
		list.at[list.n++] = arena_strdup(a, item->valuestring);
	}
	*ret_list = list;
	return 0;
}

static int parse_sha256(const cJSON *obj, struct digest *ret_digest, struct err *err)
{
	const char *hex = json_string(json_get(obj, "digest"), "sha256");
	char text[DIGEST_TEXT_MAX];

	if (hex == NULL || strlen(hex) != 2 * DIGEST_BYTES)
		return err_set(err, ERR_FORMAT, "a sha256 is missing or is not 64 hex digits");
	snprintf(text, sizeof(text), "sha256:%s", hex);
	return digest_parse(text, ret_digest, err);
}

static int check_subject(const cJSON *doc, const struct digest *subject, struct arena *a,
                         struct provenance *p, struct err *err)
{
	const cJSON *array = json_get(doc, "subject"), *item = NULL;
	struct digest digest;
	char text[DIGEST_TEXT_MAX];

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > LIST_MAX)
		return err_set(err, ERR_FORMAT, "it has no list of subjects");
	cJSON_ArrayForEach (item, array) {
		struct err other = {0};

		if (parse_sha256(item, &digest, &other) != 0 || !digest_equal(&digest, subject))
			continue;
		p->manifest = digest;
		p->name = copied(item, "name", a);
		return 0;
	}
	return err_set(err, ERR_CHECK, "it is not about %s", digest_text(subject, text));
}

/* ---- parameters ---- */

static int parse_git(const cJSON *obj, struct arena *a, struct strmap *git, struct err *err)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, obj) {
		if (!cJSON_IsString(item) || git->n == LIST_MAX)
			return err_set(err, ERR_FORMAT, "git holds something else than texts");
		strmap_set(git, a, arena_printf(a, "git:%s", item->string), item->valuestring);
	}
	return 0;
}

static int parse_external(const cJSON *obj, struct arena *a, struct provenance *p, struct err *err)
{
	static const char *const known[] = {"spec",        "image", "platform", "overrides",
	                                    "environment", "git",   "locked"};
	static const char *const of_spec[] = {"path", "digest"};
	const cJSON *spec = json_get(obj, "spec");
	const char *platform = json_string(obj, "platform");

	if (check_keys(obj, "externalParameters", known, ARRAY_LEN(known), err) != 0 ||
	    check_keys(spec, "externalParameters.spec", of_spec, ARRAY_LEN(of_spec), err) != 0 ||
	    parse_sha256(spec, &p->spec, err) != 0 ||
	    parse_list(obj, "overrides", a, &p->overrides, err) != 0 ||
	    parse_list(obj, "environment", a, &p->environment, err) != 0 ||
	    parse_git(json_get(obj, "git"), a, &p->git, err) != 0)
		return -1;
	p->spec_path = copied(spec, "path", a);
	p->image = copied(obj, "image", a);
	p->locked = cJSON_IsTrue(json_get(obj, "locked"));
	if (p->spec_path == NULL || platform == NULL || !cJSON_IsBool(json_get(obj, "locked")))
		return err_set(err, ERR_FORMAT,
		               "externalParameters lacks spec.path, platform or locked");
	return platform_parse(platform, &p->platform, err);
}

static int parse_internal(const cJSON *obj, struct arena *a, struct provenance *p, struct err *err)
{
	static const char *const known[] = {"format", "sourceDateEpoch"};

	if (check_keys(obj, "internalParameters", known, ARRAY_LEN(known), err) != 0 ||
	    json_size(obj, "sourceDateEpoch", &p->epoch, err) != 0)
		return -1;
	p->format = copied(obj, "format", a);
	return p->format != NULL ? 0
	                         : err_set(err, ERR_FORMAT, "internalParameters.format is missing");
}

/* ---- inputs ---- */

static int parse_input(const cJSON *obj, struct arena *a, struct provenance_input *in,
                       struct err *err)
{
	static const char *const known[] = {"name", "uri", "digest", "mediaType", "annotations"};
	static const char *const noted[] = {"sources", "modified"};
	const cJSON *digest = json_get(obj, "digest"), *notes = json_get(obj, "annotations");

	if (check_keys(obj, "resolvedDependencies", known, ARRAY_LEN(known), err) != 0 ||
	    (notes != NULL &&
	     check_keys(notes, "annotations", noted, ARRAY_LEN(noted), err) != 0) ||
	    parse_list(notes, "sources", a, &in->sources, err) != 0)
		return -1;
	in->name = copied(obj, "name", a);
	in->uri = copied(obj, "uri", a);
	in->media_type = copied(obj, "mediaType", a);
	in->modified = cJSON_IsTrue(json_get(notes, "modified"));
	if (in->name == NULL)
		return err_set(err, ERR_FORMAT, "an input has no name");
	if (digest == NULL)
		return 0;
	if (cJSON_GetArraySize(digest) != 1 || !cJSON_IsString(digest->child))
		return err_set(err, ERR_FORMAT, "the input '%.100s' has not one digest", in->name);
	in->algorithm = arena_strdup(a, digest->child->string);
	in->digest = arena_strdup(a, digest->child->valuestring);
	return 0;
}

static int parse_inputs(const cJSON *array, struct arena *a, struct provenance *p, struct err *err)
{
	const cJSON *item = NULL;

	if (!cJSON_IsArray(array) || cJSON_GetArraySize(array) > LIST_MAX)
		return err_set(err, ERR_FORMAT, "resolvedDependencies is not a list of at most %d",
		               LIST_MAX);
	cJSON_ArrayForEach (item, array) {
		struct provenance_input in = {0};

		if (parse_input(item, a, &in, err) != 0)
			return -1;
		vec_push(&p->inputs, in);
	}
	return 0;
}

/* ---- all of it ---- */

static int check_text(const cJSON *obj, const char *key, const char *want, enum err_code code,
                      struct err *err)
{
	const char *text = json_string(obj, key);

	if (text != NULL && strcmp(text, want) == 0)
		return 0;
	return err_set(err, code, "its %s is '%.120s', which is not %s", key,
	               text != NULL ? text : "", want);
}

/* Who ran the build and when is not repeated. */
static int parse_run(const cJSON *run, struct arena *a, struct provenance *p, struct err *err)
{
	const cJSON *builder = json_get(run, "builder");

	p->builder.builder = copied(builder, "id", a);
	p->builder.invocation = copied(json_get(run, "metadata"), "invocationId", a);
	p->version = copied(json_get(builder, "version"), "slipway", a);
	return p->builder.builder != NULL
	               ? 0
	               : err_set(err, ERR_FORMAT, "runDetails.builder.id is missing");
}

static int parse_definition(const cJSON *doc, struct arena *a, struct provenance *p,
                            struct err *err)
{
	static const char *const known[] = {"buildType", "externalParameters", "internalParameters",
	                                    "resolvedDependencies"};

	if (check_text(doc, "buildType", PROVENANCE_BUILD_TYPE, ERR_UNSUPPORTED, err) != 0)
		return err_hint(err, "only what slipway built can be built again by it");
	return check_keys(doc, "buildDefinition", known, ARRAY_LEN(known), err) != 0 ||
	                       parse_external(json_get(doc, "externalParameters"), a, p, err) !=
	                               0 ||
	                       parse_internal(json_get(doc, "internalParameters"), a, p, err) != 0
	               ? -1
	               : parse_inputs(json_get(doc, "resolvedDependencies"), a, p, err);
}

static int parse(const cJSON *doc, const struct digest *subject, struct arena *a,
                 struct provenance *p, struct err *err)
{
	const cJSON *predicate = json_get(doc, "predicate");

	return check_text(doc, "_type", STATEMENT_V1, ERR_FORMAT, err) != 0 ||
	                       check_text(doc, "predicateType", PROVENANCE_TYPE, ERR_FORMAT, err) !=
	                               0 ||
	                       check_subject(doc, subject, a, p, err) != 0 ||
	                       parse_definition(json_get(predicate, "buildDefinition"), a, p,
	                                        err) != 0
	               ? -1
	               : parse_run(json_get(predicate, "runDetails"), a, p, err);
}

int provenance_parse(const char *text, size_t len, const struct digest *subject, struct arena *a,
                     struct provenance *ret_provenance, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO(provenance) struct provenance p = {0};

	if (json_parse("statement", text, len, &doc, err) != 0 ||
	    parse(doc, subject, a, &p, err) != 0)
		return err_wrap(err, "provenance");
	*ret_provenance = p;
	p = (struct provenance){0};
	return 0;
}
