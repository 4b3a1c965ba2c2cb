#include "k8s/deploy/state.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/timestamp.h"
#include "k8s/deploy/kinds.h"

enum { STATE_VERSION = 1 };

const char *const attempt_outcome_names[] = {
	[ATTEMPT_STARTING] = "starting",       [ATTEMPT_RUNNING] = "running",
	[ATTEMPT_NO_CAPACITY] = "no-capacity", [ATTEMPT_SUCCEEDED] = "succeeded",
	[ATTEMPT_FAILED] = "failed",           [ATTEMPT_GONE] = "gone",
	[ATTEMPT_REPLACED] = "replaced",       [ATTEMPT_REFUSED] = "refused",
	[ATTEMPT_RECLAIMED] = "reclaimed",     [ATTEMPT_RETURNED] = "returned",
};
_Static_assert(ARRAY_LEN(attempt_outcome_names) == ATTEMPT_OUTCOMES,
               "attempt_outcome_names: one per enum attempt_outcome");

struct attempt *state_last(struct state *s)
{
	return s->n > 0 ? &s->attempts[s->n - 1] : NULL;
}

void state_begin(struct state *s, const char *target, const char *reason, int64_t now_ms)
{
	struct attempt *a;

	if (s->n == STATE_ATTEMPTS_MAX) {
		memmove(&s->attempts[0], &s->attempts[1], (s->n - 1) * sizeof(s->attempts[0]));
		s->n--;
	}
	a = &s->attempts[s->n++];
	*a = (struct attempt){.cycle = s->cycle, .started_ms = now_ms};
	snprintf(a->target, sizeof(a->target), "%s", target);
	snprintf(s->target, sizeof(s->target), "%s", target);
	snprintf(s->reason, sizeof(s->reason), "%s", reason);
	s->since_ms = now_ms;
}

void state_settle(struct state *s, enum attempt_outcome outcome, const char *cause, int64_t now_ms)
{
	struct attempt *a = state_last(s);

	if (a == NULL)
		return;
	a->outcome = outcome;
	snprintf(a->cause, sizeof(a->cause), "%s", cause);
	if (outcome != ATTEMPT_STARTING && outcome != ATTEMPT_RUNNING)
		a->ended_ms = now_ms;
}

bool state_gives_way(enum attempt_outcome outcome)
{
	return outcome == ATTEMPT_NO_CAPACITY || outcome == ATTEMPT_REFUSED ||
	       outcome == ATTEMPT_RECLAIMED;
}

void state_new_cycle(struct state *s)
{
	s->cycle++;
	if (s->n > 0)
		state_last(s)->cycle = s->cycle;
}

bool state_has_tried(const struct state *s, const char *target)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->attempts[i].cycle == s->cycle && state_gives_way(s->attempts[i].outcome) &&
		    strcmp(s->attempts[i].target, target) == 0)
			return true;
	return false;
}

/* ---- the text ---- */

static void add_time(cJSON *object, const char *key, int64_t ms)
{
	char text[TIMESTAMP_MAX];

	if (ms != 0)
		json_add_string(object, key, timestamp_extended(ms, text));
}

cJSON *state_json(const struct state *s)
{
	cJSON *doc = cJSON_CreateObject(), *list;

	json_add_int(doc, "version", STATE_VERSION);
	json_add_string(doc, "target", s->target);
	json_add_string(doc, "reason", s->reason);
	add_time(doc, "since", s->since_ms);
	json_add_int(doc, "cycle", s->cycle);
	list = json_add_array(doc, "attempts");
	for (size_t i = 0; i < s->n; i++) {
		const struct attempt *a = &s->attempts[i];
		cJSON *row = cJSON_CreateObject();

		json_push(list, row);
		json_add_string(row, "target", a->target);
		json_add_int(row, "cycle", a->cycle);
		if (a->run > 0)
			json_add_int(row, "run", a->run);
		add_time(row, "started", a->started_ms);
		add_time(row, "ended", a->ended_ms);
		json_add_string(row, "outcome", attempt_outcome_names[a->outcome]);
		json_add_string(row, "cause", a->cause);
	}
	return doc;
}

static void read_text(const cJSON *doc, const char *key, char *ret, size_t size)
{
	const char *text = json_string(doc, key);

	snprintf(ret, size, "%s", text != NULL ? text : "");
}

static void read_time(const cJSON *doc, const char *key, int64_t *ret_ms)
{
	const char *text = json_string(doc, key);

	if (text == NULL || !timestamp_iso8601(text, ret_ms))
		*ret_ms = 0;
}

