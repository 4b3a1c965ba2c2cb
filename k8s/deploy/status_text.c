/* A status as a person and as a program read it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timestamp.h"
#include "k8s/deploy/status.h"

const char *age_text(int64_t seconds, char out[AGE_MAX])
{
	long long s = seconds, minutes = s / 60, hours = minutes / 60, days = hours / 24;

	if (s < 0)
		snprintf(out, AGE_MAX, "unknown");
	else if (days > 0)
		snprintf(out, AGE_MAX, "%lld d %lld h", days, hours % 24);
	else if (hours > 0)
		snprintf(out, AGE_MAX, "%lld h %lld min", hours, minutes % 60);
	else if (minutes > 0)
		snprintf(out, AGE_MAX, "%lld min", minutes);
	else
		snprintf(out, AGE_MAX, "%lld s", s);
	return out;
}

static const char *or_unknown(const char *text)
{
	return text != NULL ? text : "unknown";
}

const char *stage_state_name(enum stage_state state)
{
	static const char *const names[] = {"absent", "waiting", "ready"};

	_Static_assert(ARRAY_LEN(names) == STAGE_STATES, "names: one per enum stage_state");
	return names[state];
}

/* ---- text ---- */

static void add_job(const struct status *s, struct strbuf *sb)
{
	strbuf_addf(sb, "%s: %s", s->job, job_phase_name(s->phase));
	if (s->run > 0)
		strbuf_addf(sb, ", run %lld", (long long)s->run);
}

static void add_target(const struct status *s, struct strbuf *sb)
{
	char age[AGE_MAX];

	strbuf_addf(sb, "target      %s", s->target != NULL ? s->target : "none: there is no job");
	if (s->reason != NULL)
		strbuf_addf(sb, ": %s", s->reason);
	if (s->since != NULL)
		strbuf_addf(sb, " (since %s)", s->since);
	strbuf_addc(sb, '\n');
	for (size_t i = 0; i < s->n_attempts; i++) {
		const struct status_attempt *t = &s->attempts[i];

		strbuf_addf(sb, "  tried     %s from %s: %s%s%s\n", or_unknown(t->target),
		            or_unknown(t->started), or_unknown(t->outcome),
		            t->cause != NULL && t->cause[0] != '\0' ? ", " : "",
		            t->cause != NULL ? t->cause : "");
	}
	if (s->job == NULL)
		return;
	strbuf_adds(sb, "job         ");
	add_job(s, sb);
	if (s->job_age_s >= 0)
		strbuf_addf(sb, ", %s old", age_text(s->job_age_s, age));
	if (s->why[0] != '\0')
		strbuf_addf(sb, ": %s", s->why);
	strbuf_addc(sb, '\n');
}

/* "5 min ago", or that nobody knows; of a line printed at `ms`. */
static const char *ago(const struct status *s, int64_t ms, char out[AGE_MAX])
{
	char age[AGE_MAX - 8];
	int64_t seconds = ms > 0 && ms <= s->now_ms ? (s->now_ms - ms) / 1000 : -1;

	if (seconds < 0) {
		snprintf(out, AGE_MAX, "at an unknown time");
	} else {
		char whole[AGE_MAX];

		snprintf(age, sizeof(age), "%s", age_text(seconds, whole));
		snprintf(out, AGE_MAX, "%s ago", age);
	}
	return out;
}

static void add_network(const struct status *s, struct strbuf *sb)
{
	static const char *const said[] = {
		[TRANSPORT_UNKNOWN] = "unknown: the log does not name the provider",
		[TRANSPORT_EFA] = "EFA",
		[TRANSPORT_SOCKET] = "sockets: EFA is not used, which costs most of the bandwidth",
	};

	_Static_assert(ARRAY_LEN(said) == TRANSPORTS, "said: one for each");
	if (s->wants_efa && s->log_problem == NULL)
		strbuf_addf(sb, "network     %s\n", said[s->transport]);
}

static void add_step(const struct status *s, struct strbuf *sb)
{
	const struct trainlog *t = &s->log;
	char age[AGE_MAX];

	strbuf_adds(sb, "step        ");
	if (!t->has_step) {
		strbuf_addf(sb, "unknown: %s\n",
		            s->log_problem != NULL ? s->log_problem
		            : t->last[0] != '\0'   ? "no step in the last lines of the log"
		                                   : "the log is still empty");
	} else {
		strbuf_addf(sb, "%lld", (long long)t->step);
		if (t->epoch >= 0)
			strbuf_addf(sb, " of epoch %lld", (long long)t->epoch);
		if (isfinite(t->loss))
			strbuf_addf(sb, ", loss %.5f", t->loss);
		if (isfinite(t->throughput))
			strbuf_addf(sb, ", %.3f clips/s", t->throughput);
		strbuf_addf(sb, ", %s\n", ago(s, t->step_ms, age));
	}
	if (t->last[0] != '\0')
		strbuf_addf(sb, "  log       %s\n", t->last);
	strbuf_adds(sb, "checkpoint  ");
	if (!t->has_checkpoint)
		strbuf_adds(sb, "unknown: no checkpoint in the last lines of the log\n");
	else if (t->checkpoint_step >= 0)
		strbuf_addf(sb, "of step %lld, %s\n", (long long)t->checkpoint_step,
		            ago(s, t->checkpoint_ms, age));
	else
		strbuf_addf(sb, "%s\n", ago(s, t->checkpoint_ms, age));
}

