#include "builder/registry/helper_env.h"

#include <stdbool.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"

/*
 * What stands for AWS's keys, or gets them (AWS SDKs and Tools Reference Guide, "Environment
 * variables"). The address of the container's credentials is a secret of its own on ECS. Profile
 * and region are none, and stay.
 */
static const char *const secrets[] = {
	"AWS_ACCESS_KEY_ID=",  "AWS_SECRET_ACCESS_KEY=",       "AWS_SESSION_TOKEN=",
	"AWS_SECURITY_TOKEN=", "AWS_WEB_IDENTITY_TOKEN_FILE=", "AWS_CONTAINER_",
	"AWS_BEARER_TOKEN_"};

/* The helpers that need them: amazon-ecr-credential-helper. */
static const char *const needing[] = {"ecr-login"};

static bool needs_keys(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(needing); i++)
		if (strcmp(needing[i], name) == 0)
			return true;
	return false;
}

static bool is_secret(const char *variable)
{
	for (size_t i = 0; i < ARRAY_LEN(secrets); i++)
		if (text_has_prefix(variable, secrets[i]))
			return true;
	return false;
}

const char *const *helper_environment(const char *name, char *const *env, struct arena *a)
{
	size_t n = 0, kept = 0;

	while (env[n] != NULL)
		n++;
	const char **own = arena_calloc(a, n + 1, sizeof(*own));

	for (size_t i = 0; i < n; i++)
		if (needs_keys(name) || !is_secret(env[i]))
			own[kept++] = env[i];
	return own;
}
