/* Who builds, and the statement of it. */
#include "base/doc/json.h"
#include "builder/provenance/statement.h"
#include "tests/harness.h"

struct variable {
	const char *name, *value;
};

static const char *lookup(void *ctx, const char *name)
{
	for (const struct variable *v = ctx; v->name != NULL; v++)
		if (strcmp(v->name, name) == 0)
			return v->value;
	return NULL;
}

#define SHA "0123456789abcdef0123456789abcdef01234567"

static void knows_the_systems(void)
{
	static struct variable codebuild[] = {
		{"CODEBUILD_BUILD_ARN", "arn:aws:codebuild:us-west-2:1234:build/app:6f2-1"},
		{"CODEBUILD_SOURCE_REPO_URL", "https://github.com/a/b.git"},
		{"CODEBUILD_RESOLVED_SOURCE_VERSION", SHA},
		{NULL, NULL}};
	static struct variable gitlab[] = {
		{"GITLAB_CI", "true"},      {"CI_PROJECT_URL", "https://gitlab.com/a/b"},
		{"CI_RUNNER_ID", "12"},     {"CI_JOB_URL", "https://gitlab.com/a/b/-/jobs/3"},
		{"CI_JOB_TOKEN", "secret"}, {NULL, NULL}};
	static struct variable jenkins[] = {{"JENKINS_URL", "https://ci.example.com/"},
	                                    {"BUILD_URL", "https://ci.example.com/job/x/7/"},
	                                    {"GIT_COMMIT", "no commit"},
	                                    {NULL, NULL}};
	static struct variable none[] = {{NULL, NULL}};
	static const struct {
		struct variable *env;
		const char *name, *builder, *invocation, *commit;
	} rows[] = {
		{codebuild, "codebuild", "arn:aws:codebuild:us-west-2:1234:project/app",
	         "arn:aws:codebuild:us-west-2:1234:build/app:6f2-1", SHA},
		{gitlab, "gitlab", "https://gitlab.com/a/b/-/runners/12",
	         "https://gitlab.com/a/b/-/jobs/3", NULL},
		{jenkins, "jenkins", "https://ci.example.com/", "https://ci.example.com/job/x/7/",
	         NULL},
		{none, "local", "https://slipway.dev/builder/local", NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		const struct ci_identity id = ci_identify(lookup, rows[i].env, &a);

		CHECK_STR(id.name, rows[i].name);
		CHECK_STR(id.builder, rows[i].builder);
		CHECK((id.invocation == NULL) == (rows[i].invocation == NULL));
		if (id.invocation != NULL)
			CHECK_STR(id.invocation, rows[i].invocation);
		CHECK((id.commit == NULL) == (rows[i].commit == NULL));
	}
}

/* CI systems put tokens into URLs: https://user:token@host/, ?token=. */
static void urls_lose_their_secrets(void)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{"https://oauth2:glpat-abc@gitlab.com/a/b.git", "https://gitlab.com/a/b.git"},
		{"https://token@host/a@b", "https://host/a@b"},
		{"https://host/a?private_token=abc", "https://host/a"},
		{"https://a@b@host/x", "https://host/x"},
		{"git@github.com:a/b.git", "git@github.com:a/b.git"},
		{"user:pass@host:a/b", NULL},
		{"https://host/a\nb", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct variable env[] = {{"JENKINS_URL", "https://ci.example.com/"},
		                         {"GIT_URL", rows[i].url},
		                         {NULL, NULL}};
		const struct ci_identity id = ci_identify(lookup, env, &a);

		CHECK((id.source == NULL) == (rows[i].want == NULL));
		if (id.source != NULL && rows[i].want != NULL)
			CHECK_STR(id.source, rows[i].want);
	}
}

static void states_how_it_was_built(void)
{
	AUTO(provenance)
	struct provenance p = {.name = "r.example.com/app",
	                       .platform = {"linux", "arm64", ""},
	                       .spec_path = "slipway.yaml",
	                       .format = "1 zstd",
	                       .version = "1",
	                       .builder = {.name = "local", .builder = "urn:x"}};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO(json) cJSON *doc = NULL;
	const char *key = "image.env.TOKEN";
	struct err err = {0};

	p.overrides = (struct strlist){&key, 1};
	vec_push(&p.inputs, ((struct provenance_input){.name = "source",
	                                               .algorithm = "gitCommit",
	                                               .digest = SHA,
	                                               .modified = true}));
	provenance_print(&p, &sb);
	CHECK_OK(json_parse("statement", strbuf_str(&sb), sb.len, &doc, &err), &err);
	CHECK_STR(json_string(doc, "_type"), "https://in-toto.io/Statement/v1");
	CHECK_STR(json_string(doc, "predicateType"), "https://slsa.dev/provenance/v1");
	const cJSON *predicate = json_get(doc, "predicate");
	const cJSON *definition = json_get(predicate, "buildDefinition");
	const cJSON *inputs = json_get(definition, "resolvedDependencies");

	CHECK_STR(json_string(json_get(json_get(definition, "externalParameters"), "spec"), "path"),
	          "slipway.yaml");
	CHECK_STR(json_string(json_get(inputs->child, "digest"), "gitCommit"), SHA);
	CHECK(cJSON_IsTrue(json_get(json_get(inputs->child, "annotations"), "modified")));
	CHECK(json_get(json_get(predicate, "runDetails"), "metadata") == NULL);
}

int main(void)
{
	TEST("provenance: CI systems are known by their variables", knows_the_systems);
	TEST("provenance: URLs lose users, passwords and queries", urls_lose_their_secrets);
	TEST("provenance: the statement is in-toto's with SLSA's predicate",
	     states_how_it_was_built);
	return test_done();
}
