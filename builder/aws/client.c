#include "builder/aws/client.h"

#include <openssl/rand.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "base/random.h"
#include "base/timestamp.h"
#include "builder/aws/backoff.h"

enum {
	SKEW_MS = 4 * 60 * 1000,        /* less is the network's and the clock's ordinary jitter */
	ROUND_TRIP_MAX_MS = 15 * 60000, /* a Date from so long ago measures nothing */
	SIGNED_EXTRA = 4                /* Host, X-Amz-Date, X-Amz-Security-Token, Authorization */
};

void aws_credentials_done(struct aws_credentials *c)
{
	mem_free_secret(&c->access_key_id);
	mem_free_secret(&c->secret_access_key);
	mem_free_secret(&c->session_token);
	mem_free_secret(&c->account_id);
	*c = (struct aws_credentials){0};
}

static char *copy_or_null(const char *text)
{
	return text != NULL ? mem_strdup(text) : NULL;
}

void aws_credentials_copy(const struct aws_credentials *from, struct aws_credentials *ret_to)
{
	*ret_to =
		(struct aws_credentials){.access_key_id = copy_or_null(from->access_key_id),
	                                 .secret_access_key = copy_or_null(from->secret_access_key),
	                                 .session_token = copy_or_null(from->session_token),
	                                 .account_id = copy_or_null(from->account_id),
	                                 .expires_ms = from->expires_ms,
	                                 .provider = from->provider};
}

void aws_client_init(struct aws_client *c, const struct aws_outside *outside,
                     const struct aws_settings *settings)
{
	*c = (struct aws_client){.outside = outside,
	                         .settings = settings,
	                         .quota = BACKOFF_QUOTA,
	                         .random =
	                                 (uint64_t)outside->clock->now_ms(outside->clock) * 2 + 1};
	pthread_mutex_init(&c->lock, NULL);
}

void aws_client_done(struct aws_client *c)
{
	pthread_mutex_destroy(&c->lock);
}

/* ---- clocks ---- */

static int64_t local_ms(const struct aws_client *c)
{
	return c->outside->clock->now_ms(c->outside->clock);
}

static bool is_skewed(int64_t offset)
{
	return offset >= SKEW_MS || offset <= -SKEW_MS;
}

static int64_t correction(struct aws_client *c)
{
	pthread_mutex_lock(&c->lock);
	int64_t offset = c->settings->skew_correction && is_skewed(c->offset_ms) ? c->offset_ms : 0;

	pthread_mutex_unlock(&c->lock);
	return offset;
}

int64_t aws_client_now_ms(struct aws_client *c)
{
	return local_ms(c) + correction(c);
}

static int64_t measured(struct aws_client *c)
{
	pthread_mutex_lock(&c->lock);
	int64_t offset = c->offset_ms;

	pthread_mutex_unlock(&c->lock);
	return offset;
}

int64_t aws_client_offset_s(struct aws_client *c)
{
	return measured(c) / 1000;
}

/* A reply's Date against our clock; one out of a cache says nothing. */
static void measure_clock(struct aws_client *c, const struct http_response *resp, int64_t sent_ms)
{
	const char *date = http_header_get(&resp->headers, "Date");
	int64_t now = local_ms(c), then;

	if (date == NULL || http_header_get(&resp->headers, "Age") != NULL ||
	    now - sent_ms > ROUND_TRIP_MAX_MS || !timestamp_http(date, &then))
		return;
	pthread_mutex_lock(&c->lock);
	c->offset_ms = then - now;
	c->offset_known = true;
	bool note = is_skewed(c->offset_ms) && !c->skew_noted;

	c->skew_noted = c->skew_noted || note;
	pthread_mutex_unlock(&c->lock);
	if (note)
		progress_note(c->outside->progress, "this machine's clock is %lld minutes %s AWS's",
		              (long long)((then > now ? then - now : now - then) / 60000),
		              then > now ? "behind" : "ahead of");
}

static int skew_err(int64_t offset, struct err *err)
{
	err->hint[0] = '\0';
	err_hint(err,
	         "this machine's clock is %lld minutes %s AWS's, which accepts 15: set it (NTP), "
	         "then try again",
	         (long long)((offset < 0 ? -offset : offset) / 60000),
	         offset > 0 ? "behind" : "ahead of");
	return -1;
}

/* ---- one exchange ---- */

int aws_client_endpoint(const struct aws_client *c, enum aws_service service, const char *region,
                        bool fips, struct arena *a, struct aws_endpoint *ret_endpoint,
                        struct err *err)
{
	const struct aws_settings *s = c->settings;
	const char *custom = aws_settings_endpoint_url(c->outside, s, aws_service_id(service), a);
	const struct aws_endpoint_params params = {.region = region != NULL ? region : s->region,
	                                           .fips = s->fips || (fips && custom == NULL),
	                                           .dual_stack = s->dual_stack,
	                                           .sts_global = s->sts_global,
	                                           .custom = custom};

