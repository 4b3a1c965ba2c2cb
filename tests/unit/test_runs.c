/* Runs of a job: which two are the same, their numbers, what is kept of them. */
#include "tests/fleet_make.h"

#include "k8s/deploy/runs.h"

#define SET_MAX 4

/* The release of this repository's fleet with some values of the spec set. */
static cJSON *release_with(const char *const *set)
{
	struct fleet_run f;
	cJSON *release;

	CHECK_INT(fleet_run_with(&f, "slipway.yaml", set), 0);
	release = release_of(&f.out);
	fleet_run_done(&f);
	return release;
}

struct change {
	const char *set[SET_MAX];
	bool same;
};

static const struct change changes[] = {
	{{"job.scheduler=job"}, true},
	{{"job.scheduler=job", "job.ttl=1234"}, true},
	{{"job.scheduler=job", "job.retries=9"}, true},
	{{"job.scheduler=job", "job.deadline=3600"}, true},
	{{"job.scheduler=job", "job.grace=77"}, false},
	{{"job.scheduler=job", "job.nodes=3"}, false},
	{{"job.scheduler=job", "job.args=[train]"}, false},
	{{"job.scheduler=jobset"}, false},
};

static void only_what_a_running_job_does_not_take_makes_another(void)
{
	AUTO(json) cJSON *first = release_with(changes[0].set);

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		AUTO(json) cJSON *other = release_with(changes[i].set);

		if (release_same(first, other, "trn1") != changes[i].same)
			printf("# change %zu\n", i);
		CHECK_INT(release_same(first, other, "trn1"), changes[i].same);
	}
}

static void a_volcano_job_takes_nothing_in_place(void)
{
	static const char *const plain[] = {"job.scheduler=volcano", NULL};
	static const char *const kept[] = {"job.scheduler=volcano", "job.ttl=1234", NULL};
	AUTO(json) cJSON *a = release_with(plain), *b = release_with(kept);

	CHECK(release_same(a, a, "g5"));
	CHECK(!release_same(a, b, "g5"));
	/* A target that one of them has not. */
	cJSON_DeleteItemFromObjectCaseSensitive(b, "trn1");
	CHECK(!release_same(a, b, "trn1"));
}

static void a_number_stands_on_the_job_alone(void)
{
	static const char *const plain[] = {"job.scheduler=job", NULL};
	AUTO(json) cJSON *release = release_with(plain);
	struct stage stage = release_stage(release, "trn1"), stamped = run_stage(&stage, 7);
	const cJSON *service = stamped.items->child, *job = service->next;

	CHECK_INT(run_number(job), 7);
	CHECK_INT(run_number(service), 0);
	CHECK_INT(run_number(stage.items->child->next), 0);
	stage_done(&stamped);
	stage_done(&stage);
}

static void odd_numbers_are_none(void)
{
	static const char *const odd[] = {"0", "-1", "x", "", "12345678901234567890"};

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		AUTO(json) cJSON *o = cJSON_CreateObject();

		json_add_string(json_add_object(json_add_object(o, "metadata"), "labels"),
		                RUN_LABEL, odd[i]);
		CHECK_INT(run_number(o), 0);
	}
	CHECK_INT(run_number(NULL), 0);
}

static void the_last_runs_are_kept_and_numbers_go_on(void)
{
	AUTO(json) cJSON *runs = cJSON_CreateArray();
	AUTO(json) cJSON *a = cJSON_Parse("{\"g5\":[{\"kind\":\"X\",\"spec\":{\"n\":1}}]}");
	AUTO(json) cJSON *b = cJSON_Parse("{\"g5\":[{\"kind\":\"X\",\"spec\":{\"n\":2}}]}");

	CHECK_INT(runs_number_for(runs, a, "g5"), 1);
	for (int64_t n = 1; n <= RUNS_KEPT + 2; n++) {
		struct run_row row = {n, 1000, NULL, "deploy", n % 2 == 1 ? a : b};

		runs_add(runs, &row);
	}
	CHECK_INT(cJSON_GetArraySize(runs), RUNS_KEPT);
	CHECK(runs_find(runs, 2) == NULL && runs_find(runs, 3) != NULL);
	CHECK_INT(runs_number(runs_last(runs)), 7);
	CHECK_INT(runs_number(runs_before(runs, 6)), 5);
	CHECK(runs_before(runs, 3) == NULL);
	/* The last one again is the last one; any other is a new one. */
	CHECK_INT(runs_number_for(runs, a, "g5"), 7);
	CHECK_INT(runs_number_for(runs, b, "g5"), 8);
}

static void large_runs_push_out_the_oldest(void)
{
	AUTO(json) cJSON *runs = cJSON_CreateArray(), *big = cJSON_CreateObject();
	char *text = calloc(1, 500 << 10);

	memset(text, 'x', (500 << 10) - 1);
	json_add_string(big, "g5", text);
	free(text);
	for (int64_t n = 1; n <= 3; n++) {
		struct run_row row = {n, 1000, NULL, "deploy", big};

		runs_add(runs, &row);
	}
	CHECK_INT(cJSON_GetArraySize(runs), 1);
	CHECK_INT(runs_number(runs_last(runs)), 3);
}

int main(void)
{
	TEST("runs: only what a running job does not take makes another",
	     only_what_a_running_job_does_not_take_makes_another);
	TEST("runs: a Volcano job takes nothing in place", a_volcano_job_takes_nothing_in_place);
	TEST("runs: the number stands on the job alone", a_number_stands_on_the_job_alone);
	TEST("runs: odd numbers are none", odd_numbers_are_none);
	TEST("runs: the last ones are kept, and numbers go on",
	     the_last_runs_are_kept_and_numbers_go_on);
	TEST("runs: large ones push out the oldest", large_runs_push_out_the_oldest);
	return test_done();
}
