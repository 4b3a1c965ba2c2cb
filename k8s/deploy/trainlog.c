#include "k8s/deploy/trainlog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/doc/json.h"
#include "base/text.h"
#include "base/timestamp.h"

enum { STAMP_MAX = 40, WORK_MAX = 4096 };

size_t trainlog_timestamp(const char *line, size_t len, int64_t *ret_ns)
{
	const char *blank = memchr(line, ' ', len < STAMP_MAX ? len : STAMP_MAX);
	size_t n = blank != NULL ? (size_t)(blank - line) : len;
	char text[STAMP_MAX + 1];
	int64_t ms, fraction = 0, scale = 1000000000;
	const char *dot;

	if (n < 20 || n > STAMP_MAX || line[4] != '-' || line[10] != 'T')
		return 0;
	memcpy(text, line, n);
	text[n] = '\0';
	if (!timestamp_iso8601(text, &ms) || ms < 0)
		return 0;
	dot = strchr(text, '.');
	for (dot = dot != NULL ? dot + 1 : ""; *dot >= '0' && *dot <= '9' && scale > 1; dot++) {
		fraction = fraction * 10 + (*dot - '0');
		scale /= 10;
	}
	/* Nanoseconds in 64 bits end in the year 2262. */
	if (__builtin_mul_overflow(ms / 1000, 1000000000, &ms) ||
	    __builtin_add_overflow(ms, fraction * scale, &ms))
		return 0;
	*ret_ns = ms;
	return n + (blank != NULL);
}

/* The number behind `key`; false if the line has no such key or no number there. */
static bool number_after(const char *line, const char *key, double *ret)
{
	const char *at = strstr(line, key);
	char *end;

	if (at == NULL)
		return false;
	at += strlen(key);
	*ret = strtod(at, &end);
	return end != at;
}

/* A number from a log as a count; -1 when it is none. */
static int64_t count_of(double value)
{
	return value >= 0 && value <= 9007199254740992.0 ? (int64_t)value : -1;
}

/* "| Training Device=... Epoch=0 Step=5 Learning_Rate=... Loss=1.25 Throughput=8.1 Time=..." */
static bool read_training(const char *line, struct trainlog *ret)
{
	const char *at = strstr(line, "Training Device=");
	double epoch, step, loss, throughput;

	if (at == NULL || !number_after(at, " Step=", &step) || count_of(step) < 0)
		return false;
	ret->step = count_of(step);
	ret->epoch = number_after(at, " Epoch=", &epoch) ? count_of(epoch) : -1;
	ret->loss = number_after(at, " Loss=", &loss) ? loss : NAN;
	ret->throughput = number_after(at, " Throughput=", &throughput) ? throughput : NAN;
	return true;
}

/* "  step 105: image ..., 8.125 clips/s, ...": the run's step, under the line above. */
static bool read_details(const char *line, struct trainlog *ret)
{
	const char *at = strstr(line, "  step ");
	double step;

	if (at == NULL || strstr(at, "clips/s") == NULL || !number_after(at, "  step ", &step) ||
	    count_of(step) < 0)
		return false;
	ret->step = count_of(step);
	return true;
}

static double json_number(const cJSON *doc, const char *key)
{
	const cJSON *item = json_get(doc, key);

	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool read_json(const char *line, struct trainlog *ret)
{
	const char *brace = strchr(line, '{');
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};

	if (brace == NULL || strstr(brace, "\"step\"") == NULL ||
	    json_parse("log line", brace, strlen(brace), &doc, &ignored) != 0 ||
	    count_of(json_number(doc, "step")) < 0)
		return false;
	ret->step = count_of(json_number(doc, "step"));
	ret->epoch = count_of(json_number(doc, "epoch"));
	ret->loss = json_number(doc, "loss");
	ret->throughput = json_number(doc, "clips_per_second");
	return true;
}

/* Any line that says that a checkpoint was saved or written; "step-00000500" or "step 500" in it
 * names the step. */
static bool read_checkpoint(const char *line, struct trainlog *ret)
{
	const char *at = strcasestr(line, "checkpoint");
	const char *step;
	double value;

	if (at == NULL || (strcasestr(line, "saved") == NULL && strcasestr(line, "wrote") == NULL &&
	                   strcasestr(line, "written") == NULL))
		return false;
	ret->has_checkpoint = true;
	ret->checkpoint_step = -1;
	step = strcasestr(line, "step");
	if (step != NULL &&
	    (step[4] == '-' || step[4] == ' ' || step[4] == '_' || step[4] == '=') &&
	    step[5] >= '0' && step[5] <= '9') {
		value = strtod(step + 5, NULL);
		ret->checkpoint_step = count_of(value);
	}
	return true;
}

static void keep_last(const char *line, struct trainlog *ret)
{
	size_t n = 0;

	for (; n < TRAINLOG_LINE_MAX - 1 && line[n] != '\0'; n++)
		ret->last[n] = (unsigned char)line[n] < 0x20 || line[n] == 0x7f ? '?' : line[n];
	/* A cut leaves no half of a character. */
	while (n > 0 && !text_is_utf8(ret->last, n))
		n--;
	ret->last[n] = '\0';
}

static void read_line(const char *line, int64_t ms, struct trainlog *ret)
{
	if (line[strspn(line, " \t\r")] == '\0')
		return;
	if (read_training(line, ret) || read_details(line, ret) || read_json(line, ret)) {
		ret->has_step = true;
		ret->step_ms = ms;
	} else if (read_checkpoint(line, ret)) {
		ret->checkpoint_ms = ms;
	}
	keep_last(line, ret);
	ret->last_ms = ms;
}

void trainlog_read(const char *text, size_t len, struct trainlog *ret)
{
	*ret = (struct trainlog){
		.epoch = -1, .loss = NAN, .throughput = NAN, .checkpoint_step = -1};
	while (len > 0) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline != NULL ? (size_t)(newline - text) : len;
		char line[WORK_MAX];
		int64_t ns = 0;
		size_t stamp = trainlog_timestamp(text, n, &ns);
		size_t copied = 0;

		for (size_t i = stamp; i < n && copied < WORK_MAX - 1; i++)
			if (text[i] != '\0')
				line[copied++] = text[i];
		line[copied] = '\0';
		read_line(line, ns / 1000000, ret);
		n += newline != NULL;
		text += n;
		len -= n;
	}
}
