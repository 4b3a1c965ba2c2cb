#include "trainer/comm/pmi.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/comm/pmi_store.h"

enum {
	LINE_BYTES = 2048,
	HELLO_MAX = 128,
	HELLO_S = 5, /* a connection that says nothing is closed */
	PART_S = 10, /* for the last ranks to leave */
	RETRY_MS = 250,
	WHO_MAX = 256 /* bytes of a list of missing ranks */
};

static const char hello[] = "slipway rank %u of %u\n", welcome[] = "welcome\n";

struct peer {
	int fd; /* -1: not come, or gone */
	bool in_barrier;
	size_t n;
	char line[LINE_BYTES]; /* begun */
};

struct pmi {
	unsigned n_ranks, n_open;
	struct peer *peers;
	struct pmi_store *store;
	int own; /* rank 0's end, which MPICH uses */
	pthread_t thread;
	bool serving;
};

static bool send_text(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		text += sent;
		len -= (size_t)sent;
	}
	return true;
}

/* Waits for something to read, until `end` of clock_seconds() at the latest. */
static bool readable_before(int fd, double end)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	double left = end - clock_seconds();

	return left > 0 && poll(&poll_fd, 1, (int)(left * 1000) + 1) == 1;
}

/*
 * A line, byte by byte: what follows it is for MPICH. HELLO_S is for the whole of it, so that a
 * peer which sends a byte now and then keeps nobody waiting. false at the end, too late or too
 * long.
 */
static bool read_line(int fd, char *line, size_t size)
{
	double end = clock_seconds() + HELLO_S;
	size_t n = 0;
	bool whole = false;

	while (!whole && n + 1 < size && readable_before(fd, end) &&
	       recv(fd, line + n, 1, MSG_DONTWAIT) == 1)
		whole = line[n++] == '\n';
	line[n] = '\0';
	return whole;
}

/* ---- rank 0: answering ---- */

static void drop(struct pmi *p, struct peer *peer)
{
	close(peer->fd);
	peer->fd = -1;
	p->n_open--;
}

/* A rank that goes without a word leaves the others nothing to wait for. */
static void drop_all(struct pmi *p)
{
	for (unsigned i = 0; i < p->n_ranks; i++)
		if (p->peers[i].fd >= 0)
			drop(p, &p->peers[i]);
}

static void open_barrier(struct pmi *p)
{
	for (unsigned i = 0; i < p->n_ranks; i++)
		if (!p->peers[i].in_barrier)
			return;
	for (unsigned i = 0; i < p->n_ranks; i++) {
		p->peers[i].in_barrier = false;
		if (!send_text(p->peers[i].fd, "cmd=barrier_out\n")) {
			drop_all(p);
			return;
		}
	}
}

/* false: the rank is gone, and not in good order. */
static bool take_line(struct pmi *p, struct peer *peer)
{
	AUTO(strbuf) struct strbuf reply = STRBUF_INIT(LINE_BYTES);

	if (!pmi_answer(p->store, peer->line, &reply) || !send_text(peer->fd, strbuf_str(&reply)))
		return false;
	if (strncmp(peer->line, "cmd=finalize", 12) == 0) {
		drop(p, peer);
	} else if (reply.len == 0) {
		peer->in_barrier = true;
		open_barrier(p);
	}
	return true;
}

static bool take_bytes(struct pmi *p, struct peer *peer)
{
	char bytes[LINE_BYTES];
	ssize_t got = recv(peer->fd, bytes, sizeof(bytes), 0);

	if (got <= 0)
		return false;
	for (ssize_t i = 0; i < got && peer->fd >= 0; i++) {
		if (bytes[i] != '\n') {
			if (peer->n + 1 == sizeof(peer->line))
				return false;
			peer->line[peer->n++] = bytes[i];
			continue;
		}
		peer->line[peer->n] = '\0';
		peer->n = 0;
		if (!take_line(p, peer))
			return false;
	}
	return true;
}

static void *serve(void *arg)
{
	struct pmi *p = arg;
	AUTO_FREE struct pollfd *polled = mem_calloc(p->n_ranks, sizeof(*polled));

	while (p->n_open > 0) {
		for (unsigned i = 0; i < p->n_ranks; i++)
			polled[i] = (struct pollfd){.fd = p->peers[i].fd, .events = POLLIN};
		if (poll(polled, p->n_ranks, -1) < 0 && errno != EINTR)
			break;
		for (unsigned i = 0; i < p->n_ranks; i++)
			if (polled[i].revents != 0 && p->peers[i].fd >= 0 &&
			    !take_bytes(p, &p->peers[i]))
				drop_all(p);
	}
	drop_all(p);
	return NULL;
}

/* ---- rank 0: waiting for all to come ---- */

