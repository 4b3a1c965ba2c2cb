#include "builder/registry/call.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "base/random.h"
#include "builder/registry/errors.h"
#include "builder/registry/retry.h"
#include "builder/registry/target.h"

enum { REDIRECTS_MAX = 5, AUTH_TRIES = 2 };

const char *call_scopes(const struct registry *r, const char *actions, const char *mount_from,
                        struct arena *a)
{
	if (mount_from == NULL)
		return arena_printf(a, "repository:%s:%s", r->repository, actions);
	return arena_printf(a, "repository:%s:%s repository:%s:pull", r->repository, actions,
	                    mount_from);
}

static double next_random(struct registry *r)
{
	pthread_mutex_lock(&r->lock);
	double value = random_unit(&r->random);

	pthread_mutex_unlock(&r->lock);
	return value;
}

static bool take_budget(struct registry *r)
{
	pthread_mutex_lock(&r->lock);
	bool some = r->budget > 0;

	r->budget -= some;
	pthread_mutex_unlock(&r->lock);
	return some;
}

int call_wait(struct registry *r, unsigned attempt, const char *retry_after, const struct err *why,
              struct err *err)
{
	int64_t now = r->opts.clock->now_ms(r->opts.clock);
	int64_t delay = retry_delay_ms(attempt, retry_after, now, next_random(r));

	/* Of many who got "too many requests" none may come back at once. */
	if (why->http_status == 429 && retry_after == NULL)
		delay += RETRY_THROTTLED_MS;

	if (interrupt_check(err) != 0)
		return -1;
	if (attempt > r->opts.retries || !take_budget(r)) {
		*err = *why;
		return attempt > 1 ? err_wrap(err, "gave up after %u tries", attempt) : -1;
	}
	progress_note(r->opts.progress, "%s: %s; trying again in %.1f s", r->host, why->msg,
	              (double)delay / 1000);
	r->opts.clock->sleep_ms(r->opts.clock, delay);
	return interrupt_check(err);
}

static bool is_new_warning(struct registry *r, const char *text)
{
	struct digest d = digest_of(text, strlen(text));
	bool known = false;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n_warnings; i++)
		known = known || digest_equal(&r->warnings[i], &d);
	known = known || r->n_warnings == ARRAY_LEN(r->warnings);
	if (!known)
		r->warnings[r->n_warnings++] = d;
	pthread_mutex_unlock(&r->lock);
	return !known;
}

/* distribution-spec, "Warnings": each is shown once and nothing is done about it. */
static void show_warnings(struct registry *r, const struct http_response *resp)
{
	const char *warning;
	size_t pos = 0;

	while ((warning = http_header_next(&resp->headers, "Warning", &pos)) != NULL)
		if (is_new_warning(r, warning))
			progress_note(r->opts.progress, "warning from %s: %.500s", r->host,
			              warning);
}

/* A reply whose body the caller pulls; that of a refusal is read here, for its words. */
static int open_body(struct registry *r, const struct http_request *request,
                     struct source **ret_body, struct http_response *resp, struct err *err)
{
	struct source *body = NULL;
	struct err ignored = {0};

	if (http_open(r->opts.transport, request, resp, &body, err) != 0)
		return -1;
	if (resp->status >= 200 && resp->status < 300) {
		*ret_body = body;
		return 0;
	}
	resp->body.max = HTTP_BODY_BYTES_DEFAULT;
	/* An error page that is cut still says what it says. */
	if (stream_read_all(body, &resp->body, &ignored) != 0)
		resp->body.overflow = false;
	source_close(body);
	return 0;
}

/* How much of a body was reported to the caller as sent: taken back when it was in vain. */
struct sent {
	const struct call *call;
	int64_t bytes;
};

static void on_sent(void *ctx, int64_t bytes)
{
	struct sent *s = ctx;

	s->bytes += bytes;
	if (s->call->on_sent != NULL)
		s->call->on_sent(s->call->ctx, bytes);
}

