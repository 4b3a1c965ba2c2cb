/* What is read from a cluster's objects: status, prices, the training log. */
#include "tests/fleet_make.h"

#include <math.h>

#include "k8s/deploy/collect.h"
#include "k8s/deploy/pod.h"

/* ---- prices ---- */

static void prices_are_exact_decimals(void)
{
	static const struct {
		const char *text;
		int64_t micros; /* -1: refused */
	} rows[] = {{"21.50", 21500000},
	            {"0", 0},
	            {"0.000001", 1},
	            {"999999999", 999999999000000},
	            {"1000000000", -1},
	            {"1.", -1},
	            {".5", -1},
	            {"-1", -1},
	            {"1e3", -1},
	            {"1.0000001", -1},
	            {"", -1},
	            {"1 USD", -1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t micros = -1;

		CHECK_INT(price_parse(rows[i].text, &micros), rows[i].micros >= 0);
		CHECK_INT(micros, rows[i].micros);
	}
}

static void an_unknown_price_is_not_zero(void)
{
	AUTO(arena) struct arena a = {0};
	struct strmap map = {0};
	struct prices p;
	int64_t micros = -1;
	char text[PRICE_TEXT_MAX];

	strmap_set(&map, &a, "g5.xlarge", "1.006");
	strmap_set(&map, &a, "p4d.24xlarge/spot", "9");
	prices_of_map(&map, &a, &p);
	CHECK(prices_instance(&p, "g5.xlarge", "on-demand", &micros));
	CHECK_INT(micros, 1006000);
	CHECK_STR(price_text(&p, micros, text), "1.006 USD");
	CHECK(!prices_instance(&p, "g5.xlarge", "spot", &micros));
	CHECK(!prices_instance(&p, "g5.xlarge", NULL, &micros));
	CHECK(!prices_instance(&p, NULL, "spot", &micros));
	CHECK(prices_instance(&p, "p4d.24xlarge", "spot", &micros));
	CHECK(!prices_instance(&p, "p4d.24xlarge", "on-demand", &micros));
	CHECK(!prices_storage(&p, "fsx-gib-month", 1200, &micros));
	strmap_set(&p.table, &a, "fsx-gib-month", "0.146");
	CHECK(prices_storage(&p, "fsx-gib-month", 1200, &micros));
	CHECK_INT(micros, 240000);
	CHECK(!prices_storage(&p, "fsx-gib-month", -1, &micros));
}

/* ---- the training log ---- */

static void read_text(const char *text, struct trainlog *ret)
{
	trainlog_read(text, strlen(text), ret);
}

static void steps_of_all_three_forms_are_read(void)
{
	struct trainlog t;

	read_text("noise\n| Training Device=xla:1 Epoch=3 Step=40 Learning_Rate=0.001 Loss=2.50000 "
	          "Throughput=7.25000 Time=x\n",
	          &t);
	CHECK(t.has_step);
	CHECK_INT(t.step, 40);
	CHECK_INT(t.epoch, 3);
	CHECK(t.loss == 2.5 && t.throughput == 7.25);
	CHECK_INT(t.step_ms, 0);
	read_text("2026-11-21T10:00:00.5Z [0] {\"step\":7,\"epoch\":1,\"loss\":0.5,"
	          "\"clips_per_second\":3,\"time\":1}\n",
	          &t);
	CHECK_INT(t.step, 7);
	CHECK(t.loss == 0.5 && t.throughput == 3);
	CHECK_INT(t.step_ms, 1795255200500);
	read_text("| Training Device=cpu Epoch=0 Step=1 Loss=1 Throughput=2\n"
	          "  step 101: image 1, 2 clips/s\n",
	          &t);
	CHECK_INT(t.step, 101);
	CHECK(t.loss == 1);
}

static void a_checkpoint_is_read_with_its_step(void)
{
	struct trainlog t;

	read_text("2026-11-21T10:00:00Z checkpoint step-00000500 saved\n", &t);
	CHECK(t.has_checkpoint);
	CHECK_INT(t.checkpoint_step, 500);
	CHECK_INT(t.checkpoint_ms, 1795255200000);
	read_text("Saved a checkpoint\n", &t);
	CHECK(t.has_checkpoint);
	CHECK_INT(t.checkpoint_step, -1);
	read_text("no checkpoint found\n", &t);
	CHECK(!t.has_checkpoint);
}

static void any_bytes_are_a_log(void)
{
	static const char *const texts[] = {"",
	                                    "\n\n\n",
	                                    "Training Device= Step=",
	                                    "Training Device= Step=-5 Loss=nan",
	                                    "{",
	                                    "{\"step\": 1e300}",
	                                    "{\"step\": \"x\"}",
	                                    "Training Device= Step=nan",
	                                    "2026-11-21T10:00:00Z",
	                                    "\xff\xfe\x01",
	                                    "  step 99999999999999999999: clips/s"};
	struct trainlog t;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		read_text(texts[i], &t);
		CHECK(!t.has_step);
	}
	trainlog_read("a\0b\nc\0", 6, &t);
	CHECK_STR(t.last, "c");
	read_text("\033[31mred\xff", &t);
	CHECK_STR(t.last, "?[31mred");
}

