/*
 * The transport over libcurl. Sections: callbacks, options, whole exchanges, pulled bodies.
 */
#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/net/curl_memory.h"
#include "base/net/http.h"
#include "base/net/http_body.h"
#include "base/net/http_ca.h"
#include "base/net/http_curl_failure.h"
#include "base/net/http_curl_pool.h"
#include "base/net/http_curl_socket.h"
#include "base/net/reach.h"

enum {
	CONNECT_MS = 30000,
	STALL_MS = 60000,
	REPLY_MS = 300000,
	STALL_BYTES = 1024, /* a second: slower than this for STALL_MS is a dead peer */
	UPLOAD_BUFFER = 1 << 20,
	POLL_MS = 200,
	/* holds what libcurl reads at once, which it hands out in small pieces: 256 KiB */
	PULL_BUFFER = 512 << 10
};

struct http_curl {
	struct http_transport transport;
	char *ca_file;
	struct curl_slist *connect_to;
	long connect_ms, stall_s, reply_s;
	struct curl_pool pool;
};

/* One request on its way. */
struct exchange {
	/* the caller's: not to be used once http_open has returned */
	const struct http_request *request;
	struct http_response *response;
	CURL *curl;
	struct curl_slist *headers;
	struct http_body_reader body;
	bool headers_over;     /* the final reply's headers are complete */
	struct strbuf *pulled; /* set: body bytes go here, for a reader */
	long reply_s;          /* how long the reply may take once all is sent */
	struct err err;        /* what a callback found; code ERR_NONE = nothing */
	/* "https://host:port", for messages: the rest may hold what nobody should see */
	char origin[256];
	char curl_error[CURL_ERROR_SIZE];
};

/* ---- callbacks ---- */

/* A proxy's CONNECT reply and 1xx replies come before the one that counts. */
static bool is_final(CURL *curl)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200;
}

static int add_header(struct exchange *x, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t from, end = len;

	if (colon == NULL || colon == line)
		return 0;
	from = (size_t)(colon - line) + 1;
	while (from < end && (line[from] == ' ' || line[from] == '\t'))
		from++;
	while (end > from && strchr(" \t\r\n", line[end - 1]) != NULL)
		end--;
	return http_header_add(&x->response->headers, line, (size_t)(colon - line), line + from,
	                       end - from, &x->err);
}

static size_t on_header(char *line, size_t size, size_t n, void *data)
{
	struct exchange *x = data;
	size_t len = size * n;

	/* Trailers come after the body, when the caller's response may be gone. */
	if (x->headers_over && x->pulled != NULL)
		return len;
	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		http_response_done(x->response);
		x->response->body.max = x->request->response_max != 0 ? x->request->response_max
		                                                      : HTTP_BODY_BYTES_DEFAULT;
		return len;
	}
	if (len <= 2) {
		x->headers_over = is_final(x->curl);
		return len;
	}
	return add_header(x, line, len) == 0 ? len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *data)
{
	struct exchange *x = data;
	struct strbuf *body = &x->response->body;
	size_t len = size * n;
	long status = 0;

	x->headers_over = true;
	if (x->pulled != NULL) {
		if (len > x->pulled->max - x->pulled->len)
			return CURL_WRITEFUNC_PAUSE;
		strbuf_add(x->pulled, bytes, len);
		return len;
	}
	curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
	if (x->request->sink != NULL && status >= 200 && status < 300)
		return sink_write(x->request->sink, bytes, len, &x->err) == 0 ? len : 0;
	/* An error page may be cut; a document may not. */
	if (len > body->max - body->len && status >= 400)
		strbuf_add(body, bytes, body->max - body->len);
	else
		strbuf_add(body, bytes, len);
	if (!body->overflow)
		return len;
	err_set(&x->err, ERR_LIMIT, "the reply is larger than %zu bytes", body->max);
	return 0;
}

static size_t on_send(char *buf, size_t size, size_t n, void *data)
{
	struct exchange *x = data;
	size_t len;

	if (http_body_read(&x->body, buf, size * n, &len, &x->err) != 0)
		return CURL_READFUNC_ABORT;
	/* A registry that has the whole blob may take its time to store it. */
	if (x->body.sent == x->body.body->size)
		curl_easy_setopt(x->curl, CURLOPT_LOW_SPEED_TIME, x->reply_s);
	if (len > 0 && x->request->on_sent != NULL)
		x->request->on_sent(x->request->on_sent_ctx, (int64_t)len);
	return len;
}

