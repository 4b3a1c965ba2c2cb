#include "trainer/log/exporter.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/mem.h"

enum { REQUEST_MAX = 4096, IO_TIMEOUT_S = 2, BACKLOG = 8, REQUEST_TRIES = 16 };

struct exporter {
	int listener;
	int wake[2]; /* a pipe: its closing ends the thread */
	uint16_t port;
	pthread_t thread;
	pthread_mutex_t lock;
	char *text; /* guarded by lock */
};

static void send_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);

		if (sent <= 0)
			return;
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void reply(int fd, const char *status, const char *body)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	strbuf_addf(&sb,
	            "HTTP/1.0 %s\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
	            "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
	            status, strlen(body), body);
	send_all(fd, strbuf_str(&sb), sb.len);
}

/* The request's head, NUL-terminated; false when it is too long, too slow or cut off. */
static bool read_head(int fd, char head[REQUEST_MAX])
{
	size_t n = 0;

	for (int i = 0; i < REQUEST_TRIES && n + 1 < REQUEST_MAX; i++) {
		ssize_t got = recv(fd, head + n, REQUEST_MAX - 1 - n, 0);

		if (got <= 0)
			return false;
		n += (size_t)got;
		head[n] = '\0';
		if (strstr(head, "\r\n\r\n") != NULL || strstr(head, "\n\n") != NULL)
			return true;
	}
	return false;
}

static void answer(struct exporter *e, int fd)
{
	struct timeval limit = {.tv_sec = IO_TIMEOUT_S};
	AUTO_FREE char *text = NULL;
	char head[REQUEST_MAX];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (!read_head(fd, head)) {
		reply(fd, "400 Bad Request", "bad request\n");
		return;
	}
	if (strncmp(head, "GET /metrics ", 13) != 0) {
		reply(fd, "404 Not Found", "only GET /metrics is answered\n");
		return;
	}
	pthread_mutex_lock(&e->lock);
	text = mem_strdup(e->text);
	pthread_mutex_unlock(&e->lock);
	reply(fd, "200 OK", text);
}

static void *serve(void *arg)
{
	struct exporter *e = arg;
	struct pollfd fds[2] = {{.fd = e->listener, .events = POLLIN},
	                        {.fd = e->wake[0], .events = POLLIN}};

	for (;;) {
		AUTO_CLOSE int fd = -1;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents != 0)
			return NULL;
		if ((fds[0].revents & POLLIN) == 0)
			continue;
		fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			answer(e, fd);
	}
}

static int open_listener(uint16_t port, int *ret_fd, uint16_t *ret_port)
{
	struct sockaddr_in6 addr = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in addr4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	socklen_t len = sizeof(addr);
	int one = 1, zero = 0;
	AUTO_CLOSE int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool six = fd >= 0;

	if (!six)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0)
		return -1;
	if (six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, six ? (const struct sockaddr *)&addr : (const struct sockaddr *)&addr4,
	         six ? sizeof(addr) : sizeof(addr4)) != 0 ||
	    listen(fd, BACKLOG) != 0 || getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
		return -1;
	/* The port stands at the same place in both families. */
	*ret_port = ntohs(addr.sin6_port);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int exporter_start(uint16_t port, struct exporter **ret, struct err *err)
{
	struct exporter *e = mem_zalloc(sizeof(*e));

	e->listener = e->wake[0] = e->wake[1] = -1;
	e->text = mem_strdup("");
	pthread_mutex_init(&e->lock, NULL);
	if (open_listener(port, &e->listener, &e->port) != 0 || pipe(e->wake) != 0 ||
	    pthread_create(&e->thread, NULL, serve, e) != 0) {
		err_set(err, ERR_IO, "listen for metrics on port %u", port);
		attr_close_fd(&e->listener);
		attr_close_fd(&e->wake[0]);
		attr_close_fd(&e->wake[1]);
		free(e->text);
		free(e);
		return -1;
	}
	*ret = e;
	return 0;
}

