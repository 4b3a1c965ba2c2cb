/* kubectl's complaints as advice, retries, and the kinds that slipway renders. */
#include "tests/harness.h"

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"
#include "k8s/job/scheduler.h"

/* A cluster that fails some times, then answers. */
struct fake {
	struct kubectl base;
	const char *complaint, *answer;
	int failures, calls;
};

/* A clock that only sleep moves. */
struct dream {
	struct clock clock;
	int64_t now_ms;
};

static int64_t dream_now(struct clock *c)
{
	return ((struct dream *)c)->now_ms;
}

static void dream_sleep(struct clock *c, int64_t ms)
{
	((struct dream *)c)->now_ms += ms;
}

static int fake_call(struct kubectl *base, const char *const *args UNUSED, const char *input UNUSED,
                     struct kubectl_reply *reply, struct err *err UNUSED)
{
	struct fake *f = (struct fake *)base;
	bool failed = f->calls++ < f->failures;

	reply->status = failed ? 1 : 0;
	reply->err_text = (struct strbuf)STRBUF_INIT(4096);
	strbuf_adds(failed ? &reply->err_text : &reply->out, failed ? f->complaint : f->answer);
	return 0;
}

static struct dream quick = {{dream_now, dream_sleep}, 0};

static struct fake fake(const char *complaint, int failures, const char *answer)
{
	return (struct fake){
		{.call = fake_call, .clock = &quick.clock}, complaint, answer, failures, 0};
}

static const char *const get[] = {"get", "pods", NULL};

struct complaint {
	const char *text;
	enum err_code code;
	const char *hint; /* part of it */
};

static const struct complaint complaints[] = {
	{"error: current-context is not set\n", ERR_USAGE, "--context"},
	{"The connection to the server localhost:8080 was refused - did you specify the right host "
         "or port?\n",
         ERR_USAGE, "update-kubeconfig"},
	{"error: You must be logged in to the server (Unauthorized)\n", ERR_DENIED, "access entry"},
	{"Unable to connect to the server: getting credentials: exec: executable aws failed with "
         "exit "
         "code 255\n",
         ERR_DENIED, "get-caller-identity"},
	{"Error from server (Forbidden): nodepools.karpenter.sh \"a\" is forbidden: User \"u\" "
         "cannot "
         "patch resource \"nodepools\" in API group \"karpenter.sh\" at the cluster scope\n",
         ERR_DENIED, "auth can-i"},
	{"error: resource mapping not found for name: \"a\" namespace: \"\" from \"STDIN\": no "
         "matches "
         "for kind \"NodePool\" in version \"karpenter.sh/v1\"\nensure CRDs are installed first\n",
         ERR_NOT_FOUND, "Karpenter is missing"},
	{"no matches for kind \"Job\" in version \"batch.volcano.sh/v1alpha1\"\n", ERR_NOT_FOUND,
         "Volcano is missing"},
	{"Error from server (InternalError): Internal error occurred: failed calling webhook "
         "\"validation.webhook.karpenter.sh\": no endpoints available\n",
         ERR_SERVER, "admission webhook"},
	{"Error from server: admission webhook \"policy.example.com\" denied the request: no\n",
         ERR_SERVER, "policy"},
	{"error: Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using "
         "v1: "
         ".spec.x\nPlease review the fields above--they currently have other managers.\n",
         ERR_CONFLICT, "--force-conflicts"},
	{"Error from server (TooManyRequests): the server has received too many requests\n",
         ERR_NETWORK, "busy"},
	{"Unable to connect to the server: dial tcp 10.0.0.1:443: i/o timeout\n", ERR_NETWORK,
         "VPN"},
	{"The Job \"a\" is invalid: spec.template: field is immutable\n", ERR_CONFLICT,
         "checkpoint"},
	{"something else went wrong\n", ERR_SERVER, ""},
};

static void a_value_of_any_length_does_not_hide_the_end(void)
{
	static const char start[] = "The Job \"a\" is invalid: spec.template: Invalid value: {";
	static const char end[] = "}: field is immutable\n";
	char text[4000];
	struct err err = {0};

	memset(text, 'x', sizeof(text));
	memcpy(text, start, strlen(start));
	memcpy(text + sizeof(text) - sizeof(end), end, sizeof(end));
	CHECK_INT(kubectl_advice(text, &err), -1);
	CHECK_STR(err.msg, "The Job \"a\" is invalid: spec.template: field is immutable");
}

