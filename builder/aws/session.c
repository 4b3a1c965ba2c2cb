#include "builder/aws/session.h"

#include <string.h>

#include "base/mem.h"
#include "builder/aws/chain.h"

enum {
	ADVISORY_MS = 15 * 60000,
	ADVISORY_PART = 4, /* of a life of an hour, both ways say the same */
	MANDATORY_MS = 10 * 60000,
	MANDATORY_PART = 6,
	ADVISORY_RETRY_MS = 60000
};

struct aws_session {
	const struct aws_outside *outside;
	struct aws_settings settings;
	struct aws_client client;
	/* held while the chain is walked, so that one walk serves all who wait */
	pthread_mutex_t lock;
	struct aws_credentials kept;
	struct aws_trace trace;
	int64_t since_ms; /* when the kept ones were got */
	int64_t tried_ms; /* when a renewal ahead of time failed last */
};

void aws_trace_done(struct aws_trace *t)
{
	arena_done(&t->arena);
	*t = (struct aws_trace){0};
}

struct aws_session *aws_session_new(const struct aws_outside *outside,
                                    struct aws_settings *settings)
{
	struct aws_session *s = mem_zalloc(sizeof(*s));

	s->outside = outside;
	s->settings = *settings;
	*settings = (struct aws_settings){0};
	aws_client_init(&s->client, outside, &s->settings);
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void aws_session_free(struct aws_session *s)
{
	if (s == NULL)
		return;
	aws_credentials_done(&s->kept);
	aws_trace_done(&s->trace);
	aws_client_done(&s->client);
	aws_settings_done(&s->settings);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const struct aws_settings *aws_session_settings(const struct aws_session *s)
{
	return &s->settings;
}

struct aws_client *aws_session_client(struct aws_session *s)
{
	return &s->client;
}

const struct aws_trace *aws_session_trace(const struct aws_session *s)
{
	return &s->trace;
}

bool aws_session_has_nothing(struct aws_session *s)
{
	pthread_mutex_lock(&s->lock);
	bool nothing = s->trace.nothing;

	pthread_mutex_unlock(&s->lock);
	return nothing;
}

static int try_providers(struct aws_session *s, const char *region, struct aws_credentials *ret,
                         struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct chain chain = {.client = &s->client,
	                      .outside = s->outside,
	                      .settings = &s->settings,
	                      .region = s->settings.region != NULL ? s->settings.region : region,
	                      .profile = s->settings.profile,
	                      .section = s->settings.section,
	                      .use_env = !s->settings.profile_given,
	                      .arena = &a};

	aws_trace_done(&s->trace);
	return chain_walk(&chain, &s->trace, ret, err);
}

/* Of a session that was short from the start (duration_seconds) only the last part is its end. */
static bool is_near(const struct aws_session *s, int64_t now, int64_t ahead, int64_t part)
{
	int64_t life = s->kept.expires_ms - s->since_ms;

	return s->kept.expires_ms != 0 &&
	       s->kept.expires_ms - now < (life / part < ahead ? life / part : ahead);
}

static bool is_ending(const struct aws_session *s, int64_t now)
{
	return is_near(s, now, MANDATORY_MS, MANDATORY_PART);
}

/* Whether the chain is to be asked: nothing kept, too old, or (ahead of time) getting old. */
static bool is_due(const struct aws_session *s, int64_t now, bool renew)
{
	if (s->kept.access_key_id == NULL || renew || is_ending(s, now))
		return true;
	return is_near(s, now, ADVISORY_MS, ADVISORY_PART) &&
	       now - s->tried_ms >= ADVISORY_RETRY_MS;
}

static int refresh(struct aws_session *s, const char *region, int64_t now, bool renew,
                   struct err *err)
{
	struct aws_credentials fresh = {0};
	struct err why = {0};

	if (try_providers(s, region, &fresh, &why) == 0) {
		aws_credentials_done(&s->kept);
		s->kept = fresh;
		s->since_ms = now;
		return 0;
	}
	s->tried_ms = now;
	if (s->kept.access_key_id == NULL || renew || is_ending(s, now)) {
		*err = why;
		return -1;
	}
	progress_note(s->outside->progress,
	              "%s; the current credentials are used until they expire", why.msg);
	return 0;
}

int aws_session_credentials(struct aws_session *s, const char *region, bool renew,
                            struct aws_credentials *ret_credentials, struct err *err)
{
	int status = 0;

	pthread_mutex_lock(&s->lock);
	int64_t now = aws_client_now_ms(&s->client);

	if (is_due(s, now, renew))
		status = refresh(s, region, now, renew, err);
	if (status == 0)
		aws_credentials_copy(&s->kept, ret_credentials);
	pthread_mutex_unlock(&s->lock);
	return status;
}

int aws_session_send(struct aws_session *s, struct aws_call *call, struct arena *a,
                     struct http_response *resp, struct aws_failure *ret_failure, struct err *err)
{
	for (int tries = 1;; tries++) {
		AUTO(aws_credentials) struct aws_credentials c = {0};
		struct aws_failure failure = {.code = "", .message = "", .request_id = ""};
		struct err why = {0};

		if (aws_session_credentials(s, call->region, tries > 1, &c, err) != 0)
			return -1;
		call->credentials = &c;
		int status = aws_client_send(&s->client, call, a, resp, &failure, &why);

		call->credentials = NULL;
		if (ret_failure != NULL)
			*ret_failure = failure;
		if (status == 0)
			return 0;
		if (tries == 1 && c.session_token != NULL && aws_failure_is_expired(&failure))
			continue;
		*err = why;
		return err_wrap(err, "with credentials from %s", c.provider);
	}
}