/* ---- status ---- */

#define JOB_META                                                                                   \
	"\"metadata\":{\"name\":\"perceiver-g5\",\"namespace\":\"perceiver\",\"labels\":{"         \
	"\"app.kubernetes.io/component\":\"jobs\"}}"

static void read_objects(struct fleet_run *f, const char *owned, const char *pods,
                         const char *nodes, struct status *ret)
{
	AUTO(json) cJSON *owned_doc = cJSON_Parse(owned);
	AUTO(json) cJSON *pods_doc = cJSON_Parse(pods);
	AUTO(json) cJSON *nodes_doc = cJSON_Parse(nodes);
	AUTO(stage_list) struct stage_list stages = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct status_input in = {.fleet = &f->spec->fleet,
	                          .stages = &stages,
	                          .owned = owned_doc,
	                          .pods = pods_doc,
	                          .nodes = nodes_doc,
	                          .now_ms = 1795255200000};

	stages_plan(&f->out, "g5", &stages);
	status_read(&in, &f->arena, ret);
	/* Both forms are made of whatever was read. */
	AUTO(json) cJSON *doc = status_json(ret);

	status_text(ret, &text);
	status_brief(ret, &text);
	CHECK(text.len > 0);
	CHECK(json_get(doc, "cost") != NULL);
}

static void phases_are_those_of_every_kind_of_job(void)
{
	static const struct {
		const char *version, *kind, *status, *pods;
		enum job_phase phase;
	} rows[] = {
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Running\"}}", "[]",
	         JOB_RUNNING},
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Restarting\"}}", "[]",
	         JOB_WAITING},
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Aborted\"}}", "[]",
	         JOB_FAILED},
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Aborting\"}}",
	         "[{\"status\":{\"phase\":\"Running\"}}]", JOB_FAILED},
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Terminating\"}}",
	         "[]", JOB_FAILED},
		{"batch.volcano.sh/v1alpha1", "Job", "{\"state\":{\"phase\":\"Pending\"}}",
	         "[{\"status\":{\"phase\":\"Running\"}}]", JOB_WAITING},
		{"batch/v1", "Job",
	         "{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}", "[]",
	         JOB_SUCCEEDED},
		{"batch/v1", "Job", "{}", "[{\"status\":{\"phase\":\"Running\"}}]", JOB_RUNNING},
		{"batch/v1", "Job", "{}",
	         "[{\"status\":{\"phase\":\"Running\"}},{\"status\":{\"phase\":\"Pending\"}}]",
	         JOB_WAITING},
		{"kubeflow.org/v2beta1", "MPIJob",
	         "{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}", "[]", JOB_FAILED},
		{"v1", "Service", "{}", "[]", JOB_ABSENT},
	};
	struct fleet_run f;

	CHECK_INT(fleet_run(&f, "slipway.yaml"), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf owned = STRBUF_INIT(0);
		struct status s;

		strbuf_addf(&owned,
		            "[{\"apiVersion\":\"%s\",\"kind\":\"%s\"," JOB_META ",\"status\":%s}]",
		            rows[i].version, rows[i].kind, rows[i].status);
		read_objects(&f, strbuf_str(&owned), rows[i].pods, "[]", &s);
		CHECK_STR(job_phase_name(s.phase), job_phase_name(rows[i].phase));
	}
	fleet_run_done(&f);
}

