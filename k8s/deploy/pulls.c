/* See pulls.h. Sections: a message, a list, output. */
#include "k8s/deploy/pulls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "k8s/deploy/object_read.h"
#include "k8s/deploy/status_job.h"

#define SECONDS_MAX 1e6

/* An image this small is there before anything can be measured. */
enum { IMAGE_BYTES_MIN = 10 << 20 };

/* ---- a message ---- */

/* "1m2.5s", "812.3ms", as Go writes a duration; *ret_end behind it. False when it is not one. */
static bool parse_duration(const char *text, int64_t *ret_ms, const char **ret_end)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"ms", 1}, {"h", 3600e3}, {"m", 60e3}, {"s", 1e3}};
	double ms = 0;
	bool any = false;

	while (*text >= '0' && *text <= '9') {
		char *end;
		double n = strtod(text, &end);
		size_t i = 0;

		while (i < ARRAY_LEN(units) && !text_has_prefix(end, units[i].unit))
			i++;
		if (i == ARRAY_LEN(units))
			return false;
		ms += n * units[i].ms;
		text = end + strlen(units[i].unit);
		any = true;
	}
	*ret_end = text;
	*ret_ms = any && isfinite(ms) && ms < SECONDS_MAX * 1e3 ? (int64_t)ms : 0;
	return *ret_ms > 0;
}

bool pull_parse(const char *message, struct arena *a, struct image_pull *ret)
{
	static const char start[] = "Successfully pulled image \"", middle[] = "\" in ",
			  size[] = "Image size: ";
	struct image_pull p = {0};
	const char *name, *end, *digits;

	if (!text_has_prefix(message, start))
		return false;
	name = message + strlen(start);
	end = strstr(name, middle);
	digits = strstr(message, size);
	if (end == NULL || digits == NULL)
		return false;
	p.image = status_clean(a, arena_strndup(a, name, (size_t)(end - name)));
	digits += strlen(size);
	if (!parse_duration(end + strlen(middle), &p.ms, &end) ||
	    !text_int64(digits, strspn(digits, "0123456789"), &p.bytes) ||
	    p.bytes < IMAGE_BYTES_MIN)
		return false;
	*ret = p;
	return true;
}

/* ---- a list ---- */

static const char *node_of(const cJSON *event, struct arena *a)
{
	const char *host = json_string(json_get(event, "source"), "host");

	return status_clean(a, host != NULL ? host : json_string(event, "reportingInstance"));
}

void pulls_read(const cJSON *events, struct arena *a, struct image_pulls *ret)
{
	struct image_pulls pulls = {arena_calloc(a, PULLS_SHOWN_MAX, sizeof(*pulls.at)), 0};

	for (const cJSON *e = object_first(events); e != NULL; e = e->next) {
		const char *message = json_string(e, "message");
		struct image_pull p;

		if (message == NULL || !pull_parse(message, a, &p))
			continue;
		p.node = node_of(e, a);
		p.pod = status_clean(a, json_string(json_get(e, "involvedObject"), "name"));
		if (pulls.n == PULLS_SHOWN_MAX)
			memmove(pulls.at, pulls.at + 1, --pulls.n * sizeof(*pulls.at));
		pulls.at[pulls.n++] = p;
	}
	*ret = pulls;
}

/* ---- output ---- */

int64_t pull_speed(const struct image_pull *p)
{
	return (int64_t)((double)p->bytes / 1e3 / (double)p->ms + 0.5);
}

void pulls_text(const struct image_pulls *pulls, struct strbuf *sb)
{
	char size[TEXT_BYTES_MAX];

	for (size_t i = 0; i < pulls->n; i++) {
		const struct image_pull *p = &pulls->at[i];
		int64_t speed = pull_speed(p);

		strbuf_addf(sb, "%s%s pulled %s in %.1f s: %lld MB/s%s\n",
		            i == 0 ? "images      " : "            ",
		            p->node != NULL ? p->node : "a node", text_bytes(p->bytes, size),
		            (double)p->ms / 1e3, (long long)speed,
		            speed < PULL_SLOW_MB_S && p->bytes > 1 << 30
		                    ? ", slow: see fleet.*.pull and fleet.*.volume"
		                    : "");
	}
}

void pulls_json(const struct image_pulls *pulls, cJSON *array)
{
	for (size_t i = 0; i < pulls->n; i++) {
		const struct image_pull *p = &pulls->at[i];
		cJSON *o = cJSON_CreateObject();

		json_add_string(o, "node", p->node);
		json_add_string(o, "pod", p->pod);
		json_add_string(o, "image", p->image);
		json_add_int(o, "bytes", p->bytes);
		json_add_int(o, "milliseconds", p->ms);
		json_add_int(o, "megabytes_per_second", pull_speed(p));
		json_push(array, o);
	}
}