/* IPv6's any address takes IPv4 too; where there is no IPv6, IPv4's. */
static int listen_any(unsigned port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, off = 0;
	bool is_six = fd >= 0;

	if (!is_six)
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
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

static void admit(struct pmi *p, int fd)
{
	char line[HELLO_MAX];
	unsigned rank = 0, n = 0;

	if (!read_line(fd, line, sizeof(line)) || sscanf(line, hello, &rank, &n) != 2) {
		close(fd);
		return;
	}
	if (n != p->n_ranks || rank >= n || p->peers[rank].fd >= 0) {
		snprintf(line, sizeof(line), "rank %u of %u is not expected: %s of %u\n", rank, n,
		         n != p->n_ranks || rank >= n ? "this job is" : "there is one already",
		         p->n_ranks);
		send_text(fd, line);
		close(fd);
		return;
	}
	if (!send_text(fd, welcome)) {
		close(fd);
		return;
	}
	p->peers[rank].fd = fd;
	p->n_open++;
}

static int name_missing(const struct pmi *p, const struct comm_place *place, unsigned wait_s,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf who = STRBUF_INIT(WHO_MAX);

	for (unsigned i = 0; i < p->n_ranks && who.len + 16 < WHO_MAX; i++)
		if (p->peers[i].fd < 0)
			strbuf_addf(&who, "%s%u", who.len > 0 ? ", " : "", i);
	err_set(err, ERR_NETWORK, "of %u ranks, these did not come to port %u within %u s: %s",
	        p->n_ranks, place->port, wait_s, strbuf_str(&who));
	return err_hint(err, "Are their pods running, and can they reach %s?", place->master);
}

static int gather(struct pmi *p, const struct comm_place *place, unsigned wait_s, struct err *err)
{
	double end = clock_seconds() + wait_s;
	AUTO_CLOSE int listener = listen_any(place->port);

	if (listener < 0)
		return err_set(err, ERR_IO, "listen at port %u for the other ranks", place->port);
	while (p->n_open < p->n_ranks) {
		struct pollfd polled = {.fd = listener, .events = POLLIN};
		double left = end - clock_seconds();
		int fd;

		if (left <= 0)
			return name_missing(p, place, wait_s, err);
		if (poll(&polled, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			admit(p, fd);
	}
	return 0;
}

static int lead(const struct comm_place *place, unsigned wait_s, struct pmi **ret, int *ret_fd,
                struct err *err)
{
	struct pmi *p = mem_zalloc(sizeof(*p));
	int pair[2] = {-1, -1};

	p->n_ranks = place->n_ranks;
	p->peers = mem_calloc(p->n_ranks, sizeof(*p->peers));
	p->store = pmi_store_new(p->n_ranks);
	for (unsigned i = 0; i < p->n_ranks; i++)
		p->peers[i].fd = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		err_set(err, ERR_IO, "make a pair of sockets");
		pmi_part(p);
		return -1;
	}
	p->peers[0].fd = pair[0];
	p->n_open = 1;
	if (gather(p, place, wait_s, err) != 0 || pthread_create(&p->thread, NULL, serve, p) != 0) {
		if (err->code == ERR_NONE)
			err_set(err, ERR_LIMIT,
			        "cannot start the thread that serves the joining ranks");
		close(pair[1]);
		pmi_part(p);
		return -1;
	}
	p->serving = true;
	p->own = pair[1];
	*ret = p;
	*ret_fd = pair[1];
	return 0;
}

/* ---- the other ranks ---- */

/* One try; -1 when nobody is there yet. */
static int reach(const struct comm_place *place)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	char port[16];
	int fd = -1;

	snprintf(port, sizeof(port), "%u", place->port);
	if (getaddrinfo(place->master, port, &hints, &list) != 0)
		return -1;
	for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

/* 1: welcome. 0: nobody there who answers. -1: refused. */
static int introduce(const struct comm_place *place, int *ret_fd, struct err *err)
{
	AUTO_CLOSE int fd = reach(place);
	char line[HELLO_MAX];

	if (fd < 0)
		return 0;
	snprintf(line, sizeof(line), hello, place->rank, place->n_ranks);
	if (!send_text(fd, line) || !read_line(fd, line, sizeof(line)))
		return 0;
	if (strcmp(line, welcome) != 0) {
		line[strcspn(line, "\n")] = '\0';
		return err_set(err, ERR_NETWORK, "rank 0 at %s refused to let this rank join: %s",
		               place->master, line);
	}
	*ret_fd = fd;
	fd = -1;
	return 1;
}

static int follow(const struct comm_place *place, unsigned wait_s, int *ret_fd, struct err *err)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
	double end = clock_seconds() + wait_s;

	do {
		int rc = introduce(place, ret_fd, err);

		if (rc != 0)
			return rc > 0 ? 0 : -1;
		nanosleep(&pause, NULL);
	} while (clock_seconds() < end);
	err_set(err, ERR_NETWORK, "no answer from rank 0 at %s port %u for %u s", place->master,
	        place->port, wait_s);
	return err_hint(err, "Is its pod running? MASTER_ADDR and MASTER_PORT must point to it.");
}

int pmi_meet(const struct comm_place *place, unsigned wait_s, struct pmi **ret, struct err *err)
{
	char number[16];
	int fd = -1, rc;

	*ret = NULL;
	rc = place->rank == 0 ? lead(place, wait_s, ret, &fd, err)
	                      : follow(place, wait_s, &fd, err);
	if (rc != 0)
		return -1;
	snprintf(number, sizeof(number), "%d", fd);
	setenv("PMI_FD", number, 1);
	snprintf(number, sizeof(number), "%u", place->rank);
	setenv("PMI_RANK", number, 1);
	snprintf(number, sizeof(number), "%u", place->n_ranks);
	setenv("PMI_SIZE", number, 1);
	return 0;
}

void pmi_quit(struct pmi *p)
{
	/* As if rank 0 had gone: the thread lets the others go, and ends. */
	if (p != NULL && p->serving)
		shutdown(p->own, SHUT_RDWR);
	pmi_part(p);
}

void pmi_part(struct pmi *p)
{
	struct timespec until;

	if (p == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PART_S;
	/* One that hangs keeps its thread, and what that uses, until the process ends. */
	if (p->serving && pthread_timedjoin_np(p->thread, NULL, &until) != 0)
		return;
	drop_all(p);
	pmi_store_free(p->store);
	free(p->peers);
	free(p);
}
