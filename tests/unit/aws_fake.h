/*
 * What the AWS tests share: finding the vectors, and an outside whose variables, files and replies
 * are given.
 */
#ifndef SLIPWAY_TESTS_AWS_FAKE_H
#define SLIPWAY_TESTS_AWS_FAKE_H

#include "base/doc/json.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "builder/aws/outside.h"
#include "tests/harness.h"

/*
 * Vectors are ours (tests/golden/sigv4, made from botocore) and, where $SLIPWAY_SHARED (default
 * ../shared) has them, AWS's own suites in the same form.
 */
enum vectors { OWN_VECTORS, AWS_VECTORS, VECTOR_SETS };

/* The folder of a set; NULL when AWS's is not here. */
static inline const char *vectors_dir(enum vectors set, const char *name, char out[PATH_MAX])
{
	const char *shared = getenv("SLIPWAY_SHARED");

	if (set == OWN_VECTORS) {
		snprintf(out, PATH_MAX, "tests/golden/sigv4/%s", name);
		return out;
	}
	snprintf(out, PATH_MAX, "%.3000s/data/sigv4/%s", shared != NULL ? shared : "../shared",
	         name);
	return fs_exists(out) ? out : NULL;
}

/* The whole of a file, "" when there is none; the caller frees. */
static inline char *read_text(const char *dir, const char *name)
{
	struct strbuf sb = STRBUF_INIT(0);
	char path[PATH_MAX];
	struct err err = {0};

	snprintf(path, sizeof(path), "%.3000s%s%.500s", dir, name[0] != '\0' ? "/" : "", name);
	if (slurp_file(path, 8 << 20, &sb, &err) != 0)
		strbuf_reset(&sb);
	return strbuf_take(&sb);
}

static inline cJSON *read_json(const char *dir, const char *name)
{
	AUTO_FREE char *text = read_text(dir, name);

	return text[0] != '\0' ? cJSON_Parse(text) : NULL;
}

/* One reply of a recorded conversation. */
struct aws_reply {
	const char *method, *url; /* NULL = any */
	const char *body_has;     /* what the request's body must contain; NULL = nothing */
	int status;               /* 0 = no connection */
	const char *body;
	const char *date; /* Date header, NULL = none */
};

struct aws_fake {
	struct aws_outside outside;
	struct http_transport transport;
	struct clock clock;
	const cJSON *env;   /* object of variables */
	const char *root;   /* folder that stands for "/", NULL = no files */
	const cJSON *files; /* object path -> text, besides root */
	const struct aws_reply *replies;
	size_t n, next;
	int64_t now_ms, slept_ms;
	char first_url[512], last_url[512], last_auth[1024], last_body[4096];
	unsigned n_writes;
};

static inline const char *aws_fake_env(const struct aws_outside *o, const char *name)
{
	return json_string(((struct aws_fake *)o->ctx)->env, name);
}

/* Files are named as the user would: "~/.aws/config". */
static inline const char *aws_fake_home(const struct aws_outside *o, struct arena *a)
{
	(void)o;
	(void)a;
	return "~";
}

static inline int aws_fake_read(const struct aws_outside *o, const char *path, size_t max,
                                struct strbuf *sb, struct err *err)
{
	const struct aws_fake *f = o->ctx;
	const char *text = json_string(f->files, path);
	char real[PATH_MAX];

	if (text != NULL) {
		strbuf_reset(sb);
		strbuf_adds(sb, text);
		return 0;
	}
	if (f->root == NULL)
		return err_set(err, ERR_NOT_FOUND, "'%s' does not exist", path);
	snprintf(real, sizeof(real), "%.2000s/%.2000s", f->root, path);
	return slurp_file(real, max, sb, err);
}

static inline int aws_fake_write(const struct aws_outside *o, const char *path, const void *bytes,
                                 size_t len, struct err *err)
{
	(void)path;
	(void)bytes;
	(void)len;
	(void)err;
	((struct aws_fake *)o->ctx)->n_writes++;
	return 0;
}

static inline int aws_fake_run(const struct aws_outside *o, const char *const argv[],
                               int timeout_ms, struct proc_result *r, struct err *err)
{
	(void)o;
	return proc_run(argv, NULL, timeout_ms, r, err);
}

/* A bare host and its root are the same, and so are the two orders that SDKs write a query in. */
static inline bool aws_fake_same_url(const char *got, const char *want)
{
	size_t len = strlen(got), path = strcspn(got, "?");

	if (strncmp(got, want, path) == 0 && got[path] == '?')
		return len == strlen(want);
	return strcmp(got, want) == 0 ||
	       (len == strlen(want) + 1 && got[len - 1] == '/' && strncmp(got, want, len - 1) == 0);
}

static inline int aws_fake_perform(struct http_transport *t, const struct http_request *req,
                                   struct http_response *resp, struct err *err)
{
	struct aws_fake *f = (struct aws_fake *)((char *)t - offsetof(struct aws_fake, transport));
	struct err ignored = {0};

	snprintf(f->last_url, sizeof(f->last_url), "%s", req->url);
	if (f->first_url[0] == '\0')
		snprintf(f->first_url, sizeof(f->first_url), "%s", req->url);
	f->last_auth[0] = '\0';
	for (size_t i = 0; i < req->n_headers; i++)
		if (strcmp(req->headers[i].name, "Authorization") == 0)
			snprintf(f->last_auth, sizeof(f->last_auth), "%s", req->headers[i].value);
	snprintf(f->last_body, sizeof(f->last_body), "%.*s", (int)req->body.size,
	         req->body.bytes != NULL ? (const char *)req->body.bytes : "");
	if (f->next == f->n)
		return err_set(err, ERR_NETWORK, "no such host");
	const struct aws_reply *r = &f->replies[f->next++];

	if (r->method != NULL)
		CHECK_STR(req->method, r->method);
	if (r->url != NULL && !aws_fake_same_url(req->url, r->url))
		CHECK_STR(req->url, r->url);
	if (r->body_has != NULL && strstr(f->last_body, r->body_has) == NULL)
		CHECK_STR(f->last_body, r->body_has);
	if (r->status == 0)
		return err_set(err, ERR_NETWORK, "the connection broke");
	resp->status = r->status;
	resp->body.max = 1 << 20;
	strbuf_adds(&resp->body, r->body != NULL ? r->body : "");
	if (r->date != NULL)
		CHECK_OK(http_header_add(&resp->headers, "Date", 4, r->date, strlen(r->date),
		                         &ignored),
		         &ignored);
	return 0;
}

static inline int64_t aws_fake_now(struct clock *c)
{
	return ((struct aws_fake *)((char *)c - offsetof(struct aws_fake, clock)))->now_ms;
}

static inline void aws_fake_sleep(struct clock *c, int64_t ms)
{
	struct aws_fake *f = (struct aws_fake *)((char *)c - offsetof(struct aws_fake, clock));

	f->now_ms += ms;
	f->slept_ms += ms;
}

static inline void aws_fake_init(struct aws_fake *f)
{
	f->transport = (struct http_transport){.perform = aws_fake_perform};
	f->clock = (struct clock){aws_fake_now, aws_fake_sleep};
	f->outside = (struct aws_outside){.env = aws_fake_env,
	                                  .home = aws_fake_home,
	                                  .read_file = aws_fake_read,
	                                  .write_file = aws_fake_write,
	                                  .run = aws_fake_run,
	                                  .http = &f->transport,
	                                  .clock = &f->clock,
	                                  .ctx = f};
}

#endif
