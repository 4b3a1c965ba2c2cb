#include "base/net/http_trace.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

struct trace {
	struct http_transport base;
	struct http_transport *below;
	struct progress *progress;
};

static void tell(struct trace *t, const struct http_request *req, int failed,
                 const struct http_response *resp, int64_t started_ns)
{
	int url = (int)strcspn(req->url, "?#");
	long long ms = (clock_monotonic_ns() - started_ns) / 1000000;

	if (failed != 0)
		progress_detail(t->progress, "%s %.*s: no reply after %lld ms", req->method, url,
		                req->url, ms);
	else
		progress_detail(t->progress, "%s %.*s: %d after %lld ms", req->method, url,
		                req->url, resp->status, ms);
}

static int trace_perform(struct http_transport *base, const struct http_request *req,
                         struct http_response *resp, struct err *err)
{
	struct trace *t = (struct trace *)base;
	int64_t started_ns = clock_monotonic_ns();
	int failed = t->below->perform(t->below, req, resp, err);

	tell(t, req, failed, resp, started_ns);
	return failed;
}

static int trace_open(struct http_transport *base, const struct http_request *req,
                      struct http_response *resp, struct source **ret_body, struct err *err)
{
	struct trace *t = (struct trace *)base;
	int64_t started_ns = clock_monotonic_ns();
	int failed = t->below->open(t->below, req, resp, ret_body, err);

	tell(t, req, failed, resp, started_ns);
	return failed;
}

static void trace_close(struct http_transport *base)
{
	struct trace *t = (struct trace *)base;

	http_close(t->below);
	free(t);
}

struct http_transport *http_trace(struct http_transport *below, struct progress *progress)
{
	struct trace *t;

	if (progress == NULL || progress->detail == NULL)
		return below;
	t = mem_zalloc(sizeof(*t));
	t->base = (struct http_transport){trace_perform, trace_open, trace_close};
	t->below = below;
	t->progress = progress;
	return &t->base;
}
