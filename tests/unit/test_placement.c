/* How often a deploy that waits asks the cluster: an hour of it, by a clock that only sleep moves. */
#include "tests/fleet_make.h"

#include "k8s/deploy/changes.h"
#include "k8s/deploy/placement.h"

enum { HOUR_MS = 3600 * 1000 };

/* A cluster in which the job runs for an hour, or waits for capacity that does not come. */
struct hour {
	struct kubectl base;
	struct clock clock;
	int64_t now_ms, start_ms;
	bool runs;
	const char *const *talk; /* the program that stands in for `kubectl get --watch` */
	int calls, looks;
	cJSON *live; /* what was applied */
};

static struct hour *hour_of(struct clock *c)
{
	return (struct hour *)(void *)((char *)c - offsetof(struct hour, clock));
}

static int64_t hour_now(struct clock *c)
{
	return hour_of(c)->now_ms;
}

static void hour_sleep(struct clock *c, int64_t ms)
{
	hour_of(c)->now_ms += ms;
}

static bool is_over(const struct hour *h)
{
	return h->now_ms - h->start_ms >= HOUR_MS;
}

/* What is asked for is kept as the server would. */
static void keep(struct hour *h, const cJSON *sent)
{
	AUTO(strbuf) struct strbuf time = STRBUF_INIT(64);

	for (const cJSON *o = json_get(sent, "items")->child; o != NULL; o = o->next) {
		cJSON *copy = cJSON_Duplicate(o, true);
		cJSON *meta = cJSON_GetObjectItemCaseSensitive(copy, "metadata");

		json_add_string(meta, "resourceVersion", "1");
		json_add_string(meta, "creationTimestamp", "1970-01-01T00:00:01Z");
		json_push(h->live, copy);
	}
}

static void answer_look(struct hour *h, const cJSON *sent, struct strbuf *out)
{
	AUTO(json) cJSON *found = cJSON_CreateArray();

	h->looks++;
	for (const cJSON *o = json_get(sent, "items")->child; o != NULL; o = o->next) {
		const cJSON *there = object_find(h->live, o);
		cJSON *copy = there != NULL ? cJSON_Duplicate(there, true) : NULL;

		if (copy == NULL)
			continue;
		if (is_over(h))
			cJSON_AddItemToObject(copy, "status",
			                      cJSON_Parse("{\"state\":{\"phase\":\"Completed\"}}"));
		json_push(found, copy);
	}
	kubectl_print_list(found, out);
}

static void answer_pods(const struct hour *h, struct strbuf *out)
{
	const char *phase = h->runs ? "Running" : "Pending";

	strbuf_adds(out, "{\"kind\":\"List\",\"items\":[");
	for (int i = 0; i < 2; i++)
		strbuf_addf(
			out,
			"%s{\"kind\":\"Pod\",\"metadata\":{\"name\":\"perceiver-trn1-worker-%d\"},"
			"\"spec\":{},\"status\":{\"phase\":\"%s\"}}",
			i > 0 ? "," : "", i, phase);
	strbuf_adds(out, "]}");
}

static int hour_call(struct kubectl *base, const char *const *args, const char *input,
                     struct kubectl_reply *reply, struct err *err UNUSED)
{
	struct hour *h = (struct hour *)base;
	AUTO(json) cJSON *sent = input != NULL ? cJSON_Parse(input) : NULL;

	h->calls++;
	if (strcmp(args[0], "apply") == 0) {
		keep(h, sent);
		strbuf_adds(&reply->out, input);
	} else if (sent != NULL && json_get(sent, "items") != NULL) {
		answer_look(h, sent, &reply->out);
	} else if (sent != NULL) {
		strbuf_adds(&reply->out, "{\"metadata\":{\"resourceVersion\":\"7\"}}");
	} else if (strcmp(args[1], "pods") == 0) {
		answer_pods(h, &reply->out);
	}
	return 0;
}

static int hour_follow(struct kubectl *base, const char *const *args UNUSED, struct proc_child *ret,
                       struct err *err)
{
	struct hour *h = (struct hour *)base;

	h->calls++;
	return proc_start(h->talk, ret, err);
}

static const char *const silent[] = {"sleep", "600", NULL};
static const char *const storm[] = {"yes", NULL};
static const char *const absent[] = {"no-such-kubectl", NULL};

/* The calls of an hour of deploy --wait. */
static int calls_of(const char *const *talk, bool runs, int *ret_looks)
{
	struct hour h = {.base = {.call = hour_call, .follow = hour_follow},
	                 .clock = {hour_now, hour_sleep},
	                 .now_ms = 5000,
	                 .start_ms = 5000,
	                 .runs = runs,
	                 .talk = talk,
	                 .live = cJSON_CreateArray()};
	struct fleet_run f;
	struct lease lease;
	struct placement placement;
	struct err err = {0};

	h.base.clock = &h.clock;
	CHECK_INT(fleet_run(&f, "slipway.yaml"), 0);
	lease_init(&lease, &h.base, "n", "f");
	struct placement_opts opts = {
		.fleet = &f.spec->fleet,
		.out = &f.out,
		.pinned = "trn1",
		.until = UNTIL_ENDED,
		.interval_ms = 5000,
		.apply = {.owner = f.spec->fleet.name, .deadline_ms = h.now_ms + 1800000},
	};

	CHECK_INT(lease_take(&lease, 0, &err), 0);
	CHECK_INT(placement_run(&lease, &opts, &placement, &err), 0);
	CHECK_STR(err.msg, "");
	CHECK(is_over(&h) && h.now_ms < h.start_ms + HOUR_MS + 2 * CHANGES_QUIET_MS);
	lease_release(&lease, false);
	cJSON_Delete(h.live);
	fleet_run_done(&f);
	*ret_looks = h.looks;
	return h.calls;
}

static void a_quiet_hour_takes_few_calls(void)
{
	int looks, calls = calls_of(silent, true, &looks);

	printf("# %d calls, %d looks\n", calls, looks);
	CHECK(calls < 150);
	calls = calls_of(silent, false, &looks);
	printf("# %d calls, %d looks while it waits for capacity\n", calls, looks);
	CHECK(calls < 200);
}

static void a_storm_of_news_has_a_bound(void)
{
	int looks, calls = calls_of(storm, true, &looks);

	printf("# %d calls, %d looks\n", calls, looks);
	CHECK(calls < 400 && looks > 60);
	calls = calls_of(storm, false, &looks);
	printf("# %d calls, %d looks while it waits for capacity\n", calls, looks);
	CHECK(calls < 400 && looks > 30);
}

static void without_watching_the_interval_counts(void)
{
	int looks;

	calls_of(absent, true, &looks);
	CHECK(looks > 700 && looks < 740);
}

int main(void)
{
	TEST("placement: a quiet hour takes few calls", a_quiet_hour_takes_few_calls);
	TEST("placement: a storm of news has a bound", a_storm_of_news_has_a_bound);
	TEST("placement: without watching the interval counts",
	     without_watching_the_interval_counts);
	return test_done();
}
