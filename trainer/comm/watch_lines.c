/*
 * What ranks tell each other in the watch, a line each:
 *
 *   a rank:  beat WAITING STEPS STRETCH_MS BUSY_MS | failed STATUS | bye
 *   rank 0:  the same, and: lost STATUS REASON | slow REASON
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trainer/comm/watch_internal.h"

enum { STATUS_MAX = 255 }; /* wait(2) tells eight bits */

/* A beat of more than this many milliseconds is not believed: 30 years. */
#define MS_MAX 1000000000000ull

void watch_tell(struct watch_peer *p, const char *line)
{
	size_t len = strlen(line);

	if (p->fd < 0)
		return;
	/* A peer that has not read for so long that the buffers are full is told nothing more; its
	 * own silence says the rest. */
	if (send(p->fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)len)
		shutdown(p->fd, SHUT_WR);
}

void watch_tell_all(struct rank_watch *w, const char *line)
{
	for (unsigned i = 0; i < w->n_peers; i++)
		watch_tell(&w->peers[i], line);
}

void watch_write_beat(const struct watch_sign *s, char line[WATCH_LINE_MAX])
{
	snprintf(line, WATCH_LINE_MAX, "beat %d %" PRIu64 " %.0f %.0f\n", s->waiting, s->steps,
	         s->stretch * 1000, s->busy * 1000);
}

static bool read_beat(const char *line, struct watch_sign *s)
{
	unsigned waiting;
	uint64_t steps, stretch, busy;
	char more;

	if (sscanf(line, "beat %u %" SCNu64 " %" SCNu64 " %" SCNu64 "%c", &waiting, &steps,
	           &stretch, &busy, &more) != 4 ||
	    waiting > 1 || stretch > MS_MAX || busy > MS_MAX)
		return false;
	s->waiting = waiting == 1;
	s->steps = steps;
	s->stretch = (double)stretch / 1000;
	s->busy = (double)busy / 1000;
	return true;
}

/* "WORD STATUS" and, where there is room for it, " REASON"; NULL for another line. */
static const char *read_status(const char *line, const char *word, int *ret)
{
	size_t len = strlen(word);
	char *end;
	long status;

	if (strncmp(line, word, len) != 0 || line[len] != ' ')
		return NULL;
	status = strtol(line + len + 1, &end, 10);
	if (end == line + len + 1 || status < 1 || status > STATUS_MAX)
		return NULL;
	*ret = (int)status;
	return *end == ' ' ? end + 1 : *end == '\0' ? end : NULL;
}

/* What only rank 0 says; false: something else. */
static bool take_verdict(struct rank_watch *w, const char *line)
{
	int status;
	const char *reason = read_status(line, "lost", &status);

	if (reason != NULL)
		watch_give_up(w, status, reason);
	else if (strncmp(line, "slow ", 5) == 0)
		watch_slow_down(w, line + 5);
	else
		return false;
	return true;
}

static void take_line(struct rank_watch *w, unsigned i, const char *line, double now)
{
	struct watch_sign *s = &w->judge.signs[i];

	if (strcmp(line, "bye") == 0)
		s->left = true;
	else if (read_status(line, "failed", &s->status) != NULL)
		s->failed = true;
	else if (!(w->e->rank != 0 && take_verdict(w, line)) && !read_beat(line, s))
		s->gone = true;
	s->watched = true;
	s->heard = now;
}

void watch_hear(struct rank_watch *w, unsigned i, double now)
{
	struct watch_peer *p = &w->peers[i];
	struct watch_sign *s = &w->judge.signs[i];
	char bytes[WATCH_LINE_MAX];
	ssize_t got = recv(p->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	for (ssize_t k = 0; k < got && !s->gone; k++) {
		if (bytes[k] == '\n') {
			p->line[p->n] = '\0';
			p->n = 0;
			take_line(w, i, p->line, now);
		} else if (p->n + 1 < sizeof(p->line)) {
			p->line[p->n++] = bytes[k];
		}
	}
	if (got > 0 && !s->gone)
		return;
	s->gone = !s->left && !s->failed;
	close(p->fd);
	p->fd = -1;
}
