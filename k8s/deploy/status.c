/* From objects to a status: stages, pods, nodes and money. The job is status_job.c's. */
#include "k8s/deploy/status.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/claim_cost.h"
#include "k8s/deploy/compiling.h"
#include "k8s/deploy/status_job.h"
#include "k8s/view/explain.h"

enum { TEXT_SHOWN_MAX = 300 };

const char *status_clean(struct arena *a, const char *text)
{
	size_t len = text != NULL ? strnlen(text, TEXT_SHOWN_MAX) : 0;
	char *copy;

	if (text == NULL)
		return NULL;
	while (len > 0 && !text_is_utf8(text, len))
		len--;
	copy = arena_strndup(a, text, len);
	for (char *c = copy; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	return copy;
}

int64_t status_age(const cJSON *object, int64_t now_ms)
{
	int64_t ms = object_time(json_get(object, "metadata"), "creationTimestamp");

	return ms == 0 || ms > now_ms ? -1 : (now_ms - ms) / 1000;
}

/* ---- stages ---- */

static bool knows(const cJSON *resources, const cJSON *object)
{
	const struct kind_row *row = kind_of(object);

	return resources == NULL || (row != NULL && resource_is_known(resources, row->resource));
}

/* A namespace that somebody else made, and the fleet uses. */
static bool is_used_namespace(const cJSON *wanted, const cJSON *owned)
{
	const char *name = object_name(wanted);
	const cJSON *item;

	if (name == NULL || !object_is(wanted, "Namespace"))
		return false;
	for (item = object_first(owned); item != NULL; item = item->next) {
		const char *namespace = object_namespace(item);

		if (namespace != NULL && strcmp(namespace, name) == 0)
			return true;
	}
	return false;
}

/* Is one object there, and what is it waiting for? */
static void read_object(const struct status_input *in, const cJSON *wanted, struct arena *a,
                        struct status_stage *s)
{
	const cJSON *live = in->owned != NULL ? object_find(in->owned, wanted) : NULL;
	const char *kind = json_string(wanted, "kind"), *name = object_name(wanted);
	char why[WHY_MAX];

	s->planned++;
	if (live == NULL && is_used_namespace(wanted, in->owned)) {
		s->there++;
		return;
	}
	if (live != NULL) {
		s->there++;
		if (object_readiness(live, why) == READY)
			return;
	} else if (knows(in->resources, wanted)) {
		snprintf(why, sizeof(why), "it does not exist");
	} else {
		snprintf(why, sizeof(why), "the cluster does not serve this kind");
	}
	s->state = STAGE_WAITING;
	if (s->why[0] == '\0')
		s->why = status_clean(a, arena_printf(a, "%s '%s': %s", kind != NULL ? kind : "?",
		                                      name != NULL ? name : "?", why));
}

/* The job's stage is as far as its job is. */
static void read_job_stage(const struct status *s, struct status_stage *stage)
{
	static const enum stage_state states[] = {
		[JOB_ABSENT] = STAGE_ABSENT,  [JOB_WAITING] = STAGE_WAITING,
		[JOB_RUNNING] = STAGE_READY,  [JOB_SUCCEEDED] = STAGE_READY,
		[JOB_FAILED] = STAGE_WAITING,
	};

	_Static_assert(ARRAY_LEN(states) == JOB_PHASES, "states: one per enum job_phase");
	stage->state = states[s->phase];
	stage->why = s->phase == JOB_ABSENT    ? "there is no job"
	             : s->phase == JOB_WAITING ? "the job is not running yet"
	             : s->phase == JOB_FAILED  ? "the job failed"
	                                       : "";
}

/* Once the job runs, what was compiled for it is there, and the Job that did may have gone. */
static void read_compile_stage(const struct status_input *in, const struct status *s,
                               struct arena *a, struct status_stage *stage)
{
	char text[COMPILING_TEXT_MAX];

	if (s->phase == JOB_RUNNING || s->phase == JOB_SUCCEEDED) {
		stage->state = STAGE_READY;
		stage->why = "";
		return;
	}
	compiling_text(in->compile_log != NULL ? in->compile_log : "", text);
	if (stage->state == STAGE_WAITING && text[0] != '\0')
		stage->why = arena_strdup(a, text);
}

static void read_stages(const struct status_input *in, struct arena *a, struct status *s)
{
	size_t n = in->stages != NULL ? in->stages->n : 0;

	s->stages = arena_calloc(a, n, sizeof(*s->stages));
	for (size_t i = 0; i < n; i++) {
		const struct stage *stage = &in->stages->at[i];
		struct status_stage *ret = &s->stages[s->n_stages++];

		*ret = (struct status_stage){.name = stage->name, .state = STAGE_READY, .why = ""};
		for (const cJSON *o = stage->items->child; o != NULL; o = o->next)
			read_object(in, o, a, ret);
		if (stage_has_job(stage))
			read_job_stage(s, ret);
		else if (ret->there == 0 && ret->planned > 0)
			*ret = (struct status_stage){stage->name, STAGE_ABSENT, 0, ret->planned,
			                             "none of its objects exist"};
		if (stage_compiles(stage))
			read_compile_stage(in, s, a, ret);
	}
}

/* ---- nodes ---- */

static const char *node_label(const cJSON *node, const char *key, struct arena *a)
{
	return status_clean(a, object_label(node, key));
}

/* Why a node or a claim is not ready: what its condition says. */
static const char *not_ready(const cJSON *object, struct arena *a)
{
	const char *message = json_string(object_condition(object, "Ready"), "message");

	if (message != NULL && message[0] != '\0')
		return status_clean(a, message);
	return "not Ready yet";
}

static bool is_claim(const cJSON *object)
{
	return object_is(object, "NodeClaim");
}

static struct status_node read_node(const cJSON *o, const struct status *s, struct arena *a)
{
	const char *name = object_name(o);
	struct status_node n = {
		.name = name != NULL ? status_clean(a, name) : "?",
		.type = node_label(o, "node.kubernetes.io/instance-type", a),
		.zone = node_label(o, "topology.kubernetes.io/zone", a),
		.capacity = node_label(o, "karpenter.sh/capacity-type", a),
		.age_s = status_age(o, s->now_ms),
		.ready = object_holds(o, "Ready"),
		.claim = is_claim(o),
		.why = "",
		.micros = -1,
	};

	if (!n.ready)
		n.why = not_ready(o, a);
	if (s->prices != NULL)
		prices_instance(s->prices, n.type, n.capacity, &n.micros);
	return n;
}

/* A claim whose node is there would be the same machine twice. */
static bool has_node(const cJSON *claim)
{
	return json_string(json_get(claim, "status"), "nodeName") != NULL;
}

/* A claim costs nothing before EC2 has launched its instance. */
static bool costs(const cJSON *o)
{
	return !is_claim(o) || json_string(json_get(o, "status"), "providerID") != NULL;
}

static void read_nodes(const struct status_input *in, struct arena *a, struct status *s)
{
	s->nodes = arena_calloc(a, (size_t)cJSON_GetArraySize(in->nodes), sizeof(*s->nodes));
	for (const cJSON *o = object_first(in->nodes); o != NULL; o = o->next) {
		if (is_claim(o) && has_node(o))
			continue;
		struct status_node n = read_node(o, s, a);

		if (n.micros >= 0 && costs(o))
			s->micros += n.micros;
		else if (costs(o))
			s->unknown++;
		s->nodes[s->n_nodes++] = n;
	}
}

/* ---- storage ---- */

/* "1200Gi", "2Ti"; 0 when it is not such a size. */
static int64_t gib_of(const char *text)
{
	size_t digits = text != NULL ? strspn(text, "0123456789") : 0;
	int64_t n;

	if (digits == 0 || digits > 7 || !text_int64(text, digits, &n))
		return 0;
	if (strcmp(text + digits, "Gi") == 0)
		return n;
	return strcmp(text + digits, "Ti") == 0 ? n * 1024 : 0;
}

int64_t claim_gib(const cJSON *owned)
{
	for (const cJSON *o = object_first(owned); o != NULL; o = o->next) {
		const cJSON *status = json_get(o, "status");
		const cJSON *asked =
			json_get(json_get(json_get(o, "spec"), "resources"), "requests");
		int64_t gib;

		if (!object_is(o, "PersistentVolumeClaim"))
			continue;
		gib = gib_of(json_string(json_get(status, "capacity"), "storage"));
		return gib > 0 ? gib : gib_of(json_string(asked, "storage"));
	}
	return 0;
}

static void read_storage(const struct status_input *in, struct status *s)
{
	s->storage_gib = claim_gib(in->owned);
	s->storage_micros = -1;
	if (s->storage_gib == 0)
		return;
	if (claim_cost(s->fleet, s->prices, in->owned, &s->storage_micros))
		s->micros += s->storage_micros;
	else
		s->unknown++;
}

/* ---- the network ---- */

bool target_talks_over_efa(const struct fleet_target *target)
{
	return target->efa > 0 && target->nodes > 1;
}

static void read_network(const struct status_input *in, struct status *s)
{
	const char *texts[] = {in->log_head, in->log};
	const struct fleet_target *target =
		s->target != NULL ? fleet_target_find(in->fleet, s->target) : NULL;

	s->wants_efa = target != NULL && target_talks_over_efa(target);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		enum transport said = texts[i] == NULL
		                              ? TRANSPORT_UNKNOWN
		                              : transport_of_log(texts[i], strlen(texts[i]));

		if (said != TRANSPORT_UNKNOWN && s->transport != TRANSPORT_SOCKET)
			s->transport = said;
	}
}

void status_read(const struct status_input *in, struct arena *a, struct status *ret)
{
	*ret = (struct status){.fleet = in->fleet,
	                       .prices = in->prices,
	                       .now_ms = in->now_ms,
	                       .log_problem = status_clean(a, in->log_problem)};
	status_read_job(in, a, ret);
	status_read_history(in, a, ret);
	read_stages(in, a, ret);
	read_nodes(in, a, ret);
	pulls_read(in->pulled, a, &ret->pulls);
	read_storage(in, ret);
	read_network(in, ret);
	trainlog_read(in->log != NULL ? in->log : "", in->log != NULL ? strlen(in->log) : 0,
	              &ret->log);
}
