/*
 * Blobs, in and out.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/net/url.h"
#include "builder/registry/call.h"
#include "builder/registry/errors.h"

static const char *blob_url(const struct registry *r, const struct digest *d, struct arena *a)
{
	char text[DIGEST_TEXT_MAX];

	return arena_printf(a, "%s/blobs/%s", r->base, digest_text(d, text));
}

static int head_blob(struct registry *r, const struct descriptor *desc, const char *actions,
                     bool *ret_exists, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(http_response) struct http_response resp = {0};
	const struct call head = {.method = "HEAD",
	                          .url = blob_url(r, &desc->digest, &a),
	                          .scopes = call_scopes(r, actions, NULL, &a),
	                          .step = REGISTRY_HEAD_BLOB};

	if (call_send(r, &head, &resp, err) != 0)
		return -1;
	if (resp.status != 200 && resp.status != 404)
		return call_explain(r, &head, &resp, err);
	int64_t length = http_content_length(&resp.headers);

	/* A blob of another size under this digest is not this blob. */
	*ret_exists = resp.status == 200 && (length < 0 || length == desc->size);
	return 0;
}

int registry_has_blob(struct registry *r, const struct descriptor *desc, bool *ret_exists,
                      struct err *err)
{
	return head_blob(r, desc, "pull", ret_exists, err);
}

/* ---- out ---- */

struct sending {
	struct progress *progress;
	unsigned task;
};

static void on_sent(void *ctx, int64_t bytes)
{
	const struct sending *s = ctx;

	progress_advance(s->progress, s->task, bytes);
}

struct upload {
	struct registry *r;
	const struct descriptor *desc;
	int fd;             /* the bytes, */
	struct store *from; /* or where they are read while they are sent; -1 and NULL: neither */
	const char *mount_from;
	struct sending sending;
	bool unreadable; /* `from` failed: another session would not help */
};

static bool has_bytes(const struct upload *u)
{
	return u->fd >= 0 || u->from != NULL;
}

/* Notes whose failure it is when an upload fails. */
struct watched {
	struct source source;
	struct source *inner;
	struct upload *upload;
};

static int watched_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct watched *w = (struct watched *)s;
	int status = source_read(w->inner, buf, cap, ret_n, err);

	w->upload->unreadable |= status != 0;
	return status;
}

static void watched_close(struct source *s)
{
	source_close(((struct watched *)s)->inner);
	free(s);
}

static int open_bytes(void *ctx, struct source **ret_source, struct err *err)
{
	struct upload *u = ctx;
	struct source *inner;
	struct watched *w;

	u->unreadable = store_open(u->from, u->desc, &inner, err) != 0;
	if (u->unreadable)
		return -1;
	w = mem_zalloc(sizeof(*w));
	*w = (struct watched){{watched_read, watched_close}, inner, u};
	*ret_source = &w->source;
	return 0;
}

static struct http_body body_of(struct upload *u)
{
	return (struct http_body){.kind = u->from != NULL ? HTTP_BODY_SOURCE : HTTP_BODY_FILE,
	                          .fd = u->fd,
	                          .open = open_bytes,
	                          .ctx = u,
	                          .size = u->desc->size};
}

/*
 * Opens an upload session, mounting instead when asked to (distribution-spec, "Mounting a blob from
 * another repository"): 201 = mounted, 202 = a session to use, anything else on a mount = ask again
 * without.
 */
static int open_session(const struct upload *u, const char *mount_from, struct arena *a,
                        const char **ret_location, bool *ret_mounted, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	AUTO(strbuf) struct strbuf url = STRBUF_INIT(HTTP_URL_MAX);
	char digest[DIGEST_TEXT_MAX];

	strbuf_addf(&url, "%s/blobs/uploads/", u->r->base);
	if (mount_from != NULL) {
		strbuf_addf(&url, "?mount=%s&from=", digest_text(&u->desc->digest, digest));
		url_encode(&url, mount_from);
	}
	const struct call post = {.method = "POST",
	                          .url = strbuf_str(&url),
	                          .scopes = call_scopes(u->r, "pull,push", mount_from, a),
	                          .step = REGISTRY_OPEN_UPLOAD};

	*ret_mounted = false;
	if (call_send(u->r, &post, &resp, err) != 0)
		return mount_from != NULL && has_bytes(u) && err->code != ERR_INTERRUPTED
		               ? open_session(u, NULL, a, ret_location, ret_mounted, err)
		               : -1;
	if (mount_from != NULL && resp.status == 201) {
		*ret_mounted = true;
		return 0;
	}
	/* Without bytes to send a session is of no use. */
	if (resp.status != 202 && !has_bytes(u))
		return err_set(err, ERR_NOT_FOUND, "the registry has no such blob to mount");
	if (resp.status != 202)
		return mount_from != NULL ? open_session(u, NULL, a, ret_location, ret_mounted, err)
		                          : call_refused(u->r, &post, &resp, err);
	const char *location = http_header_get(&resp.headers, "Location");

	if (location == NULL)
		return err_set(err, ERR_SERVER,
		               "the registry opened an upload without a Location header");
	return call_resolve(u->r, strbuf_str(&url), location, a, ret_location, err);
}

/* A session that nobody will use. Best effort: the registry drops it by itself one day. */
static void cancel_session(struct upload *u, const char *location, struct arena *a)
{
	AUTO(http_response) struct http_response resp = {0};
	struct err ignored = {0};
	const struct call call = {.method = "DELETE",
	                          .url = location,
	                          .scopes = call_scopes(u->r, "pull,push", NULL, a),
	                          .once = true,
	                          .stay = true};

	(void)!call_send(u->r, &call, &resp, &ignored);
}