	struct url url;

	if (custom != NULL && url_parse(custom, a, &url, err) != 0) {
		err_wrap(err, "the endpoint URL configured for %s", aws_service_id(service));
		return err_hint(err, "AWS_ENDPOINT_URL and endpoint_url are written as "
		                     "http://host:port or https://host");
	}
	return aws_endpoint_find(service, &params, a, ret_endpoint, err);
}

static const char *host_header(const struct url *url, struct arena *a)
{
	int usual = strcmp(url->scheme, "https") == 0 ? 443 : 80;

	return url->port == usual ? url->host : arena_printf(a, "%s:%d", url->host, url->port);
}

/* Adds what signing adds; *ret_n headers in all. Authorization comes last, for the wiping. */
static int sign(struct aws_client *c, const struct aws_call *call,
                const struct aws_endpoint *endpoint, const struct http_request *request,
                struct http_header *headers, struct arena *a, size_t *ret_n, struct err *err)
{
	struct sigv4_signature signature;
	char moment[TIMESTAMP_MAX];
	struct url url;
	size_t n = request->n_headers;
	int64_t now = aws_client_now_ms(c);

	if (url_parse(request->url, a, &url, err) != 0)
		return -1;
	size_t path = strcspn(url.target, "?");

	headers[n++] = (struct http_header){"Host", host_header(&url, a)};
	headers[n++] =
		(struct http_header){"X-Amz-Date", arena_strdup(a, timestamp_basic(now, moment))};
	if (call->credentials->session_token != NULL)
		headers[n++] = (struct http_header){"X-Amz-Security-Token",
		                                    call->credentials->session_token};
	const struct sigv4_request to_sign = {
		.method = request->method,
		.path = arena_strndup(a, url.target, path),
		.query = url.target[path] == '?' ? url.target + path + 1 : NULL,
		.headers = headers,
		.n_headers = n,
		.body = request->body.bytes,
		.body_len = (size_t)request->body.size};
	const struct sigv4_key key = {call->credentials->access_key_id,
	                              call->credentials->secret_access_key};
	const struct sigv4_scope scope = {endpoint->signing_region, endpoint->signing_name, now};

	sigv4_sign(&to_sign, &key, &scope, a, &signature);
	headers[n++] = (struct http_header){"Authorization", signature.authorization};
	*ret_n = n;
	return 0;
}

/* The AWS SDKs' own headers for retries; they are not signed, as nothing depends on them. */
static size_t add_attempt(const struct aws_client *c, unsigned attempt, struct http_header *headers,
                          size_t n, struct arena *a)
{
	headers[n++] = (struct http_header){
		"amz-sdk-request",
		arena_printf(a, "attempt=%u; max=%u", attempt, c->settings->max_attempts)};
	return n;
}

static int send_signed(struct aws_client *c, const struct aws_call *call,
                       const struct aws_endpoint *endpoint, unsigned attempt,
                       struct http_response *resp, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct http_header headers[AWS_CALL_HEADERS_MAX + SIGNED_EXTRA + 1];
	/* Of the two names that AWS's own lists have for a host, one may not exist. */
	const char *base = attempt % 2 == 0 && endpoint->other_url != NULL ? endpoint->other_url
	                                                                   : endpoint->url;
	struct http_request request = {
		.method = call->method != NULL ? call->method : "POST",
		.url = arena_printf(&a, "%s%s", base, call->target != NULL ? call->target : "/"),
		.headers = headers,
		.n_headers = call->n_headers,
		.response_max = AWS_REPLY_MAX};

	if (call->body != NULL)
		request.body = (struct http_body){.kind = HTTP_BODY_MEMORY,
		                                  .bytes = call->body,
		                                  .size = (int64_t)strlen(call->body)};
	memcpy(headers, call->headers, call->n_headers * sizeof(*headers));
	if (call->credentials != NULL &&
	    sign(c, call, endpoint, &request, headers, &a, &request.n_headers, err) != 0)
		return -1;
	request.n_headers = add_attempt(c, attempt, headers, request.n_headers, &a);
	int64_t sent = local_ms(c);
	int status = http_perform(c->outside->http, &request, resp, err);

	if (status == 0)
		measure_clock(c, resp, sent);
	return status;
}

static void mask_all(struct http_response *resp, const struct aws_call *call)
{
	if (call->credentials != NULL) {
		aws_failure_mask(resp, call->credentials->secret_access_key);
		aws_failure_mask(resp, call->credentials->session_token);
	}
	for (size_t i = 0; i < ARRAY_LEN(call->secrets); i++)
		aws_failure_mask(resp, call->secrets[i]);
}

/* ---- retries ---- */

