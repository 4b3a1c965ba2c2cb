/*
 * When a target is given up: observations and the decisions they lead to; what objects of a cluster
 * are taken for; the state's text.
 */
#include "tests/fleet_make.h"

#include "k8s/deploy/capacity.h"

/* ---- the machine ---- */

static const struct fleet_failover rules = {.enabled = true,
                                            .after_ms = 180000,
                                            .unschedulable_ms = 600000,
                                            .boot_ms = 1200000,
                                            .backoff_ms = 60000};

enum {
	RAN = 1,
	UNPLACED = 2,
	COMING = 4,
	LACK = 8,
	REJECTED = 16,
	NO_IMAGE = 32,
	PASSING = 64,
	OF_TARGET = 128,
	OF_QUOTA = 256,
	FINAL = 512,
	AGAIN = 1024, /* the cluster has said so once more */
	SOME = 2048,  /* one of two pods runs */
	LAUNCHING = 4096
};

static enum refusal refusal_seen(unsigned seen)
{
	return seen & FINAL       ? REFUSAL_FINAL
	       : seen & OF_QUOTA  ? REFUSAL_QUOTA
	       : seen & OF_TARGET ? REFUSAL_TARGET
	       : seen & PASSING   ? REFUSAL_PASSING
	                          : REFUSAL_NONE;
}

struct moment {
	int minute;
	enum job_phase phase;
	unsigned seen;
	enum decision wanted;
};

struct story {
	const char *name;
	bool pinned, ran_before, resumed, portable;
	struct moment at[8];
	size_t n;
};

#define STORY(name_, ...)                                                                          \
	{                                                                                          \
		.name = (name_), .at = {__VA_ARGS__},                                              \
		.n = sizeof((struct moment[]){__VA_ARGS__}) / sizeof(struct moment)                \
	}