/* What follows from a failed PUT. */
struct verdict {
	bool again;           /* a new session may do better */
	bool confused;        /* the registry lost track of the session: worth one more, not five */
	char retry_after[64]; /* empty if the registry named no time */
};

/* The whole blob in one PUT of known length: the one way that every registry takes. */
static int put_blob(struct upload *u, const char *location, struct arena *a, struct verdict *v,
                    struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char digest[DIGEST_TEXT_MAX];
	const struct call put = {.method = "PUT",
	                         .url = arena_printf(a, "%s%cdigest=%s", location,
	                                             strchr(location, '?') != NULL ? '&' : '?',
	                                             digest_text(&u->desc->digest, digest)),
	                         .scopes = call_scopes(u->r, "pull,push", NULL, a),
	                         .headers = {{"Content-Type", "application/octet-stream"}},
	                         .n_headers = 1,
	                         .body = body_of(u),
	                         .step = REGISTRY_PUT_BLOB,
	                         .large = true,
	                         .once = true,
	                         .no_replay = true,
	                         .on_sent = on_sent,
	                         .ctx = &u->sending};

	if (call_send(u->r, &put, &resp, err) != 0) {
		const char *after = err->http_status != 0
		                            ? http_header_get(&resp.headers, "Retry-After")
		                            : NULL;

		v->again = err->code == ERR_NETWORK && !u->unreadable;
		snprintf(v->retry_after, sizeof(v->retry_after), "%s", after != NULL ? after : "");
		return -1;
	}
	if (resp.status == 201 || resp.status == 204 || resp.status == 200)
		return 0;
	v->confused = resp.status == 416 || registry_error_has(&resp, "BLOB_UPLOAD_INVALID");
	v->again = v->confused || resp.status == 404;
	return call_refused(u->r, &put, &resp, err);
}

/* Before each new session a HEAD asks whether the answer that was lost was a yes. */
static int upload_once(struct upload *u, unsigned attempt, enum blob_outcome *ret_outcome,
                       struct verdict *v, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *location = "";
	bool mounted = false, exists = false;

	if (attempt > 1 && registry_has_blob(u->r, u->desc, &exists, err) != 0)
		return -1;
	if (!exists &&
	    open_session(u, attempt == 1 ? u->mount_from : NULL, &a, &location, &mounted, err) != 0)
		return -1;
	*ret_outcome = mounted ? BLOB_MOUNTED : BLOB_UPLOADED;
	if (exists || mounted)
		return 0;
	if (has_bytes(u))
		return put_blob(u, location, &a, v, err);
	cancel_session(u, location, &a);
	return err_set(err, ERR_NOT_FOUND, "the registry has no such blob to mount");
}

/*
 * Sessions until the blob is there. A retry never goes on in an old one: registries answer 416 to a
 * first byte that they have seen already.
 */
static int upload(struct upload *u, enum blob_outcome *ret_outcome, struct err *err)
{
	bool confused = false;

	if (!has_bytes(u) && u->mount_from == NULL)
		return err_set(err, ERR_NOT_FOUND,
		               "the blob is neither in the local image nor in the registry");
	for (unsigned attempt = 1;; attempt++) {
		struct verdict v = {0};
		struct err why = {0};

		if (upload_once(u, attempt, ret_outcome, &v, &why) == 0)
			return 0;
		if (!v.again || (v.confused && confused)) {
			*err = why;
			return -1;
		}
		confused = v.confused;
		if (call_wait(u->r, attempt, v.retry_after[0] != '\0' ? v.retry_after : NULL, &why,
		              err) != 0)
			return -1;
	}
}

/* Who has no bytes asks whether the registry has them: a no is an answer, and the caller fetches
 * them then. */
static const char *result_text(const struct upload *u, int status, enum blob_outcome outcome,
                               const struct err *err)
{
	static const char *const results[] = {"exists", "mounted", "uploaded"};

	if (status == 0)
		return results[outcome];
	return err->code == ERR_NOT_FOUND && !has_bytes(u) ? "not there" : "failed";
}

static int ensure_blob(struct upload *u, enum blob_outcome *ret_outcome, struct err *err)
{
	struct progress *progress = u->r->opts.progress;
	char hex[DIGEST_HEX_MAX], label[64];
	bool exists = false;
	int status;

	*ret_outcome = BLOB_EXISTED;
	snprintf(label, sizeof(label), "blob %.12s", digest_hex(&u->desc->digest, hex));
	u->sending = (struct sending){progress, progress_start(progress, label, u->desc->size)};
	status = head_blob(u->r, u->desc, "pull,push", &exists, err);
	if (status == 0 && !exists)
		status = upload(u, ret_outcome, err);
	progress_finish(progress, u->sending.task, result_text(u, status, *ret_outcome, err));
	if (status != 0)
		return err_wrap(err, "blob sha256:%.12s", hex);
	return 0;
}

int registry_put_blob(struct registry *r, const struct descriptor *desc, int fd,
                      const char *mount_from, enum blob_outcome *ret_outcome, struct err *err)
{
	struct upload u = {.r = r, .desc = desc, .fd = fd, .mount_from = mount_from};

	return ensure_blob(&u, ret_outcome, err);
}

int registry_copy_blob(struct registry *r, const struct descriptor *desc, struct store *from,
                       const char *mount_from, enum blob_outcome *ret_outcome, struct err *err)
{
	struct upload u = {.r = r, .desc = desc, .fd = -1, .from = from, .mount_from = mount_from};

	return ensure_blob(&u, ret_outcome, err);
}
