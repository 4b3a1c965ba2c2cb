/*
 * Any configuration file, credentials file, cached SSO or login token, output of a credential process and replies of
 * services: the input's documents in that order. The chain ends in credentials or in an error.
 */
#include "builder/aws/session.h"
#include "builder/aws/settings.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
	struct aws_outside outside;
	struct http_transport transport;
	struct clock clock;
	struct part config, credentials, token, process;
	struct parts replies;
};

static const char *env(const struct aws_outside *o, const char *name)
{
	(void)o;
	return strcmp(name, "AWS_EC2_METADATA_DISABLED") == 0 ? "true" : NULL;
}

static const char *home(const struct aws_outside *o, struct arena *a)
{
	(void)o, (void)a;
	return "/home/fuzz";
}

static int read_file(const struct aws_outside *o, const char *path, size_t max, struct strbuf *sb,
                     struct err *err)
{
	const struct world *w = o->ctx;
	size_t len = strlen(path);
	struct part part = w->token;

	if (len > 7 && strcmp(path + len - 7, "/config") == 0)
		part = w->config;
	else if (len > 12 && strcmp(path + len - 12, "/credentials") == 0)
		part = w->credentials;
	if (part.len == 0)
		return err_set(err, ERR_NOT_FOUND, "'%s' does not exist", path);
	if (part.len > max)
		return err_set(err, ERR_LIMIT, "more than %zu bytes", max);
	sb->max = max;
	strbuf_add(sb, part.text, part.len);
	return 0;
}

static int write_file(const struct aws_outside *o, const char *path, const void *bytes, size_t len,
                      struct err *err)
{
	(void)o, (void)path, (void)bytes, (void)len, (void)err;
	return 0;
}

static int run(const struct aws_outside *o, const char *const argv[], int timeout_ms,
               struct proc_result *r, struct err *err)
{
	const struct world *w = o->ctx;

	(void)timeout_ms, (void)err;
	if (argv[0] == NULL || argv[0][0] == '\0')
		BUG("no program to run");
	strbuf_add(&r->out, w->process.text, w->process.len);
	return 0;
}

static int perform(struct http_transport *t, const struct http_request *req,
                   struct http_response *resp, struct err *err)
{
	struct world *w = (struct world *)(void *)((char *)t - offsetof(struct world, transport));
	struct part body;

	if (w->replies.left == 0)
		return err_set(err, ERR_NETWORK, "connection refused");
	body = parts_next(&w->replies);
	resp->status = body.len > 0 && body.text[0] == '!' ? 403 : 200;
	resp->body.max = req->response_max > 0 ? req->response_max : HTTP_BODY_BYTES_DEFAULT;
	strbuf_add(&resp->body, body.text, body.len);
	return 0;
}

static int64_t now_ms(struct clock *c)
{
	(void)c;
	return 1700000000000;
}

static void no_sleep(struct clock *c, int64_t ms)
{
	(void)c, (void)ms;
}

static void use_session(struct world *w, const char *profile)
{
	AUTO(aws_settings) struct aws_settings settings = {0};
	const struct aws_settings_opts opts = {.profile = profile};
	struct aws_credentials credentials = {0};
	struct err err = {0};

	if (aws_settings_load(&w->outside, &opts, &settings, &err) != 0)
		return;
	struct aws_session *session = aws_session_new(&w->outside, &settings);

	if (aws_session_credentials(session, "us-west-2", false, &credentials, &err) == 0 &&
	    (credentials.access_key_id == NULL || credentials.secret_access_key == NULL))
		BUG("credentials without a key");
	aws_credentials_done(&credentials);
	aws_session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts parts = {(const char *)data, size};
	struct world w = {.transport = {.perform = perform}, .clock = {now_ms, no_sleep}};

	w.config = parts_next(&parts);
	w.credentials = parts_next(&parts);
	w.token = parts_next(&parts);
	w.process = parts_next(&parts);
	w.replies = parts;
	w.outside = (struct aws_outside){.env = env,
	                                 .home = home,
	                                 .read_file = read_file,
	                                 .write_file = write_file,
	                                 .run = run,
	                                 .http = &w.transport,
	                                 .clock = &w.clock,
	                                 .ctx = &w};
	use_session(&w, NULL);
	w.replies = parts;
	use_session(&w, "fuzz");
	return 0;
}
