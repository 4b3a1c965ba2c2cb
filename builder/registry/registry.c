/*
 * Opening a repository, and putting manifests into it.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/registry/call.h"
#include "builder/registry/errors.h"
#include "builder/registry/plain.h"
#include "builder/registry/retry.h"

enum { REGISTRY_BUDGET = 100, REGISTRY_JOBS = 4 };

/* A registry on this machine is not often given a certificate. */
static bool is_plain(const struct registry_opts *opts, const char *host)
{
	if (!plain_is_spoken(opts->transport, host))
		return false;
	progress_note(opts->progress, "%s does not speak TLS: plain HTTP is used", host);
	return true;
}

int registry_open(const struct ref *ref, const struct registry_opts *opts,
                  struct registry **ret_registry, struct err *err)
{
	struct registry *r;
	char origin[512];

	if (ref->kind != REF_REGISTRY)
		return err_set(err, ERR_USAGE, "not a registry reference");
	r = mem_zalloc(sizeof(*r));
	r->opts = *opts;
	if (r->opts.clock == NULL)
		r->opts.clock = clock_system();
	if (r->opts.jobs == 0)
		r->opts.jobs = REGISTRY_JOBS;
	r->host = mem_strdup(ref->host);
	r->repository = mem_strdup(ref->repository);
	snprintf(origin, sizeof(origin), "%s://%s",
	         opts->insecure || is_plain(opts, ref->host) ? "http" : "https",
	         ref_api_host(ref->host));
	r->origin = mem_strdup(origin);
	r->base = mem_zalloc(strlen(origin) + strlen(ref->repository) + 8);
	snprintf(r->base, strlen(origin) + strlen(ref->repository) + 8, "%s/v2/%s", origin,
	         ref->repository);
	r->budget = REGISTRY_BUDGET;
	r->random = (uint64_t)r->opts.clock->now_ms(r->opts.clock) * 2 + 1;
	pthread_mutex_init(&r->lock, NULL);
	r->auth = auth_new(&(struct auth_opts){.host = r->host,
	                                       .origin = r->origin,
	                                       .transport = opts->transport,
	                                       .credentials = opts->credentials,
	                                       .clock = r->opts.clock});
	*ret_registry = r;
	return 0;
}

void registry_close(struct registry *r)
{
	if (r == NULL)
		return;
	auth_free(r->auth);
	pthread_mutex_destroy(&r->lock);
	free(r->host);
	free(r->repository);
	free(r->origin);
	free(r->base);
	strbuf_done(&r->document);
	free(r);
}

const char *registry_host(const struct registry *r)
{
	return r->host;
}

const char *registry_repository(const struct registry *r)
{
	return r->repository;
}

static int check_put(struct registry *r, const struct call *put, const struct http_response *resp,
                     const struct descriptor *desc, struct err *err)
{
	const char *digest = http_header_get(&resp->headers, "Docker-Content-Digest");
	struct digest d;

	if (resp->status < 200 || resp->status > 299)
		return call_refused(r, put, resp, err);
	if (digest == NULL)
		return 0;
	if (digest_parse(digest, &d, err) != 0)
		return err_wrap(err, "Docker-Content-Digest");
	if (!digest_equal(&d, &desc->digest))
		return err_set(err, ERR_SERVER,
		               "the registry stored the manifest under another digest: %s", digest);
	return 0;
}

/* The registry may not see yet what it has just been given (eventual consistency): a few tries
 * more. */
static int put_with_patience(struct registry *r, const struct call *put,
                             const struct descriptor *desc, struct http_response *resp,
                             struct err *err)
{
	for (unsigned attempt = 1;; attempt++) {
		if (call_send(r, put, resp, err) != 0)
			return -1;
		if (!registry_error_has(resp, "MANIFEST_BLOB_UNKNOWN") || attempt > 3)
			return check_put(r, put, resp, desc, err);
		struct err why = {0};

		registry_error(resp, &why);
		if (call_wait(r, attempt, NULL, &why, err) != 0)
			return -1;
		http_response_done(resp);
	}
}

int call_put_manifest(struct registry *r, const char *reference, const struct descriptor *desc,
                      const void *bytes, const char *if_match, struct http_response *resp,
                      struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct call put = {.method = "PUT",
	                   .url = arena_printf(&a, "%s/manifests/%s", r->base, reference),
	                   .scopes = call_scopes(r, "pull,push", NULL, &a),
	                   .step = REGISTRY_PUT_MANIFEST,
	                   .headers = {{"Content-Type", desc->media_type}},
	                   .n_headers = 1,
	                   .body = {.kind = HTTP_BODY_MEMORY, .bytes = bytes, .size = desc->size}};

	if (if_match != NULL)
		put.headers[put.n_headers++] = (struct http_header){"If-Match", if_match};
	return put_with_patience(r, &put, desc, resp, err);
}

static bool has_manifest(struct registry *r, const char *reference, const struct descriptor *desc)
{
	AUTO(arena) struct arena a = {0};
	struct descriptor there;
	struct err ignored = {0};

	return registry_head_manifest(r, reference, &a, &there, &ignored) == 0 &&
	       digest_equal(&there.digest, &desc->digest);
}

int registry_put_manifest(struct registry *r, const char *reference, const struct descriptor *desc,
                          const void *bytes, bool *ret_existed, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};

	/* A HEAD that fails means nothing (some registries refuse it): the PUT will. */
	*ret_existed = has_manifest(r, reference, desc);
	if (*ret_existed || call_put_manifest(r, reference, desc, bytes, NULL, &resp, err) == 0)
		return 0;
	/* Somebody else may have pushed the same meanwhile: an immutable tag then refuses us, and
	 * yet all is as it should be. */
	*ret_existed = err->http_status == 400 && has_manifest(r, reference, desc);
	if (*ret_existed)
		return 0;
	return err_wrap(err, "put manifest '%s'", reference);
}
