/*
 * The libcurl transport against a scripted server on the loopback address.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/fs.h"
#include "base/net/http.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"
#include "tests/harness.h"

/* ---- the server ---- */

struct reply {
	const char *text;  /* sent as it is */
	size_t zeros;      /* then so many bytes 'z' */
	int wait_ms;       /* before anything is sent */
	bool cut;          /* then the connection is closed */
};

struct server {
	int fd;
	unsigned port, n_accepted;
	const struct reply *replies;
	size_t n_replies, next;
	struct strbuf seen; /* every request, as it came */
	pthread_t thread;
	int quit[2];
};

static bool readable(const struct server *s, int fd)
{
	struct pollfd fds[] = {{fd, POLLIN, 0}, {s->quit[0], POLLIN, 0}};

	return poll(fds, 2, 10000) > 0 && fds[1].revents == 0;
}

/* One request with its body into s->seen; false at the end of the connection. */
static bool read_request(struct server *s, int fd)
{
	size_t start = s->seen.len, head = 0, want = 0;
	char buf[65536];

	while (head == 0 || s->seen.len - start < head + want) {
		if (!readable(s, fd))
			return false;
		ssize_t n = recv(fd, buf, sizeof(buf), 0);

		if (n <= 0)
			return false;
		strbuf_add(&s->seen, buf, (size_t)n);
		const char *end = strstr(s->seen.ptr + start, "\r\n\r\n");
		const char *length = strstr(s->seen.ptr + start, "Content-Length: ");

		if (end != NULL)
			head = (size_t)(end - s->seen.ptr) - start + 4;
		if (end != NULL && length != NULL && length < end)
			want = strtoul(length + 16, NULL, 10);
	}
	return true;
}

static void send_reply(int fd, const struct reply *r)
{
	char zeros[4096];

	memset(zeros, 'z', sizeof(zeros));
	usleep((useconds_t)r->wait_ms * 1000);
	if (send(fd, r->text, strlen(r->text), MSG_NOSIGNAL) < 0)
		return;
	for (size_t left = r->zeros; left > 0;) {
		ssize_t n = send(fd, zeros, left < sizeof(zeros) ? left : sizeof(zeros), MSG_NOSIGNAL);

		if (n <= 0)
			return;
		left -= (size_t)n;
	}
}

static void *serve(void *arg)
{
	struct server *s = arg;

	while (readable(s, s->fd)) {
		int fd = accept(s->fd, NULL, NULL);
		bool cut = false;

		if (fd < 0)
			break;
		s->n_accepted++;
		while (!cut && read_request(s, fd)) {
			const struct reply *r = &s->replies[s->next < s->n_replies ? s->next : s->n_replies - 1];

			s->next++;
			send_reply(fd, r);
			cut = r->cut;
		}
		close(fd);
	}
	return NULL;
}

static void server_start(struct server *s, const struct reply *replies, size_t n)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);

	*s = (struct server){.replies = replies, .n_replies = n};
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s->fd, (struct sockaddr *)&addr, len) != 0 || listen(s->fd, 16) != 0 ||
	    getsockname(s->fd, (struct sockaddr *)&addr, &len) != 0 || pipe(s->quit) != 0)
		abort();
	s->port = ntohs(addr.sin_port);
	pthread_create(&s->thread, NULL, serve, s);
}

static void server_done(struct server *s)
{
	close(s->quit[1]);
	pthread_join(s->thread, NULL);
	close(s->quit[0]);
	close(s->fd);
	strbuf_done(&s->seen);
}

/* ---- a test's scene ---- */

struct scene {
	struct server server;
	struct http_transport *transport;
	struct http_response resp;
	struct http_request req;
	struct err err;
	char url[256];
};

static void scene_start(struct scene *s, const struct http_curl_opts *opts, const struct reply *replies, size_t n)
{
	*s = (struct scene){0};
	server_start(&s->server, replies, n);
	CHECK_OK(http_curl_open(opts, &s->transport, &s->err), &s->err);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/v2/?signature=hush", s->server.port);
	s->req = (struct http_request){.method = "GET", .url = s->url};
}

static void scene_done(struct scene *s)
{
	http_response_done(&s->resp);
	http_close(s->transport);
	server_done(&s->server);
}

#define SCENE(opts, ...)                                   \
	AUTO(scene) struct scene s;                        \
	static const struct reply replies[] = {__VA_ARGS__}; \
	scene_start(&s, opts, replies, ARRAY_LEN(replies))