uint16_t exporter_port(const struct exporter *e)
{
	return e->port;
}

void exporter_publish(struct exporter *e, const char *text)
{
	char *copy = mem_strdup(text);
	char *old;

	pthread_mutex_lock(&e->lock);
	old = e->text;
	e->text = copy;
	pthread_mutex_unlock(&e->lock);
	free(old);
}

void exporter_stop(struct exporter *e)
{
	if (e == NULL)
		return;
	attr_close_fd(&e->wake[1]);
	pthread_join(e->thread, NULL);
	attr_close_fd(&e->wake[0]);
	attr_close_fd(&e->listener);
	pthread_mutex_destroy(&e->lock);
	free(e->text);
	free(e);
}

struct exported {
	const char *name, *type, *help;
	double value;
};

static void add_metric(struct strbuf *sb, const struct exported *m, unsigned rank)
{
	strbuf_addf(sb,
	            "# HELP slipway_trainer_%s %s\n# TYPE slipway_trainer_%s %s\n"
	            "slipway_trainer_%s{rank=\"%u\"} %.17g\n",
	            m->name, m->help, m->name, m->type, m->name, rank, m->value);
}

void exporter_format(struct strbuf *sb, const struct log_step *s, unsigned rank)
{
	const struct exported metrics[] = {
		{"steps_total", "counter", "Optimizer steps done", (double)s->step},
		{"epoch", "gauge", "Epoch, from 1", (double)s->epoch},
		{"learning_rate", "gauge", "Learning rate", s->lr},
		{"loss", "gauge", "Weighted loss of the last logged step", s->loss},
		{"loss_image", "gauge", "Mean absolute error of pixels", s->loss_image},
		{"loss_audio", "gauge", "Mean absolute error of samples", s->loss_audio},
		{"loss_label", "gauge", "Cross-entropy of the label", s->loss_label},
		{"gradient_norm", "gauge", "Global norm before clipping", s->grad_norm},
		{"clips_per_second", "gauge", "Clips trained on per second, all ranks",
	         s->clips_per_second},
		{"tokens_per_second", "gauge", "Tokens that the encoder reads, all ranks",
	         s->tokens_per_second},
		{"data_wait_ratio", "gauge", "Share of the time spent waiting for clips",
	         s->wait_share},
		{"rank_wait_ratio", "gauge", "Share of the time spent waiting for other ranks",
	         s->reduce_share},
		{"resident_memory_bytes", "gauge", "Resident memory", (double)s->rss_bytes},
	};

	for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
		add_metric(sb, &metrics[i], rank);
	for (size_t i = 0; i < METERS; i++) {
		const struct meter_row *row = meter_row((enum meter)i);

		if (s->meters.has[i])
			add_metric(sb,
			           &(struct exported){row->name, row->type, row->help,
			                              s->meters.value[i]},
			           rank);
	}
}

void exporter_format_eval(struct strbuf *sb, const struct log_eval *e, unsigned rank)
{
	const struct exported others[] = {
		{"validation_step", "gauge", "Step of the last evaluation", (double)e->step},
		{"validation_clips", "gauge", "Clips of the last evaluation", (double)e->clips},
		{"validation_seconds", "gauge", "What the last evaluation took", e->seconds},
		{"best_step", "gauge", "Step of the best evaluation, 0: none",
	         (double)e->best_step},
		{"evaluations_without_improvement", "gauge", "In a row, up to now",
	         (double)e->stale},
	};

	for (size_t i = 0; i < METRICS; i++) {
		const struct metric_row *row = metric_row((enum metric)i);
		char name[64];

		snprintf(name, sizeof(name), "validation_%s", row->name);
		add_metric(sb, &(struct exported){name, "gauge", row->help, e->values[i]}, rank);
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		add_metric(sb, &others[i], rank);
}