static int read_attempt(const cJSON *row, struct attempt *ret, struct err *err)
{
	const char *outcome = json_string(row, "outcome");
	size_t i = 0;

	*ret = (struct attempt){0};
	while (i < ARRAY_LEN(attempt_outcome_names) &&
	       (outcome == NULL || strcmp(attempt_outcome_names[i], outcome) != 0))
		i++;
	if (i == ARRAY_LEN(attempt_outcome_names))
		return err_set(err, ERR_FORMAT, "unknown attempt outcome '%s'",
		               outcome != NULL ? outcome : "");
	ret->outcome = (enum attempt_outcome)i;
	read_text(row, "target", ret->target, sizeof(ret->target));
	read_text(row, "cause", ret->cause, sizeof(ret->cause));
	read_time(row, "started", &ret->started_ms);
	read_time(row, "ended", &ret->ended_ms);
	ret->run = object_number(row, "run");
	return json_size(row, "cycle", &ret->cycle, err);
}

static int read_attempts(const cJSON *list, struct state *s, struct err *err)
{
	if (!cJSON_IsArray(list))
		return err_set(err, ERR_FORMAT, "it has no list of attempts");
	for (const cJSON *row = list->child; row != NULL; row = row->next) {
		if (s->n == STATE_ATTEMPTS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d attempts", STATE_ATTEMPTS_MAX);
		if (read_attempt(row, &s->attempts[s->n++], err) != 0)
			return -1;
	}
	return 0;
}

int state_parse(const char *text, size_t len, struct state *ret, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct state s = {0};
	int64_t version;

	if (json_parse(STATE_KEY, text, len, &doc, err) != 0 ||
	    json_size(doc, "version", &version, err) != 0)
		return -1;
	if (version != STATE_VERSION) {
		err_set(err, ERR_FORMAT, "unsupported state version %lld", (long long)version);
		return err_hint(err, "A newer slipway wrote it: use that version.");
	}
	read_text(doc, "target", s.target, sizeof(s.target));
	read_text(doc, "reason", s.reason, sizeof(s.reason));
	read_time(doc, "since", &s.since_ms);
	if (json_size(doc, "cycle", &s.cycle, err) != 0 ||
	    read_attempts(json_get(doc, "attempts"), &s, err) != 0)
		return -1;
	*ret = s;
	return 0;
}

/* ---- the ConfigMap ---- */

static int parse_object(const cJSON *object, const char *fleet, struct state *ret, struct err *err)
{
	const char *text = json_string(json_get(object, "data"), STATE_KEY);
	const char *owner = object_label(object, OWNER_LABEL);

	if (owner == NULL || strcmp(owner, fleet) != 0)
		return err_set(err, ERR_CONFLICT, "it belongs to '%s'",
		               owner != NULL ? owner : "nobody");
	if (text == NULL)
		return err_set(err, ERR_FORMAT, "it has no %s", STATE_KEY);
	return state_parse(text, strlen(text), ret, err);
}

int state_read(struct kubectl *k, const char *namespace, const char *fleet, struct state *ret,
               struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);
	AUTO(json) cJSON *object = NULL;

	strbuf_addf(&name, "%s" STATE_SUFFIX, fleet);
	const char *const args[] = {"get", "configmaps", strbuf_str(&name),
	                            "-n",  namespace,    "--ignore-not-found",
	                            "-o",  "json",       NULL};

	if (kubectl_json(k, args, NULL, &object, err) != 0)
		return err_wrap(err, "read the recorded attempts");
	if (object == NULL) {
		*ret = (struct state){0};
		return 0;
	}
	if (parse_object(object, fleet, ret, err) == 0)
		return 0;
	err_wrap(err, "ConfigMap '%s'", strbuf_str(&name));
	return err_hint(err, "To start over without it: `kubectl delete configmap -n %s %s`.",
	                namespace, strbuf_str(&name));
}

int state_write(struct kubectl *k, const char *namespace, const char *fleet, const struct state *s,
                struct err *err)
{
	static const char *const args[] = {
		"apply", "--server-side", "--field-manager=slipway", "-f", "-", "-o", "json", NULL};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0), input = STRBUF_INIT(0);
	AUTO(json) cJSON *items = cJSON_CreateArray(), *doc = state_json(s), *answer = NULL;
	cJSON *object = cJSON_CreateObject();

	json_print_pretty(doc, &text);
	json_push(items, object);
	json_add_string(object, "apiVersion", "v1");
	json_add_string(object, "kind", "ConfigMap");
	deploy_metadata(object, namespace, fleet, STATE_SUFFIX);
	json_add_string(json_add_object(object, "data"), STATE_KEY, strbuf_str(&text));
	kubectl_print_list(items, &input);
	if (kubectl_json(k, args, strbuf_str(&input), &answer, err) != 0)
		return err_wrap(err, "record the attempts");
	return 0;
}