static int transmit(struct registry *r, const struct call *c, const struct http_request *request,
                    struct http_response *resp, struct err *err)
{
	struct sent sent = {.call = c};
	struct http_request counted = *request;
	int status;

	if (c->body_source != NULL)
		return open_body(r, request, c->body_source, resp, err);
	counted.on_sent = on_sent;
	counted.on_sent_ctx = &sent;
	status = http_perform(r->opts.transport, &counted, resp, err);
	if (sent.bytes != 0 && (status != 0 || resp->status > 299))
		on_sent(&sent, -sent.bytes);
	return status;
}

/*
 * One exchange with credentials where they belong: at the registry's own origin and nowhere else.
 */
static int exchange_authorized(struct registry *r, const struct call *c, const char *url,
                               char **ret_used, struct http_response *resp, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct http_header headers[ARRAY_LEN(c->headers) + 1];
	struct url to, own;
	size_t n = c->n_headers;
	bool foreign = false;

	*ret_used = NULL;
	memcpy(headers, c->headers, sizeof(c->headers));
	if (url_parse(url, &a, &to, err) != 0 || url_parse(r->origin, &a, &own, err) != 0)
		return -1;
	if (url_same_origin(&to, &own)) {
		if (auth_header(r->auth, c->scopes, ret_used, err) != 0)
			return -1;
		if (*ret_used != NULL)
			headers[n++] = (struct http_header){"Authorization", *ret_used};
	} else if (target_check("the registry redirects to", &own, &to, &foreign, err) != 0) {
		return -1;
	}
	struct http_request request = {.method = c->method,
	                               .url = url,
	                               .headers = headers,
	                               .n_headers = n,
	                               .body = c->body,
	                               .large = c->large,
	                               .foreign = foreign,
	                               .response_max = c->response_max};

	return transmit(r, c, &request, resp, err);
}

static bool is_redirect(const struct call *c, const struct http_response *resp)
{
	bool same_method = resp->status == 307 || resp->status == 308;
	bool get = strcmp(c->method, "GET") == 0 || strcmp(c->method, "HEAD") == 0;

	return !c->stay && (same_method || (get && (resp->status == 301 || resp->status == 302 ||
	                                            resp->status == 303)));
}

int call_resolve(const struct registry *r, const char *base, const char *location, struct arena *a,
                 const char **ret_url, struct err *err)
{
	struct url to, own;

	if (url_resolve(base, location, a, ret_url, err) != 0 ||
	    url_parse(*ret_url, a, &to, err) != 0 || url_parse(r->origin, a, &own, err) != 0)
		return -1;
	/* A registry behind a proxy that ends TLS often thinks that its clients use http. */
	if (strcmp(own.scheme, "https") == 0 && strcmp(to.scheme, "http") == 0 &&
	    strcmp(own.host, to.host) == 0 && (to.port == 80 || to.port == own.port))
		*ret_url = arena_printf(a, "%s%s", r->origin, to.target);
	return 0;
}

int call_refused(struct registry *r, const struct call *c, const struct http_response *resp,
                 struct err *err)
{
	registry_error(resp, err);
	if (r->opts.advisor != NULL)
		(void)r->opts.advisor->explain(r->opts.advisor, r, c->step, true, err);
	return -1;
}

int call_explain(struct registry *r, const struct call *head, const struct http_response *resp,
                 struct err *err)
{
	AUTO(http_response) struct http_response again = {0};
	struct call get = *head;
	struct err ignored = {0};

	get.method = "GET";
	get.once = true;
	get.response_max = HTTP_BODY_BYTES_DEFAULT;
	if (call_send(r, &get, &again, &ignored) == 0 && again.status == resp->status)
		return call_refused(r, head, &again, err);
	return call_refused(r, head, resp, err);
}

/* Follows redirects by hand: libraries that do it themselves have leaked credentials to other
 * hosts. */
