/* A status for programs: docs/DEPLOY.md lists the members; they are only ever added to. */
#include <math.h>
#include <stdio.h>

#include "base/timestamp.h"
#include "k8s/deploy/status.h"

/* What is not known is null, never 0. */
static void add_text(cJSON *o, const char *key, const char *value)
{
	if (value != NULL)
		json_add_string(o, key, value);
	else
		cJSON_AddNullToObject(o, key);
}

static void add_count(cJSON *o, const char *key, int64_t value)
{
	if (value >= 0)
		json_add_int(o, key, value);
	else
		cJSON_AddNullToObject(o, key);
}

static void add_number(cJSON *o, const char *key, double value)
{
	if (isfinite(value))
		cJSON_AddNumberToObject(o, key, value);
	else
		cJSON_AddNullToObject(o, key);
}

/* A price as a decimal text, so that no program rounds it. */
static void add_price(cJSON *o, const char *key, int64_t micros)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld.%06lld", (long long)(micros / MICROS),
	         (long long)(micros % MICROS));
	add_text(o, key, micros >= 0 ? text : NULL);
}

static void add_time(cJSON *o, const char *key, int64_t ms)
{
	char text[TIMESTAMP_MAX];

	add_text(o, key, ms > 0 ? timestamp_extended(ms, text) : NULL);
}

static cJSON *row(cJSON *array)
{
	cJSON *o = cJSON_CreateObject();

	json_push(array, o);
	return o;
}

static void add_stages(const struct status *s, cJSON *doc)
{
	cJSON *list = json_add_array(doc, "stages");

	for (size_t i = 0; i < s->n_stages; i++) {
		cJSON *o = row(list);

		json_add_string(o, "name", s->stages[i].name);
		json_add_string(o, "state", stage_state_name(s->stages[i].state));
		json_add_int(o, "objects", (int64_t)s->stages[i].there);
		json_add_int(o, "planned", (int64_t)s->stages[i].planned);
		json_add_string(o, "why", s->stages[i].why);
	}
}

static void add_target(const struct status *s, cJSON *doc)
{
	cJSON *target = json_add_object(doc, "target");
	cJSON *list;

	add_text(target, "name", s->target);
	add_text(target, "reason", s->reason);
	add_text(target, "since", s->since);
	list = json_add_array(target, "attempts");
	for (size_t i = 0; i < s->n_attempts; i++) {
		cJSON *o = row(list);

		add_text(o, "target", s->attempts[i].target);
		add_text(o, "started", s->attempts[i].started);
		add_text(o, "ended", s->attempts[i].ended);
		add_text(o, "outcome", s->attempts[i].outcome);
		add_text(o, "cause", s->attempts[i].cause);
	}
}

static void add_job(const struct status *s, cJSON *doc)
{
	cJSON *job = json_add_object(doc, "job"), *list;

	add_text(job, "name", s->job);
	json_add_string(job, "phase", job_phase_name(s->phase));
	json_add_string(job, "why", s->why);
	add_count(job, "run", s->run > 0 ? s->run : -1);
	add_count(job, "age_seconds", s->job_age_s);
	list = json_add_array(job, "pods");
	for (size_t i = 0; i < s->n_pods; i++) {
		cJSON *o = row(list);

		json_add_string(o, "name", s->pods[i].name);
		add_count(o, "rank", s->pods[i].rank);
		json_add_string(o, "phase", s->pods[i].phase);
		json_add_bool(o, "ready", s->pods[i].ready);
		json_add_int(o, "restarts", s->pods[i].restarts);
		add_text(o, "node", s->pods[i].node);
		json_add_string(o, "why", s->pods[i].why);
	}
}

static void add_training(const struct status *s, cJSON *doc)
{
	const struct trainlog *t = &s->log;
	cJSON *o = json_add_object(doc, "training"), *checkpoint;

	add_count(o, "step", t->has_step ? t->step : -1);
	add_count(o, "epoch", t->epoch);
	add_number(o, "loss", t->loss);
	add_number(o, "clips_per_second", t->throughput);
	add_time(o, "time", t->step_ms);
	add_text(o, "last_line", t->last[0] != '\0' ? t->last : NULL);
	add_text(o, "problem", s->log_problem);
	add_text(o, "network", s->wants_efa ? transport_name(s->transport) : NULL);
	checkpoint = json_add_object(o, "checkpoint");
	add_count(checkpoint, "step", t->checkpoint_step);
	add_time(checkpoint, "time", t->checkpoint_ms);
	add_count(checkpoint, "age_seconds",
	          t->checkpoint_ms > 0 && t->checkpoint_ms <= s->now_ms
	                  ? (s->now_ms - t->checkpoint_ms) / 1000
	                  : -1);
}

static void add_nodes(const struct status *s, cJSON *doc)
{
	cJSON *list = json_add_array(doc, "nodes");

	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct status_node *n = &s->nodes[i];
		cJSON *o = row(list);

		json_add_string(o, "name", n->name);
		json_add_string(o, "kind", n->claim ? "claim" : "node");
		add_text(o, "instance_type", n->type);
		add_text(o, "zone", n->zone);
		add_text(o, "capacity_type", n->capacity);
		add_count(o, "age_seconds", n->age_s);
		json_add_bool(o, "ready", n->ready);
		json_add_string(o, "why", n->why);
		add_price(o, "price_per_hour", n->micros);
	}
}

static void add_cost(const struct status *s, cJSON *doc)
{
	cJSON *o = json_add_object(doc, "cost");

	add_text(o, "currency", s->prices != NULL ? s->prices->currency : NULL);
	add_price(o, "per_hour", s->prices != NULL ? s->micros : -1);
	json_add_int(o, "unknown", (int64_t)s->unknown);
	json_add_int(o, "storage_gib", s->storage_gib);
	add_price(o, "storage_per_hour", s->storage_micros);
}

cJSON *status_json(const struct status *s)
{
	cJSON *doc = cJSON_CreateObject();

	add_time(doc, "time", s->now_ms);
	add_text(doc, "fleet", s->fleet != NULL ? s->fleet->name : NULL);
	add_stages(s, doc);
	add_target(s, doc);
	add_job(s, doc);
	add_training(s, doc);
	add_nodes(s, doc);
	pulls_json(&s->pulls, json_add_array(doc, "pulls"));
	add_cost(s, doc);
	return doc;
}
