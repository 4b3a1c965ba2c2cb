/* The lease of a fleet: who may take it, how it is kept through lost replies and outages. */
#include <sys/wait.h>
#include <unistd.h>

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/lease.h"
#include "tests/harness.h"

/* ---- the lease ---- */

static bool is_free(const char *holder, const char *renewed, int seconds, int64_t now_ms)
{
	char text[512], identity[LEASE_IDENTITY_MAX];
	int64_t until;

	lease_identity(identity);
	snprintf(text, sizeof(text),
	         "{\"spec\":{\"holderIdentity\":\"%s\",\"renewTime\":\"%s\","
	         "\"leaseDurationSeconds\":%d}}",
	         holder, renewed, seconds);
	AUTO(json) cJSON *object = cJSON_Parse(text);

	return lease_is_free(object, identity, now_ms, &until);
}

static void leases_are_taken_when_nobody_holds_them(void)
{
	static const char renewed[] = "1970-01-01T00:01:00.000000Z";
	char ours[LEASE_IDENTITY_MAX], dead[LEASE_IDENTITY_MAX + 32];

	lease_identity(ours);
	CHECK(is_free("", renewed, 300, 61000));
	CHECK(is_free(ours, renewed, 300, 61000));
	CHECK(!is_free("other/1/2/00000000", renewed, 300, 61000));
	CHECK(!is_free("other/1/2/00000000", renewed, 300, 359999));
	CHECK(is_free("other/1/2/00000000", renewed, 300, 360000));
	CHECK(is_free("other", "", 300, 1));
	/* Our own number with another start: a process that was, and is no more. */
	snprintf(dead, sizeof(dead), "%.*s/%ld/1%s", (int)strcspn(ours, "/"), ours, (long)getpid(),
	         strrchr(ours, '/'));
	CHECK(is_free(dead, renewed, 300, 61000));
	/* The like of another machine is not judged. */
	dead[strlen(dead) - 1] = dead[strlen(dead) - 1] == '0' ? '1' : '0';
	CHECK(!is_free(dead, renewed, 300, 61000));
}

static void a_holder_that_has_ended_is_dead_though_nobody_waited_for_it(void)
{
	char holder[LEASE_IDENTITY_MAX] = "";
	siginfo_t info;
	int ends[2];

	CHECK_INT(pipe(ends), 0);
	pid_t child = fork();

	if (child == 0) {
		lease_identity(holder);
		_exit(write(ends[1], holder, sizeof(holder)) == sizeof(holder) ? 0 : 1);
	}
	CHECK_INT(read(ends[0], holder, sizeof(holder)), sizeof(holder));
	CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	CHECK(lease_is_orphan(holder));
	CHECK_INT(waitpid(child, NULL, 0), child);
	CHECK(lease_is_orphan(holder));
	close(ends[0]);
	close(ends[1]);
}

/* A cluster with one Lease, and a clock that a test sets. */
struct one_lease {
	struct kubectl base;
	struct clock clock;
	int64_t now_ms;
	int version;  /* 0: there is none */
	char *holder; /* of the object */
	bool steal;   /* somebody replaces it right before we do */
	int lost;     /* replies to come that get lost: what was asked is done */
	int down;     /* calls to come that the server does not see */
	int calls;
};

static int64_t their_now(struct clock *c)
{
	return ((struct one_lease *)(void *)((char *)c - offsetof(struct one_lease, clock)))
	        ->now_ms;
}

static void their_sleep(struct clock *c, int64_t ms)
{
	((struct one_lease *)(void *)((char *)c - offsetof(struct one_lease, clock)))->now_ms += ms;
}

static void store(struct one_lease *l, const cJSON *sent)
{
	free(l->holder);
	l->holder = strdup(json_string(json_get(sent, "spec"), "holderIdentity"));
	l->version++;
}

static void complain(struct kubectl_reply *reply, const char *text)
{
	reply->status = 1;
	reply->err_text = (struct strbuf)STRBUF_INIT(4096);
	strbuf_adds(&reply->err_text, text);
}

static int lease_call(struct kubectl *base, const char *const *args, const char *input,
                      struct kubectl_reply *reply, struct err *err UNUSED)
{
	struct one_lease *l = (struct one_lease *)base;
	AUTO(json) cJSON *sent = input != NULL ? cJSON_Parse(input) : NULL;
	char version[16];

	l->calls++;
	if (l->down > 0) {
		l->down--;
		complain(reply, "dial tcp 10.0.0.1:443: connect: connection refused");
		return 0;
	}
	snprintf(version, sizeof(version), "%d", l->version);
	if (strcmp(args[0], "create") == 0 && l->version > 0) {
		complain(reply, "Error from server (AlreadyExists): it already exists");
		return 0;
	}
	if (strcmp(args[0], "replace") == 0 && l->steal) {
		l->version++;
		l->steal = false;
		free(l->holder);
		l->holder = strdup("thief/1/2/00000000");
	}
	snprintf(version, sizeof(version), "%d", l->version);
	if (strcmp(args[0], "replace") == 0 && strcmp(object_version(sent), version) != 0) {
		complain(reply, "Error from server (Conflict): the object has been modified");
		return 0;
	}
	if (sent != NULL)
		store(l, sent);
	if (l->lost > 0) {
		l->lost--;
		complain(reply, "error: Put \"https://10.0.0.1/leases\": EOF");
		return 0;
	}
	strbuf_addf(
		&reply->out,
		"{\"metadata\":{\"resourceVersion\":\"%d\"},\"spec\":{\"holderIdentity\":\"%s\","
		"\"leaseDurationSeconds\":300,\"renewTime\":\"1970-01-01T00:00:00Z\"}}",
		l->version, l->holder);
	return 0;
}

