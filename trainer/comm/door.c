#include "trainer/comm/door.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/lines.h"

enum { CALLERS_MAX = 256, HELLO_S = 5, ACCEPTS_AT_ONCE = 64 };

/* Somebody who has not proven anything yet. */
struct caller {
	int fd;
	double end; /* of clock_seconds() */
	struct greeting g;
	size_t n;
	char line[GREETING_LINE_MAX];
};

struct door {
	const char *key;
	unsigned n_ranks;
	int listener;
	struct door_strangers strangers;
	struct greeting last; /* of the rank that door_wait returned */
	size_t n;
	struct caller callers[CALLERS_MAX]; /* the oldest first */
};

/* IPv6's any address takes IPv4 too; where there is no IPv6, IPv4's. */
static int listen_any(unsigned port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;
	bool is_six = fd >= 0;

	if (!is_six)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (is_six)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (fd >= 0 &&
	    (is_six ? bind(fd, (struct sockaddr *)&six, sizeof(six))
	            : bind(fd, (struct sockaddr *)&four, sizeof(four))) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	on = errno;
	if (fd >= 0)
		close(fd);
	errno = on;
	return -1;
}

int door_open(unsigned port, const char *key, unsigned n_ranks, struct door **ret, struct err *err)
{
	int listener = listen_any(port);
	struct door *d;

	if (listener < 0)
		return err_set(err, ERR_IO, "listen at port %u for the other ranks", port);
	d = mem_zalloc(sizeof(*d));
	d->key = key;
	d->n_ranks = n_ranks;
	d->listener = listener;
	*ret = d;
	return 0;
}

unsigned door_port(const struct door *d)
{
	struct sockaddr_in6 six = {0};
	socklen_t len = sizeof(six);

	/* The port stands at the same place in both families. */
	_Static_assert(offsetof(struct sockaddr_in6, sin6_port) ==
	                       offsetof(struct sockaddr_in, sin_port),
	               "");
	if (getsockname(d->listener, (struct sockaddr *)&six, &len) != 0)
		return 0;
	return ntohs(six.sin6_port);
}

/* ---- callers ---- */

static void forget(struct door *d, size_t i)
{
	d->n--;
	memmove(&d->callers[i], &d->callers[i + 1], (d->n - i) * sizeof(d->callers[0]));
}

static void turn_away(struct door *d, size_t i, unsigned *count)
{
	close(d->callers[i].fd);
	++*count;
	forget(d, i);
}

void door_close(struct door *d)
{
	if (d == NULL)
		return;
	while (d->n > 0)
		turn_away(d, 0, &d->strangers.silent);
	close(d->listener);
	free(d);
}

static void take_caller(struct door *d, int fd)
{
	struct caller *c;
	struct err err = {0};
	char line[GREETING_LINE_MAX];

	if (d->n == CALLERS_MAX)
		turn_away(d, 0, &d->strangers.crowded);
	c = &d->callers[d->n];
	*c = (struct caller){.fd = fd, .end = clock_seconds() + HELLO_S};
	if (greeting_nonce(c->g.leader, &err) != 0) {
		close(fd);
		return;
	}
	greeting_challenge(&c->g, line);
	d->n++;
	/* One who has gone already is found when it is heard. */
	lines_send(fd, line);
}

static void take_callers(struct door *d)
{
	for (unsigned i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			take_caller(d, fd);
			continue;
		}
		/* No descriptors are left: strangers may hold them. */
		if ((errno == EMFILE || errno == ENFILE) && d->n > 0)
			turn_away(d, 0, &d->strangers.crowded);
		return;
	}
}

enum heard { HEARD_PART, HEARD_LINE, HEARD_END, HEARD_TOO_MUCH };

/* A rank says one line and waits: what follows a line is not a rank's. */
static enum heard hear(struct caller *c)
{
	ssize_t got = recv(c->fd, c->line + c->n, sizeof(c->line) - 1 - c->n, 0);
	char *end;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return HEARD_PART;
	if (got <= 0)
		return HEARD_END;
	c->n += (size_t)got;
	c->line[c->n] = '\0';
	end = memchr(c->line, '\n', c->n);
	if (end == NULL)
		return c->n + 1 == sizeof(c->line) ? HEARD_TOO_MUCH : HEARD_PART;
	return end + 1 == c->line + c->n ? HEARD_LINE : HEARD_TOO_MUCH;
}

