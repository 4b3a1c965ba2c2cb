#include "trainer/comm/watch_internal.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/lines.h"

enum {
	BEAT_MS = 1000,
	SLICE_MS = 100,
	MEET_S = 10,  /* for a rank to reach rank 0's door */
	PART_S = 2,   /* for the others' farewells */
	TOLD_S = 1,   /* for the others to be told of a failure */
	NAMING_S = 3, /* for a loss to be noticed */
	END_S = 5     /* for the main thread to end after a loss */
};

/* ---- what the main thread tells and asks ---- */

static double elapsed(const struct rank_watch *w, double now)
{
	return now > w->since ? now - w->since : 0;
}

void watch_waits(struct rank_watch *w, bool waiting)
{
	double now = clock_seconds();

	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	if (waiting != w->own.waiting) {
		w->own.busy += waiting ? elapsed(w, now) : 0;
		w->own.waiting = waiting;
		w->since = now;
	}
	pthread_mutex_unlock(&w->lock);
}

void watch_stepped(struct rank_watch *w)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->own.steps++;
	pthread_mutex_unlock(&w->lock);
}

void watch_excuse(struct rank_watch *w, double seconds)
{
	if (w == NULL)
		return;
	pthread_mutex_lock(&w->lock);
	w->own.busy -= seconds;
	pthread_mutex_unlock(&w->lock);
}

struct watch_sign watch_own(struct rank_watch *w, double now)
{
	struct watch_sign s;

	pthread_mutex_lock(&w->lock);
	s = w->own;
	s.watched = true;
	s.heard = now;
	s.stretch = elapsed(w, now);
	s.busy += s.waiting ? 0 : s.stretch;
	s.busy = s.busy > 0 ? s.busy : 0;
	pthread_mutex_unlock(&w->lock);
	return s;
}

/* ---- the thread ---- */

/* A rank that comes to the door takes its seat; a second one of its number is a stranger. */
static void seat(struct rank_watch *w, double now)
{
	unsigned rank;
	int fd = w->door != NULL ? door_wait(w->door, 0, &rank) : -1;

	if (fd < 0)
		return;
	if (rank == 0 || w->peers[rank].fd >= 0 || w->judge.signs[rank].watched) {
		door_refuse(fd, "this rank is watched already");
	} else if (door_welcome(w->door, fd)) {
		w->peers[rank].fd = fd;
		w->judge.signs[rank] = (struct watch_sign){.watched = true, .heard = now};
	}
}

/* Until somebody speaks, a slice at most. */
static void hear_all(struct rank_watch *w)
{
	AUTO_FREE struct pollfd *polled = mem_calloc(w->n_peers, sizeof(*polled));
	double now;

	for (unsigned i = 0; i < w->n_peers; i++)
		polled[i] = (struct pollfd){.fd = w->peers[i].fd, .events = POLLIN};
	poll(polled, w->n_peers, SLICE_MS);
	now = clock_seconds();
	for (unsigned i = 0; i < w->n_peers; i++)
		if (polled[i].revents != 0)
			watch_hear(w, i, now);
	seat(w, now);
}

static void beat(struct rank_watch *w)
{
	char line[WATCH_LINE_MAX];
	struct watch_sign own = watch_own(w, clock_seconds());

	watch_write_beat(&own, line);
	watch_tell_all(w, line);
}

/* Rank 0's first peer is itself. Of rank 0 the others judge no more than that it lives. */
static void judge_all(struct rank_watch *w)
{
	double now = clock_seconds();
	struct watch_finding f;

	if (w->e->rank == 0)
		w->judge.signs[0] = watch_own(w, now);
	else
		w->judge.signs[0].waiting = true;
	while (!watch_flag(w, &w->lost) && watch_judge_next(&w->judge, now, &f))
		watch_report(w, &f);
}

/* Since when the main thread has had a reason to end; it gets END_S for it. */
static bool overdue(struct rank_watch *w, double *begin)
{
	bool due;

	pthread_mutex_lock(&w->lock);
	due = w->lost || w->failed != 0;
	pthread_mutex_unlock(&w->lock);
	if (due && *begin == 0)
		*begin = clock_seconds();
	return due && clock_seconds() - *begin > END_S;
}