static bool take_tokens(struct aws_client *c, enum aws_retry_kind kind, double *ret_random)
{
	int cost = backoff_cost(kind);

	pthread_mutex_lock(&c->lock);
	bool enough = c->quota >= cost;

	c->quota -= enough ? cost : 0;
	*ret_random = random_unit(&c->random);
	pthread_mutex_unlock(&c->lock);
	return enough;
}

static void give_tokens(struct aws_client *c, int tokens)
{
	pthread_mutex_lock(&c->lock);
	c->quota += tokens;
	if (c->quota > BACKOFF_QUOTA)
		c->quota = BACKOFF_QUOTA;
	pthread_mutex_unlock(&c->lock);
}

/* False when this was the last try. */
static bool wait_for_next(struct aws_client *c, enum aws_retry_kind kind, unsigned attempt,
                          const char *retry_after)
{
	double random;

	if (kind == AWS_RETRY_NEVER || attempt >= c->settings->max_attempts ||
	    !take_tokens(c, kind, &random))
		return false;
	c->outside->clock->sleep_ms(c->outside->clock,
	                            backoff_delay_ms(kind, attempt, retry_after, random));
	return true;
}

/* What one try came to. */
struct try_outcome {
	enum aws_retry_kind retry;
	struct aws_failure failure; /* the service's answer, if there was one */
	bool skewed; /* refused for the clock's sake, and another try can do better */
	char retry_after[32];
};

static int try_once(struct aws_client *c, const struct aws_call *call,
                    const struct aws_endpoint *endpoint, unsigned attempt, struct arena *a,
                    struct http_response *resp, struct try_outcome *o, struct err *err)
{
	int64_t used = correction(c);

	*o = (struct try_outcome){.failure = {.code = "", .message = "", .request_id = ""}};
	if (send_signed(c, call, endpoint, attempt, resp, err) != 0) {
		o->retry = err->code == ERR_NETWORK ? AWS_RETRY_TRANSIENT : AWS_RETRY_NEVER;
		return -1;
	}
	if (resp->status >= 200 && resp->status < 300)
		return 0;
	const char *after = http_header_get(&resp->headers, "x-amz-retry-after");

	mask_all(resp, call);
	aws_failure_parse(resp, a, &o->failure);
	aws_failure_err(&o->failure, err);
	snprintf(o->retry_after, sizeof(o->retry_after), "%s", after != NULL ? after : "");
	o->retry = aws_failure_retry(&o->failure);
	if (!aws_failure_is_skew(&o->failure) || !is_skewed(measured(c) - used))
		return -1;
	o->skewed = correction(c) != used;
	return skew_err(measured(c), err);
}

/* Whether there is another try: at once with the right time, or after a while. */
static bool may_go_on(struct aws_client *c, const struct try_outcome *o, unsigned attempt,
                      bool *corrected, int *spent)
{
	if (o->skewed && !*corrected) {
		*corrected = true;
		return true;
	}
	*spent = backoff_cost(o->retry);
	return wait_for_next(c, o->retry, attempt,
	                     o->retry_after[0] != '\0' ? o->retry_after : NULL);
}

/* One that the call names goes before what the settings say. */
static int find_endpoint(const struct aws_client *c, const struct aws_call *call, struct arena *a,
                         struct aws_endpoint *ret_endpoint, struct err *err)
{
	const struct aws_endpoint_params named = {
		.region = call->region != NULL ? call->region : c->settings->region,
		.custom = call->endpoint};

	return call->endpoint != NULL
	               ? aws_endpoint_find(call->service, &named, a, ret_endpoint, err)
	               : aws_client_endpoint(c, call->service, call->region, call->fips, a,
	                                     ret_endpoint, err);
}

int aws_client_send(struct aws_client *c, const struct aws_call *call, struct arena *a,
                    struct http_response *resp, struct aws_failure *ret_failure, struct err *err)
{
	struct aws_endpoint endpoint = {0};
	struct try_outcome o = {.failure = {.code = "", .message = "", .request_id = ""}};
	struct err why = {0};
	unsigned attempt = 1;
	bool corrected = false;
	int spent = 1;

	if (ret_failure != NULL)
		*ret_failure = o.failure;
	if (find_endpoint(c, call, a, &endpoint, err) != 0)
		return -1;
	http_response_done(resp);
	while (try_once(c, call, &endpoint, attempt, a, resp, &o, &why) != 0) {
		if (!may_go_on(c, &o, attempt, &corrected, &spent)) {
			*err = why;
			if (ret_failure != NULL)
				*ret_failure = o.failure;
			if (attempt > 1 && o.retry != AWS_RETRY_NEVER)
				err_wrap(err, "gave up after %u tries", attempt);
			return err_wrap(err, "%s %s in %s", aws_service_id(call->service),
			                call->operation, endpoint.signing_region);
		}
		if (interrupt_check(err) != 0)
			return -1;
		attempt++;
		why = (struct err){0};
		http_response_done(resp);
	}
	give_tokens(c, spent);
	return 0;
}