static int perform(struct scene *s)
{
	return http_perform(s->transport, &s->req, &s->resp, &s->err);
}

static void gets_a_body(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One:  a b \r\nx-one: c\r\n\r\nhello"});
	size_t pos = 0;

	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 200);
	CHECK_STR(strbuf_str(&s.resp.body), "hello");
	CHECK_INT(http_content_length(&s.resp.headers), 5);
	CHECK_STR(http_header_next(&s.resp.headers, "X-ONE", &pos), "a b");
	CHECK_STR(http_header_next(&s.resp.headers, "X-ONE", &pos), "c");
	CHECK(http_header_next(&s.resp.headers, "X-ONE", &pos) == NULL);
	CHECK(http_header_get(&s.resp.headers, "absent") == NULL);
	CHECK(strstr(s.server.seen.ptr, "GET /v2/?signature=hush HTTP/1.1\r\n") != NULL);
	CHECK(strstr(s.server.seen.ptr, "User-Agent: slipway/") != NULL);
	CHECK(strstr(s.server.seen.ptr, "Accept-Encoding") == NULL);
}

static void status_is_no_error(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\n"},
	      {.text = "HTTP/1.1 307 Go\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"});

	s.req.method = "HEAD";
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 404);
	CHECK_INT(s.resp.body.len, 0);
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 307);
	CHECK_STR(http_header_get(&s.resp.headers, "location"), "/elsewhere");
	CHECK_INT(s.server.next, 2);
	CHECK_INT(s.server.n_accepted, 1);
}

static void interim_replies(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	                     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nok"});

	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 200);
	CHECK(http_header_get(&s.resp.headers, "Link") == NULL);
	CHECK_STR(http_header_get(&s.resp.headers, "X"), "y");
}

static void count_sent(void *ctx, int64_t bytes)
{
	*(int64_t *)ctx += bytes;
}

static void puts_a_range_of_a_file(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"});
	AUTO_CLOSE int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	const struct http_header header = {"Content-Type", "application/octet-stream"};
	int64_t sent = 0;

	CHECK(write(fd, "0123456789", 10) == 10);
	s.req = (struct http_request){
		.method = "PUT", .url = s.url, .headers = &header, .n_headers = 1, .large = true,
		.body = {.kind = HTTP_BODY_FILE, .fd = fd, .offset = 3, .size = 4},
		.on_sent = count_sent, .on_sent_ctx = &sent};
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 201);
	CHECK_INT(sent, 4);
	CHECK(text_has_suffix(s.server.seen.ptr, "\r\n\r\n3456"));
	CHECK(strstr(s.server.seen.ptr, "Content-Length: 4\r\n") != NULL);
	CHECK(strstr(s.server.seen.ptr, "Content-Type: application/octet-stream\r\n") != NULL);
	CHECK(strstr(s.server.seen.ptr, "Expect") == NULL);
	CHECK(strstr(s.server.seen.ptr, "Transfer-Encoding") == NULL);
	s.req.body.size = 20;
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_DIGEST);
}

/* "0123456789" in pieces of 4, and then an error if there is one. */
struct pieces {
	struct source source;
	size_t at;
	enum err_code fails;
};

static int read_piece(struct source *source, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct pieces *p = (struct pieces *)source;

	if (p->at == 10 && p->fails != ERR_NONE)
		return err_set(err, p->fails, "it is not what it should be");
	*ret_n = p->at == 10 ? 0 : p->at == 8 ? 2 : 4;
	*ret_n = *ret_n < cap ? *ret_n : cap;
	memcpy(buf, "0123456789" + p->at, *ret_n);
	p->at += *ret_n;
	return 0;
}

static int open_pieces(void *ctx, struct source **ret_source, struct err *err UNUSED)
{
	struct pieces *p = ctx;

	p->source.read = read_piece;
	p->at = 0;
	*ret_source = &p->source;
	return 0;
}

static void puts_from_a_source(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"});
	struct pieces pieces = {.fails = ERR_NONE};

	s.req = (struct http_request){
		.method = "PUT", .url = s.url, .large = true,
		.body = {.kind = HTTP_BODY_SOURCE, .open = open_pieces, .ctx = &pieces, .size = 10}};
	CHECK_OK(perform(&s), &s.err);
	CHECK(text_has_suffix(s.server.seen.ptr, "\r\n\r\n0123456789"));
	CHECK(strstr(s.server.seen.ptr, "Content-Length: 10\r\n") != NULL);
}