static void odd_objects_are_read_without_harm(void)
{
	static const char *const odd[] = {
		"[]", "[null,7,\"x\",[],{}]", "[{\"kind\":7,\"apiVersion\":[],\"metadata\":7}]",
		"[{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\"," JOB_META ",\"status\":7}]",
		"[{\"kind\":\"Job\",\"apiVersion\":\"batch/v1\"," JOB_META
		",\"status\":{\"conditions\":[7,{\"type\":7}]}},"
		"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"state.json\":\"[1,\"}},"
		"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"data\":{\"state.json\":"
		"\"{\\\"attempts\\\":{\\\"a\\\":1},\\\"target\\\":7}\"}},"
		"{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\",\"status\":{"
		"\"capacity\":"
		"{\"storage\":\"99999999999Gi\"}}}]"};
	static const char *const pods[] = {
		"[]", "[7,{}]", "[{\"metadata\":{\"name\":\"perceiver-g5-worker-99999999999\"}}]",
		"[{\"status\":{\"containerStatuses\":[7,{\"restartCount\":1e300,\"state\":{"
		"\"terminated\":{\"exitCode\":-1e300}}}],\"conditions\":{}}}]"};
	static const char *const nodes[] = {
		"[]", "[7,null]",
		"[{\"kind\":\"NodeClaim\",\"metadata\":{\"creationTimestamp\":\"9999\",\"labels\":["
		"]},\"status\":{\"conditions\":[7,{\"type\":\"Ready\",\"status\":[]}]}}]"};
	struct fleet_run f;

	CHECK_INT(fleet_run(&f, "slipway.yaml"), 0);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		for (size_t p = 0; p < ARRAY_LEN(pods); p++)
			for (size_t n = 0; n < ARRAY_LEN(nodes); n++) {
				struct status s;

				read_objects(&f, odd[i], pods[p], nodes[n], &s);
				CHECK_INT(s.micros, 0);
			}
	fleet_run_done(&f);
}

static int64_t rank_of(const char *pod)
{
	AUTO(json) cJSON *doc = cJSON_Parse(pod);

	return pod_rank(doc, "a-g5");
}

static void ranks_come_from_labels_or_names(void)
{
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"a-g5-worker-3\"}}"), 3);
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"a-g5-0-x7k2p\",\"annotations\":{"
	                  "\"batch.kubernetes.io/job-completion-index\":\"2\"}}}"),
	          2);
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"a-g5-launcher-x7k2p\"}}"), -1);
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"a-g5\"}}"), -1);
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"a-g5-\"}}"), -1);
	CHECK_INT(rank_of("{\"metadata\":{\"name\":\"other-3\"}}"), -1);
}

static void changes_are_told_once(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

	status_changes("pod a: Pending\npod b: Running\nthere is no job\n",
	               "pod a: Running\npod c: Pending\n", "T", &sb);
	CHECK_STR(strbuf_str(&sb), "T pod a: Running\nT pod c: Pending\nT pod b: gone\n");
	strbuf_reset(&sb);
	status_changes("pod a: Running\n", "pod a: Running\n", "T", &sb);
	CHECK_STR(strbuf_str(&sb), "");
}

static void ages_are_short(void)
{
	char age[AGE_MAX];

	CHECK_STR(age_text(-1, age), "unknown");
	CHECK_STR(age_text(42, age), "42 s");
	CHECK_STR(age_text(3700, age), "1 h 1 min");
	CHECK_STR(age_text(273600, age), "3 d 4 h");
}

/* The years that 64 bits of nanoseconds have, and no others. */
static void a_timestamp_ends_with_its_bits(void)
{
	static const char last[] = "2262-04-11T23:47:16.854775807Z x",
			  beyond[] = "2262-04-11T23:47:16.854775808Z x",
			  later[] = "2262-04-11T23:47:17Z x", far[] = "9999-12-31T23:59:59Z x";
	int64_t ns = 0;

	CHECK_INT(trainlog_timestamp(last, strlen(last), &ns), strlen(last) - 1);
	CHECK_INT(ns, INT64_MAX);
	CHECK_INT(trainlog_timestamp(beyond, strlen(beyond), &ns), 0);
	CHECK_INT(trainlog_timestamp(later, strlen(later), &ns), 0);
	CHECK_INT(trainlog_timestamp(far, strlen(far), &ns), 0);
}

