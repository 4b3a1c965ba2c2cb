/*
 * A client of one repository in one registry (distribution-spec 1.1.1): blobs and manifests, in and
 * out. Authentication, token refresh, redirects, retries and verification happen inside; callers
 * see bytes or an error that names the cause and the next step. Thread rule: all functions may be
 * called from several threads at once on one object.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_REGISTRY_H
#define SLIPWAY_BUILDER_REGISTRY_REGISTRY_H

#include "base/clock.h"
#include "base/net/http.h"
#include "base/progress.h"
#include "base/strlist.h"
#include "builder/oci/layout.h"
#include "builder/oci/manifest.h"
#include "builder/oci/ref.h"
#include "builder/oci/store.h"
#include "builder/registry/credentials.h"

struct registry; /* opaque */

/* What was being done when it failed. */
enum registry_step {
	REGISTRY_STEP_NONE,
	REGISTRY_HEAD_BLOB,
	REGISTRY_GET_BLOB,
	REGISTRY_OPEN_UPLOAD,
	REGISTRY_PUT_BLOB,
	REGISTRY_HEAD_MANIFEST,
	REGISTRY_GET_MANIFEST,
	REGISTRY_PUT_MANIFEST
};

/*
 * Knows what a registry means by its failures, where its own words do not say it (ECR closes the
 * connection when a repository is missing). Called from several threads at once.
 */
struct registry_advisor {
	/*
	 * *err says what happened at `step` (http_status 0: the connection just ended); `last`:
	 * there is no try left. May put a better message and hint there; true: this is the cause,
	 * and trying again is in vain.
	 */
	bool (*explain)(struct registry_advisor *a, const struct registry *r,
	                enum registry_step step, bool last, struct err *err);
};

struct registry_opts {
	struct http_transport *transport;        /* borrowed */
	struct credential_provider *credentials; /* borrowed; NULL = anonymous */
	struct registry_advisor *advisor;        /* borrowed; NULL = none */
	struct clock *clock;                     /* NULL = clock_system() */
	struct progress *progress;               /* NULL = silent */
	bool insecure;    /* http allowed, where the user said so for this host */
	unsigned retries; /* tries per request after the first; RETRY_DEFAULT where nobody says */
	unsigned jobs;    /* blobs at a time; 0 = 4 */
};

/*
 * ref names host and repository. No request is made yet, but for a host that is this machine: it is
 * asked whether it speaks TLS, and plain HTTP is used where it does not.
 */
int registry_open(const struct ref *ref, const struct registry_opts *opts,
                  struct registry **ret_registry, struct err *err) MUST_USE;
void registry_close(struct registry *r); /* accepts NULL */

/* The host as references name it; borrowed. */
const char *registry_host(const struct registry *r);

const char *registry_repository(const struct registry *r);

/* A store that reads this repository (tags and digests, blobs verified); borrows r. */
struct store *registry_store(struct registry *r);

/*
 * What a tag or digest text names (digest, size, media type), for somebody who will read it: HEAD,
 * confirmed by the document itself, which is kept for the reader. Where HEAD and GET disagree, GET
 * is right and a note says so. ERR_NOT_FOUND if absent.
 */
int registry_resolve(struct registry *r, const char *reference, struct arena *a,
                     struct descriptor *ret_desc, struct err *err) MUST_USE;

/*
 * The same by HEAD, and by GET only where HEAD is not answered (405) or does not say enough:
 * nothing is read. ERR_NOT_FOUND if absent.
 */
int registry_head_manifest(struct registry *r, const char *reference, struct arena *a,
                           struct descriptor *ret_desc, struct err *err) MUST_USE;

/* HEAD: *ret_exists. A 404 is not an error. */
int registry_has_blob(struct registry *r, const struct descriptor *desc, bool *ret_exists,
                      struct err *err) MUST_USE;

/* All tags of the repository, in the registry's order; in the arena. ERR_LIMIT beyond 65536. */
int registry_tags(struct registry *r, struct arena *a, struct strlist *ret_tags,
                  struct err *err) MUST_USE;

enum blob_outcome { BLOB_EXISTED, BLOB_MOUNTED, BLOB_UPLOADED };

/*
 * Makes sure that the repository has the blob: HEAD, then mount from `mount_from` (a repository of
 * the same registry, NULL = none), then a monolithic upload of `fd`'s bytes (-1: the caller has
 * none, and gets ERR_NOT_FOUND when neither HEAD nor mount helped). A failed upload starts again in
 * a new session.
 */
int registry_put_blob(struct registry *r, const struct descriptor *desc, int fd,
                      const char *mount_from, enum blob_outcome *ret_outcome,
                      struct err *err) MUST_USE;

/*
 * The same with bytes that are read from `from`, which verifies them, while they are sent: no copy
 * of them is kept. They are opened when HEAD and mount did not help, and anew for a new session.
 */
int registry_copy_blob(struct registry *r, const struct descriptor *desc, struct store *from,
                       const char *mount_from, enum blob_outcome *ret_outcome,
                       struct err *err) MUST_USE;

/* PUT of exact manifest bytes under a tag or digest text; checks Docker-Content-Digest. Skipped
 * when a HEAD shows the same digest there (*ret_existed). */
int registry_put_manifest(struct registry *r, const char *reference, const struct descriptor *desc,
                          const void *bytes, bool *ret_existed, struct err *err) MUST_USE;

/*
 * Several clients may change what a tag names by reading it and putting something new. How long
 * (ms) another one's change, made upon what was there before ours, may come after ours: somewhat
 * longer than reading and putting took us.
 */
int64_t registry_settle_ms(int64_t took_ms);

/* A manifest that names a subject, and its bytes. */
struct referrer {
	const struct descriptor *desc;
	const void *bytes;
};

/*
 * Puts manifests that name `subject`, by their digests; their blobs are there already. Where the
 * registry does not answer that it keeps the list of referrers (OCI-Subject), the list is kept
 * under its tag, as clients do: writers at the same time may overwrite each other's change, so it
 * is read again afterwards, twice, and the change is made anew where it is gone. That is done once
 * for all of them, and takes a moment: what is about one subject is best put together. ERR_CONFLICT
 * when it never stays; ERR_FORMAT when that tag names something else than a list.
 */
int registry_put_referrers(struct registry *r, const struct digest *subject,
                           const struct referrer *referrers, size_t n, struct err *err) MUST_USE;

/* The same of one. */
int registry_put_referrer(struct registry *r, const struct digest *subject,
                          const struct descriptor *desc, const void *bytes,
                          struct err *err) MUST_USE;

#endif
