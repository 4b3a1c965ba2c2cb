#include "builder/cli/doctor_aws.h"

#include <string.h>

#include "base/mem.h"
#include "builder/aws/sts.h"

/* "credentials.provider" -> the object "credentials" and the key "provider". */
static cJSON *object_of_key(const struct doctor *d, const char *key, const char **ret_key)
{
	const char *dot = strchr(key, '.');

	*ret_key = dot != NULL ? dot + 1 : key;
	if (dot == NULL)
		return d->doc;
	const char *name = arena_strndup(&d->cli->arena, key, (size_t)(dot - key));
	cJSON *obj = cJSON_GetObjectItemCaseSensitive(d->doc, name);

	return obj != NULL ? obj : json_add_object(d->doc, name);
}

static void print_line(const struct doctor *d, const char *key, const char *value)
{
	if (!cli_json(d->cli))
		fprintf(d->cli->out, "%-22s %s\n", key, value);
}

void doctor_say(const struct doctor *d, const char *key, const char *value)
{
	const char *name;
	cJSON *obj = object_of_key(d, key, &name);

	if (value == NULL)
		return;
	json_add_string(obj, name, value);
	print_line(d, key, value);
}

void doctor_say_bool(const struct doctor *d, const char *key, bool value)
{
	const char *name;
	cJSON *obj = object_of_key(d, key, &name);

	json_add_bool(obj, name, value);
	print_line(d, key, value ? "yes" : "no");
}

void doctor_say_int(const struct doctor *d, const char *key, int64_t value)
{
	const char *name;
	cJSON *obj = object_of_key(d, key, &name);

	cJSON_DeleteItemFromObjectCaseSensitive(obj, name);
	/* The writer prints whole numbers whole; this one may be negative. */
	if (cJSON_AddNumberToObject(obj, name, (double)value) == NULL)
		mem_exhausted("cJSON");
	print_line(d, key, arena_printf(&d->cli->arena, "%lld", (long long)value));
}

/* Each place that was looked at, and what it said. */
static void say_trace(const struct doctor *d, const struct aws_trace *trace)
{
	const char *name;
	cJSON *credentials = object_of_key(d, "credentials.tried", &name);
	cJSON *tried = json_add_array(credentials, name);

	for (size_t i = 0; i < trace->n; i++) {
		cJSON *item = cJSON_CreateObject();
		const char *why = trace->at[i].why_not;

		json_push(tried, item);
		json_add_string(item, "provider", trace->at[i].provider);
		json_add_string(item, "said", why != NULL ? why : "found");
		if (!cli_json(d->cli))
			fprintf(d->cli->out, "  %-20s %s\n", trace->at[i].provider,
			        why != NULL ? why : "found");
	}
}

static int say_credentials(const struct doctor *d, const struct remote *remote, const char *region,
                           struct aws_credentials *ret, struct err *err)
{
	struct aws_session *session = remote->aws->session;

	if (session == NULL) {
		*err = remote->aws->err;
		return -1;
	}
	const struct aws_settings *settings = aws_session_settings(session);
	int status = aws_session_credentials(session, region, false, ret, err);

	doctor_say(d, "credentials.profile", settings->section != NULL ? settings->profile : NULL);
	if (status == 0)
		doctor_say(d, "credentials.provider", ret->provider);
	say_trace(d, aws_session_trace(session));
	return status;
}

void doctor_aws_local(const struct doctor *d, const struct remote *remote)
{
	AUTO(aws_credentials) struct aws_credentials credentials = {0};
	struct err err = {0};

	struct aws_session *session = remote->aws->session;

	if (say_credentials(d, remote, NULL, &credentials, &err) != 0 &&
	    (session == NULL || !aws_session_has_nothing(session)))
		doctor_say(d, "credentials.error", err.msg);
	if (session != NULL)
		doctor_say(d, "region", aws_session_settings(session)->region);
}

/* The principal by STS, which always answers; where it cannot be reached, what else is known. */
static void say_identity(const struct doctor *d, const struct remote *remote,
                         const struct ecr_host *host, const struct aws_credentials *credentials,
                         const char *token_account)
{
	const char *region = aws_session_settings(remote->aws->session)->region;
	struct sts_identity identity = {0};
	struct err ignored = {0};

	if (sts_get_caller_identity(aws_session_client(remote->aws->session),
	                            region != NULL ? region : host->region, credentials,
	                            &d->cli->arena, &identity, &ignored) != 0)
		identity.account =
			credentials->account_id != NULL ? credentials->account_id : token_account;
	doctor_say(d, "account", identity.account);
	doctor_say(d, "principal", identity.arn);
}

static int say_token(const struct doctor *d, const struct remote *remote,
                     const struct ecr_host *host, const struct aws_credentials *credentials,
                     struct err *err)
{
	AUTO(ecr_token) struct ecr_token token = {0};
	int status = ecr_get_token(remote->aws->session, host, &token, err);

	say_identity(d, remote, host, credentials, token.account);
	return status;
}

int doctor_ecr(const struct doctor *d, const struct remote *remote, const struct ecr_host *host,
               struct err *err)
{
	AUTO(aws_credentials) struct aws_credentials credentials = {0};
	struct aws_endpoint endpoint = {0};
	struct aws_session *session = remote->aws->session;
	int status = say_credentials(d, remote, host->region, &credentials, err);

	doctor_say(d, "region", host->region);
	if (status == 0)
		status = aws_client_endpoint(
			aws_session_client(session), host->is_public ? AWS_ECR_PUBLIC : AWS_ECR,
			host->region, host->fips, &d->cli->arena, &endpoint, err);
	doctor_say(d, "ecr.endpoint", endpoint.url);
	if (status == 0)
		status = say_token(d, remote, host, &credentials, err);
	doctor_say_bool(d, "ecr.token", status == 0);
	doctor_say_int(d, "clock_offset_s",
	               session != NULL ? aws_client_offset_s(aws_session_client(session)) : 0);
	if (status != 0 && err->code != ERR_NETWORK && err->code != ERR_INTERRUPTED)
		err->code = ERR_DENIED;
	return status;
}