static int follow_redirects(struct registry *r, const struct call *c, char **ret_used,
                            struct http_response *resp, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *url = c->url;

	for (int hops = 0;; hops++) {
		if (exchange_authorized(r, c, url, ret_used, resp, err) != 0)
			return -1;
		if (!is_redirect(c, resp))
			return 0;
		const char *location = http_header_get(&resp->headers, "Location");

		if (location == NULL || hops == REDIRECTS_MAX)
			return err_set(err, ERR_SERVER,
			               location == NULL ? "redirect without a Location header"
			                                : "too many redirects");
		if (call_resolve(r, url, location, &a, &url, err) != 0)
			return err_wrap(err, "redirect");
		auth_release(*ret_used);
		*ret_used = NULL;
		http_response_done(resp);
	}
}

/* 401, or 403 where a password that ran out may be behind it (ECR says "expired" and does not ask
 * again). */
static bool is_refusal(const struct registry *r, const struct http_response *resp, const char *used)
{
	/* ECR: 400 for a token of another region, or one that it cannot read. */
	if (resp->status == 400)
		return used != NULL && auth_is_plain(r->auth) && registry_error_may_be_auth(resp);
	if (resp->status != 403)
		return resp->status == 401;
	return used != NULL && (strncmp(used, "Basic ", 6) == 0 ||
	                        strstr(strbuf_str(&resp->body), "expired") != NULL);
}

static int answer_challenge(struct registry *r, const struct http_response *resp, const char *used,
                            bool *ret_retry, struct err *err)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(64 << 10);
	size_t pos = 0;
	const char *value;

	while (resp->status == 401 &&
	       (value = http_header_next(&resp->headers, "WWW-Authenticate", &pos)) != NULL)
		strbuf_addf(&all, "%s%s", all.len > 0 ? ", " : "", value);
	struct err why = {0};

	if (auth_challenged(r->auth, all.len > 0 ? strbuf_str(&all) : NULL, used, ret_retry,
	                    &why) == 0)
		return 0;
	/* A new password was only worth trying: the refusal itself says more than why there is
	 * none. */
	if (resp->status != 401 && strstr(strbuf_str(&resp->body), "expired") == NULL) {
		*ret_retry = false;
		return 0;
	}
	*err = why;
	return -1;
}

/* One try: credentials are met, at most twice. */
static int try_once(struct registry *r, const struct call *c, struct http_response *resp,
                    struct err *err)
{
	for (int tries = 0;; tries++) {
		char *used = NULL;
		bool retry = false;
		int status = follow_redirects(r, c, &used, resp, err);

		if (status == 0 && used != NULL && resp->status < 400)
			auth_accepted(r->auth, used);
		if (status == 0 && tries < AUTH_TRIES && is_refusal(r, resp, used))
			status = answer_challenge(r, resp, used, &retry, err);
		bool anonymous = used == NULL;

		auth_release(used);
		if (status != 0 || !retry)
			return status;
		if (c->no_replay && !anonymous)
			return err_set(err, ERR_NETWORK,
			               "the registry asked for new credentials in the middle of "
			               "the request");
		http_response_done(resp);
	}
}

int call_send(struct registry *r, const struct call *c, struct http_response *resp, struct err *err)
{
	for (unsigned attempt = 1;; attempt++) {
		struct err why = {0};
		char after[64] = "";
		int status = try_once(r, c, resp, &why);

		if (status == 0 && !retry_status(resp->status)) {
			show_warnings(r, resp);
			return 0;
		}
		if (status != 0 && why.code != ERR_NETWORK) {
			*err = why;
			return -1;
		}
		if (status == 0) {
			const char *value = http_header_get(&resp->headers, "Retry-After");

			registry_error(resp, &why);
			snprintf(after, sizeof(after), "%s", value != NULL ? value : "");
		}
		bool certain = r->opts.advisor != NULL && status != 0 &&
		               r->opts.advisor->explain(r->opts.advisor, r, c->step,
		                                        attempt > r->opts.retries, &why);

		if (c->once || certain) {
			*err = why;
			return -1;
		}
		if (call_wait(r, attempt, after[0] != '\0' ? after : NULL, &why, err) != 0)
			return -1;
		http_response_done(resp);
	}
}