static const struct story stories[] = {
	STORY("pods run at once", {0, JOB_RUNNING, RAN, DECIDE_RUNS}),
	STORY("lack of capacity must last", {0, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {2, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {3, JOB_WAITING, UNPLACED | LACK, DECIDE_MOVE}),
	STORY("a machine that comes ends the lack", {0, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {2, JOB_WAITING, UNPLACED | LACK | COMING, DECIDE_WAIT},
              {4, JOB_WAITING, UNPLACED | LACK | COMING, DECIDE_WAIT},
              {5, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {8, JOB_WAITING, UNPLACED | LACK, DECIDE_MOVE}),
	STORY("pods without a node for long are reason enough",
              {0, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {9, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {10, JOB_WAITING, UNPLACED, DECIDE_MOVE}),
	STORY("while a machine is asked for or boots, that time does not count",
              {0, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {3, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {4, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_WAIT},
              {5, JOB_WAITING, UNPLACED | COMING, DECIDE_WAIT},
              {19, JOB_WAITING, UNPLACED | COMING, DECIDE_WAIT},
              {20, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {26, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {27, JOB_WAITING, UNPLACED, DECIDE_MOVE}),
	STORY("machines that fail one after another do not keep it for ever",
              {0, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {4, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {5, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_WAIT},
              {6, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {10, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {11, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_WAIT},
              {12, JOB_WAITING, UNPLACED, DECIDE_WAIT}, {14, JOB_WAITING, UNPLACED, DECIDE_MOVE}),
	STORY("nor is one left while a machine is asked for, until that lasts",
              {0, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {3, JOB_WAITING, UNPLACED | LACK | LAUNCHING, DECIDE_WAIT},
              {4, JOB_WAITING, UNPLACED | LACK, DECIDE_MOVE}),
	STORY("a machine that is asked for in vain", {0, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {1, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_WAIT},
              {20, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_WAIT},
              {21, JOB_WAITING, UNPLACED | LAUNCHING, DECIDE_MOVE}),
	STORY("a machine that does not become a node",
              {0, JOB_WAITING, UNPLACED | COMING, DECIDE_WAIT},
              {19, JOB_WAITING, UNPLACED | COMING, DECIDE_WAIT},
              {20, JOB_WAITING, UNPLACED | COMING, DECIDE_MOVE}),
	STORY("pods that have nodes and do not start are no matter of capacity",
              {0, JOB_WAITING, 0, DECIDE_WAIT}, {19, JOB_WAITING, 0, DECIDE_WAIT},
              {20, JOB_WAITING, 0, DECIDE_STUCK}),
	STORY("a job of which a pod ran is never moved",
              {0, JOB_WAITING, RAN | UNPLACED | LACK, DECIDE_WAIT},
              {19, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {20, JOB_WAITING, UNPLACED | LACK, DECIDE_STUCK}),
	STORY("nor is one that lost all its pods", {0, JOB_RUNNING, RAN, DECIDE_RUNS},
              {1, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
              {15, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT}, {16, JOB_RUNNING, RAN, DECIDE_RUNS}),
	STORY("it is deleted by somebody", {0, JOB_WAITING, UNPLACED, DECIDE_WAIT},
              {1, JOB_ABSENT, 0, DECIDE_GONE}),
	STORY("it ends well", {0, JOB_RUNNING, RAN, DECIDE_RUNS},
              {9, JOB_SUCCEEDED, RAN, DECIDE_SUCCEEDED}),
	STORY("it ends badly", {0, JOB_WAITING, RAN, DECIDE_WAIT},
              {9, JOB_FAILED, 0, DECIDE_FAILED}),
	STORY("what no target can cure ends at once",
              {0, JOB_WAITING, UNPLACED | FINAL, DECIDE_REFUSED}),
	STORY("even when one pod runs", {0, JOB_WAITING, RAN | UNPLACED | FINAL, DECIDE_REFUSED}),
	STORY("a quota's refusal must last: pods that have just gone are counted",
              {0, JOB_WAITING, UNPLACED | OF_QUOTA, DECIDE_WAIT},
              {1, JOB_WAITING, UNPLACED | OF_QUOTA, DECIDE_REFUSED}),
	STORY("and is said again of a job that runs", {0, JOB_RUNNING, RAN, DECIDE_RUNS},
              {1, JOB_WAITING, UNPLACED | OF_QUOTA, DECIDE_WAIT},
              {2, JOB_WAITING, UNPLACED | OF_QUOTA, DECIDE_WAIT},
              {3, JOB_WAITING, UNPLACED | OF_QUOTA | AGAIN, DECIDE_REFUSED}),
	STORY("a quota of one target's devices",
              {0, JOB_WAITING, UNPLACED | OF_TARGET, DECIDE_WAIT},
              {1, JOB_WAITING, UNPLACED | OF_TARGET, DECIDE_MOVE}),
	STORY("pods that cannot be made are no matter of capacity",
              {0, JOB_WAITING, UNPLACED | PASSING, DECIDE_WAIT},
              {19, JOB_WAITING, UNPLACED | PASSING, DECIDE_WAIT},
              {20, JOB_WAITING, UNPLACED | PASSING, DECIDE_STUCK}),
	STORY("nodes that refuse pods", {0, JOB_WAITING, UNPLACED | REJECTED, DECIDE_WAIT},
              {2, JOB_WAITING, UNPLACED | REJECTED, DECIDE_WAIT},
              {3, JOB_WAITING, UNPLACED | REJECTED, DECIDE_MOVE}),
	STORY("until the job has failed of it", {0, JOB_WAITING, UNPLACED | REJECTED, DECIDE_WAIT},
              {1, JOB_FAILED, REJECTED, DECIDE_MOVE}),
	STORY("an image that never comes", {0, JOB_WAITING, NO_IMAGE, DECIDE_STUCK}),
	{.name = "what was refused before slipway came may have been cured",
         .resumed = true,
         .at = {{0, JOB_WAITING, UNPLACED | FINAL, DECIDE_WAIT},
                {1, JOB_WAITING, UNPLACED | FINAL, DECIDE_WAIT},
                {2, JOB_WAITING, UNPLACED | FINAL | AGAIN, DECIDE_REFUSED}},
         .n = 3},
	{.name = "and of the time in which it was away nothing is known",
         .resumed = true,
         .at = {{11, JOB_WAITING, UNPLACED, DECIDE_MOVE}},
         .n = 1},
	{.name = "but that a machine comes shows that it was not idle",
         .resumed = true,
         .at = {{11, JOB_WAITING, UNPLACED | COMING, DECIDE_WAIT},
                {12, JOB_WAITING, UNPLACED, DECIDE_WAIT},
                {21, JOB_WAITING, UNPLACED, DECIDE_WAIT},
                {22, JOB_WAITING, UNPLACED, DECIDE_MOVE}},
         .n = 4},
	{.name = "a target asked for by name is stayed with",
         .pinned = true,
         .at = {{0, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {30, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT}},
         .n = 2},
	{.name = "one that lost all its nodes moves when its checkpoints are everywhere",
         .portable = true,
         .at = {{0, JOB_RUNNING, RAN, DECIDE_RUNS},
                {5, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {7, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {8, JOB_WAITING, UNPLACED | LACK, DECIDE_MOVE}},
         .n = 4},
	{.name = "one that lost a part of them stays",
         .portable = true,
         .at = {{0, JOB_RUNNING, RAN, DECIDE_RUNS},
                {5, JOB_WAITING, UNPLACED | LACK | SOME, DECIDE_WAIT},
                {9, JOB_WAITING, UNPLACED | LACK | SOME, DECIDE_WAIT},
                {25, JOB_WAITING, UNPLACED | LACK | SOME, DECIDE_STUCK}},
         .n = 4},
	{.name = "nodes that come again end a reclaim",
         .portable = true,
         .at = {{0, JOB_WAITING, RAN | UNPLACED | LACK, DECIDE_WAIT},
                {2, JOB_WAITING, UNPLACED | LACK | COMING, DECIDE_WAIT},
                {4, JOB_RUNNING, RAN, DECIDE_RUNS},
                {5, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {7, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {8, JOB_WAITING, UNPLACED | LACK, DECIDE_MOVE}},
         .n = 6},
	{.name = "a reclaim without a word of capacity takes longer",
         .portable = true,
         .ran_before = true,
         .at = {{5, JOB_WAITING, UNPLACED, DECIDE_WAIT},
                {14, JOB_WAITING, UNPLACED, DECIDE_WAIT},
                {15, JOB_WAITING, UNPLACED, DECIDE_MOVE}},
         .n = 3},
	{.name = "a pod ran in an earlier run of slipway",
         .ran_before = true,
         .at = {{5, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT},
                {15, JOB_WAITING, UNPLACED | LACK, DECIDE_WAIT}},
         .n = 2},
};

static void play(const struct story *story)
{
	struct attempt attempt = {.started_ms = 1000,
	                          .outcome =
	                                  story->ran_before ? ATTEMPT_RUNNING : ATTEMPT_STARTING};
	struct failover machine;

	struct fleet_failover with = rules;

	with.reclaimed = story->portable;
	failover_begin(&machine, &with, &attempt, !story->pinned, story->resumed);
	for (size_t i = 0; i < story->n; i++) {
		const struct moment *at = &story->at[i];
		struct observation o = {.now_ms = 1000 + at->minute * 60000LL,
		                        .phase = at->phase,
		                        .ran = (at->seen & RAN) != 0,
		                        .unplaced = (at->seen & UNPLACED) != 0,
		                        .node_coming = (at->seen & COMING) != 0,
		                        .launching = (at->seen & LAUNCHING) != 0,
		                        .lack = (at->seen & LACK) != 0,
		                        .rejected = (at->seen & REJECTED) != 0,
		                        .no_image = (at->seen & NO_IMAGE) != 0,
		                        .refusal = refusal_seen(at->seen),
		                        .refused_ms = (at->seen & AGAIN) != 0 ? 2000 : 1000,
		                        .running = at->phase == JOB_RUNNING ? 2
		                                   : (at->seen & SOME) != 0 ? 1
		                                                            : 0,
		                        .wanted = 2,
		                        .why = "because"};
		char cause[STATE_TEXT_MAX];
		enum decision got = failover_step(&machine, &o, cause);

		if (got != at->wanted)
			printf("# story '%s', minute %d\n", story->name, at->minute);
		CHECK_INT(got, at->wanted);
		if (got == DECIDE_MOVE)
			CHECK(strstr(cause, "because") != NULL);
	}
}

static void decisions_follow_observations(void)
{
	for (size_t i = 0; i < ARRAY_LEN(stories); i++)
		play(&stories[i]);
}

static void time_alone_decides_at_known_moments(void)
{
	struct attempt attempt = {.started_ms = 1000};
	struct observation o = {.now_ms = 2000, .phase = JOB_WAITING, .unplaced = true};
	struct failover machine;
	char cause[STATE_TEXT_MAX];

	failover_begin(&machine, &rules, &attempt, true, false);
	failover_step(&machine, &o, cause);
	CHECK_INT(failover_due(&machine), 2000 + rules.unschedulable_ms);
	o.lack = true;
	o.now_ms = 3000;
	failover_step(&machine, &o, cause);
	CHECK_INT(failover_due(&machine), 3000 + rules.after_ms);
	o = (struct observation){.now_ms = 4000, .phase = JOB_RUNNING, .ran = true, .running = 2};
	failover_step(&machine, &o, cause);
	CHECK_INT(failover_due(&machine), INT64_MAX);
}

static void pauses_double_up_to_a_limit(void)
{
	static const int64_t minutes[] = {1, 1, 2, 4, 8, 16, 32, 32};

	for (size_t i = 0; i < ARRAY_LEN(minutes); i++)
		CHECK_INT(failover_pause(&rules, (int64_t)i), minutes[i] * 60000);
	CHECK_INT(failover_pause(&rules, INT64_MAX), 32 * 60000);
}

static void targets_come_by_weight_once_in_a_cycle(void)
{
	struct fleet_run f;
	struct state s = {0};

	CHECK_INT(fleet_run(&f, "slipway.yaml"), 0);
	const struct fleet *fleet = &f.spec->fleet;

	for (size_t i = 0; i < fleet->n_targets; i++) {
		CHECK_STR(failover_next(fleet, &s)->name, fleet->targets[i].name);
		state_begin(&s, fleet->targets[i].name, "", 1);
		CHECK(failover_next(fleet, &s) == &fleet->targets[i]);
		state_settle(&s, ATTEMPT_NO_CAPACITY, "none", 2);
	}
	CHECK(failover_next(fleet, &s) == NULL);
	s.cycle++;
	CHECK_STR(failover_next(fleet, &s)->name, fleet->targets[0].name);
	fleet_run_done(&f);
}

/* ---- what is seen ---- */

#define JOB(status)                                                                                \
	"{\"kind\":\"Job\",\"metadata\":{\"uid\":\"u1\",\"name\":\"perceiver-g5\","                \
	"\"creationTimestamp\":"                                                                   \
	"\"2026-01-01T00:10:00Z\"},\"status\":" status "}"
#define POD(status, spec) "{\"spec\":{" spec "},\"status\":{" status "}}"
#define PENDING           POD("\"phase\":\"Pending\"", "")
#define EVENT(kind, name, reason, message, source, time)                                           \
	"{\"involvedObject\":{\"kind\":\"" kind "\",\"name\":\"" name "\"},\"reason\":\"" reason   \
	"\",\"message\":\"" message "\",\"source\":{\"component\":\"" source                       \
	"\"},\"lastTimestamp\":\"2026-01-01T00:" time ":00Z\"}"

struct view {
	const char *job, *pods, *claims, *events;
	enum job_phase phase;
	unsigned seen;
	const char *why; /* part of it */
};

static const struct view views[] = {
	{NULL, "", "", "", JOB_ABSENT, 0, ""},
	{JOB("{}"), "", "", "", JOB_WAITING, UNPLACED, "no pods yet"},
	{JOB("{}"), PENDING "," PENDING, "", "", JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), POD("\"phase\":\"Running\"", "") "," POD("\"phase\":\"Running\"", ""), "", "",
         JOB_RUNNING, RAN, ""},
	{JOB("{}"), POD("\"phase\":\"Running\"", "") "," PENDING, "", "", JOB_WAITING,
         RAN | UNPLACED, ""},
	{JOB("{\"failed\":1}"), PENDING "," PENDING, "", "", JOB_WAITING, RAN | UNPLACED, ""},
	{JOB("{}"),
         POD("\"phase\":\"Pending\",\"containerStatuses\":[{\"restartCount\":2}]",
             "\"nodeName\":\"n\"") "," PENDING,
         "", "", JOB_WAITING, RAN | UNPLACED, ""},
	{JOB("{}"),
         POD("\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":"
             "\"ErrImagePull\",\"message\":\"no such\\nimage\"}}}]",
             "\"nodeName\":\"n\"") "," POD("\"phase\":\"Pending\"", "\"nodeName\":\"m\""),
         "", "", JOB_WAITING, 0, "ErrImagePull: no such image"},
	{JOB("{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}"), "", "", "",
         JOB_SUCCEEDED, UNPLACED, ""},
	{JOB("{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":\"R\","
             "\"message\":\"limit\"}]}"),
         "", "", "", JOB_FAILED, UNPLACED, "limit"},
	{JOB("{\"state\":{\"phase\":\"Completed\"}}"), "", "", "", JOB_SUCCEEDED, UNPLACED, ""},
	{JOB("{\"state\":{\"phase\":\"Aborted\",\"reason\":\"by hand\"}}"), "", "", "", JOB_FAILED,
         UNPLACED, "by hand"},
	/* on its way to Aborted or Terminated, from which it does not come back */
	{JOB("{\"state\":{\"phase\":\"Aborting\",\"message\":\"by a policy\"}}"), PENDING, "", "",
         JOB_FAILED, UNPLACED, "by a policy"},
	{JOB("{\"state\":{\"phase\":\"Terminating\"}}"),
         POD("\"phase\":\"Running\"", "") "," POD("\"phase\":\"Running\"", ""), "", "", JOB_FAILED,
         RAN, ""},
	/* a gang is called running before each of its pods is */
	{JOB("{\"state\":{\"phase\":\"Running\"}}"), POD("\"phase\":\"Running\"", "") "," PENDING,
         "", "", JOB_WAITING, RAN | UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING,
         "{\"status\":{\"conditions\":[{\"type\":\"Launched\",\"status\":\"Unknown\",\"message\":"
         "\"VcpuLimitExceeded: 8\"}]}}",
         "", JOB_WAITING, UNPLACED | LACK, "VcpuLimitExceeded: 8"},
	/* asked for just now, a moment later, and in vain for a cause that is no lack */
	{JOB("{}"), PENDING "," PENDING, "{\"status\":{}}", "", JOB_WAITING, UNPLACED | LAUNCHING,
         ""},
	{JOB("{}"), PENDING "," PENDING,
         "{\"status\":{\"conditions\":[{\"type\":\"Launched\",\"status\":\"Unknown\",\"reason\":"
         "\"AwaitingReconciliation\",\"message\":\"object is awaiting reconciliation\"}]}}",
         "", JOB_WAITING, UNPLACED | LAUNCHING, ""},
	{JOB("{}"), PENDING "," PENDING,
         "{\"status\":{\"conditions\":[{\"type\":\"Launched\",\"status\":\"Unknown\",\"reason\":"
         "\"LaunchFailed\",\"message\":\"not authorized\"}]}}",
         "", JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING,
         "{\"status\":{\"conditions\":[{\"type\":\"Launched\",\"status\":\"True\"},{\"type\":"
         "\"Registered\",\"status\":\"Unknown\",\"message\":\"Node not registered\"}]}}",
         "", JOB_WAITING, UNPLACED | COMING, "Registered: Node not registered"},
	{JOB("{}"), PENDING "," PENDING,
         "{\"status\":{\"conditions\":[{\"type\":\"Launched\",\"status\":\"True\"},{\"type\":"
         "\"Initialized\",\"status\":\"True\"}]}}",
         "", JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("NodeClaim", "perceiver-g5-abcde", "InsufficientCapacityError",
               "creating, InsufficientInstanceCapacity: none", "karpenter", "11"),
         JOB_WAITING, UNPLACED | LACK, "InsufficientInstanceCapacity: none"},
	/* before the job began; another pool's; kube-scheduler's word */
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("NodeClaim", "perceiver-g5-abcde", "InsufficientCapacityError", "x", "karpenter",
               "09"),
         JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("NodeClaim", "perceiver-g5-a-abcde", "InsufficientCapacityError", "x", "karpenter",
               "11"),
         JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("Pod", "perceiver-g5-worker-0", "FailedScheduling", "0/9 nodes: Unsupported",
               "default-scheduler", "11"),
         JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("Pod", "perceiver-g5-worker-0", "FailedScheduling", "Failed to schedule pod",
               "karpenter", "11"),
         JOB_WAITING, UNPLACED | LACK, "FailedScheduling: Failed to schedule pod"},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("NodePool", "perceiver-g5", "NoCompatibleInstanceTypes", "filtered out", "karpenter",
               "12"),
         JOB_WAITING, UNPLACED | LACK, "NoCompatibleInstanceTypes: filtered out"},
	/* what follows from a launch that failed does not hide its code, before it or after it */
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("NodeClaim", "perceiver-g5-abcde", "InsufficientCapacityError",
               "creating, InsufficientInstanceCapacity: none", "karpenter",
               "11") "," EVENT("NodePool", "perceiver-g5", "NoCompatibleInstanceTypes",
                               "NodePool requirements filtered out all compatible available "
                               "instance types",
                               "karpenter", "12"),
         JOB_WAITING, UNPLACED | LACK, "InsufficientInstanceCapacity: none"},
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("Pod", "perceiver-g5-worker-0", "FailedScheduling", "Failed to schedule pod",
               "karpenter", "12") "," EVENT("NodeClaim", "perceiver-g5-abcde",
                                            "InsufficientCapacityError",
                                            "creating, VcpuLimitExceeded: none", "karpenter", "11"),
         JOB_WAITING, UNPLACED | LACK, "VcpuLimitExceeded: none"},
	/* what makes pods was refused: the job, its child, its pod group */
	{JOB("{}"), "", "",
         EVENT("Job", "perceiver-g5", "FailedCreate",
               "Error creating: pods \\\"a\\\" is forbidden: exceeded quota: q, requested: pods=1, "
               "used: pods=0, limited: pods=0",
               "job-controller", "11"),
         JOB_WAITING, UNPLACED | OF_QUOTA, "exceeded quota"},
	{JOB("{}"), PENDING, "",
         EVENT("Job", "perceiver-g5-workers-0", "FailedCreate",
               "pods \\\"a\\\" is forbidden: exceeded quota: q, requested: "
               "requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=0",
               "job-controller", "11"),
         JOB_WAITING, UNPLACED | OF_TARGET, "exceeded quota"},
	{JOB("{}"), PENDING, "",
         EVENT("PodGroup", "perceiver-g5-u1", "FailedCreate",
               "admission webhook \\\"k.example.com\\\" denied the request: no", "vc", "11"),
         JOB_WAITING, UNPLACED | FINAL, "denied the request"},
	{JOB("{}"), PENDING, "",
         EVENT("Job", "perceiver-g5", "FailedCreate", "failed calling webhook: refused", "j", "11"),
         JOB_WAITING, UNPLACED | PASSING, "failed calling"},
	{JOB("{}"), PENDING, "",
         EVENT("Job", "perceiver-g5", "FailedCreate", "something else", "j", "11"), JOB_WAITING,
         UNPLACED | PASSING, "something else"},
	/* all pods are there by now; another job's; a former job's of this name */
	{JOB("{}"), PENDING "," PENDING, "",
         EVENT("Job", "perceiver-g5", "FailedCreate", "pods is forbidden: no", "j", "11"),
         JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING, "",
         EVENT("Job", "perceiver-g5g", "FailedCreate", "pods is forbidden: no", "j", "11"),
         JOB_WAITING, UNPLACED, ""},
	{JOB("{}"), PENDING, "",
         "{\"involvedObject\":{\"kind\":\"Job\",\"name\":\"perceiver-g5\",\"uid\":\"u0\"},"
         "\"reason\":\"FailedCreate\",\"message\":\"pods is forbidden: no\",\"lastTimestamp\":"
         "\"2026-01-01T00:11:00Z\"}",
         JOB_WAITING, UNPLACED, ""},
	/* refused by its node: it has not run */
	{JOB("{\"failed\":1}"),
         POD("\"phase\":\"Failed\",\"reason\":\"UnexpectedAdmissionError\",\"message\":"
             "\"no device\"",
             "\"nodeName\":\"n\""),
         "", "", JOB_WAITING, UNPLACED | REJECTED, "UnexpectedAdmissionError: no device"},
	{JOB("{\"failed\":2}"),
         POD("\"phase\":\"Failed\",\"reason\":\"OutOfcpu\"", "\"nodeName\":\"n\""), "", "",
         JOB_WAITING, RAN | UNPLACED | REJECTED, "OutOfcpu"},
	/* evicted: it has */
	{JOB("{}"),
         POD("\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"low on memory\"",
             "\"nodeName\":\"n\""),
         "", "", JOB_WAITING, RAN | UNPLACED, "Evicted: low on memory"},
	{JOB("{}"),
         POD("\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":"
             "\"ImagePullBackOff\",\"message\":\"x: 403 Forbidden\"}}}]",
             "\"nodeName\":\"n\"") "," POD("\"phase\":\"Pending\"", "\"nodeName\":\"m\""),
         "", "", JOB_WAITING, NO_IMAGE, "403 Forbidden"},
	{JOB("{}"),
         POD("\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":"
             "\"ImagePullBackOff\",\"message\":\"x: not found\"}}}]",
             "\"nodeName\":\"n\"") "," POD("\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                                           "\"PodScheduled\",\"status\":\"False\",\"message\":"
                                           "\"0/2 nodes\"}]",
                                           ""),
         "", "", JOB_WAITING, UNPLACED | NO_IMAGE, "not found"},
	/* hostile */
	{JOB("7"), "7,[],{\"status\":[]}", "{\"status\":{\"conditions\":{}}},null", "null,{}",
         JOB_WAITING, UNPLACED | LAUNCHING, ""},
};

static unsigned seen_refusal(enum refusal refusal)
{
	static const unsigned bits[] = {0, PASSING, OF_TARGET, OF_QUOTA, FINAL};

	return bits[refusal];
}

static cJSON *array_of(const char *members)
{
	char text[2048];

	snprintf(text, sizeof(text), "[%s]", members);
	return cJSON_Parse(text);
}

static void look_at(const struct view *v)
{
	struct fleet_target target = {
		.name = "g5", .job = "perceiver-g5", .pool = "perceiver-g5", .nodes = 2};
	AUTO(json) cJSON *job = v->job != NULL ? cJSON_Parse(v->job) : NULL;
	AUTO(json) cJSON *pods = array_of(v->pods), *claims = array_of(v->claims);
	AUTO(json) cJSON *events = array_of(v->events);
	struct sight sight = {.job = job, .pods = pods, .claims = claims, .events = events};
	struct observation o;

	CHECK(pods != NULL && claims != NULL && events != NULL &&
	      (job != NULL) == (v->job != NULL));
	capacity_observe(&target, &sight, 5, &o);
	CHECK_INT(o.phase, v->phase);
	CHECK_INT((o.ran ? RAN : 0) | (o.unplaced ? UNPLACED : 0) | (o.node_coming ? COMING : 0) |
	                  (o.launching ? LAUNCHING : 0) | (o.lack ? LACK : 0) |
	                  (o.rejected ? REJECTED : 0) | (o.no_image ? NO_IMAGE : 0) |
	                  seen_refusal(o.refusal),
	          v->seen);
	if (strstr(o.why, v->why) == NULL)
		CHECK_STR(o.why, v->why);
}

static void objects_are_taken_for_what_they_are(void)
{
	for (size_t i = 0; i < ARRAY_LEN(views); i++) {
		bool before = test_state.ok;

		look_at(&views[i]);
		if (before && !test_state.ok)
			printf("# view %zu\n", i);
	}
}

static enum refusal refusal_of_a_job_with(const char *pod, int64_t since_ms)
{
	struct fleet_target target = {
		.name = "g5", .job = "perceiver-g5", .pool = "perceiver-g5", .nodes = 2};
	AUTO(json) cJSON *job = cJSON_Parse(JOB("{}")), *pods = array_of(pod);
	AUTO(json)
	cJSON *events = array_of(EVENT("Job", "perceiver-g5", "FailedCreate",
	                               "pods is forbidden: exceeded quota: q, "
	                               "requested: pods=1",
	                               "job-controller", "11"));
	struct sight sight = {.job = job, .pods = pods, .events = events, .since_ms = since_ms};
	struct observation o;

	capacity_observe(&target, &sight, 5, &o);
	return o.refusal;
}

/* A pod of two runs, and each look is later than what refused the other one. */
static void what_refused_a_pod_counts_while_another_runs(void)
{
	int64_t later_ms = INT64_C(1767226800000); /* 2026-01-01T00:20:00Z */

	CHECK_INT(refusal_of_a_job_with(POD("\"phase\":\"Running\"", ""), later_ms), REFUSAL_QUOTA);
	CHECK_INT(refusal_of_a_job_with(PENDING, 0), REFUSAL_QUOTA);
	CHECK_INT(refusal_of_a_job_with(PENDING, later_ms), REFUSAL_NONE);
}

/* ---- the state ---- */

static void state_survives_its_text(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct state s = {0}, t;
	struct err err = {0};

	s.cycle = 2;
	for (int i = 0; i < STATE_ATTEMPTS_MAX + 3; i++) {
		state_begin(&s, i % 2 == 0 ? "trn1" : "g5", "because", i * 1000);
		state_settle(&s, ATTEMPT_NO_CAPACITY, "Insufficient \"x\"", i * 1000 + 500000);
	}
	state_begin(&s, "p4d", "after g5: x", 1000000000);
	CHECK_INT(s.n, STATE_ATTEMPTS_MAX);
	AUTO(json) cJSON *doc = state_json(&s);

	json_print(doc, &text);
	CHECK_INT(state_parse(strbuf_str(&text), text.len, &t, &err), 0);
	AUTO(json) cJSON *again = state_json(&t);

	CHECK(cJSON_Compare(doc, again, true));
	CHECK_STR(state_last(&t)->target, "p4d");
	CHECK(state_has_tried(&t, "g5") && !state_has_tried(&t, "p4d"));
}

static void malformed_states_are_refused(void)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"{\"version\":2,\"cycle\":0,\"attempts\":[]}",
		"{\"version\":1,\"cycle\":0}",
		"{\"version\":1,\"cycle\":-1,\"attempts\":[]}",
		"{\"version\":1,\"cycle\":0,\"attempts\":[{\"cycle\":0,\"outcome\":\"odd\"}]}",
		"{\"version\":1,\"cycle\":0,\"attempts\":[7]}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = {0};
		struct state s;

		CHECK_INT(state_parse(texts[i], strlen(texts[i]), &s, &err), -1);
	}
}

int main(void)
{
	TEST("failover: decisions follow observations", decisions_follow_observations);
	TEST("failover: time alone decides at known moments", time_alone_decides_at_known_moments);
	TEST("failover: pauses double up to a limit", pauses_double_up_to_a_limit);
	TEST("failover: targets come by weight, once in a cycle",
	     targets_come_by_weight_once_in_a_cycle);
	TEST("capacity: objects are taken for what they are", objects_are_taken_for_what_they_are);
	TEST("capacity: what refused a pod counts while another runs",
	     what_refused_a_pod_counts_while_another_runs);
	TEST("state: it survives its text, and holds the last attempts", state_survives_its_text);
	TEST("state: malformed texts are refused", malformed_states_are_refused);
	return test_done();
}
