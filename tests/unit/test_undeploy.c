/* Which objects a fleet has for somebody with few rights, how long undeploy waits for them to go,
 * what it says of those that stay, and whose lease it waits for. */
#include "tests/harness.h"

#include "k8s/deploy/finalizers.h"
#include "k8s/deploy/lease_wait.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/undeploy.h"

/* ---- a kubectl of rules, and a clock that only sleeping moves ---- */

struct rule {
	const char *verb, *part; /* the call begins with it, and holds this */
	const char *out, *err_text;
	int uses; /* how often; 0 = ever */
};

struct ruled {
	struct kubectl base;
	struct clock clock;
	int64_t now_ms;
	struct rule *rules;
	struct strbuf calls; /* a line each */
};

#define RULED_OF(c) ((struct ruled *)(void *)((char *)(c)-offsetof(struct ruled, clock)))

static int64_t ruled_now(struct clock *c)
{
	return RULED_OF(c)->now_ms;
}

static void ruled_sleep(struct clock *c, int64_t ms)
{
	RULED_OF(c)->now_ms += ms;
}

static void add_call(const char *const *args, const char *input, struct strbuf *sb)
{
	for (size_t i = 0; args[i] != NULL; i++)
		strbuf_addf(sb, "%s%s", i > 0 ? " " : "", args[i]);
	if (input != NULL)
		strbuf_addf(sb, " < %s", input);
}

/* The first rule that fits and is not used up; without one the call finds nothing. */
static int ruled_call(struct kubectl *base, const char *const *args, const char *input,
                      struct kubectl_reply *reply, struct err *err UNUSED)
{
	struct ruled *k = (struct ruled *)base;
	AUTO(strbuf) struct strbuf call = STRBUF_INIT(65536);

	add_call(args, input, &call);
	strbuf_addf(&k->calls, "%s\n", strbuf_str(&call));
	reply->status = 0;
	for (struct rule *r = k->rules; r->verb != NULL; r++) {
		if (strcmp(r->verb, args[0]) != 0 || strstr(strbuf_str(&call), r->part) == NULL ||
		    r->uses < 0)
			continue;
		if (r->uses > 0 && --r->uses == 0)
			r->uses = -1;
		strbuf_adds(&reply->out, r->out != NULL ? r->out : "");
		reply->err_text.max = KUBECTL_ERROR_MAX;
		strbuf_adds(&reply->err_text, r->err_text != NULL ? r->err_text : "");
		reply->status = r->err_text != NULL;
		break;
	}
	return 0;
}

static void ruled_init(struct ruled *k, struct rule *rules)
{
	*k = (struct ruled){
		.clock = {ruled_now, ruled_sleep}, .rules = rules, .calls = STRBUF_INIT(0)};
	k->base = (struct kubectl){.call = ruled_call, .clock = &k->clock};
}

