#include "k8s/deploy/lease.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/crc32c.h"
#include "base/interrupt.h"
#include "base/timestamp.h"
#include "k8s/deploy/kinds.h"

enum {
	TAKE_TRIES = 3,
	WAIT_MS = 2000,
	SLICE_MS = 20000,
	GLANCE_MS = 250,  /* between two questions whether to wake */
	RELEASE_MS = 3000 /* what a release is worth: the Lease expires on its own */
};

/* ---- who we are ---- */

/*
 * Start time of a process in the kernel's ticks, its pid's second name; 0 when there is none, ENDED
 * when only its number is left until its parent waits for it, which a container's first process may
 * never do.
 */
enum { ENDED = -1 };
static long long start_of(long pid)
{
	char path[64], text[1024];
	unsigned long long start = 0;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* The command's name stands in brackets and may hold anything; field 22 is 20 after it. */
	char *p = strrchr(text, ')');

	if (p != NULL && (strncmp(p, ") Z", 3) == 0 || strncmp(p, ") X", 3) == 0))
		return ENDED;
	for (int i = 0; p != NULL && i < 20; i++) {
		p = strchr(p, ' ');
		p = p != NULL ? p + 1 : NULL;
	}
	if (p != NULL)
		start = strtoull(p, NULL, 10);
	return (long long)start;
}

/* This boot of this machine and this namespace of process numbers. */
static unsigned boot_and_namespace(void)
{
	char text[256] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	size_t n = f != NULL ? fread(text, 1, 64, f) : 0;
	ssize_t more = readlink("/proc/self/ns/pid", text + n, sizeof(text) - n);

	if (f != NULL)
		fclose(f);
	return crc32c(0, text, n + (more > 0 ? (size_t)more : 0));
}

void lease_identity(char out[LEASE_IDENTITY_MAX])
{
	char host[65] = "";
	long pid = (long)getpid();

	if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
		snprintf(host, sizeof(host), "localhost");
	for (char *p = host; *p != '\0'; p++)
		if (*p == '/')
			*p = '-';
	snprintf(out, LEASE_IDENTITY_MAX, "%s/%ld/%lld/%08x", host, pid, start_of(pid),
	         boot_and_namespace());
}

bool lease_is_orphan(const char *identity)
{
	char ours[LEASE_IDENTITY_MAX];
	const char *slash = strchr(identity, '/'), *next, *last = strrchr(identity, '/');
	long pid;
	long long start, now;
	char *end;

	lease_identity(ours);
	if (slash == NULL || last == slash || strcmp(last, strrchr(ours, '/')) != 0 ||
	    strncmp(identity, ours, (size_t)(slash - identity) + 1) != 0)
		return false;
	pid = strtol(slash + 1, &end, 10);
	next = end;
	if (pid <= 0 || *next != '/')
		return false;
	start = strtoll(next + 1, &end, 10);
	if (start <= 0 || *end != '/')
		return false;
	/* A process that may not be looked at is not dead. */
	now = start_of(pid);
	return now != 0 ? now != start : kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* ---- the object ---- */

/* Kubernetes' MicroTime. */
static void add_micro_time(cJSON *spec, const char *key, int64_t ms)
{
	char text[TIMESTAMP_MAX], micro[TIMESTAMP_MAX + 8];

	timestamp_extended(ms, text);
	snprintf(micro, sizeof(micro), "%.*s.%06dZ", (int)strcspn(text, "Z"), text,
	         (int)(ms % 1000) * 1000);
	json_add_string(spec, key, micro);
}

static void print_lease(const struct lease *l, const char *holder, int64_t now_ms,
                        struct strbuf *sb)
{
	AUTO(json) cJSON *object = cJSON_CreateObject();
	cJSON *spec;

	json_add_string(object, "apiVersion", "coordination.k8s.io/v1");
	json_add_string(object, "kind", "Lease");
	deploy_metadata(object, l->namespace, l->fleet, LEASE_SUFFIX);
	if (l->version[0] != '\0')
		json_add_string(cJSON_GetObjectItemCaseSensitive(object, "metadata"),
		                "resourceVersion", l->version);
	spec = json_add_object(object, "spec");
	json_add_string(spec, "holderIdentity", holder);
	json_add_int(spec, "leaseDurationSeconds", holder[0] != '\0' ? LEASE_SECONDS : 1);
	add_micro_time(spec, "acquireTime", l->acquired_ms);
	add_micro_time(spec, "renewTime", now_ms);
	json_add_int(spec, "leaseTransitions", l->transitions);
	json_print(object, sb);
}

static int64_t now_of(const struct lease *l)
{
	return l->inner->clock->now_ms(l->inner->clock);
}

static int adopt_version(struct lease *l, const cJSON *object, struct err *err)
{
	const char *version = object_version(object);

	if (version == NULL || strlen(version) >= sizeof(l->version))
		return err_set(err, ERR_FORMAT, "kubectl did not report the Lease's version");
	snprintf(l->version, sizeof(l->version), "%s", version);
	return 0;
}

/* create or replace, and what the server made of it. */
static int send_lease(struct lease *l, const char *verb, const char *holder, struct err *err)
{
	const char *const args[] = {verb, "-f", "-", "-o", "json", NULL};
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0);
	AUTO(json) cJSON *answer = NULL;
	int64_t now = now_of(l);

	print_lease(l, holder, now, &input);
	if (kubectl_json(l->inner, args, strbuf_str(&input), &answer, err) != 0 ||
	    adopt_version(l, answer, err) != 0)
		return -1;
	l->renewed_ms = now;
	l->held = holder[0] != '\0';
	return 0;
}

