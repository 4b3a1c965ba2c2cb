#include "base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"

/* Years that every field below can hold: 1970 ... 9999. */
static const int64_t LAST_SECOND = 253402300799;

static bool to_ms(struct tm *tm, int64_t *ret_ms)
{
	int64_t seconds = (int64_t)timegm(tm);

	if (seconds < 0 || seconds > LAST_SECOND)
		return false;
	*ret_ms = seconds * 1000;
	return true;
}

bool timestamp_http(const char *text, int64_t *ret_ms)
{
	static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT",
	                                    "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);

		if (end != NULL && *end == '\0')
			return to_ms(&tm, ret_ms);
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "Z", "UTC", "+hh:mm", "-hh:mm": minutes east of UTC. */
static bool parse_zone(const char *text, int *ret_minutes)
{
	*ret_minutes = 0;
	if (strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0)
		return true;
	if ((text[0] != '+' && text[0] != '-') || strlen(text) != 6 || text[3] != ':')
		return false;
	if (!is_digit(text[1]) || !is_digit(text[2]) || !is_digit(text[4]) || !is_digit(text[5]))
		return false;
	int minutes =
		((text[1] - '0') * 10 + text[2] - '0') * 60 + (text[4] - '0') * 10 + text[5] - '0';

	*ret_minutes = text[0] == '-' ? -minutes : minutes;
	return true;
}

bool timestamp_iso8601(const char *text, int64_t *ret_ms)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int64_t ms;
	int zone;

	if (end == NULL)
		return false;
	if (*end == '.')
		for (end++; is_digit(*end);)
			end++;
	if (!parse_zone(end, &zone) || !to_ms(&tm, &ms))
		return false;
	*ret_ms = ms - (int64_t)zone * 60000;
	return true;
}

static char *format(int64_t ms, bool extended, char out[TIMESTAMP_MAX])
{
	const char *dash = extended ? "-" : "", *colon = extended ? ":" : "";
	int64_t bounded = ms / 1000;
	struct tm tm = {0};

	bounded = bounded < 0 ? 0 : bounded > LAST_SECOND ? LAST_SECOND : bounded;
	time_t seconds = (time_t)bounded;

	gmtime_r(&seconds, &tm);
	snprintf(out, TIMESTAMP_MAX, "%04u%s%02u%s%02uT%02u%s%02u%s%02uZ",
	         (unsigned)(tm.tm_year + 1900) % 10000, dash, (unsigned)(tm.tm_mon + 1) % 100, dash,
	         (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, colon,
	         (unsigned)tm.tm_min % 100, colon, (unsigned)tm.tm_sec % 100);
	return out;
}

char *timestamp_basic(int64_t ms, char out[TIMESTAMP_MAX])
{
	return format(ms, false, out);
}

char *timestamp_extended(int64_t ms, char out[TIMESTAMP_MAX])
{
	return format(ms, true, out);
}