/* The last bytes wait for the source's end. */
static void keeps_back_what_is_not_verified(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"});
	struct pieces pieces = {.fails = ERR_DIGEST};
	int64_t sent = 0;

	s.req = (struct http_request){
		.method = "PUT", .url = s.url, .large = true,
		.body = {.kind = HTTP_BODY_SOURCE, .open = open_pieces, .ctx = &pieces, .size = 10},
		.on_sent = count_sent, .on_sent_ctx = &sent};
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_DIGEST);
	CHECK_INT(sent, 8);
	/* Longer than announced, and shorter. */
	pieces.fails = ERR_NONE;
	s.req.body.size = 8;
	CHECK(perform(&s) != 0);
	CHECK(strstr(s.err.msg, "more to send") != NULL);
	s.req.body.size = 12;
	CHECK(perform(&s) != 0);
	CHECK(strstr(s.err.msg, "shorter") != NULL);
}

static void posts_nothing(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"});

	s.req.method = "POST";
	CHECK_OK(perform(&s), &s.err);
	CHECK(strstr(s.server.seen.ptr, "POST /v2/") != NULL);
	CHECK(strstr(s.server.seen.ptr, "Content-Length: 0\r\n") != NULL);
	CHECK(strstr(s.server.seen.ptr, "Content-Type") == NULL);
}

static void caps(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n", .zeros = 70000, .cut = true},
	      {.text = "HTTP/1.1 500 Oops\r\nContent-Length: 70000\r\n\r\n", .zeros = 70000},
	      {.text = "HTTP/1.1 200 OK\r\nX: ", .zeros = 90000, .cut = true},
	      {.text = "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n", .zeros = 70000});

	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_LIMIT);
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.body.len, HTTP_BODY_BYTES_DEFAULT);
	CHECK(perform(&s) != 0);
	s.req.response_max = 70000;
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.body.len, 70000);
}

static void too_many_headers(void)
{
	struct scene s;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	strbuf_adds(&text, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 300; i++)
		strbuf_adds(&text, "A: b\r\n");
	strbuf_adds(&text, "Content-Length: 0\r\n\r\n");
	const struct reply reply = {.text = text.ptr};

	scene_start(&s, NULL, &reply, 1);
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_LIMIT);
	scene_done(&s);
}

static void sink_takes_success_only(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"},
	      {.text = "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"});
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(100);
	struct strbuf_sink sink;

	strbuf_sink_init(&sink, &got);
	s.req.sink = &sink.sink;
	CHECK_OK(perform(&s), &s.err);
	CHECK_OK(perform(&s), &s.err);
	CHECK_STR(strbuf_str(&got), "yes");
	CHECK_STR(strbuf_str(&s.resp.body), "no");
}

static void broken_connections(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .cut = true},
	      {.text = "", .cut = true}, {.text = "SSH-2.0-nothing\r\n\r\n", .cut = true});

	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK(strstr(s.err.msg, "hush") == NULL);
	CHECK(strstr(s.err.msg, "127.0.0.1") != NULL);
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_FORMAT);
}

static void nobody_listens(void)
{
	SCENE(NULL, {.text = ""});

	s.req.url = "http://127.0.0.1:1/";
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK(s.err.hint[0] != '\0');
}

static void tls_to_a_plain_port(void)
{
	const struct http_curl_opts opts = {.connect_ms = 300};
	SCENE(&opts, {.text = ""});
	char url[64];

	/* The server waits for a request's end that a TLS greeting does not have. */
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/", s.server.port);
	s.req.url = url;
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
}

static void stalls(void)
{
	const struct http_curl_opts opts = {.stall_ms = 1000, .reply_ms = 9000};
	SCENE(&opts, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", .wait_ms = 2300},
	      {.text = "HTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n", .wait_ms = 2300});

	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK(strstr(s.err.msg, "too slow") != NULL);
	/* A registry may take its time to store what it was sent. */
	s.req.method = "PUT";
	s.req.body = (struct http_body){.kind = HTTP_BODY_MEMORY, .bytes = "body", .size = 4};
	CHECK_OK(perform(&s), &s.err);
	CHECK_INT(s.resp.status, 201);
}

static int pull(struct source *body, size_t *ret_total, struct err *err)
{
	char buf[10000];
	size_t n;

	*ret_total = 0;
	for (;;) {
		if (source_read(body, buf, sizeof(buf), &n, err) != 0)
			return -1;
		if (n == 0)
			return 0;
		for (size_t i = 0; i < n; i++)
			CHECK(buf[i] == 'z');
		*ret_total += n;
	}
}