static int read_lease(struct lease *l, cJSON **ret, struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);

	strbuf_addf(&name, "%s" LEASE_SUFFIX, l->fleet);
	const char *const args[] = {"get",
	                            "leases.coordination.k8s.io",
	                            strbuf_str(&name),
	                            "-n",
	                            l->namespace,
	                            "--ignore-not-found",
	                            "-o",
	                            "json",
	                            NULL};

	return kubectl_json(l->inner, args, NULL, ret, err);
}

/* ---- taking ---- */

bool lease_is_free(const cJSON *object, const char *identity, int64_t now_ms, int64_t *ret_until_ms)
{
	const cJSON *spec = json_get(object, "spec");
	const cJSON *seconds = json_get(spec, "leaseDurationSeconds");
	const char *holder = json_string(spec, "holderIdentity");
	const char *renewed = json_string(spec, "renewTime");
	int64_t at;

	*ret_until_ms = now_ms;
	if (holder == NULL || holder[0] == '\0' || strcmp(holder, identity) == 0 ||
	    lease_is_orphan(holder))
		return true;
	if (renewed == NULL || !timestamp_iso8601(renewed, &at) || !cJSON_IsNumber(seconds) ||
	    seconds->valuedouble < 0 || seconds->valuedouble > 1e6)
		return true;
	*ret_until_ms = at + (int64_t)seconds->valuedouble * 1000;
	return *ret_until_ms <= now_ms;
}

static int tell_busy(const struct lease *l, const cJSON *object, int64_t until_ms, struct err *err)
{
	const char *holder = json_string(json_get(object, "spec"), "holderIdentity");
	char until[TIMESTAMP_MAX];
	const char *slash;
	size_t len;

	holder = holder != NULL ? holder : "somebody";
	slash = strchr(holder, '/');
	/* Host and process; the rest is for machines. */
	len = slash != NULL ? (size_t)(slash - holder) + 1 + strcspn(slash + 1, "/")
	                    : strlen(holder);
	err_set(err, ERR_BUSY, "%.*s holds the lease of '%s' until %s, unless renewed", (int)len,
	        holder, l->fleet, timestamp_extended(until_ms, until));
	return err_hint(err,
	                "Run this again when it has finished. If it no longer runs: `kubectl "
	                "delete lease -n %s %s" LEASE_SUFFIX "`.",
	                l->namespace, l->fleet);
}

/* It is there: 0 taken, 1 to be tried again (it was deleted meanwhile), -1. */
static int take_over(struct lease *l, struct err *err)
{
	AUTO(json) cJSON *object = NULL;
	const cJSON *transitions;
	int64_t until;

	if (read_lease(l, &object, err) != 0)
		return -1;
	if (object == NULL)
		return 1;
	if (!lease_is_free(object, l->identity, now_of(l), &until))
		return tell_busy(l, object, until, err);
	transitions = json_get(json_get(object, "spec"), "leaseTransitions");
	l->transitions = (cJSON_IsNumber(transitions) ? (int64_t)transitions->valuedouble : 0) + 1;
	snprintf(l->version, sizeof(l->version), "%s",
	         object_version(object) != NULL ? object_version(object) : "");
	if (send_lease(l, "replace", l->identity, err) == 0)
		return 0;
	if (err->code == ERR_CONFLICT || err->code == ERR_NOT_FOUND)
		return 1; /* somebody was faster: see who */
	return -1;
}

static int try_take(struct lease *l, struct err *err)
{
	for (int i = 0; i < TAKE_TRIES; i++) {
		int rc;

		l->version[0] = '\0';
		l->transitions = 0;
		l->acquired_ms = now_of(l);
		if (send_lease(l, "create", l->identity, err) == 0)
			return 0;
		if (err->code != ERR_CONFLICT)
			return -1;
		rc = take_over(l, err);
		if (rc <= 0)
			return rc;
	}
	return err_set(err, ERR_BUSY, "others took the lease of '%s' on every try", l->fleet);
}

int lease_take(struct lease *l, int64_t wait_until_ms, struct err *err)
{
	for (bool said = false;;) {
		if (try_take(l, err) == 0)
			return 0;
		if (err->code != ERR_BUSY || now_of(l) >= wait_until_ms)
			return err_wrap(err, "only one deploy or undeploy at a time");
		if (!said)
			progress_note(l->inner->progress, "waiting: %s", err->msg);
		said = true;
		l->inner->clock->sleep_ms(l->inner->clock, WAIT_MS);
		if (interrupt_check(err) != 0)
			return -1;
	}
}

