/*
 * Blobs, in and out.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/url.h"
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
	                          .scopes = call_scopes(r, actions, NULL, &a)};

	if (call_send(r, &head, &resp, err) != 0)
		return -1;
	if (resp.status != 200 && resp.status != 404)
		return registry_error(&resp, err);
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

/* What has been counted as sent for one blob, so that a new session can take it back. */
struct sending {
	struct progress *progress;
	unsigned task;
	int64_t sent;
};

static void on_sent(void *ctx, int64_t bytes)
{
	struct sending *s = ctx;

	s->sent += bytes;
	progress_advance(s->progress, s->task, bytes);
}

struct upload {
	struct registry *r;
	const struct descriptor *desc;
	int fd;
	const char *mount_from;
	struct sending sending;
};

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
	                          .scopes = call_scopes(u->r, "pull,push", mount_from, a)};

	*ret_mounted = false;
	if (call_send(u->r, &post, &resp, err) != 0)
		return mount_from != NULL && err->code != ERR_INTERRUPTED
		               ? open_session(u, NULL, a, ret_location, ret_mounted, err)
		               : -1;
	if (mount_from != NULL && resp.status == 201) {
		*ret_mounted = true;
		return 0;
	}
	if (resp.status != 202)
		return mount_from != NULL ? open_session(u, NULL, a, ret_location, ret_mounted, err)
		                          : registry_error(&resp, err);
	const char *location = http_header_get(&resp.headers, "Location");

	if (location == NULL)
		return err_set(err, ERR_SERVER,
		               "the registry opened an upload but named no Location");
	return url_resolve(strbuf_str(&url), location, a, ret_location, err);
}

/* The whole blob in one PUT of known length: the one way that every registry takes. */
static int put_blob(struct upload *u, const char *location, struct arena *a, bool *ret_again,
                    struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char digest[DIGEST_TEXT_MAX];
	const struct call put = {
		.method = "PUT",
		.url = arena_printf(a, "%s%cdigest=%s", location,
	                            strchr(location, '?') != NULL ? '&' : '?',
	                            digest_text(&u->desc->digest, digest)),
		.scopes = call_scopes(u->r, "pull,push", NULL, a),
		.headers = {{"Content-Type", "application/octet-stream"}},
		.n_headers = 1,
		.body = {.kind = HTTP_BODY_FILE, .fd = u->fd, .size = u->desc->size},
		.large = true,
		.once = true,
		.on_sent = on_sent,
		.ctx = &u->sending};

	if (call_send(u->r, &put, &resp, err) != 0) {
		*ret_again = err->code == ERR_NETWORK;
		return -1;
	}
	if (resp.status == 201 || resp.status == 204 || resp.status == 200)
		return 0;
	/* The session is gone (or confused): a new one starts from the first byte. */
	*ret_again = registry_error_has(&resp, "BLOB_UPLOAD_UNKNOWN") ||
	             registry_error_has(&resp, "BLOB_UPLOAD_INVALID") || resp.status == 416;
	return registry_error(&resp, err);
}

/* One session: mounted, sent, or *ret_again when a new session may do better. */
static int try_upload(struct upload *u, const char *mount_from, enum blob_outcome *ret_outcome,
                      bool *ret_again, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *location = "";
	bool mounted = false;

	if (open_session(u, mount_from, &a, &location, &mounted, err) != 0)
		return -1;
	*ret_outcome = mounted ? BLOB_MOUNTED : BLOB_UPLOADED;
	if (mounted)
		return 0;
	if (u->fd < 0)
		return err_set(err, ERR_NOT_FOUND, "the blob is neither here nor in the registry");
	return put_blob(u, location, &a, ret_again, err);
}

/* Sessions until the blob is there. Before each new one a HEAD asks whether the lost answer was a
 * yes. */
static int upload(struct upload *u, enum blob_outcome *ret_outcome, struct err *err)
{
	for (unsigned attempt = 1;; attempt++) {
		bool again = false, exists = false;

		if (attempt > 1 && registry_has_blob(u->r, u->desc, &exists, err) != 0)
			return -1;
		if (exists) {
			*ret_outcome = BLOB_UPLOADED;
			return 0;
		}
		if (try_upload(u, attempt == 1 ? u->mount_from : NULL, ret_outcome, &again, err) ==
		    0)
			return 0;
		if (!again)
			return -1;
		struct err why = *err;

		progress_advance(u->sending.progress, u->sending.task, -u->sending.sent);
		u->sending.sent = 0;
		if (call_wait(u->r, attempt, NULL, &why, err) != 0)
			return -1;
	}
}

int registry_put_blob(struct registry *r, const struct descriptor *desc, int fd,
                      const char *mount_from, enum blob_outcome *ret_outcome, struct err *err)
{
	static const char *const results[] = {"exists", "mounted", "uploaded"};
	struct upload u = {.r = r,
	                   .desc = desc,
	                   .fd = fd,
	                   .mount_from = mount_from,
	                   .sending = {.progress = r->opts.progress}};
	char hex[DIGEST_HEX_MAX], label[64];
	bool exists = false;
	int status;

	snprintf(label, sizeof(label), "blob %.12s", digest_hex(&desc->digest, hex));
	u.sending.task = progress_start(r->opts.progress, label, desc->size);
	status = head_blob(r, desc, "pull,push", &exists, err);
	if (status == 0 && exists)
		*ret_outcome = BLOB_EXISTED;
	else if (status == 0)
		status = upload(&u, ret_outcome, err);
	progress_finish(r->opts.progress, u.sending.task,
	                status == 0 ? results[*ret_outcome] : "failed");
	if (status != 0)
		return err_wrap(err, "blob sha256:%.12s", hex);
	return 0;
}
