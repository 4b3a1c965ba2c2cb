/* How often a deploy that waits asks the cluster: an hour of it, by a clock that only sleep moves. */
#include "tests/fleet_make.h"

#include "k8s/deploy/changes.h"
#include "k8s/deploy/placement.h"
#include "k8s/deploy/runs.h"

enum { HOUR_MS = 3600 * 1000 };

/* A cluster in which the job runs for an hour, or waits for capacity that does not come. */
struct hour {
	struct kubectl base;
	struct clock clock;
	int64_t now_ms, start_ms;
	bool runs;
	int64_t scout_ms;        /* scouts have machines from then on */
	bool two_jobs;           /* there were once */
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

static size_t jobs_there(const struct hour *h)
{
	size_t n = 0;

	for (const cJSON *o = h->live->child; o != NULL; o = o->next)
		n += object_in(o, "jobs") && strcmp(json_string(o, "kind"), "Job") == 0;
	return n;
}

static void forget(struct hour *h, const char *resource, const char *name)
{
	cJSON *next;

	for (cJSON *o = h->live->child; o != NULL; o = next) {
		next = o->next;
		if (strcmp(object_name(o), name) == 0 &&
		    strcmp(kind_of(o)->resource, resource) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(h->live, o));
	}
}

/* What is asked for is kept as the server would. */
static void keep(struct hour *h, const cJSON *sent)
{
	for (const cJSON *o = json_get(sent, "items")->child; o != NULL; o = o->next) {
		cJSON *copy = cJSON_Duplicate(o, true);
		cJSON *meta = cJSON_GetObjectItemCaseSensitive(copy, "metadata");

		forget(h, kind_of(o)->resource, object_name(o));
		json_add_string(meta, "resourceVersion", "1");
		json_add_string(meta, "uid", object_name(o));
		json_add_string(meta, "creationTimestamp", "1970-01-01T00:00:01Z");
		json_push(h->live, copy);
	}
}

/* "/apis/batch.volcano.sh/v1alpha1/namespaces/perceiver/jobs/perceiver-g5" */
static void forget_path(struct hour *h, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	cJSON *next;

	for (cJSON *o = h->live->child; o != NULL; o = next) {
		const char *resource = kind_of(o)->resource;
		size_t len = strcspn(resource, ".");

		next = o->next;
		if (strcmp(object_name(o), name) == 0 &&
		    strncmp(name - 1 - len, resource, len) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(h->live, o));
	}
}

static void answer_get(const struct hour *h, const char *resource, const char *name,
                       struct strbuf *out)
{
	for (const cJSON *o = h->live->child; o != NULL; o = o->next)
		if (strcmp(object_name(o), name) == 0 &&
		    strcmp(kind_of(o)->resource, resource) == 0)
			json_print(o, out);
}

static bool is_there(const struct hour *h, const char *name, size_t len)
{
	for (const cJSON *o = h->live->child; o != NULL; o = o->next)
		if (strlen(object_name(o)) == len && strncmp(object_name(o), name, len) == 0)
			return true;
	return false;
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

/* Of the job or the scout that the selector names, if it is there. */
static void answer_pods(const struct hour *h, const char *selector, struct strbuf *out)
{
	const char *name = strchr(selector, '=') + 1;
	size_t len = strcspn(name, ",");
	bool scout = len > 6 && strncmp(name + len - 6, "-scout", 6) == 0;
	bool runs = scout ? h->now_ms >= h->scout_ms : h->runs;
	int n = is_there(h, name, len) ? 2 : 0;

	strbuf_adds(out, "{\"kind\":\"List\",\"items\":[");
	for (int i = 0; i < n; i++)
		strbuf_addf(out,
		            "%s{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%.*s-%d\"},"
		            "\"spec\":{},\"status\":{\"phase\":\"%s\"}}",
		            i > 0 ? "," : "", (int)len, name, i, runs ? "Running" : "Pending");
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
		h->two_jobs = h->two_jobs || jobs_there(h) > 1;
		strbuf_adds(&reply->out, input);
	} else if (strcmp(args[1], "--raw") == 0) {
		forget_path(h, args[2]);
		strbuf_adds(&reply->out, "{\"kind\":\"Status\"}");
	} else if (sent != NULL && json_get(sent, "items") != NULL) {
		answer_look(h, sent, &reply->out);
	} else if (sent != NULL) {
		strbuf_adds(&reply->out, "{\"metadata\":{\"resourceVersion\":\"7\"}}");
	} else if (strcmp(args[1], "pods") == 0) {
		answer_pods(h, args[5], &reply->out);
	} else if (strcmp(args[0], "get") == 0) {
		answer_get(h, args[1], args[2], &reply->out);
	} else if (strcmp(args[0], "delete") == 0) {
		forget(h, args[1], args[2]);
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

static void begin_hour(struct hour *h, struct fleet_run *f, struct lease *lease)
{
	struct err err = {0};

	h->base = (struct kubectl){.call = hour_call, .clock = &h->clock, .follow = hour_follow};
	h->clock = (struct clock){hour_now, hour_sleep};
	h->now_ms = h->start_ms = 5000;
	h->live = cJSON_CreateArray();
	CHECK_INT(fleet_run(f, "slipway.yaml"), 0);
	lease_init(lease, &h->base, "n", "f");
	CHECK_INT(lease_take(lease, 0, &err), 0);
}

/* The calls of an hour of deploy --wait. */
static int calls_of(const char *const *talk, bool runs, int *ret_looks)
{
	struct hour h = {.runs = runs, .talk = talk};
	struct fleet_run f;
	struct lease lease;
	struct placement placement;
	struct err err = {0};

	begin_hour(&h, &f, &lease);
	AUTO(json) cJSON *release = release_of(&f.out);
	struct placement_opts opts = {
		.fleet = &f.spec->fleet,
		.release = release,
		.pinned = "trn1",
		.until = UNTIL_ENDED,
		.interval_ms = 5000,
		.apply = {.owner = f.spec->fleet.name, .deadline_ms = h.now_ms + 1800000},
	};

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
	CHECK(calls < 400 && looks > 20);
	calls = calls_of(storm, false, &looks);
	printf("# %d calls, %d looks while it waits for capacity\n", calls, looks);
	CHECK(calls < 400 && looks > 20);
}

static void without_watching_the_interval_counts(void)
{
	int looks;

	calls_of(absent, true, &looks);
	CHECK(looks > 700 && looks < 740);
}

static void a_job_returns_when_a_scout_has_all_machines(void)
{
	struct hour h = {.runs = true, .talk = silent, .scout_ms = 1500000};
	struct fleet_run f;
	struct lease lease;
	struct placement placement;
	struct err err = {0};
	struct stage there;

	begin_hour(&h, &f, &lease);
	f.spec->fleet.failover.returns = true;
	AUTO(json) cJSON *release = release_of(&f.out);
	there = release_stage(release, "g5");
	for (const cJSON *o = there.items->child; o != NULL; o = o->next)
		json_push(h.live, cJSON_Duplicate(o, true));
	stage_done(&there);
	struct placement_opts opts = {
		.fleet = &f.spec->fleet,
		.release = release,
		.may_move = true,
		.until = UNTIL_ENDED,
		.interval_ms = 5000,
		.apply = {.owner = f.spec->fleet.name, .deadline_ms = h.now_ms + 1800000},
	};

	CHECK_INT(placement_run(&lease, &opts, &placement, &err), 0);
	CHECK_STR(err.msg, "");
	CHECK_INT(placement.moves, 1);
	CHECK_INT(placement.state.n, 2);
	CHECK_STR(placement.state.attempts[0].target, "g5");
	CHECK_INT(placement.state.attempts[0].outcome, ATTEMPT_RETURNED);
	CHECK_INT(placement.state.attempts[1].outcome, ATTEMPT_SUCCEEDED);
	CHECK(state_last(&placement.state)->started_ms >= h.scout_ms);
	/* Never two at once, and no scout is left. */
	CHECK(!h.two_jobs);
	CHECK_INT(jobs_there(&h), 1);
	for (const cJSON *o = h.live->child; o != NULL; o = o->next)
		CHECK(!object_in(o, "scout"));
	printf("# %d calls\n", h.calls);
	CHECK(h.calls < 400);
	lease_release(&lease, false);
	cJSON_Delete(h.live);
	fleet_run_done(&f);
}

int main(void)
{
	TEST("placement: a quiet hour takes few calls", a_quiet_hour_takes_few_calls);
	TEST("placement: a storm of news has a bound", a_storm_of_news_has_a_bound);
	TEST("placement: without watching the interval counts",
	     without_watching_the_interval_counts);
	TEST("placement: a job returns when a scout has all machines",
	     a_job_returns_when_a_scout_has_all_machines);
	return test_done();
}