/* Hands the caller over as a rank, or says why not; -1. */
static int judge(struct door *d, size_t i, unsigned *ret_rank)
{
	struct caller *c = &d->callers[i];
	int fd = c->fd;
	char why[GREETING_LINE_MAX];

	switch (greeting_read_answer(c->line, d->key, &c->g)) {
	case GREETING_GARBLED:
		turn_away(d, i, &d->strangers.garbled);
		return -1;
	case GREETING_UNPROVEN:
		d->strangers.unproven++;
		forget(d, i);
		door_refuse(fd, "it is of another run: the tokens differ");
		return -1;
	case GREETING_PROVEN:
		break;
	}
	d->last = c->g;
	forget(d, i);
	if (d->last.n_ranks != d->n_ranks || d->last.rank >= d->n_ranks) {
		snprintf(why, sizeof(why), "rank %u of %u is not expected: this job is of %u",
		         d->last.rank, d->last.n_ranks, d->n_ranks);
		door_refuse(fd, why);
		return -1;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	lines_keep_alive(fd);
	*ret_rank = d->last.rank;
	return fd;
}

/* One caller's turn; a rank's socket, or -1. *ret_gone: the caller is no longer in the list. */
static int attend(struct door *d, size_t i, short events, unsigned *ret_rank, bool *ret_gone)
{
	enum heard heard = events != 0 ? hear(&d->callers[i]) : HEARD_PART;

	*ret_gone = true;
	switch (heard) {
	case HEARD_LINE:
		return judge(d, i, ret_rank);
	case HEARD_END:
		turn_away(d, i, &d->strangers.silent);
		return -1;
	case HEARD_TOO_MUCH:
		turn_away(d, i, &d->strangers.garbled);
		return -1;
	case HEARD_PART:
		break;
	}
	*ret_gone = clock_seconds() >= d->callers[i].end;
	if (*ret_gone)
		turn_away(d, i, d->callers[i].n > 0 ? &d->strangers.garbled : &d->strangers.silent);
	return -1;
}

int door_wait(struct door *d, int ms, unsigned *ret_rank)
{
	struct pollfd polled[1 + CALLERS_MAX] = {{.fd = d->listener, .events = POLLIN}};
	size_t n = d->n, at = 0;

	for (size_t i = 0; i < n; i++)
		polled[1 + i] = (struct pollfd){.fd = d->callers[i].fd, .events = POLLIN};
	if (poll(polled, n + 1, ms) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool gone;
		int fd = attend(d, at, polled[1 + i].revents, ret_rank, &gone);

		if (fd >= 0)
			return fd;
		at += gone ? 0 : 1;
	}
	if (polled[0].revents != 0)
		take_callers(d);
	return -1;
}

bool door_welcome(struct door *d, int fd)
{
	char line[GREETING_LINE_MAX];

	greeting_welcome(&d->last, d->key, line);
	if (lines_send(fd, line))
		return true;
	close(fd);
	return false;
}

void door_refuse(int fd, const char *why)
{
	char line[GREETING_LINE_MAX];

	snprintf(line, sizeof(line), "%.*s\n", GREETING_LINE_MAX - 2, why);
	lines_send(fd, line);
	close(fd);
}

struct door_strangers door_strangers(const struct door *d)
{
	return d->strangers;
}

void door_describe(const struct door_strangers *s, struct strbuf *out)
{
	const struct {
		unsigned n;
		const char *what;
	} rows[] = {{s->silent, "silent"},
	            {s->garbled, "garbled"},
	            {s->unproven, "without proof"},
	            {s->crowded, "to make room"}};
	const char *before = "; connections turned away:";

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].n == 0)
			continue;
		strbuf_addf(out, "%s %u %s", before, rows[i].n, rows[i].what);
		before = ",";
	}
}
