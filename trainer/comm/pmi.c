#include "trainer/comm/pmi.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "trainer/comm/door.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/lines.h"
#include "trainer/comm/pmi_store.h"

enum {
	LINE_BYTES = 2048,
	PART_S = 10, /* for the last ranks to leave */
	TELL_S = 30, /* between two remarks about who is waited for */
	RETRY_MS = 250,
	SLICE_MS = 100,
	WHO_MAX = 256 /* bytes of a list of missing ranks */
};

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
		if (!lines_send(p->peers[i].fd, "cmd=barrier_out\n")) {
			drop_all(p);
			return;
		}
	}
}

/* false: the rank is gone, and not in good order. */
static bool take_line(struct pmi *p, struct peer *peer)
{
	AUTO(strbuf) struct strbuf reply = STRBUF_INIT(LINE_BYTES);

	if (!pmi_answer(p->store, peer->line, &reply) || !lines_send(peer->fd, strbuf_str(&reply)))
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

/* The ranks that have not come, as "1, 3"; cut when there are many. */
static void list_missing(const struct pmi *p, struct strbuf *out)
{
	for (unsigned i = 0; i < p->n_ranks && out->len + 16 < WHO_MAX; i++)
		if (p->peers[i].fd < 0)
			strbuf_addf(out, "%s%u", out->len > 0 ? ", " : "", i);
}

static int name_missing(const struct pmi *p, const struct comm_place *place, unsigned wait_s,
                        const struct door *door, struct err *err)
{
	AUTO(strbuf) struct strbuf who = STRBUF_INIT(WHO_MAX), turned = STRBUF_INIT(WHO_MAX);
	const struct door_strangers strangers = door_strangers(door);

	list_missing(p, &who);
	door_describe(&strangers, &turned);
	err_set(err, ERR_NETWORK, "of %u ranks, these did not come to port %u within %u s: %s%s",
	        p->n_ranks, place->port, wait_s, strbuf_str(&who), strbuf_str(&turned));
	return err_hint(err, "Are their pods running, and can they reach %s?", place->master);
}

static void tell_waiting(const struct pmi *p, const struct comm_options *o)
{
	AUTO(strbuf) struct strbuf who = STRBUF_INIT(WHO_MAX), text = STRBUF_INIT(2 * WHO_MAX);

	list_missing(p, &who);
	strbuf_addf(&text, "waiting for ranks: %u of %u have come, missing %s", p->n_open,
	            p->n_ranks, strbuf_str(&who));
	comm_say(o, strbuf_str(&text));
}

static void tell_complete(const struct pmi *p, const struct door *door,
                          const struct comm_options *o)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(2 * WHO_MAX);
	const struct door_strangers strangers = door_strangers(door);

	strbuf_addf(&text, "all %u ranks have come", p->n_ranks);
	door_describe(&strangers, &text);
	comm_say(o, strbuf_str(&text));
}

/* MPI speaks at once, and is answered when all have come: what it said does not hide an end. */
static bool has_gone(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLRDHUP};

	return poll(&polled, 1, 0) == 1;
}

static void miss_leavers(struct pmi *p, const struct comm_options *o)
{
	char text[64];

	for (unsigned i = 1; i < p->n_ranks; i++) {
		struct peer *peer = &p->peers[i];

		if (peer->fd < 0 || !has_gone(peer->fd))
			continue;
		drop(p, peer);
		snprintf(text, sizeof(text), "rank %u has gone before all had come", i);
		comm_say(o, text);
	}
}

static void take_rank(struct pmi *p, struct door *door, int fd, unsigned rank)
{
	char why[GREETING_LINE_MAX];

	if (p->peers[rank].fd >= 0) {
		snprintf(why, sizeof(why), "rank %u of %u is not expected: there is one already",
		         rank, p->n_ranks);
		door_refuse(fd, why);
	} else if (door_welcome(door, fd)) {
		p->peers[rank].fd = fd;
		p->n_open++;
	}
}

static int gather(struct pmi *p, const struct comm_place *place, const struct comm_options *o,
                  struct door *door, struct err *err)
{
	double end = clock_seconds() + o->join_s, tell = clock_seconds() + TELL_S;

	while (p->n_open < p->n_ranks) {
		unsigned rank;
		int fd = door_wait(door, SLICE_MS, &rank);

		if (fd >= 0)
			take_rank(p, door, fd, rank);
		miss_leavers(p, o);
		if (interrupt_check(err) != 0)
			return err_wrap(err, "wait for the other ranks");
		if (clock_seconds() >= end && p->n_open < p->n_ranks)
			return name_missing(p, place, o->join_s, door, err);
		if (clock_seconds() >= tell && p->n_open < p->n_ranks) {
			tell_waiting(p, o);
			tell += TELL_S;
		}
	}
	tell_complete(p, door, o);
	return 0;
}

static int gather_at_door(struct pmi *p, const struct comm_place *place,
                          const struct comm_options *o, struct err *err)
{
	struct door *door;
	int rc;

	if (door_open(place->port, place->token, p->n_ranks, &door, err) != 0)
		return -1;
	rc = gather(p, place, o, door, err);
	door_close(door);
	return rc;
}

static int lead(const struct comm_place *place, const struct comm_options *o, struct pmi **ret,
                int *ret_fd, struct err *err)
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
	if (gather_at_door(p, place, o, err) != 0 ||
	    pthread_create(&p->thread, NULL, serve, p) != 0) {
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

static int follow(const struct comm_place *place, const struct comm_options *o, int *ret_fd,
                  struct err *err)
{
	const struct lines_call call = {place->master, place->port, place->token, place->rank,
	                                place->n_ranks};
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
	double end = clock_seconds() + o->join_s;

	do {
		if (lines_introduce(&call, end, ret_fd, err) != 0)
			return -1;
		if (*ret_fd >= 0)
			return 0;
		if (interrupt_check(err) != 0)
			return err_wrap(err, "wait for rank 0 at %s port %u", place->master,
			                place->port);
		nanosleep(&pause, NULL);
	} while (clock_seconds() < end);
	err_set(err, ERR_NETWORK, "no answer from rank 0 at %s port %u for %u s", place->master,
	        place->port, o->join_s);
	return err_hint(err, "Is its pod running? MASTER_ADDR and MASTER_PORT must point to it.");
}

int pmi_meet(const struct comm_place *place, const struct comm_options *o, struct pmi **ret,
             struct err *err)
{
	char number[16];
	int fd = -1, rc;

	*ret = NULL;
	rc = place->rank == 0 ? lead(place, o, ret, &fd, err) : follow(place, o, &fd, err);
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