static void add_pods(const struct status *s, struct strbuf *sb)
{
	size_t width = 0;

	for (size_t i = 0; i < s->n_pods; i++)
		if (strlen(s->pods[i].name) > width)
			width = strlen(s->pods[i].name);
	for (size_t i = 0; i < s->n_pods; i++) {
		const struct status_pod *p = &s->pods[i];

		strbuf_addf(sb, "%s%-*s %-9s", i == 0 ? "pods        " : "            ", (int)width,
		            p->name, p->phase);
		if (p->node != NULL)
			strbuf_addf(sb, " on %s", p->node);
		if (p->restarts > 0)
			strbuf_addf(sb, ", %lld restart%s", (long long)p->restarts,
			            p->restarts == 1 ? "" : "s");
		if (p->why[0] != '\0')
			strbuf_addf(sb, ": %s", p->why);
		strbuf_addc(sb, '\n');
	}
}

static void add_nodes(const struct status *s, struct strbuf *sb)
{
	char age[AGE_MAX], price[PRICE_TEXT_MAX];

	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct status_node *n = &s->nodes[i];

		strbuf_addf(sb, "%s%s %s, %s, %s, %s old, %s",
		            i == 0 ? "nodes       " : "            ", n->claim ? "claim" : "node",
		            n->name, or_unknown(n->type), or_unknown(n->capacity),
		            age_text(n->age_s, age), or_unknown(n->zone));
		strbuf_addf(sb, ", %s", n->ready ? "ready" : "not ready");
		if (n->why[0] != '\0')
			strbuf_addf(sb, " (%s)", n->why);
		if (s->prices != NULL)
			strbuf_addf(sb, ", %s",
			            n->micros >= 0 ? price_text(s->prices, n->micros, price)
			                           : "price unknown");
		strbuf_addc(sb, '\n');
	}
	if (s->n_nodes == 0)
		strbuf_adds(sb, "nodes       none\n");
}

static void add_cost(const struct status *s, struct strbuf *sb)
{
	char price[PRICE_TEXT_MAX];

	if (s->prices == NULL) {
		strbuf_adds(sb, "cost        unknown: give prices with --prices\n");
		return;
	}
	if (s->storage_gib > 0)
		strbuf_addf(sb, "storage     %lld GiB, %s\n", (long long)s->storage_gib,
		            s->storage_micros >= 0 ? price_text(s->prices, s->storage_micros, price)
		                                   : "price unknown");
	strbuf_addf(sb, "cost        %s an hour", price_text(s->prices, s->micros, price));
	if (s->unknown > 0)
		strbuf_addf(sb, ", plus %zu item%s of unknown price", s->unknown,
		            s->unknown == 1 ? "" : "s");
	strbuf_adds(sb, "; the cluster itself is not included\n");
}

void status_text(const struct status *s, struct strbuf *sb)
{
	for (size_t i = 0; i < s->n_stages; i++) {
		const struct status_stage *stage = &s->stages[i];

		strbuf_addf(sb, "%s%-11s %-8s %zu of %zu objects%s%s\n",
		            i == 0 ? "stages      " : "            ", stage->name,
		            stage_state_name(stage->state), stage->there, stage->planned,
		            stage->why[0] != '\0' ? ": " : "", stage->why);
	}
	add_target(s, sb);
	if (s->job != NULL) {
		add_pods(s, sb);
		add_network(s, sb);
		add_step(s, sb);
	}
	add_nodes(s, sb);
	pulls_text(&s->pulls, sb);
	add_cost(s, sb);
}

/* Nothing that changes by itself: ages, steps, what a log says. */
void status_brief(const struct status *s, struct strbuf *sb)
{
	for (size_t i = 0; i < s->n_stages; i++)
		strbuf_addf(sb, "stage %s: %s%s%s\n", s->stages[i].name,
		            stage_state_name(s->stages[i].state),
		            s->stages[i].why[0] != '\0' ? ": " : "", s->stages[i].why);
	if (s->job != NULL) {
		strbuf_adds(sb, "job ");
		add_job(s, sb);
		strbuf_addf(sb, "%s%s\n", s->why[0] != '\0' ? ": " : "", s->why);
	} else {
		strbuf_adds(sb, "there is no job\n");
	}
	for (size_t i = 0; i < s->n_pods; i++)
		strbuf_addf(sb, "pod %s: %s, %lld restarts%s%s\n", s->pods[i].name,
		            s->pods[i].phase, (long long)s->pods[i].restarts,
		            s->pods[i].why[0] != '\0' ? ": " : "", s->pods[i].why);
	for (size_t i = 0; i < s->n_nodes; i++)
		strbuf_addf(sb, "%s %s: %s, %s, %s\n", s->nodes[i].claim ? "claim" : "node",
		            s->nodes[i].name, or_unknown(s->nodes[i].type),
		            or_unknown(s->nodes[i].capacity),
		            s->nodes[i].ready ? "ready" : "not ready");
}

/* Does `text` have this line, or one that begins so? */
static bool has_line(const char *text, const char *line, size_t len, bool whole)
{
	for (; *text != '\0'; text += strcspn(text, "\n") + 1)
		if (strncmp(text, line, len) == 0 && (!whole || text[len] == '\n'))
			return true;
	return false;
}

void status_changes(const char *before, const char *after, const char *stamp, struct strbuf *sb)
{
	for (const char *line = after; *line != '\0'; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n");

		if (!has_line(before, line, len, true))
			strbuf_addf(sb, "%s %.*s\n", stamp, (int)len, line);
	}
	for (const char *line = before; *line != '\0'; line += strcspn(line, "\n") + 1) {
		size_t len = strcspn(line, "\n"), key = strcspn(line, ":\n");

		/* A line without a key says that there is nothing: it needs no farewell. */
		if (key < len && !has_line(after, line, key + 1, false))
			strbuf_addf(sb, "%s %.*s: gone\n", stamp, (int)key, line);
	}
}
