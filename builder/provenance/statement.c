#include "builder/provenance/statement.h"

#include <string.h>

#include "base/jsonw.h"

void provenance_done(struct provenance *p)
{
	vec_done(&p->inputs);
}

bool provenance_is_base(const struct provenance_input *in)
{
	return in->uri != NULL && in->algorithm != NULL && strcmp(in->algorithm, "sha256") == 0 &&
	       in->media_type == NULL;
}

/* "key": "value"; nothing for NULL. */
static void put_text(struct jsonw *w, const char *key, const char *value)
{
	if (value == NULL)
		return;
	jsonw_key(w, key);
	jsonw_string(w, value);
}

static void begin(struct jsonw *w, const char *key)
{
	jsonw_key(w, key);
	jsonw_begin_object(w);
}

static void put_digest(struct jsonw *w, const char *algorithm, const char *hex)
{
	begin(w, "digest");
	put_text(w, algorithm, hex);
	jsonw_end_object(w);
}

static void put_list(struct jsonw *w, const char *key, const struct strlist *list)
{
	if (list->n == 0)
		return;
	jsonw_key(w, key);
	jsonw_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		jsonw_string(w, list->at[i]);
	jsonw_end_array(w);
}

static void put_subject(struct jsonw *w, const struct provenance *p)
{
	char hex[DIGEST_HEX_MAX];

	jsonw_key(w, "subject");
	jsonw_begin_array(w);
	jsonw_begin_object(w);
	put_text(w, "name", p->name);
	put_digest(w, "sha256", digest_hex(&p->manifest, hex));
	jsonw_end_object(w);
	jsonw_end_array(w);
}

/* "git": {"describe": "v1"} */
static void put_git(struct jsonw *w, const struct strmap *git)
{
	const char *colon;

	if (git->n == 0)
		return;
	begin(w, "git");
	for (size_t i = 0; i < git->n; i++) {
		colon = strchr(git->at[i].key, ':');
		put_text(w, colon != NULL ? colon + 1 : git->at[i].key, git->at[i].value);
	}
	jsonw_end_object(w);
}

/* What the user chose. */
static void put_external(struct jsonw *w, const struct provenance *p)
{
	char hex[DIGEST_HEX_MAX], platform[PLATFORM_TEXT_MAX];

	begin(w, "externalParameters");
	begin(w, "spec");
	put_text(w, "path", p->spec_path);
	put_digest(w, "sha256", digest_hex(&p->spec, hex));
	jsonw_end_object(w);
	put_text(w, "image", p->image);
	put_text(w, "platform", platform_text(&p->platform, platform));
	put_list(w, "overrides", &p->overrides);
	put_list(w, "environment", &p->environment);
	put_git(w, &p->git);
	jsonw_key(w, "locked");
	jsonw_bool(w, p->locked);
	jsonw_end_object(w);
}

static void put_internal(struct jsonw *w, const struct provenance *p)
{
	begin(w, "internalParameters");
	put_text(w, "format", p->format);
	jsonw_key(w, "sourceDateEpoch");
	jsonw_int(w, p->epoch);
	jsonw_end_object(w);
}

static void put_annotations(struct jsonw *w, const struct provenance_input *in)
{
	if (in->sources.n == 0 && !in->modified)
		return;
	begin(w, "annotations");
	put_list(w, "sources", &in->sources);
	if (in->modified) {
		jsonw_key(w, "modified");
		jsonw_bool(w, true);
	}
	jsonw_end_object(w);
}

static void put_input(struct jsonw *w, const struct provenance_input *in)
{
	jsonw_begin_object(w);
	put_text(w, "name", in->name);
	put_text(w, "uri", in->uri);
	if (in->algorithm != NULL)
		put_digest(w, in->algorithm, in->digest);
	put_text(w, "mediaType", in->media_type);
	put_annotations(w, in);
	jsonw_end_object(w);
}

static void put_definition(struct jsonw *w, const struct provenance *p)
{
	begin(w, "buildDefinition");
	put_text(w, "buildType", PROVENANCE_BUILD_TYPE);
	put_external(w, p);
	put_internal(w, p);
	jsonw_key(w, "resolvedDependencies");
	jsonw_begin_array(w);
	for (size_t i = 0; i < p->inputs.n; i++)
		put_input(w, &p->inputs.at[i]);
	jsonw_end_array(w);
	jsonw_end_object(w);
}

static void put_run(struct jsonw *w, const struct provenance *p)
{
	begin(w, "runDetails");
	begin(w, "builder");
	put_text(w, "id", p->builder.builder);
	begin(w, "version");
	put_text(w, "slipway", p->version);
	jsonw_end_object(w);
	jsonw_end_object(w);
	if (p->builder.invocation != NULL || p->started != NULL || p->finished != NULL) {
		begin(w, "metadata");
		put_text(w, "invocationId", p->builder.invocation);
		put_text(w, "startedOn", p->started);
		put_text(w, "finishedOn", p->finished);
		jsonw_end_object(w);
	}
	jsonw_end_object(w);
}

void provenance_print(const struct provenance *p, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, false);
	jsonw_begin_object(&w);
	put_text(&w, "_type", "https://in-toto.io/Statement/v1");
	put_subject(&w, p);
	put_text(&w, "predicateType", PROVENANCE_TYPE);
	begin(&w, "predicate");
	put_definition(&w, p);
	put_run(&w, p);
	jsonw_end_object(&w);
	jsonw_end_object(&w);
}