/*
 * libcurl rewinds when a reused connection turns out dead before an answer came. A body that is not
 * in memory is not sent twice behind the caller's back: some of it may have arrived, and an upload
 * session that took bytes before is no place to start over (a registry answers 416).
 */
static int on_seek(void *data, curl_off_t offset, int origin)
{
	struct exchange *x = data;

	if (origin != SEEK_SET || offset != 0 ||
	    (x->request->body.kind != HTTP_BODY_MEMORY && x->body.sent > 0))
		return CURL_SEEKFUNC_FAIL;
	if (x->request->on_sent != NULL)
		x->request->on_sent(x->request->on_sent_ctx, -x->body.sent);
	http_body_rewind(&x->body);
	return CURL_SEEKFUNC_OK;
}

static int on_tick(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)data;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return interrupt_requested();
}

/* A name that another server gave may lead to the metadata service of the cloud. */
static int on_connected(void *data, char *ip, char *own_ip, int port, int own_port)
{
	struct exchange *x = data;

	(void)own_ip;
	(void)port;
	(void)own_port;
	if (!x->request->foreign || reach_of_host(ip) != REACH_LINK_LOCAL)
		return CURL_PREREQFUNC_OK;
	err_set(&x->err, ERR_DENIED, "%s is at a link-local address: %s", x->origin, ip);
	return CURL_PREREQFUNC_ABORT;
}

/* ---- options ---- */

static void set_method(struct exchange *x)
{
	const char *method = x->request->method;

	if (strcmp(method, "HEAD") == 0) {
		curl_easy_setopt(x->curl, CURLOPT_NOBODY, 1L);
	} else if (strcmp(method, "GET") == 0) {
		curl_easy_setopt(x->curl, CURLOPT_HTTPGET, 1L);
	} else if (strcmp(method, "DELETE") == 0) {
		curl_easy_setopt(x->curl, CURLOPT_CUSTOMREQUEST, method);
	} else {
		/* UPLOAD with a known size gives Content-Length; the method's name is ours. */
		curl_easy_setopt(x->curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(x->curl, CURLOPT_CUSTOMREQUEST, method);
		curl_easy_setopt(x->curl, CURLOPT_INFILESIZE_LARGE,
		                 (curl_off_t)x->request->body.size);
		curl_easy_setopt(x->curl, CURLOPT_READFUNCTION, on_send);
		curl_easy_setopt(x->curl, CURLOPT_READDATA, x);
		curl_easy_setopt(x->curl, CURLOPT_SEEKFUNCTION, on_seek);
		curl_easy_setopt(x->curl, CURLOPT_SEEKDATA, x);
		curl_easy_setopt(x->curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
	}
}

/* The lines may hold credentials. */
static void free_headers(struct curl_slist *list)
{
	for (struct curl_slist *line = list; line != NULL; line = line->next)
		explicit_bzero(line->data, strlen(line->data));
	curl_slist_free_all(list);
}

static struct curl_slist *header_list(const struct http_request *r)
{
	/* Expect: 100-continue would cost a second with servers that do not answer it. */
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	for (size_t i = 0; i < r->n_headers; i++) {
		AUTO(strbuf) struct strbuf line = STRBUF_INIT(HTTP_HEADER_BYTES_MAX);

		strbuf_addf(&line, "%s: %s", r->headers[i].name, r->headers[i].value);
		list = curl_slist_append(list, strbuf_str(&line));
		explicit_bzero(line.ptr, line.len);
	}
	return list;
}

static void set_options(const struct http_curl *h, struct exchange *x)
{
	CURL *curl = x->curl;
	long version = x->request->large ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS;

	size_t host = strstr(x->request->url, "://") != NULL
	                      ? (size_t)(strstr(x->request->url, "://") - x->request->url) + 3
	                      : 0;

	snprintf(x->origin, sizeof(x->origin), "%.*s",
	         (int)(host + strcspn(x->request->url + host, "/?#")), x->request->url);
	x->reply_s = h->reply_s;
	curl_easy_setopt(curl, CURLOPT_URL, x->request->url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, x->curl_error);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "slipway/" SLIPWAY_VERSION);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (h->ca_file != NULL)
		curl_easy_setopt(curl, CURLOPT_CAINFO, h->ca_file);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, version);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, h->connect_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, h->stall_s);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_tick);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, x);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, curl_open_socket);
	curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_connected);
	curl_easy_setopt(curl, CURLOPT_PREREQDATA, x);
	if (x->request->direct)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)x->request->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECT_TO, h->connect_to);
	set_method(x);
	x->headers = header_list(x->request);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, x->headers);
}