static void pulls_a_body(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\nX: y\r\n\r\n", .zeros = 8000000},
	      {.text = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", .zeros = 50000, .cut = true},
	      {.text = "HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n", .zeros = 8000000, .cut = true},
	      {.text = "HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\nzzz"});
	struct source *body = NULL;
	size_t total;

	s.req.large = true;
	CHECK_OK(http_open(s.transport, &s.req, &s.resp, &body, &s.err), &s.err);
	CHECK_STR(http_header_get(&s.resp.headers, "x"), "y");
	/* The source outlives request and response. */
	memset(s.url, '?', 10);
	http_response_done(&s.resp);
	CHECK_OK(pull(body, &total, &s.err), &s.err);
	CHECK_INT(total, 8000000);
	source_close(body);
	memcpy(s.url, "http://127", 10);
	CHECK_OK(http_open(s.transport, &s.req, &s.resp, &body, &s.err), &s.err);
	CHECK(pull(body, &total, &s.err) != 0);
	CHECK_INT(s.err.code, ERR_NETWORK);
	CHECK_INT(total, 50000);
	source_close(body);
	CHECK_OK(http_open(s.transport, &s.req, &s.resp, &body, &s.err), &s.err);
	source_close(body);
	CHECK_OK(http_open(s.transport, &s.req, &s.resp, &body, &s.err), &s.err);
	CHECK_INT(s.resp.status, 404);
	CHECK_OK(pull(body, &total, &s.err), &s.err);
	CHECK_INT(total, 3);
	source_close(body);
}

static void refuses_line_breaks(void)
{
	SCENE(NULL, {.text = ""});
	const struct http_header header = {"Authorization", "x\r\nHost: evil"};

	s.req.headers = &header;
	s.req.n_headers = 1;
	CHECK(perform(&s) != 0);
	CHECK_INT(s.err.code, ERR_FORMAT);
	CHECK_INT(s.server.n_accepted, 0);
}

static void missing_ca_file(void)
{
	struct http_transport *t;
	struct err err = {0};

	CHECK(http_curl_open(&(struct http_curl_opts){.ca_file = "/nowhere/ca.pem"}, &t, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.msg, "/nowhere/ca.pem") != NULL);
}

static int one_get(void *ctx, size_t i UNUSED, struct err *err)
{
	const struct scene *s = ctx;
	AUTO(http_response) struct http_response resp = {0};
	const struct http_request req = {.method = "GET", .url = s->url};

	if (http_perform(s->transport, &req, &resp, err) != 0)
		return -1;
	return strcmp(strbuf_str(&resp.body), "ok") == 0 ? 0 : err_set(err, ERR_FORMAT, "another body");
}

static void several_threads(void)
{
	SCENE(NULL, {.text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", .cut = true});

	CHECK_OK(pool_run(40, 6, one_get, &s, &s.err), &s.err);
	CHECK_INT(s.server.next, 40);
}

int main(void)
{
	unsetenv("http_proxy");
	TEST("http: status, headers in any case and body come back", gets_a_body);
	TEST("http: no status is an error, no redirect is followed, connections are kept", status_is_no_error);
	TEST("http: headers of interim replies are not the reply's", interim_replies);
	TEST("http: a part of a file is sent with its length and without Expect", puts_a_range_of_a_file);
	TEST("a body from a source is sent as it is read", puts_from_a_source);
	TEST("a body from a source is sent whole only when the source ended well", keeps_back_what_is_not_verified);
	TEST("http: a POST without a body has Content-Length 0", posts_nothing);
	TEST("http: bodies are capped, error pages cut", caps);
	TEST("http: the number of headers is capped", too_many_headers);
	TEST("http: a sink takes the body of a 2xx reply only", sink_takes_success_only);
	TEST("http: a cut connection is a network error that shows no query", broken_connections);
	TEST("http: a refused connection is a network error with a hint", nobody_listens);
	TEST("http: a TLS handshake that gets no answer is a network error", tls_to_a_plain_port);
	TEST("http: a silent server is given up, a slow confirmation is not", stalls);
	TEST("http: a body is pulled at the reader's pace, a cut shows after its bytes", pulls_a_body);
	TEST("http: a line break in a header is refused", refuses_line_breaks);
	TEST("http: a missing certificate file is named", missing_ca_file);
	TEST("http: several threads share one transport", several_threads);
	return test_done();
}