static int count(const char *text, const char *part)
{
	int n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

/* ---- what may be listed ---- */

#define FORBIDDEN(resource) "Error from server (Forbidden): " resource " is forbidden: User \"u\"\n"
#define ITEM(version, kind, place, name)                                                           \
	"{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"" name     \
	"\"" place "}}"
#define LIST(items) "{\"kind\":\"List\",\"items\":[" items "]}"

static struct owned_query query_of(const char **places, size_t n, const cJSON *resources)
{
	return (struct owned_query){
		.owner = "f", .resources = resources, .namespaces = {places, n}};
}

static void what_may_not_be_listed_everywhere_is_listed_where_the_fleet_is(void)
{
	struct rule rules[] = {
		{"get", "-A", NULL, FORBIDDEN("services") FORBIDDEN("daemonsets.apps"), 1},
		{"get", "-A", LIST(ITEM("karpenter.sh/v1", "NodePool", "", "f-g5")), NULL, 0},
		{"get", "services,daemonsets.apps --namespace=f", NULL,
	         FORBIDDEN("daemonsets.apps"), 0},
		{"get", "services --namespace=f",
	         LIST(ITEM("v1", "Service", ",\"namespace\":\"f\"", "f-g5")), NULL, 0},
		{"get", "--namespace=kube-system", NULL,
	         FORBIDDEN("services") FORBIDDEN("daemonsets.apps"), 0},
		{0}};
	AUTO(json)
	cJSON *resources = cJSON_Parse(
		"[\"services\",\"daemonsets.apps\",\"nodepools.karpenter.sh\",\"secrets\"]");
	AUTO(json) cJSON *items = NULL, *unseen = NULL;
	AUTO(json)
	cJSON *set =
		cJSON_Parse(ITEM("apps/v1", "DaemonSet", ",\"namespace\":\"kube-system\"", "d"));
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(4096);
	const char *places[] = {"f", "kube-system"};
	struct owned_query q = query_of(places, 2, resources);
	struct err err = {0};
	struct ruled k;

	ruled_init(&k, rules);
	CHECK_OK(owned_list(&k.base, &q, &items, &unseen, &err), &err);
	CHECK_INT(cJSON_GetArraySize(items), 2);
	CHECK(owned_is_unseen(unseen, set));
	CHECK(!owned_is_unseen(unseen, items->child));
	owned_tell_unseen(unseen, &kinds);
	CHECK_STR(strbuf_str(&kinds), "daemonsets.apps");
	/* Kinds that slipway does not render are not asked for. */
	CHECK_INT(count(strbuf_str(&k.calls), "secrets"), 0);
	strbuf_done(&k.calls);
}

#define SHARED(users)                                                                              \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"d\","         \
	"\"namespace\":\"s\",\"uid\":\"1\",\"resourceVersion\":\"5\",\"labels\":"                  \
	"{\"slipway/owner\":\"shared.fleets\"},\"annotations\":{" users "}}}"
#define USER(fleet) "\"used-by.slipway/" fleet "\":\"x\""

static void of_what_fleets_share_a_fleet_has_what_it_uses(void)
{
	struct rule rules[] = {{"get", "slipway/owner in (f,shared.fleets)",
	                        LIST(SHARED(USER("f")) "," SHARED(USER("g")) "," ITEM(
					"v1", "ConfigMap",
					",\"namespace\":\"volcano-system\",\"labels\":{\"slipway/"
					"owner\":\"f\",\"app.kubernetes.io/component\":"
					"\"scheduler\"}",
					"volcano-scheduler-configmap")),
	                        NULL, 0},
	                       {0}};
	AUTO(json) cJSON *resources = cJSON_Parse("[\"daemonsets.apps\",\"configmaps\"]");
	AUTO(json) cJSON *items = NULL;
	struct owned_query q = query_of(NULL, 0, resources);
	struct err err = {0};
	struct ruled k;

	ruled_init(&k, rules);
	CHECK_OK(owned_list(&k.base, &q, &items, NULL, &err), &err);
	CHECK_INT(cJSON_GetArraySize(items), 1);
	CHECK(shared_used_by(items->child, "f"));
	strbuf_done(&k.calls);
}

static void who_may_list_nothing_is_told_of_roles(void)
{
	struct rule rules[] = {{"get", "", NULL, FORBIDDEN("services"), 0}, {0}};
	AUTO(json) cJSON *resources = cJSON_Parse("[\"services\"]");
	AUTO(json) cJSON *items = NULL;
	const char *places[] = {"f"};
	struct owned_query q = query_of(places, 1, resources);
	struct err err = {0};
	struct ruled k;

	ruled_init(&k, rules);
	CHECK_INT(owned_list(&k.base, &q, &items, NULL, &err), -1);
	CHECK_INT(err.code, ERR_DENIED);
	CHECK(strstr(err.hint, "slipway rbac") != NULL);
	strbuf_done(&k.calls);
}

/* ---- what does not go ---- */

#define POOL(uid, more)                                                                            \
	"{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{\"name\":\"p\","  \
	"\"uid\":\"" uid "\"" more "}}"
#define HELD                                                                                       \
	",\"deletionTimestamp\":\"2026-11-22T10:00:00Z\",\"finalizers\":[\"example.com/audit\"]"

struct asked {
	int times;
	bool agreed;
	char what[400];
};

static bool ask(void *ctx, const char *what)
{
	struct asked *a = ctx;

	a->times++;
	snprintf(a->what, sizeof(a->what), "%s", what);
	return a->agreed;
}

/* Takes one object down within 20 s; *ret_ms: how long that took. */
static int take_object(const char *object, struct rule *rules, struct asked *asked,
                       struct strbuf *calls, int64_t *ret_ms, struct err *err)
{
	AUTO(json) cJSON *owned = cJSON_CreateArray();
	AUTO(strbuf) struct strbuf left = STRBUF_INIT(4096);
	struct undeploy_opts opts = {.owner = "f", .pool_label = "karpenter.sh/nodepool"};
	struct ruled k;
	int rc;

	json_push(owned, cJSON_Parse(object));
	ruled_init(&k, rules);
	opts.gone = (struct gone_opts){20000, asked != NULL ? ask : NULL, asked, &left};
	rc = undeploy_run(&k.base, owned, &opts, err);
	*ret_ms = k.now_ms;
	strbuf_adds(calls, strbuf_str(&k.calls));
	strbuf_done(&k.calls);
	return rc;
}

static int take_down(struct rule *rules, struct asked *asked, struct strbuf *calls, int64_t *ret_ms,
                     struct err *err)
{
	return take_object(POOL("1", ""), rules, asked, calls, ret_ms, err);
}

static void what_others_use_is_left_to_them(void)
{
	struct rule rules[] = {{"get", "-f -", SHARED(USER("f") "," USER("g")), NULL, 0}, {0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536);
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take_object(SHARED(USER("f")), rules, NULL, &calls, &ms, &err), &err);
	CHECK(strstr(strbuf_str(&calls),
	             "patch daemonsets.apps d --type=merge -p {\"metadata\":{\"resourceVersion\":"
	             "\"5\",\"annotations\":{\"used-by.slipway/f\":null}}} -n s") != NULL);
	CHECK_INT(count(strbuf_str(&calls), "delete"), 0);
	CHECK_INT(ms, 0);
}

static void the_last_user_deletes_what_it_looked_at_and_waits(void)
{
	struct rule rules[] = {
		{"get", "-f -", SHARED(USER("f")), NULL, 3}, {"get", "-f -", "", NULL, 0}, {0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536);
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take_object(SHARED(USER("f")), rules, NULL, &calls, &ms, &err), &err);
	CHECK(strstr(strbuf_str(&calls),
	             "delete --raw /apis/apps/v1/namespaces/s/daemonsets/d -f - < ") != NULL);
	CHECK(strstr(strbuf_str(&calls),
	             "\"preconditions\":{\"uid\":\"1\",\"resourceVersion\":\"5\"}") != NULL);
	CHECK(ms > 0);
}

/* The first look is too old by the time of the deletion: another fleet has come meanwhile. */
static void who_comes_while_the_last_one_leaves_keeps_it(void)
{
	struct rule rules[] = {
		{"get", "-f -", SHARED(USER("f")), NULL, 1},
		{"get", "-f -", SHARED(USER("f") "," USER("g")), NULL, 0},
		{"delete", "--raw", NULL,
	         "Error from server (Conflict): Operation cannot be fulfilled on "
	         "daemonsets.apps \"d\": the ResourceVersion in the precondition (5) does not "
	         "match the ResourceVersion in record (6). The object might have been modified\n",
	         0},
		{0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536);
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take_object(SHARED(USER("f")), rules, NULL, &calls, &ms, &err), &err);
	CHECK_INT(count(strbuf_str(&calls), "delete --raw"), 1);
	CHECK_INT(count(strbuf_str(&calls), "patch daemonsets.apps d"), 1);
	CHECK_INT(ms, 0);
}

static void what_stays_is_told_in_time_with_its_finalizer(void)
{
	struct rule rules[] = {{"get", "-f -", POOL("1", HELD), NULL, 0}, {0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536);
	struct err err = {0};
	int64_t ms;

	CHECK_INT(take_down(rules, NULL, &calls, &ms, &err), -1);
	CHECK_INT(err.code, ERR_NETWORK);
	CHECK_INT(ms, 20000);
	CHECK(strstr(err.msg, "NodePool 'p': finalizer example.com/audit, for a controller of "
	                      "example.com to remove") != NULL);
	CHECK(strstr(err.hint, "--force-finalizers") != NULL);
	CHECK_INT(count(strbuf_str(&calls), "delete nodepools.karpenter.sh p"), 1);
}

static void force_asks_and_removes_the_finalizers_of_that_object_alone(void)
{
	struct rule rules[] = {
		{"get", "-f -", POOL("1", HELD), NULL, 20}, {"get", "-f -", "", NULL, 0}, {0}};
	struct rule deaf[] = {{"get", "-f -", POOL("1", HELD), NULL, 0}, {0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536), more = STRBUF_INIT(65536);
	struct asked yes = {.agreed = true}, no = {.agreed = false}, twice = {.agreed = true};
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take_down(rules, &yes, &calls, &ms, &err), &err);
	CHECK_INT(yes.times, 1);
	CHECK(strstr(yes.what, "example.com/audit") != NULL);
	CHECK(strstr(strbuf_str(&calls),
	             "patch nodepools.karpenter.sh p --type=json -p "
	             "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"1\"},"
	             "{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]") != NULL);
	CHECK_INT(take_down(deaf, &no, &more, &ms, &err), -1);
	CHECK_INT(count(strbuf_str(&more), "patch"), 0);
	/* Not for ever, where that does not help either. */
	CHECK_INT(take_down(deaf, &twice, &more, &ms, &err), -1);
	CHECK_INT(twice.times, 1);
}

static void an_object_of_the_same_name_that_came_later_is_not_awaited(void)
{
	struct rule rules[] = {{"get", "-f -", POOL("2", ""), NULL, 0}, {0}};
	AUTO(strbuf) struct strbuf calls = STRBUF_INIT(65536);
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take_down(rules, NULL, &calls, &ms, &err), &err);
	CHECK_INT(ms, 0);
}

static const struct {
	const char *object, *told, *risk; /* risk "" = none */
} held[] = {
	{"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"deletionTimestamp\":\"x\","
         "\"finalizers\":"
         "[\"karpenter.sh/termination\"]},\"spec\":{\"providerID\":\"aws:///us-west-2a/i-7\"}}",
         "Node 'n': finalizer karpenter.sh/termination of Karpenter, which drains the node and "
         "ends its instance",
         "instance i-7 may go on running: `aws ec2 terminate-instances --instance-ids i-7`\n"},
	{"{\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"v\",\"deletionTimestamp\":\"x\","
         "\"finalizers\":[\"kubernetes.io/pv-protection\"]},\"spec\":{\"csi\":{\"driver\":"
         "\"fsx.csi.aws.com\",\"volumeHandle\":\"fs-1\"}}}",
         "PersistentVolume 'v': finalizer kubernetes.io/pv-protection of "
         "kube-controller-manager, which waits until no claim is bound to the volume",
         "file system fs-1 of PersistentVolume v may still exist: `aws fsx delete-file-system "
         "--file-system-id fs-1`\n"},
	{"{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"f\",\"deletionTimestamp\":\"x\"},"
         "\"status\":{\"conditions\":[{\"status\":\"False\",\"message\":\"no\"},{\"status\":"
         "\"True\",\"message\":\"Some resources are remaining: secrets.\"}]}}",
         "Namespace 'f': Some resources are remaining: secrets.", ""},
	{"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"finalizers\":7}}",
         "Node 'n': it is not being deleted", ""},
	{"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"n\",\"deletionTimestamp\":\"x\","
         "\"finalizers\":"
         "[null,\"hold\"]}}",
         "Pod 'n': finalizer hold, for its controller to remove", ""},
	{"[]", "object '?': it is not being deleted", ""},
};

static void finalizers_are_told_with_whose_they_are_and_what_they_guard(void)
{
	for (size_t i = 0; i < ARRAY_LEN(held); i++) {
		AUTO(json) cJSON *object = cJSON_Parse(held[i].object);
		AUTO(strbuf) struct strbuf told = STRBUF_INIT(4096), risk = STRBUF_INIT(4096);

		finalizers_tell(object, &told);
		CHECK_STR(strbuf_str(&told), held[i].told);
		finalizers_tell_risk(object, &risk);
		/* A node claim and its node are one instance. */
		if (object_is(object, "Node"))
			finalizers_tell_risk(object, &risk);
		CHECK_STR(strbuf_str(&risk), held[i].risk);
	}
}

/* ---- whose lease is waited for ---- */

/* Held by `holder`, renewed at the epoch, for a minute. */
static const char *lease_of(const char *holder, const char *version, struct arena *a)
{
	return arena_printf(a,
	                    "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
	                    "\"metadata\":{\"name\":\"f-deploy\",\"resourceVersion\":\"%s\"},"
	                    "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":60,"
	                    "\"renewTime\":\"1970-01-01T00:00:00.000000Z\"}}",
	                    version, holder);
}

#define EXISTS "Error from server (AlreadyExists): leases \"f-deploy\" already exists\n"

static int take(const char *first, const char *then, int64_t until_ms, int64_t *ret_ms,
                struct err *err)
{
	struct rule rules[] = {{"create", "", NULL, EXISTS, 0},
	                       {"replace", "", then, NULL, 0},
	                       {"get", "leases", first, NULL, 4},
	                       {"get", "leases", then, NULL, 0},
	                       {0}};
	struct lease lease;
	struct ruled k;
	int rc;

	ruled_init(&k, rules);
	lease_init(&lease, &k.base, "f", "f");
	rc = lease_take_silent(&lease, until_ms, err);
	*ret_ms = k.now_ms;
	strbuf_done(&k.calls);
	return rc;
}

static void a_silent_holder_elsewhere_is_waited_for(void)
{
	AUTO(arena) struct arena a = {0};
	const char *silent = lease_of("ci-7/42/1/00000000", "5", &a);
	struct err err = {0};
	int64_t ms;

	CHECK_OK(take(silent, silent, 1000000, &ms, &err), &err);
	CHECK_INT(ms, 60000);
	/* As long as the caller has time. */
	CHECK_INT(take(silent, silent, 10000, &ms, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK_INT(ms, 10000);
}

static void a_holder_that_is_at_work_is_left_alone(void)
{
	AUTO(arena) struct arena a = {0};
	char ours[LEASE_IDENTITY_MAX], other[LEASE_IDENTITY_MAX];
	const char *start, *place;
	struct err err = {0};
	int64_t ms;

	CHECK_INT(take(lease_of("ci-7/42/1/00000000", "5", &a),
	               lease_of("ci-7/42/1/00000000", "6", &a), 1000000, &ms, &err),
	          -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK(ms < 10000);
	/* The first process of this machine, or container, lives as long as it does. */
	lease_identity(ours);
	CHECK(lease_is_of_this_machine(ours));
	CHECK(!lease_is_of_this_machine("ci-7/42/1/00000000"));
	CHECK(!lease_is_of_this_machine("") && !lease_is_of_this_machine("/"));
	start = strchr(ours, '/');
	place = strrchr(ours, '/');
	snprintf(other, sizeof(other), "%.*s/1/0%s", (int)(start - ours), ours, place);
	err = (struct err){0};
	CHECK_INT(take(lease_of(other, "5", &a), lease_of(other, "5", &a), 1000000, &ms, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK_INT(ms, 0);
}

int main(void)
{
	TEST("owned: of what fleets share, a fleet has what it uses",
	     of_what_fleets_share_a_fleet_has_what_it_uses);
	TEST("undeploy: what other fleets use is left to them", what_others_use_is_left_to_them);
	TEST("undeploy: the last user deletes what it looked at, and waits",
	     the_last_user_deletes_what_it_looked_at_and_waits);
	TEST("undeploy: a fleet that comes while the last one leaves keeps what is shared",
	     who_comes_while_the_last_one_leaves_keeps_it);
	TEST("owned: what may not be listed everywhere is listed where the fleet is",
	     what_may_not_be_listed_everywhere_is_listed_where_the_fleet_is);
	TEST("owned: who may list nothing is told of the roles",
	     who_may_list_nothing_is_told_of_roles);
	TEST("undeploy: what stays is told in time, with its finalizer",
	     what_stays_is_told_in_time_with_its_finalizer);
	TEST("undeploy: force asks, and removes the finalizers of that object alone",
	     force_asks_and_removes_the_finalizers_of_that_object_alone);
	TEST("undeploy: an object of the same name that came later is not awaited",
	     an_object_of_the_same_name_that_came_later_is_not_awaited);
	TEST("undeploy: finalizers are told with whose they are and what they guard",
	     finalizers_are_told_with_whose_they_are_and_what_they_guard);
	TEST("lease: a silent holder elsewhere is waited for",
	     a_silent_holder_elsewhere_is_waited_for);
	TEST("lease: a holder that is at work is left alone",
	     a_holder_that_is_at_work_is_left_alone);
	return test_done();
}