static int failure(const struct exchange *x, CURLcode code, struct err *err)
{
	if (x->err.code == ERR_NONE)
		return curl_failure(code, x->origin, x->curl_error, err);
	*err = x->err;
	return -1;
}

/* libcurl is content with headers that break off. */
static int check_whole(const struct exchange *x, CURLcode code, struct err *err)
{
	if (code != CURLE_OK)
		return failure(x, code, err);
	if (!x->headers_over)
		return err_set(err, ERR_NETWORK,
		               "%s: the connection was closed before the reply was complete",
		               x->origin);
	return 0;
}

/* ---- whole exchanges ---- */

static int check_ca(const char *file, struct err *err)
{
	if (file == NULL || access(file, R_OK) == 0)
		return 0;
	if (errno != ENOENT)
		return err_set(err, ERR_IO, "certificate file '%s'", file);
	err_set(err, ERR_NOT_FOUND, "certificate file '%s' does not exist", file);
	return err_hint(err, "check --ca, SLIPWAY_CA_BUNDLE, AWS_CA_BUNDLE, SSL_CERT_FILE and the "
	                     "AWS profile's ca_bundle");
}

/* Plain http needs no certificates: a file of them that is missing does not matter there. */
static int check_trust(const struct http_curl *h, const struct http_request *req, struct err *err)
{
	return strncasecmp(req->url, "https:", 6) == 0 ? check_ca(h->ca_file, err) : 0;
}

static int perform(struct http_transport *t, const struct http_request *req,
                   struct http_response *resp, struct err *err)
{
	struct http_curl *h = (struct http_curl *)t;
	struct exchange x = {.request = req, .response = resp, .body = {.body = &req->body}};
	long status = 0;

	if (check_trust(h, req, err) != 0)
		return -1;
	struct curl_handle handle = curl_pool_take(&h->pool, false, req->large);

	x.curl = handle.easy;
	set_options(h, &x);
	CURLcode code = curl_easy_perform(x.curl);

	curl_easy_getinfo(x.curl, CURLINFO_RESPONSE_CODE, &status);
	resp->status = (int)status;
	int result = check_whole(&x, code, err);

	http_body_rewind(&x.body);
	free_headers(x.headers);
	curl_pool_return(&h->pool, handle, req->large);
	return result;
}

/* ---- pulled bodies ---- */

struct pulled_body {
	struct source source;
	struct http_curl *owner;
	bool large;
	struct exchange x;
	struct curl_handle handle;
	struct strbuf buffer; /* bytes that libcurl gave and the reader has not taken */
	size_t taken;
	bool over; /* the transfer ended */
	CURLcode code;
};

static void pulled_body_close(struct source *s)
{
	struct pulled_body *p = (struct pulled_body *)s;

	curl_multi_remove_handle(p->handle.multi, p->x.curl);
	http_body_rewind(&p->x.body);
	free_headers(p->x.headers);
	curl_pool_return(&p->owner->pool, p->handle, p->large);
	strbuf_done(&p->buffer);
	free(p);
}

/* Lets libcurl work once, and waits a little when there is nothing to do. */
static int turn(struct pulled_body *p, struct err *err)
{
	int running = 0, left = 0;
	CURLMsg *message;

	if (interrupt_check(err) != 0)
		return -1;
	CURLMcode code = curl_multi_perform(p->handle.multi, &running);

	if (code != CURLM_OK)
		return err_set(err, ERR_NETWORK, "%s", curl_multi_strerror(code));
	while ((message = curl_multi_info_read(p->handle.multi, &left)) != NULL)
		if (message->msg == CURLMSG_DONE) {
			p->over = true;
			p->code = message->data.result;
		}
	if (!p->over && p->buffer.len == 0 && !p->x.headers_over)
		curl_multi_poll(p->handle.multi, NULL, 0, POLL_MS, NULL);
	return 0;
}

