/* Who builds, and the statement of it. */
#include <string.h>

#include "base/doc/json.h"
#include "builder/provenance/compare.h"
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

/* A statement of two inputs; texts are constants. */
static void fill(struct provenance *p)
{
	*p = (struct provenance){.name = "r.example.com/app",
	                         .manifest = digest_of("m", 1),
	                         .platform = {"linux", "arm64", ""},
	                         .spec_path = "slipway.yaml",
	                         .spec = digest_of("s", 1),
	                         .format = "1 zstd",
	                         .epoch = 7,
	                         .locked = true,
	                         .version = "1",
	                         .builder = {.name = "local", .builder = "urn:x"}};
	vec_push(&p->inputs, ((struct provenance_input){
				     .name = "source", .algorithm = "gitCommit", .digest = SHA}));
	vec_push(&p->inputs,
	         ((struct provenance_input){.name = "libc6", .uri = "pkg:deb/libc6@1"}));
}

static void reads_back_what_it_writes(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(provenance) struct provenance p = {0};
	AUTO(provenance) struct provenance back = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf again = STRBUF_INIT(0);
	const char *name = "MODE", *key = "image.user", *source = "tree";
	struct err err = {0};

	fill(&p);
	p.overrides = (struct strlist){&key, 1};
	p.environment = (struct strlist){&name, 1};
	p.image = "train";
	strmap_set(&p.git, &a, "git:describe", "v1");
	p.inputs.at[0].modified = true;
	p.inputs.at[1].sources = (struct strlist){&source, 1};
	provenance_print(&p, &sb);
	CHECK_OK(provenance_parse(strbuf_str(&sb), sb.len, &p.manifest, &a, &back, &err), &err);
	provenance_print(&back, &again);
	CHECK_STR(strbuf_str(&again), strbuf_str(&sb));
	CHECK(back.epoch == 7);

	struct digest other = digest_of("x", 1);
	struct provenance none = {0};

	CHECK(provenance_parse(strbuf_str(&sb), sb.len, &other, &a, &none, &err) == -1);
	CHECK_INT(err.code, ERR_CHECK);
}

static void refuses_what_it_does_not_know(void)
{
	static const struct {
		const char *from, *to;
		enum err_code code;
	} rows[] = {
		{"\"format\"", "\"salt\":1,\"format\"", ERR_UNSUPPORTED},
		{"\"locked\"", "\"secret\":1,\"locked\"", ERR_UNSUPPORTED},
		{"slipway.dev/build/v1", "slipway.dev/build/v2", ERR_UNSUPPORTED},
		{"Statement/v1", "Statement/v2", ERR_FORMAT},
		{"slsa.dev/provenance/v1", "slsa.dev/provenance/v0.2", ERR_FORMAT},
		{"\"locked\":true", "\"locked\":1", ERR_FORMAT},
		{"\"name\":\"libc6\"", "\"name\":6", ERR_FORMAT},
		{"\"sourceDateEpoch\":7", "\"sourceDateEpoch\":7.5", ERR_FORMAT},
	};
	AUTO(arena) struct arena a = {0};
	AUTO(provenance) struct provenance p = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	fill(&p);
	provenance_print(&p, &sb);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = strbuf_str(&sb), *at = strstr(text, rows[i].from);
		const char *forged = at == NULL
		                             ? ""
		                             : arena_printf(&a, "%.*s%s%s", (int)(at - text), text,
		                                            rows[i].to, at + strlen(rows[i].from));
		struct provenance none = {0};
		struct err err = {0};

		CHECK(provenance_parse(forged, strlen(forged), &p.manifest, &a, &none, &err) == -1);
		CHECK_INT(err.code, rows[i].code);
	}
}

static const struct provenance_finding *found(const struct provenance_findings *f, const char *what)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (strcmp(f->all.at[i].what, what) == 0)
			return &f->all.at[i];
	return NULL;
}

static void names_every_difference(void)
{
	AUTO(arena) struct arena a = {0};
	AUTO(provenance) struct provenance stated = {0};
	AUTO(provenance) struct provenance here = {0};
	AUTO(provenance_findings) struct provenance_findings none = {0};
	AUTO(provenance_findings) struct provenance_findings some = {0};
	AUTO(provenance_findings) struct provenance_findings early = {0};
	const char *key = "image.user";

	fill(&stated);
	fill(&here);
	here.version = "2";
	provenance_compare(&stated, &here, true, &a, &none);
	CHECK_INT(none.n_differ, 0);
	CHECK(found(&none, "slipway") != NULL && !found(&none, "slipway")->differs);
	stated.overrides = (struct strlist){&key, 1};
	here.spec = digest_of("other", 5);
	here.format = "1 gzip";
	here.inputs.at[0].modified = true;
	here.inputs.at[1].uri = "pkg:deb/libc6@2";
	vec_push(&here.inputs, ((struct provenance_input){.name = "alpha.deb",
	                                                  .algorithm = "sha256",
	                                                  .digest = SHA,
	                                                  .media_type = MEDIA_DEB}));
	provenance_compare(&stated, &here, true, &a, &some);
	CHECK_INT(some.n_differ, 6);
	CHECK(found(&some, "spec slipway.yaml") && found(&some, "format of layers") &&
	      found(&some, "option over image.user") && found(&some, "git commit") &&
	      found(&some, "installed package libc6"));
	CHECK(found(&some, "package alpha.deb") &&
	      found(&some, "package alpha.deb")->stated == NULL);
	/* Before a build nobody knows which packages it will find. */
	provenance_compare(&stated, &here, false, &a, &early);
	CHECK_INT(early.n_differ, 5);
}

int main(void)
{
	TEST("provenance: CI systems are known by their variables", knows_the_systems);
	TEST("provenance: URLs lose users, passwords and queries", urls_lose_their_secrets);
	TEST("provenance: the statement is in-toto's with SLSA's predicate",
	     states_how_it_was_built);
	TEST("provenance: a statement is read back as it was written", reads_back_what_it_writes);
	TEST("provenance: what a build could not repeat is refused", refuses_what_it_does_not_know);
	TEST("provenance: every input that differs is named", names_every_difference);
	return test_done();
}