static int status_of(struct rank_watch *w)
{
	int status;

	pthread_mutex_lock(&w->lock);
	status = w->failed != 0 ? w->failed : w->status;
	pthread_mutex_unlock(&w->lock);
	return status;
}

static void tell_failure(struct rank_watch *w)
{
	char line[WATCH_LINE_MAX];

	pthread_mutex_lock(&w->lock);
	if (w->failed != 0 && !w->told) {
		w->told = true;
		snprintf(line, sizeof(line), "failed %d\n", w->failed);
		watch_tell_all(w, line);
	}
	pthread_mutex_unlock(&w->lock);
}

/* A rank looks for rank 0 at each address it gave. */
static bool find_rank_0(struct rank_watch *w)
{
	const struct watch_invitation *v = &w->invitation;
	double end = clock_seconds() + MEET_S;

	for (unsigned i = 0; i < WATCH_ADDRESSES && v->addresses[i][0] != '\0'; i++) {
		const struct lines_call call = {v->addresses[i], v->port, v->key, w->e->rank,
		                                w->e->size};
		struct err err = {0};

		if (lines_introduce(&call, end, &w->peers[0].fd, &err) == 0 &&
		    w->peers[0].fd >= 0) {
			w->judge.signs[0].watched = true;
			w->judge.signs[0].heard = clock_seconds();
			return true;
		}
	}
	comm_say(w->o, "this rank does not reach rank 0 for the watch: only --rank_timeout "
	               "bounds how long others wait for it");
	return false;
}

static void set_met(struct rank_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->met = true;
	pthread_mutex_unlock(&w->lock);
}

/* Of a rank that is lost before it was watched the others could not say which one it was. A signal
 * ends the wait, as it ends every other. */
static void await_meeting(struct rank_watch *w)
{
	const struct timespec slice = {.tv_nsec = 1000000L};

	while (!watch_flag(w, &w->met) && nanosleep(&slice, NULL) == 0)
		;
}

static void *run(void *arg)
{
	struct rank_watch *w = arg;
	double next = 0, due = 0;

	if (w->e->rank != 0) {
		find_rank_0(w);
		set_met(w);
	}
	while (!watch_flag(w, &w->ending)) {
		hear_all(w);
		if (clock_seconds() >= next) {
			beat(w);
			next = clock_seconds() + (double)BEAT_MS / 1000;
		}
		tell_failure(w);
		if (!watch_flag(w, &w->ending))
			judge_all(w);
		if (overdue(w, &due))
			w->o->end(w->o->ctx, status_of(w));
	}
	return NULL;
}

/* ---- beginning and ending ---- */

static bool is_usable(const struct ifaddrs *a, bool loopback)
{
	return a->ifa_addr != NULL && (a->ifa_flags & IFF_UP) != 0 &&
	       ((a->ifa_flags & IFF_LOOPBACK) != 0) == loopback &&
	       (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6);
}

/* The machine's addresses, those that only it reaches last. */
static void list_addresses(struct watch_invitation *v)
{
	struct ifaddrs *list = NULL;
	unsigned n = 0;

	if (getifaddrs(&list) != 0)
		return;
	for (int loopback = 0; loopback < 2; loopback++)
		for (const struct ifaddrs *a = list; a != NULL && n < WATCH_ADDRESSES;
		     a = a->ifa_next) {
			socklen_t len = 0;

			if (!is_usable(a, loopback == 1))
				continue;
			len = a->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
			                                        : sizeof(struct sockaddr_in6);
			/* Link-local ones carry an interface's name, which is too long here. */
			if (getnameinfo(a->ifa_addr, len, v->addresses[n], WATCH_ADDRESS_MAX, NULL,
			                0, NI_NUMERICHOST) == 0 &&
			    strchr(v->addresses[n], '%') == NULL)
				n++;
			else
				v->addresses[n][0] = '\0';
		}
	freeifaddrs(list);
}

static void invite(struct rank_watch *w, struct watch_invitation *v)
{
	struct err err = {0};

	_Static_assert(sizeof(v->key) == GREETING_NONCE_MAX, "the key is a nonce");
	if (greeting_nonce(w->invitation.key, &err) != 0 ||
	    door_open(0, w->invitation.key, w->e->size, &w->door, &err) != 0) {
		comm_say(w->o, "the ranks are not watched: rank 0 cannot listen for them");
		return;
	}
	memcpy(v->key, w->invitation.key, sizeof(v->key));
	list_addresses(v);
	v->port = door_port(w->door);
}

