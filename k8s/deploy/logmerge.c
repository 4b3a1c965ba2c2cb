#include "k8s/deploy/logmerge.h"

#include <string.h>

#include "base/mem.h"
#include "k8s/deploy/trainlog.h"

struct held {
	char *text;
	size_t len;
	int64_t ns;
	bool cut;
};

struct log_queue {
	VEC(struct held) lines;
	size_t first, bytes; /* the oldest line that is held; bytes of all that are */
	char *part;          /* a line whose newline has not come */
	size_t part_len;
	bool part_cut, ended;
	int64_t ns; /* of the newest line */
};

struct logmerge {
	struct log_queue *at;
	size_t n;
	char *given; /* text of the line given last */
};

struct logmerge *logmerge_new(size_t n_sources)
{
	struct logmerge *m = mem_zalloc(sizeof(*m));

	m->at = mem_calloc(n_sources, sizeof(*m->at));
	m->n = n_sources;
	return m;
}

void logmerge_free(struct logmerge *m)
{
	if (m == NULL)
		return;
	for (size_t i = 0; i < m->n; i++) {
		struct log_queue *s = &m->at[i];

		for (size_t k = s->first; k < s->lines.n; k++)
			free(s->lines.at[k].text);
		vec_done(&s->lines);
		free(s->part);
	}
	free(m->given);
	free(m->at);
	free(m);
}

bool logmerge_wants(const struct logmerge *m, size_t source)
{
	return !m->at[source].ended && m->at[source].bytes < LOG_AHEAD_MAX;
}

/* Lines that were given leave their places: a source that is never out of lines would grow on. */
static void close_up(struct log_queue *s)
{
	if (s->first <= s->lines.n / 2)
		return;
	s->lines.n -= s->first;
	memmove(s->lines.at, s->lines.at + s->first, s->lines.n * sizeof(*s->lines.at));
	s->first = 0;
}

/* The part is a line: its time is taken off, and a return before its end. */
static void complete(struct log_queue *s)
{
	struct held line = {.ns = s->ns, .cut = s->part_cut};
	size_t stamp = trainlog_timestamp(s->part, s->part_len, &line.ns);

	line.len = s->part_len - stamp;
	if (line.len > 0 && s->part[s->part_len - 1] == '\r')
		line.len--;
	line.text = mem_strndup(s->part + stamp, line.len);
	s->ns = line.ns;
	s->bytes += line.len + sizeof(line);
	close_up(s);
	vec_push(&s->lines, line);
	s->part_len = 0;
	s->part_cut = false;
}

static void add_part(struct log_queue *s, const char *bytes, size_t len)
{
	if (s->part == NULL)
		s->part = mem_zalloc(LOG_LINE_MAX);
	if (len > LOG_LINE_MAX - s->part_len) {
		len = LOG_LINE_MAX - s->part_len;
		s->part_cut = true;
	}
	memcpy(s->part + s->part_len, bytes, len);
	s->part_len += len;
}

void logmerge_feed(struct logmerge *m, size_t source, const char *bytes, size_t len)
{
	struct log_queue *s = &m->at[source];

	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline != NULL ? (size_t)(newline - bytes) : len;

		add_part(s, bytes, n);
		if (newline != NULL) {
			complete(s);
			n++;
		}
		bytes += n;
		len -= n;
	}
}

void logmerge_end(struct logmerge *m, size_t source)
{
	struct log_queue *s = &m->at[source];

	if (s->part_len > 0)
		complete(s);
	s->ended = true;
}

void logmerge_open(struct logmerge *m, size_t source)
{
	m->at[source].ended = false;
}

bool logmerge_holds(const struct logmerge *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].first < m->at[i].lines.n)
			return true;
	return false;
}

static struct held queue_take(struct log_queue *s)
{
	struct held line = s->lines.at[s->first++];

	s->bytes -= line.len + sizeof(line);
	if (s->first == s->lines.n)
		s->first = s->lines.n = 0;
	return line;
}

bool logmerge_next(struct logmerge *m, bool hurry, struct log_line *ret)
{
	struct log_queue *oldest = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct log_queue *s = &m->at[i];

		if (s->first == s->lines.n) {
			if (!s->ended && !hurry)
				return false;
			continue;
		}
		if (oldest == NULL || s->lines.at[s->first].ns < oldest->lines.at[oldest->first].ns)
			oldest = s;
	}
	if (oldest == NULL)
		return false;
	struct held line = queue_take(oldest);

	free(m->given);
	m->given = line.text;
	*ret = (struct log_line){(size_t)(oldest - m->at), line.ns, line.text, line.len, line.cut};
	return true;
}