/* ---- the network ---- */

static enum transport transport_of(const char *log)
{
	return transport_of_log(log, strlen(log));
}

static void the_provider_is_read_from_the_log(void)
{
	CHECK_INT(transport_of(""), TRANSPORT_UNKNOWN);
	CHECK_INT(transport_of("x:1:2 [0] NCCL INFO Using network AWS Libfabric\n"),
	          TRANSPORT_UNKNOWN);
	CHECK_INT(transport_of(
			  "a\nb NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct "
			  "(found 4 nics)\nc"),
	          TRANSPORT_EFA);
	CHECK_INT(transport_of("CCOM INFO NET/OFI Selected Provider is efa\n"), TRANSPORT_EFA);
	CHECK_INT(transport_of("NET/OFI Selected Provider is efa\nNCCL INFO Using network Socket\n"
	                       "NET/OFI Selected Provider is efa"),
	          TRANSPORT_SOCKET);
	CHECK_INT(transport_of("NET/OFI Selected Provider is tcp;ofi_rxm"), TRANSPORT_SOCKET);
}

/* ---- pulls ---- */

static void the_kubelet_says_how_fast_a_pull_was(void)
{
	static const struct {
		const char *message;
		long long bytes, ms, speed; /* 0: not such a message */
	} rows[] = {
		{"Successfully pulled image \"r/x:v1\" in 59.813s (59.813s including waiting). "
	         "Image size: 10778400361 bytes.",
	         10778400361, 59813, 180},
		{"Successfully pulled image \"r/x\" in 1m2.5s (2m1s including waiting). Image "
	         "size: "
	         "1000000000 bytes.",
	         1000000000, 62500, 16},
		{"Successfully pulled image \"r/x\" in 812ms (812ms including waiting). Image "
	         "size: "
	         "20000000 bytes.",
	         20000000, 812, 25},
		{"Successfully pulled image \"r/x\" in 3s (3s including waiting)", 0, 0, 0},
		{"Successfully pulled image \"r/x\" in 0s (0s including waiting). Image size: "
	         "20000000 bytes.",
	         0, 0, 0},
		{"Successfully pulled image \"r/x\" in 1e400s. Image size: 20000000 bytes.", 0, 0,
	         0},
		{"Successfully pulled image \"r/x\" in 1s. Image size: 99999999999999999999 bytes.",
	         0, 0, 0},
		{"Container image \"r/x\" already present on machine", 0, 0, 0},
		{"", 0, 0, 0},
	};
	AUTO(arena) struct arena a = {0};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct image_pull p = {0};

		CHECK_INT(pull_parse(rows[i].message, &a, &p), rows[i].bytes > 0);
		CHECK_INT(p.bytes, rows[i].bytes);
		CHECK_INT(p.ms, rows[i].ms);
		if (p.ms > 0)
			CHECK_INT(pull_speed(&p), rows[i].speed);
	}
}

int main(void)
{
	TEST("pulls: the kubelet's event says how fast an image came",
	     the_kubelet_says_how_fast_a_pull_was);
	TEST("prices: exact decimals, anything else refused", prices_are_exact_decimals);
	TEST("prices: an unknown price is not zero", an_unknown_price_is_not_zero);
	TEST("trainlog: steps of all three forms are read", steps_of_all_three_forms_are_read);
	TEST("trainlog: a time beyond the last one is no time", a_timestamp_ends_with_its_bits);
	TEST("trainlog: a checkpoint is read with its step", a_checkpoint_is_read_with_its_step);
	TEST("trainlog: any bytes are a log", any_bytes_are_a_log);
	TEST("network: the provider is read from the log, one rank on sockets outweighs all",
	     the_provider_is_read_from_the_log);
	TEST("status: phases are those of every kind of job",
	     phases_are_those_of_every_kind_of_job);
	TEST("status: odd objects are read without harm", odd_objects_are_read_without_harm);
	TEST("status: ranks come from labels or names", ranks_come_from_labels_or_names);
	TEST("status: changes are told once", changes_are_told_once);
	TEST("status: ages are short", ages_are_short);
	return test_done();
}