static int pulled_body_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct pulled_body *p = (struct pulled_body *)s;

	while (p->taken == p->buffer.len) {
		p->taken = 0;
		strbuf_reset(&p->buffer);
		if (p->over) {
			*ret_n = 0;
			return p->code == CURLE_OK ? 0 : failure(&p->x, p->code, err);
		}
		curl_easy_pause(p->x.curl, CURLPAUSE_CONT);
		if (p->buffer.len == 0 && turn(p, err) != 0)
			return -1;
		if (p->buffer.len == 0 && !p->over)
			curl_multi_poll(p->handle.multi, NULL, 0, POLL_MS, NULL);
	}
	size_t n = p->buffer.len - p->taken;

	n = n < cap ? n : cap;
	memcpy(buf, p->buffer.ptr + p->taken, n);
	p->taken += n;
	*ret_n = n;
	return 0;
}

/* The request and response of the caller end before the source does: it keeps its own. */
static int open_body(struct http_transport *t, const struct http_request *req,
                     struct http_response *resp, struct source **ret_body, struct err *err)
{
	struct http_curl *h = (struct http_curl *)t;
	struct pulled_body *p;
	long status = 0;

	if (check_trust(h, req, err) != 0)
		return -1;
	p = mem_zalloc(sizeof(*p));
	p->source = (struct source){pulled_body_read, pulled_body_close};
	p->owner = h;
	p->large = req->large;
	p->buffer.max = PULL_BUFFER;
	p->handle = curl_pool_take(&h->pool, true, req->large);
	p->x = (struct exchange){.request = req,
	                         .response = resp,
	                         .curl = p->handle.easy,
	                         .body = {.body = &req->body},
	                         .pulled = &p->buffer};
	set_options(h, &p->x);
	curl_multi_add_handle(p->handle.multi, p->x.curl);
	while (!p->over && !p->x.headers_over)
		if (turn(p, err) != 0) {
			pulled_body_close(&p->source);
			return -1;
		}
	curl_easy_getinfo(p->x.curl, CURLINFO_RESPONSE_CODE, &status);
	resp->status = (int)status;
	/* What came before a cut is the reader's: it goes on from there. */
	if (p->over && !p->x.headers_over && check_whole(&p->x, p->code, err) != 0) {
		pulled_body_close(&p->source);
		return -1;
	}
	*ret_body = &p->source;
	return 0;
}

static void close_transport(struct http_transport *t)
{
	struct http_curl *h = (struct http_curl *)t;

	curl_pool_done(&h->pool);
	curl_slist_free_all(h->connect_to);
	free(h->ca_file);
	free(h);
}

/* libcurl counts whole ones, and 0 would mean no limit. */
static long whole_seconds(int ms)
{
	return (ms + 999L) / 1000;
}

int http_curl_open(const struct http_curl_opts *opts, struct http_transport **ret_transport,
                   struct err *err)
{
	static const struct http_curl_opts defaults;
	struct http_curl *h;

	if (opts == NULL)
		opts = &defaults;
	const char *ca_file = http_ca_file(opts->ca_file);

	if (curl_memory_init(err) != 0)
		return -1;
	if (opts->ca_file != NULL && !opts->ca_file_later && check_ca(ca_file, err) != 0)
		return -1;
	h = mem_zalloc(sizeof(*h));
	h->transport = (struct http_transport){perform, open_body, close_transport};
	h->ca_file = ca_file != NULL ? mem_strdup(ca_file) : NULL;
	for (size_t i = 0; i < opts->connect_to.n; i++)
		h->connect_to = curl_slist_append(h->connect_to, opts->connect_to.at[i]);
	h->connect_ms = opts->connect_ms > 0 ? opts->connect_ms : CONNECT_MS;
	h->stall_s = whole_seconds(opts->stall_ms > 0 ? opts->stall_ms : STALL_MS);
	h->reply_s = whole_seconds(opts->reply_ms > 0 ? opts->reply_ms : REPLY_MS);
	curl_pool_init(&h->pool);
	*ret_transport = &h->transport;
	return 0;
}