/* ---- keeping and giving up ---- */

static int tell_lost(struct lease *l, struct err *err)
{
	l->held = false;
	*err = (struct err){0};
	err_set(err, ERR_BUSY, "the lease of '%s' was taken or deleted by another process",
	        l->fleet);
	return err_hint(err, "Another deploy may be running now; this one has stopped.");
}

/* The object is not as it was written last: by another, or by a call whose answer was lost? */
static int renew_changed(struct lease *l, struct err *err)
{
	AUTO(json) cJSON *object = NULL;
	const char *holder;

	*err = (struct err){0};
	if (read_lease(l, &object, err) != 0)
		return -1;
	holder = json_string(json_get(object, "spec"), "holderIdentity");
	if (holder == NULL || strcmp(holder, l->identity) != 0)
		return tell_lost(l, err);
	return adopt_version(l, object, err) != 0 ? -1 : send_lease(l, "replace", l->identity, err);
}

static int renew_once(struct lease *l, struct err *err)
{
	if (send_lease(l, "replace", l->identity, err) == 0)
		return 0;
	if (err->code == ERR_CONFLICT && renew_changed(l, err) == 0)
		return 0;
	/* Changed again while it was read, or deleted. */
	if (l->held && (err->code == ERR_CONFLICT || err->code == ERR_NOT_FOUND))
		return tell_lost(l, err);
	return l->held ? err_wrap(err, "renew the lease") : -1;
}

/* One try, for the next call makes another. */
static int renew(struct lease *l, struct err *err)
{
	struct patience *patience = l->inner->patience;
	int64_t age = now_of(l) - l->renewed_ms;
	int rc;

	if (!l->held || age < LEASE_RENEW_MS)
		return 0;
	l->inner->patience = NULL;
	rc = renew_once(l, err);
	l->inner->patience = patience;
	if (rc == 0 || err->code != ERR_NETWORK || age >= LEASE_SECONDS * 1000LL)
		return rc;
	*err = (struct err){0};
	return 0;
}

static int call_leased(struct kubectl *base, const char *const *args, const char *input,
                       struct kubectl_reply *reply, struct err *err)
{
	struct lease *l = (struct lease *)base;

	if (renew(l, err) != 0)
		return -1;
	return l->inner->call(l->inner, args, input, reply, err);
}

static int follow_leased(struct kubectl *base, const char *const *args, struct proc_child *ret,
                         struct err *err)
{
	struct lease *l = (struct lease *)base;

	return l->inner->follow(l->inner, args, ret, err);
}

void lease_init(struct lease *l, struct kubectl *inner, const char *namespace, const char *fleet)
{
	*l = (struct lease){
		.base = {call_leased, inner->clock, inner->progress, inner->patience,
	                 inner->follow != NULL ? follow_leased : NULL},
		.inner = inner,
		.namespace = namespace,
		.fleet = fleet,
	};
	lease_identity(l->identity);
}

/* While the Lease cannot be renewed nothing is written: sleeping goes on. */
static int keep_lease(struct lease *l, struct err *err)
{
	if (renew(l, err) == 0)
		return 0;
	if (err->code != ERR_NETWORK)
		return -1;
	*err = (struct err){0};
	return 0;
}

int lease_wait(struct lease *l, int64_t ms, bool (*woken)(void *ctx), void *ctx, struct err *err)
{
	struct clock *clock = l->inner->clock;
	int64_t end = clock->now_ms(clock) + ms, slice = woken != NULL ? GLANCE_MS : SLICE_MS;

	for (int64_t left = ms; left > 0; left = end - clock->now_ms(clock)) {
		if (woken != NULL && woken(ctx))
			break;
		clock->sleep_ms(clock, left < slice ? left : slice);
		if (interrupt_check(err) != 0 || keep_lease(l, err) != 0)
			return -1;
	}
	return 0;
}

int lease_sleep(struct lease *l, int64_t ms, struct err *err)
{
	return lease_wait(l, ms, NULL, NULL, err);
}

static void forget_lease(struct lease *l)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);
	struct kubectl_reply reply;
	struct err ignored = {0};

	strbuf_addf(&name, "%s" LEASE_SUFFIX, l->fleet);
	const char *const args[] = {"delete",
	                            "leases.coordination.k8s.io",
	                            strbuf_str(&name),
	                            "--ignore-not-found",
	                            "-n",
	                            l->namespace,
	                            NULL};

	if (kubectl_run(l->inner, args, NULL, &reply, &ignored) == 0)
		kubectl_reply_done(&reply);
}

void lease_release(struct lease *l, bool forget)
{
	struct patience brief = {.window_ms = RELEASE_MS}, *patience;
	struct err ignored = {0};

	/* One that is not held may never have been begun (a dry run that asks nobody). */
	if (!l->held)
		return;
	interrupt_hold(true);
	patience = l->inner->patience;
	l->inner->patience = &brief;
	if (forget)
		forget_lease(l);
	else
		(void)send_lease(l, "replace", "", &ignored);
	l->inner->patience = patience;
	l->held = false;
	interrupt_hold(false);
}
