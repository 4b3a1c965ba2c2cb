#include "builder/provenance/ci.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/strbuf.h"
#include "base/text.h"

enum { VALUE_MAX = 1024 /* bytes of a variable; a longer one says nothing */ };

#define LOCAL_BUILDER "https://slipway.dev/builder/local"

/* Texts in which {NAME} stands for a variable; where one of them is unset the text says nothing. */
struct ci_system {
	const char *name;
	const char *mark; /* a variable that is set there */
	const char *builder, *invocation, *source, *ref, *commit;
};

static const struct ci_system systems[] = {
	{.name = "codebuild",
         .mark = "CODEBUILD_BUILD_ARN",
         /* the project's ARN: see builder_of */
         .builder = "{CODEBUILD_BUILD_ARN}",
         .invocation = "{CODEBUILD_BUILD_ARN}",
         .source = "{CODEBUILD_SOURCE_REPO_URL}",
         .ref = "{CODEBUILD_WEBHOOK_HEAD_REF}",
         .commit = "{CODEBUILD_RESOLVED_SOURCE_VERSION}"},
	{.name = "github-actions",
         .mark = "GITHUB_ACTIONS",
         .builder = "https://github.com/actions/runner/{RUNNER_ENVIRONMENT}",
         .invocation = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}/"
                       "attempts/{GITHUB_RUN_ATTEMPT}",
         .source = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}",
         .ref = "{GITHUB_REF}",
         .commit = "{GITHUB_SHA}"},
	{.name = "gitlab",
         .mark = "GITLAB_CI",
         .builder = "{CI_PROJECT_URL}/-/runners/{CI_RUNNER_ID}",
         .invocation = "{CI_JOB_URL}",
         .source = "{CI_PROJECT_URL}",
         .ref = "{CI_COMMIT_REF_NAME}",
         .commit = "{CI_COMMIT_SHA}"},
	{.name = "jenkins",
         .mark = "JENKINS_URL",
         .builder = "{JENKINS_URL}",
         .invocation = "{BUILD_URL}",
         .source = "{GIT_URL}",
         .ref = "{GIT_BRANCH}",
         .commit = "{GIT_COMMIT}"},
};

/* One line of printable text, or NULL. */
static const char *value_of(ci_env *env, void *ctx, const char *name)
{
	const char *value = env(ctx, name);

	if (value == NULL || value[0] == '\0' || strlen(value) > VALUE_MAX ||
	    !text_is_utf8(value, strlen(value)))
		return NULL;
	for (const char *s = value; *s != '\0'; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f)
			return NULL;
	return value;
}

static const char *expand_text(const char *text, ci_env *env, void *ctx, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(8 * VALUE_MAX);

	while (*text != '\0') {
		size_t n = strcspn(text, "{");

		strbuf_add(&sb, text, n);
		text += n;
		if (*text == '\0')
			break;
		n = strcspn(text, "}");
		const char *value = value_of(env, ctx, arena_strndup(a, text + 1, n - 1));

		if (value == NULL)
			return NULL;
		strbuf_adds(&sb, value);
		text += n + 1;
	}
	return sb.overflow ? NULL : arena_strdup(a, strbuf_str(&sb));
}

/*
 * A URL without what stands before '@' in its host: some systems put a token there. Its query goes
 * too, for the same reason.
 */
static const char *public_url(const char *url, struct arena *a)
{
	const char *host = url != NULL ? strstr(url, "://") : NULL;
	size_t authority, len;
	const char *at = NULL;

	if (url == NULL)
		return NULL;
	len = strcspn(url, "?#");
	if (host == NULL) {
		/* git@host:path has a user's name at most; anything like a secret is not said */
		at = memchr(url, '@', len);
		return at != NULL && memchr(url, ':', (size_t)(at - url)) != NULL
		               ? NULL
		               : arena_strndup(a, url, len);
	}
	host += strlen("://");
	authority = strcspn(host, "/?#");
	for (const char *s = host; s < host + authority; s++)
		at = *s == '@' ? s : at;
	if (at == NULL)
		return arena_strndup(a, url, len);
	return arena_printf(a, "%.*s%.*s", (int)(host - url), url, (int)(url + len - at - 1),
	                    at + 1);
}

bool ci_is_commit(const char *text)
{
	size_t n = strlen(text);

	return (n == 40 || n == 64) && strspn(text, "0123456789abcdef") == n;
}

/* arn:aws:codebuild:REGION:ACCOUNT:build/PROJECT:RUN is a run of .../project/PROJECT. */
static const char *builder_of(const char *builder, struct arena *a)
{
	const char *build = strstr(builder, ":build/"), *project;

	if (!text_has_prefix(builder, "arn:") || build == NULL)
		return builder;
	project = build + strlen(":build/");
	return arena_printf(a, "%.*s:project/%.*s", (int)(build - builder), builder,
	                    (int)strcspn(project, ":"), project);
}

static struct ci_identity identity_of(const struct ci_system *s, ci_env *env, void *ctx,
                                      struct arena *a)
{
	struct ci_identity id = {.name = s->name};
	const char *builder = expand_text(s->builder, env, ctx, a);
	const char *commit = expand_text(s->commit, env, ctx, a);

	/* A system without a name for its runner is still that system. */
	id.builder = builder != NULL ? builder_of(public_url(builder, a), a)
	                             : arena_printf(a, "https://slipway.dev/builder/%s", s->name);
	id.invocation = public_url(expand_text(s->invocation, env, ctx, a), a);
	id.source = public_url(expand_text(s->source, env, ctx, a), a);
	id.ref = expand_text(s->ref, env, ctx, a);
	id.commit = commit != NULL && ci_is_commit(commit) ? commit : NULL;
	return id;
}

struct ci_identity ci_identify(ci_env *env, void *ctx, struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(systems); i++)
		if (value_of(env, ctx, systems[i].mark) != NULL)
			return identity_of(&systems[i], env, ctx, a);
	return (struct ci_identity){.name = "local", .builder = LOCAL_BUILDER};
}

const char *ci_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

const char *ci_nobody(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}