struct rank_watch *watch_new(const struct comm_engine *e, const struct comm_options *o,
                             struct watch_invitation *invitation)
{
	struct rank_watch *w = mem_zalloc(sizeof(*w));

	*invitation = (struct watch_invitation){.port = 0};
	w->e = e;
	w->o = o;
	w->n_peers = e->rank == 0 ? e->size : 1;
	w->peers = mem_calloc(w->n_peers, sizeof(*w->peers));
	for (unsigned i = 0; i < w->n_peers; i++)
		w->peers[i].fd = -1;
	watch_judge_init(&w->judge, w->n_peers, o->timeout_s);
	pthread_mutex_init(&w->lock, NULL);
	w->since = clock_seconds();
	if (e->rank == 0)
		invite(w, invitation);
	return w;
}

/* The library below MPI aborts when a connection to another rank breaks, at the moment when the
 * watch finds out why: it gets the time to say so, and to end the process with its status. */
static void abort_later(int number)
{
	const struct timespec pause = {.tv_sec = NAMING_S + END_S};

	(void)number;
	nanosleep(&pause, NULL);
}

static void delay_aborts(void)
{
	struct sigaction action = {.sa_handler = abort_later, .sa_flags = (int)SA_RESETHAND};

	sigemptyset(&action.sa_mask);
	sigaction(SIGABRT, &action, NULL);
}

/* MPICH's mpiexec, told to let the others live, tells them of a lost rank by this signal, whose
 * default would end them. A library that wants to hear it has its own handler. */
static void ignore_notices(void)
{
	struct sigaction action;

	if (sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		signal(SIGUSR1, SIG_IGN);
}

static void shield(void)
{
	delay_aborts();
	ignore_notices();
}

void watch_begin(struct rank_watch *w, const struct watch_invitation *invitation)
{
	sigset_t all, old;

	w->invitation = *invitation;
	if (invitation->port == 0)
		return;
	/* Signals are for the main thread, whose waits they end. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->begun = pthread_create(&w->thread, NULL, run, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!w->begun) {
		comm_say(w->o, "this rank is not watched: no thread could be started");
		return;
	}
	shield();
	if (w->e->rank != 0)
		await_meeting(w);
}

/* Closing at once could reset a connection on which the farewell is still on its way: each side
 * reads until the other has closed, too. */
static void part(struct rank_watch *w)
{
	double end = clock_seconds() + PART_S;
	char bytes[WATCH_LINE_MAX];

	watch_tell_all(w, "bye\n");
	for (unsigned i = 0; i < w->n_peers; i++)
		if (w->peers[i].fd >= 0)
			shutdown(w->peers[i].fd, SHUT_WR);
	for (unsigned i = 0; i < w->n_peers; i++) {
		AUTO_CLOSE int fd = w->peers[i].fd;
		struct pollfd polled = {.fd = fd, .events = POLLIN};

		while (fd >= 0 && clock_seconds() < end && poll(&polled, 1, SLICE_MS) >= 0 &&
		       (polled.revents == 0 || recv(fd, bytes, sizeof(bytes), 0) > 0))
			;
	}
}

static void set_ending(struct rank_watch *w)
{
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_mutex_unlock(&w->lock);
	if (w->begun)
		pthread_join(w->thread, NULL);
	w->begun = false;
}

void watch_end(struct rank_watch *w)
{
	if (w == NULL)
		return;
	set_ending(w);
	part(w);
	door_close(w->door);
	watch_judge_done(&w->judge);
	pthread_mutex_destroy(&w->lock);
	free(w->peers);
	free(w);
}

void watch_fail(struct rank_watch *w, int status)
{
	const struct timespec slice = {.tv_nsec = 10000000L};

	if (w == NULL || !w->begun)
		return;
	pthread_mutex_lock(&w->lock);
	w->failed = status;
	w->told = w->lost;
	pthread_mutex_unlock(&w->lock);
	for (double end = clock_seconds() + TOLD_S;
	     !watch_flag(w, &w->told) && clock_seconds() < end;)
		nanosleep(&slice, NULL);
}