static void every_complaint_is_understood(void)
{
	for (size_t i = 0; i < ARRAY_LEN(complaints); i++) {
		struct err err = {0};

		CHECK_INT(kubectl_advice(complaints[i].text, &err), -1);
		CHECK_INT(err.code, complaints[i].code);
		if (strstr(err.hint, complaints[i].hint) == NULL)
			CHECK_STR(err.hint, complaints[i].hint);
	}
}

static void a_conflict_names_the_manager(void)
{
	struct err err = {0};

	kubectl_advice(complaints[9].text, &err);
	CHECK(strstr(err.msg, "kubectl-client-side-apply") != NULL);
}

static void a_busy_server_is_asked_again(void)
{
	struct fake f = fake("Error from server (TooManyRequests): wait\n", 3, "{\"a\":1}");
	struct patience patience = {PATIENCE_SHORT_MS, false};
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	f.base.patience = &patience;
	CHECK_INT(kubectl_json(&f.base, get, NULL, &doc, &err), 0);
	CHECK_INT(f.calls, 4);
	CHECK(patience.answered);
	CHECK(json_get(doc, "a") != NULL);
}

/* How long kubectl_run holds out against a failure that stays, and with how many calls. */
static int64_t holds_out(const char *complaint, struct patience *patience, int *ret_calls)
{
	struct fake f = fake(complaint, 9999, "");
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	int64_t start = quick.now_ms;

	f.base.patience = patience;
	CHECK_INT(kubectl_json(&f.base, get, NULL, &doc, &err), -1);
	CHECK(patience == NULL || err.code == ERR_NETWORK);
	*ret_calls = f.calls;
	return quick.now_ms - start;
}

static void a_cluster_that_never_answered_is_given_up_soon(void)
{
	struct patience patience = {1800000, false};
	int calls;

	CHECK_INT(holds_out("Error from server (TooManyRequests): wait\n", &patience, &calls),
	          PATIENCE_SHORT_MS);
	CHECK_INT(calls, 5);
	CHECK_INT(holds_out("was refused\n", NULL, &calls), 0);
	CHECK_INT(calls, 1);
}

static void an_outage_is_outlasted_as_long_as_the_window(void)
{
	static const char *const passing[] = {
		"error: Get \"https://h/api\": EOF\n",
		"Unable to connect to the server: unexpected EOF\n",
		"Error from server: etcdserver: request timed out\n",
		"Error from server: etcdserver: leader changed\n",
		"Error from server (InternalError): an error on the server has prevented it\n",
		"Error from server (Timeout): the server was unable to return a response\n",
		"Error from server (ServiceUnavailable): apiserver not ready\n",
		"Error from server: the server is currently unable to handle the request\n",
		"The connection to the server 10.0.0.1:443 was refused - did you specify it?\n",
		"dial tcp 10.0.0.1:443: connect: connection refused\n",
		"Unable to connect to the server: net/http: TLS handshake timeout\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(passing); i++) {
		struct patience patience = {1800000, true};
		int calls;
		int64_t ms = holds_out(passing[i], &patience, &calls);

		CHECK_INT(ms, 1800000);
		CHECK(calls > 60 && calls < 140);
	}
}

static void what_is_forbidden_is_asked_once(void)
{
	struct fake f = fake("Error from server (Forbidden): pods is forbidden\n", 99, "");
	struct patience patience = {1800000, true};
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	f.base.patience = &patience;
	CHECK_INT(kubectl_json(&f.base, get, NULL, &doc, &err), -1);
	CHECK_INT(err.code, ERR_DENIED);
	CHECK_INT(f.calls, 1);
}

static size_t listed(const char *answer)
{
	struct fake f = fake("", 0, answer);
	AUTO(json) cJSON *items = NULL;
	struct err err = {0};

	CHECK_INT(kubectl_list(&f.base, get, NULL, &items, &err), 0);
	return (size_t)cJSON_GetArraySize(items);
}

static void lists_are_lists_whatever_their_size(void)
{
	CHECK_INT(listed(""), 0);
	CHECK_INT(listed("{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}"), 1);
	CHECK_INT(listed("{\"kind\":\"List\",\"items\":[{},{}]}"), 2);
	CHECK_INT(listed("{\"kind\":\"ConfigMap\",\"items\":[{},{}]}"), 1);
}

