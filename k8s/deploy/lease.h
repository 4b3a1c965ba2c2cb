/*
 * One writer at a time: a coordination.k8s.io Lease in the fleet's namespace, taken through
 * kubectl. Its holder may change the fleet; it is renewed while waiting, before any call through
 * `base` when it is due, so that whatever waits by polling keeps it. A replacement carries the
 * resourceVersion that was read, so that of two who take an expired Lease one wins.
 *
 * A renewal that fails for a passing cause is no end: it is tried again before the next call, and
 * only when the Lease has expired meanwhile no call is made without it. One that was carried out
 * though its answer was lost is recognised by its holder.
 *
 * A holder that was killed on this machine is known to be dead and its Lease is taken at once; any
 * other is respected until it expires. Clocks of machines that deploy are taken to agree within
 * seconds.
 *
 * Thread rule: a lease belongs to one thread.
 */
#ifndef SLIPWAY_K8S_DEPLOY_LEASE_H
#define SLIPWAY_K8S_DEPLOY_LEASE_H

#include "k8s/deploy/kubectl.h"

#define LEASE_SUFFIX "-deploy"

enum {
	LEASE_SECONDS = 300,    /* longer than any one call of kubectl lasts */
	LEASE_RENEW_MS = 60000, /* due for renewal when it is this old */
	LEASE_IDENTITY_MAX = 200,
	LEASE_VERSION_MAX = 64
};

struct lease {
	struct kubectl base; /* forwards to inner; renews first when it is due */
	struct kubectl *inner;
	const char *namespace, *fleet; /* borrowed */
	char identity[LEASE_IDENTITY_MAX];
	char version[LEASE_VERSION_MAX]; /* resourceVersion of what was written last */
	int64_t renewed_ms, acquired_ms; /* as the server confirmed it; when it was taken */
	int64_t transitions;
	bool held;
};

/* Not taken yet: `base` forwards. */
void lease_init(struct lease *l, struct kubectl *inner, const char *namespace, const char *fleet);

/*
 * Takes it, waiting for another holder until wait_until_ms of the clock (0 = not at all). ERR_BUSY
 * says who holds it and until when. ERR_NOT_FOUND: there is no such namespace.
 */
int lease_take(struct lease *l, int64_t wait_until_ms, struct err *err) MUST_USE;

/* Sleeps that long, renewing when due. Ends early with ERR_INTERRUPTED, or ERR_BUSY when the Lease
 * was lost. */
int lease_sleep(struct lease *l, int64_t ms, struct err *err) MUST_USE;

/* The same, ended early and well when `woken` (asked several times a second) says so. */
int lease_wait(struct lease *l, int64_t ms, bool (*woken)(void *ctx), void *ctx,
               struct err *err) MUST_USE;

/* Releases it; also after Ctrl-C. Failures are ignored: the Lease expires on its own. `forget`: the
 * object is deleted too, with the fleet. */
void lease_release(struct lease *l, bool forget);

/* "HOST/PID/START/PLACE" of this process: PLACE distinguishes two machines of one name. */
void lease_identity(char out[LEASE_IDENTITY_MAX]);

/* Is it the identity of a process of this machine that no longer exists? */
bool lease_is_orphan(const char *identity);

/* May a Lease as it was read be taken? Sets *ret_until_ms, when it expires. Pure but for
 * lease_is_orphan. */
bool lease_is_free(const cJSON *object, const char *identity, int64_t now_ms,
                   int64_t *ret_until_ms);

#endif
