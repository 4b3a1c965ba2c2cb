#include "k8s/job/transport.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/attr.h"

enum { LINE_MAX_SEEN = 4096 };

const char *transport_name(enum transport transport)
{
	static const char *const names[] = {"unknown", "efa", "socket"};

	_Static_assert(ARRAY_LEN(names) == TRANSPORTS, "names: one for each");
	return names[transport];
}

const char *transport_find(const char *line, size_t len, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= len; i++) {
		size_t k = 0;

		while (k < n && tolower((unsigned char)line[i + k]) == what[k])
			k++;
		if (k == n)
			return line + i;
	}
	return NULL;
}

static const struct {
	const char *text; /* in lower case */
	enum transport transport;
} signs[] = {
	{"using network socket", TRANSPORT_SOCKET},
	{"selected provider is tcp", TRANSPORT_SOCKET},
	{"selected provider is sockets", TRANSPORT_SOCKET},
	{"selected provider is efa", TRANSPORT_EFA},
	{"using network efa", TRANSPORT_EFA},
};

enum transport transport_after(enum transport known, const char *line, size_t len)
{
	for (size_t i = 0; known != TRANSPORT_SOCKET && i < ARRAY_LEN(signs); i++)
		if (transport_find(line, len, signs[i].text) != NULL)
			known = signs[i].transport;
	return known;
}

enum transport transport_of_log(const char *log, size_t len)
{
	enum transport known = TRANSPORT_UNKNOWN;

	while (len > 0) {
		const char *newline = memchr(log, '\n', len);
		size_t n = newline != NULL ? (size_t)(newline - log) + 1 : len;

		known = transport_after(known, log, n > LINE_MAX_SEEN ? LINE_MAX_SEEN : n);
		log += n;
		len -= n;
	}
	return known;
}