static int versions(const char *answer, struct err *err)
{
	struct fake f = fake("", 0, answer);
	struct kubectl_versions v;

	return kubectl_versions(&f.base, &v, err);
}

static void an_old_kubectl_is_refused(void)
{
	struct err err = {0};

	CHECK_INT(versions("{\"clientVersion\":{\"minor\":\"32\"},\"serverVersion\":{\"minor\":"
	                   "\"34+\"}}",
	                   &err),
	          0);
	CHECK_INT(versions("{\"clientVersion\":{\"minor\":\"18\"},\"serverVersion\":{\"minor\":"
	                   "\"34\"}}",
	                   &err),
	          -1);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	CHECK_INT(versions("{\"clientVersion\":{\"minor\":\"32\"}}", &err), -1);
	CHECK_INT(err.code, ERR_NETWORK);
	CHECK_INT(versions("{}", &err), -1);
	CHECK_INT(err.code, ERR_FORMAT);
}

static void no_kubectl_is_told(void)
{
	struct kubectl_exec k;
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};

	kubectl_exec_init(&k, &quick.clock, NULL);
	k.program = "no-such-kubectl";
	CHECK_INT(kubectl_json(&k.base, get, NULL, &doc, &err), -1);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.hint, "Install kubectl") != NULL);
}

static void kinds_are_told_apart_by_group(void)
{
	cJSON *plain = cJSON_Parse("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"}");
	cJSON *volcano =
		cJSON_Parse("{\"apiVersion\":\"batch.volcano.sh/v1alpha1\",\"kind\":\"Job\"}");
	cJSON *strange = cJSON_Parse("{\"apiVersion\":\"example.com/v1\",\"kind\":\"Job\"}");

	CHECK_STR(kind_of(plain)->resource, "jobs.batch");
	CHECK_STR(kind_of(volcano)->resource, "jobs.batch.volcano.sh");
	CHECK(kind_of(strange) == NULL);
	CHECK(!object_same(plain, volcano));
	CHECK_STR(operator_of("karpenter.sh")->name, "Karpenter");
	CHECK(operator_of("apps") == NULL);
	CHECK(operator_of("") == NULL);
	cJSON_Delete(plain);
	cJSON_Delete(volcano);
	cJSON_Delete(strange);
}

/* What a scheduler makes goes away first, and what must be installed for it brings its group. */
static void schedulers_kinds_are_known(void)
{
	for (size_t i = 0; i < SCHEDULERS; i++) {
		const struct scheduler *row = &schedulers[i];

		CHECK_INT(row->kind, i);
		CHECK(kind_of_resource(row->object.resource) != NULL);
		CHECK_INT(row->object.leave, LEAVE_JOB);
		CHECK(row->brought_by == NULL || operator_of(row->object.group) == row->brought_by);
	}
	CHECK_STR(operator_of("scheduling.volcano.sh")->name, "Volcano");
	CHECK(operator_of("batch") == NULL);
}

int main(void)
{
	TEST("kubectl: every complaint has a code and a next step", every_complaint_is_understood);
	TEST("kubectl: a value of any length does not hide the end of a complaint",
	     a_value_of_any_length_does_not_hide_the_end);
	TEST("kubectl: a conflict names the other manager", a_conflict_names_the_manager);
	TEST("kubectl: a busy server is asked again", a_busy_server_is_asked_again);
	TEST("kubectl: a cluster that never answered is given up soon",
	     a_cluster_that_never_answered_is_given_up_soon);
	TEST("kubectl: an outage is outlasted as long as the window",
	     an_outage_is_outlasted_as_long_as_the_window);
	TEST("kubectl: what is forbidden is asked once", what_is_forbidden_is_asked_once);
	TEST("kubectl: lists are lists whatever their size", lists_are_lists_whatever_their_size);
	TEST("kubectl: an old client and a silent server are told", an_old_kubectl_is_refused);
	TEST("kubectl: a missing program is told", no_kubectl_is_told);
	TEST("kinds: told apart by group", kinds_are_told_apart_by_group);
	TEST("kinds: those of every scheduler are known", schedulers_kinds_are_known);
	return test_done();
}
