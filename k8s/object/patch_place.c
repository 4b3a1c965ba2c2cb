/*
 * Whether patched jobs and patched pools still find each other.
 */
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/object/patch_check.h"
#include "k8s/object/pods.h"

/* A target's job and pool in the output. */
struct match {
	const struct k8s_output *out;
	const struct fleet_target *target;
	const cJSON *pool;
	size_t place; /* of the patch that was made last */
	struct diags *d;
};

/* ---- where things are ---- */

/* What nodes of the pool have: Karpenter's newer APIs put it into a template. */
static const cJSON *node_of(const struct match *m, const char *part)
{
	const cJSON *spec = json_get(m->pool, "spec");
	const cJSON *template = json_get(spec, "template");

	return template != NULL ? json_get(template, part) : spec;
}

static const cJSON *pool_labels(const struct match *m)
{
	const cJSON *labels = json_get(node_of(m, "metadata"), "labels");

	return labels;
}

static void problem(const struct match *m, const char *hint, const char *what)
{
	const struct patch_section *patch = &m->out->fleet->patches[m->place];

	diags_error(m->d, patch->at, hint, "patches[%zu]: the job would never start on %s: %s",
	            m->place, m->target->name, what);
}

/* ---- requests ---- */

struct pod_room {
	const char *resource;
	int64_t most; /* thousandths, of the largest instance */
};

static void check_requests(const struct match *m, const cJSON *pod)
{
	const struct fleet_target *t = m->target;
	struct pod_room rooms[] = {
		{"cpu", 0},
		{"memory", 0},
		{t->resource, 0},
		{"vpc.amazonaws.com/efa", 0},
	};
	AUTO(arena) struct arena a = {0};

	for (size_t i = 0; i < t->n_instances; i++) {
		const struct instance *row = t->instances[i];
		const int64_t amounts[] = {row->cpu_milli, row->allocatable_mib * (1000LL << 20),
		                           row->devices * t->shares * 1000, row->efa * 1000};

		_Static_assert(ARRAY_LEN(amounts) == ARRAY_LEN(rooms), "amounts: one for each");
		for (size_t k = 0; k < ARRAY_LEN(rooms); k++)
			if (amounts[k] > rooms[k].most)
				rooms[k].most = amounts[k];
	}
	for (size_t k = 0; k < ARRAY_LEN(rooms); k++) {
		int64_t wanted;

		if (!pod_requests(pod, rooms[k].resource, &wanted))
			problem(m, "write it as in 500m, 2 or 16Gi",
			        arena_printf(&a, "its amount of %s is not one", rooms[k].resource));
		else if (wanted > rooms[k].most)
			problem(m, "ask for less, or list larger instances",
			        arena_printf(&a,
			                     "a pod asks for more %s than any of its instances "
			                     "has",
			                     rooms[k].resource));
	}
}

/* ---- taints and labels ---- */

static bool same_or_any(const char *mine, const char *its)
{
	return mine == NULL || mine[0] == '\0' || (its != NULL && strcmp(mine, its) == 0);
}

static bool tolerates(const cJSON *toleration, const cJSON *taint)
{
	const char *operator= json_string(toleration, "operator");
	const char *value = json_string(toleration, "value"), *its = json_string(taint, "value");
	bool any = operator!= NULL && strcmp(operator, "Exists") == 0;

	if (!same_or_any(json_string(toleration, "key"), json_string(taint, "key")) ||
	    !same_or_any(json_string(toleration, "effect"), json_string(taint, "effect")))
		return false;
	return any || strcmp(value != NULL ? value : "", its != NULL ? its : "") == 0;
}

static void check_taints(const struct match *m, const cJSON *pod)
{
	const cJSON *taints = json_get(node_of(m, "spec"), "taints");
	const cJSON *tolerations = json_get(pod, "tolerations");
	AUTO(arena) struct arena a = {0};

	for (const cJSON *t = taints != NULL ? taints->child : NULL; t != NULL; t = t->next) {
		const char *effect = json_string(t, "effect"), *key = json_string(t, "key");
		bool found = effect != NULL && strcmp(effect, "PreferNoSchedule") == 0;

		for (const cJSON *own = tolerations != NULL ? tolerations->child : NULL;
		     own != NULL; own = own->next)
			found = found || tolerates(own, t);
		if (!found)
			problem(m, "add it to job.tolerations",
			        arena_printf(&a,
			                     "its pods do not tolerate the taint '%s' of the "
			                     "nodes",
			                     key != NULL ? key : ""));
	}
}

/* Labels that the node gets from elsewhere than the pool: its kubelet, and Karpenter. */
static bool is_nodes_own(const char *key)
{
	return strstr(key, "kubernetes.io/") != NULL || text_has_prefix(key, "karpenter.");
}

static void check_labels(const struct match *m, const cJSON *pod)
{
	const cJSON *wanted = json_get(pod, "nodeSelector");
	AUTO(arena) struct arena a = {0};

	for (const cJSON *label = wanted != NULL ? wanted->child : NULL; label != NULL;
	     label = label->next) {
		const cJSON *its = json_get(pool_labels(m), label->string);

		if (!is_nodes_own(label->string) && !cJSON_Compare(label, its, true))
			problem(m, arena_printf(&a, "add it to fleet.%s.labels", m->target->name),
			        arena_printf(&a,
			                     "its pods select the label '%s', and the nodes "
			                     "have another or none",
			                     label->string));
	}
}

/* ---- one target ---- */

static void check_pod(const cJSON *pod, void *listener)
{
	const struct match *m = listener;
	const char *pool =
		json_string(json_get(pod, "nodeSelector"), k8s_pool_label(m->out->fleet));

	/* The launcher of an MPIJob waits elsewhere. */
	if (pool == NULL || strcmp(pool, m->target->pool) != 0)
		return;
	check_requests(m, pod);
	if (m->pool == NULL)
		return;
	check_taints(m, pod);
	check_labels(m, pod);
}

static bool is_pool(const cJSON *doc, const struct fleet_target *target)
{
	const char *kind = json_string(doc, "kind");
	const char *name = json_string(json_get(doc, "metadata"), "name");

	return kind != NULL && name != NULL && strcmp(name, target->pool) == 0 &&
	       (strcmp(kind, "NodePool") == 0 || strcmp(kind, "Provisioner") == 0);
}

static void find_pool(struct match *m)
{
	for (size_t i = 0; i < m->out->n; i++)
		for (size_t k = 0; k < m->out->files[i].n; k++)
			if (is_pool(m->out->files[i].at[k].doc, m->target))
				m->pool = m->out->files[i].at[k].doc;
}

static void check_target(struct match *m)
{
	find_pool(m);
	for (size_t i = 0; i < m->out->n; i++) {
		const struct k8s_output_file *file = &m->out->files[i];

		for (size_t k = 0; k < file->n; k++)
			if (file->choice != NULL && strcmp(file->choice, m->target->name) == 0)
				each_pod(file->at[k].doc, check_pod, m);
	}
}

void patch_check_output(const struct k8s_output *out, size_t place, struct diags *d)
{
	for (size_t i = 0; i < out->fleet->n_targets; i++) {
		struct match m = {
			.out = out, .target = &out->fleet->targets[i], .place = place, .d = d};

		check_target(&m);
	}
}