static void one_lease(struct one_lease *l)
{
	*l = (struct one_lease){.clock = {their_now, their_sleep}, .now_ms = 1000};
	l->base = (struct kubectl){.call = lease_call};
	l->base.clock = &l->clock;
}

static void of_two_takers_one_wins(void)
{
	struct one_lease cluster;
	struct lease a, b;
	struct err err = {0};

	one_lease(&cluster);
	lease_init(&a, &cluster.base, "n", "f");
	lease_init(&b, &cluster.base, "n", "f");
	snprintf(b.identity, sizeof(b.identity), "other/1/2/00000000");
	CHECK_INT(lease_take(&b, 0, &err), 0);
	CHECK_INT(lease_take(&a, 0, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK(strstr(err.msg, "other/1 holds the lease of 'f'") != NULL);
	/* It expires; a third one is faster. */
	cluster.now_ms = 400000;
	cluster.steal = true;
	err = (struct err){0};
	CHECK_INT(lease_take(&a, 0, &err), 0);
	CHECK_INT(a.transitions, 1);
	lease_release(&a, false);
	CHECK_STR(cluster.holder, "");
	free(cluster.holder);
}

static void a_lease_is_renewed_by_the_way(void)
{
	static const char *const args[] = {"get", "pods", NULL};
	struct one_lease cluster;
	struct kubectl_reply reply;
	struct lease a;
	struct err err = {0};

	one_lease(&cluster);
	lease_init(&a, &cluster.base, "n", "f");
	CHECK_INT(lease_take(&a, 0, &err), 0);
	CHECK_INT(kubectl_run(&a.base, args, NULL, &reply, &err), 0);
	kubectl_reply_done(&reply);
	CHECK_INT(cluster.version, 1);
	CHECK_INT(lease_sleep(&a, 130000, &err), 0);
	CHECK_INT(cluster.version, 3);
	cluster.steal = true;
	CHECK_INT(lease_sleep(&a, 130000, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK(!a.held);
	free(cluster.holder);
}

static void a_renewal_whose_reply_is_lost_is_no_end(void)
{
	struct one_lease cluster;
	struct lease a;
	struct err err = {0};

	one_lease(&cluster);
	lease_init(&a, &cluster.base, "n", "f");
	CHECK_INT(lease_take(&a, 0, &err), 0);
	cluster.lost = 1;
	CHECK_INT(lease_sleep(&a, 130000, &err), 0);
	CHECK(a.held);
	CHECK_INT(cluster.lost, 0);
	/* And of the one before and the one after. */
	cluster.lost = 3;
	CHECK_INT(lease_sleep(&a, 130000, &err), 0);
	CHECK(a.held);
	cluster.steal = true;
	cluster.lost = 1;
	CHECK_INT(lease_sleep(&a, 130000, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	free(cluster.holder);
}

static void the_taking_of_a_lease_survives_a_lost_reply(void)
{
	struct patience patience = {60000, true};
	struct one_lease cluster;
	struct lease a;
	struct err err = {0};

	one_lease(&cluster);
	cluster.base.patience = &patience;
	cluster.lost = 1;
	lease_init(&a, &cluster.base, "n", "f");
	CHECK_INT(lease_take(&a, 0, &err), 0);
	CHECK_STR(cluster.holder, a.identity);
	free(cluster.holder);
}

static void an_outage_longer_than_the_lease_is_outlasted(void)
{
	static const char *const args[] = {"get", "pods", NULL};
	struct patience patience = {3600000, true};
	struct one_lease cluster;
	struct kubectl_reply reply;
	struct lease a;
	struct err err = {0};
	int calls;

	one_lease(&cluster);
	cluster.base.patience = &patience;
	lease_init(&a, &cluster.base, "n", "f");
	CHECK_INT(lease_take(&a, 0, &err), 0);
	cluster.down = 40;
	CHECK_INT(kubectl_run(&a.base, args, NULL, &reply, &err), 0);
	kubectl_reply_done(&reply);
	CHECK(cluster.now_ms > LEASE_SECONDS * 1000);
	CHECK(a.held);
	/* Once it has expired nothing but the renewal itself is tried. */
	cluster.now_ms += LEASE_SECONDS * 1000;
	cluster.steal = true;
	calls = cluster.calls;
	CHECK_INT(kubectl_run(&a.base, args, NULL, &reply, &err), -1);
	CHECK_INT(err.code, ERR_BUSY);
	CHECK_INT(cluster.calls - calls, 2);
	free(cluster.holder);
}

int main(void)
{
	TEST("lease: it is taken when nobody holds it", leases_are_taken_when_nobody_holds_them);
	TEST("lease: a holder that has ended is dead, though nobody has waited for it",
	     a_holder_that_has_ended_is_dead_though_nobody_waited_for_it);
	TEST("lease: of two takers one wins", of_two_takers_one_wins);
	TEST("lease: it is renewed while its holder waits", a_lease_is_renewed_by_the_way);
	TEST("lease: a renewal whose reply is lost is no end",
	     a_renewal_whose_reply_is_lost_is_no_end);
	TEST("lease: it is taken though the reply is lost",
	     the_taking_of_a_lease_survives_a_lost_reply);
	TEST("lease: an outage longer than it is outlasted",
	     an_outage_longer_than_the_lease_is_outlasted);
	return test_done();
}
