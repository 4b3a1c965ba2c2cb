#include "trainer/comm/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "trainer/comm/greeting.h"

enum { SLICE_MS = 100, CONNECT_S = 3, ANSWER_S = 5 };

bool lines_send(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		text += sent;
		len -= (size_t)sent;
	}
	return true;
}

/* In slices, to hear a request to stop. */
static bool ready_before(int fd, short events, double end)
{
	while (!interrupt_requested()) {
		struct pollfd polled = {.fd = fd, .events = events};
		double left = (end - clock_seconds()) * 1000;

		if (left <= 0)
			return false;
		if (poll(&polled, 1, left < SLICE_MS ? (int)left + 1 : SLICE_MS) == 1)
			return true;
	}
	return false;
}

/* Byte by byte: what follows the line is MPI's. */
bool lines_read(int fd, char *line, size_t size, double end)
{
	size_t n = 0;
	bool whole = false;

	while (!whole && n + 1 < size && ready_before(fd, POLLIN, end) &&
	       recv(fd, line + n, 1, MSG_DONTWAIT) == 1)
		whole = line[n++] == '\n';
	line[n] = '\0';
	return whole;
}

void lines_keep_alive(int fd)
{
	static const struct {
		int level, name, value;
	} rows[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},          {IPPROTO_TCP, TCP_KEEPIDLE, 6},
	            {IPPROTO_TCP, TCP_KEEPINTVL, 3},        {IPPROTO_TCP, TCP_KEEPCNT, 3},
	            {IPPROTO_TCP, TCP_USER_TIMEOUT, 15000}, {IPPROTO_TCP, TCP_NODELAY, 1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		setsockopt(fd, rows[i].level, rows[i].name, &rows[i].value, sizeof(rows[i].value));
}

/* ---- connecting ---- */

/* What a look-up reads while it goes on, in one piece: a cancelled one may still read it. */
struct address_query {
	struct gaicb request;
	struct addrinfo hints;
	char host[256], port[16];
};

/* getaddrinfo that ends when the process is told to stop; NULL: no address. */
static struct addrinfo *look_up(const char *host, unsigned port, double end)
{
	const struct timespec slice = {.tv_nsec = SLICE_MS * 1000000L};
	struct address_query *l = mem_zalloc(sizeof(*l));
	struct gaicb *list[] = {&l->request};
	struct addrinfo *found = NULL;
	int rc;

	snprintf(l->host, sizeof(l->host), "%s", host);
	snprintf(l->port, sizeof(l->port), "%u", port);
	l->hints = (struct addrinfo){.ai_socktype = SOCK_STREAM};
	l->request =
		(struct gaicb){.ar_name = l->host, .ar_service = l->port, .ar_request = &l->hints};
	rc = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL);
	while (rc == 0 && gai_error(&l->request) == EAI_INPROGRESS && !interrupt_requested() &&
	       clock_seconds() < end)
		gai_suspend((const struct gaicb *const *)list, 1, &slice);
	/* One that cannot be cancelled keeps its memory: a thread of the C library works on it. */
	if (rc == 0 && gai_error(&l->request) == EAI_INPROGRESS &&
	    gai_cancel(&l->request) != EAI_CANCELED)
		return NULL;
	if (rc == 0 && gai_error(&l->request) == 0)
		found = l->request.ar_result;
	free(l);
	return found;
}

static bool connected(int fd, const struct addrinfo *a, double end)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
		return true;
	if (errno != EINPROGRESS || !ready_before(fd, POLLOUT, end))
		return false;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error == 0;
}

int lines_connect(const char *host, unsigned port, double end)
{
	struct addrinfo *list = look_up(host, port, end);
	int fd = -1;

	for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
		double until = clock_seconds() + CONNECT_S;

		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0 && !connected(fd, a, until < end ? until : end)) {
			close(fd);
			fd = -1;
		}
	}
	if (list != NULL)
		freeaddrinfo(list);
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* ---- becoming a rank ---- */

static int read_verdict(const struct lines_call *call, const struct greeting *g, char *line,
                        struct err *err)
{
	switch (greeting_read_welcome(line, call->key, g)) {
	case GREETING_PROVEN:
		return 0;
	case GREETING_UNPROVEN:
		err_set(err, ERR_DENIED,
		        "what answers at %s port %u is not rank 0 of this run: the tokens differ",
		        call->host, call->port);
		break;
	case GREETING_GARBLED:
		line[strcspn(line, "\n")] = '\0';
		err_set(err, ERR_DENIED, "rank 0 at %s refused to let this rank join: %s",
		        call->host, line);
		break;
	}
	return -1;
}

int lines_introduce(const struct lines_call *call, double end, int *ret_fd, struct err *err)
{
	AUTO_CLOSE int fd = lines_connect(call->host, call->port, end);
	struct greeting g = {.rank = call->rank, .n_ranks = call->n_ranks};
	char line[GREETING_LINE_MAX];
	double until = clock_seconds() + ANSWER_S;

	*ret_fd = -1;
	if (fd < 0 || !lines_read(fd, line, sizeof(line), until))
		return 0;
	if (!greeting_read_challenge(line, &g))
		return err_set(err, ERR_DENIED,
		               "what answers at %s port %u does not speak as rank 0 of this "
		               "trainer does",
		               call->host, call->port);
	if (greeting_nonce(g.rank_nonce, err) != 0)
		return -1;
	greeting_answer(&g, call->key, line);
	if (!lines_send(fd, line) || !lines_read(fd, line, sizeof(line), until))
		return 0;
	if (read_verdict(call, &g, line, err) != 0)
		return -1;
	lines_keep_alive(fd);
	*ret_fd = fd;
	fd = -1;
	return 0;
}
