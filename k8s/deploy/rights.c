#include "k8s/deploy/rights.h"

#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/text.h"
#include "k8s/deploy/found.h"
#include "k8s/deploy/kinds.h"
#include "k8s/deploy/lease.h"
#include "k8s/deploy/runs.h"
#include "k8s/deploy/scout.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/state.h"
#include "k8s/deploy/volcano.h"
#include "k8s/job/scheduler.h"
#include "k8s/object/render.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

const char *const rights_purposes[RIGHTS_PURPOSES + 1] = {"deploy", "undeploy", "status", "logs",
                                                          NULL};

/* ---- verbs ---- */

enum {
	GET = 1 << 0,
	LIST = 1 << 1,
	WATCH = 1 << 2,
	CREATE = 1 << 3,
	UPDATE = 1 << 4,
	PATCH = 1 << 5,
	DELETE = 1 << 6,
	BIND = 1 << 7
};

static const char *const verb_names[] = {"get",    "list",  "watch",  "create",
                                         "update", "patch", "delete", "bind"};

/* What each command does with the fleet's objects: with any of a kind, and with those of its own
 * names. kubectl waits for a deletion by watching. */
static const struct purpose_row {
	unsigned any, named;
	unsigned shared; /* with those of its names that fleets share, besides */
	unsigned heads;  /* cluster-wide, with kinds of which others may have installed some */
	bool jobs_only;  /* what runs the pods, and nothing else */
	bool makes_roles;
} purposes[] = {
	[RIGHTS_DEPLOY] = {CREATE | LIST, GET | WATCH | PATCH | DELETE, 0, LIST, false, true},
	[RIGHTS_UNDEPLOY] = {LIST, GET | DELETE, PATCH, 0, false, false},
	[RIGHTS_STATUS] = {LIST, 0, 0, LIST, false, false},
	[RIGHTS_LOGS] = {LIST, 0, 0, 0, true, false},
};
_Static_assert(ARRAY_LEN(purposes) == RIGHTS_PURPOSES, "purposes: one per enum rights_purpose");

/* What they need beside the fleet's objects. */
enum scope { CLUSTER, FLEET, DEFAULT };
#define FOR(purpose_) (1u << RIGHTS_##purpose_)
static const struct extra_row {
	unsigned purposes;
	enum scope scope;
	const char *group, *resource;
	unsigned any, named;
	const char *suffix; /* of the fleet's name: whose `named` are for */
} extras[] = {
	{FOR(DEPLOY) | FOR(UNDEPLOY), FLEET, "coordination.k8s.io", "leases", CREATE, GET | UPDATE,
         LEASE_SUFFIX},
	{FOR(UNDEPLOY), FLEET, "coordination.k8s.io", "leases", LIST, DELETE, LEASE_SUFFIX},
	{FOR(DEPLOY), FLEET, "", "configmaps", CREATE, GET | PATCH, STATE_SUFFIX},
	{FOR(UNDEPLOY), FLEET, "", "configmaps", LIST, GET | DELETE, STATE_SUFFIX},
	{FOR(DEPLOY), FLEET, "", "configmaps", CREATE, GET | PATCH, RUNS_SUFFIX},
	{FOR(UNDEPLOY), FLEET, "", "configmaps", LIST, GET | DELETE, RUNS_SUFFIX},
	{FOR(STATUS), FLEET, "", "configmaps", LIST, 0, NULL},
	{FOR(DEPLOY) | FOR(STATUS) | FOR(LOGS), FLEET, "", "pods", LIST, 0, NULL},
	{FOR(DEPLOY), FLEET, "", "pods", WATCH, 0, NULL},
	/* kubectl logs looks at the pod first. */
	{FOR(STATUS) | FOR(LOGS), FLEET, "", "pods", GET, 0, NULL},
	{FOR(STATUS) | FOR(LOGS), FLEET, "", "pods/log", GET, 0, NULL},
	{FOR(DEPLOY), FLEET, "", "events", LIST | WATCH, 0, NULL},
	/* How fast images were pulled. */
	{FOR(STATUS), FLEET, "", "events", LIST, 0, NULL},
	/* Events of node claims and pools, which have no namespace, are there. */
	{FOR(DEPLOY), DEFAULT, "", "events", LIST | WATCH, 0, NULL},
	{FOR(DEPLOY) | FOR(STATUS) | FOR(UNDEPLOY), CLUSTER, "karpenter.sh", "nodeclaims", LIST, 0,
         NULL},
	{FOR(DEPLOY), CLUSTER, "karpenter.sh", "nodeclaims", WATCH, 0, NULL},
	{FOR(STATUS) | FOR(UNDEPLOY), CLUSTER, "", "nodes", LIST, 0, NULL},
	{FOR(UNDEPLOY), CLUSTER, "", "persistentvolumes", GET, 0, NULL},
};

/* ---- grants: what is allowed, before it is written as rules ---- */

/* Verbs on a resource in a namespace ("" = cluster-wide): on any object, and on named ones. */
struct grant {
	const char *namespace, *group, *resource;
	unsigned any, named;
	cJSON *names;
};

struct grants {
	struct grant *at;
	size_t n, cap;
	cJSON *copied; /* {namespace: [rules of rendered roles]} */
	struct arena *arena;
};

static void grants_done(struct grants *g)
{
	for (size_t i = 0; i < g->n; i++)
		cJSON_Delete(g->at[i].names);
	vec_done(g);
	cJSON_Delete(g->copied);
}

static struct grant *grant_of(struct grants *g, const char *namespace, const char *group,
                              const char *resource)
{
	for (size_t i = 0; i < g->n; i++)
		if (strcmp(g->at[i].namespace, namespace) == 0 &&
		    strcmp(g->at[i].group, group) == 0 && strcmp(g->at[i].resource, resource) == 0)
			return &g->at[i];
	vec_push(g, ((struct grant){namespace, group, resource, 0, 0, cJSON_CreateArray()}));
	return &g->at[g->n - 1];
}

static void add_name(cJSON *names, const char *name)
{
	for (const cJSON *item = names->child; item != NULL; item = item->next)
		if (strcmp(item->valuestring, name) == 0)
			return;
	json_push_string(names, name);
}

static void allow(struct grant *grant, unsigned any, unsigned named, const char *name)
{
	grant->any |= any;
	grant->named |= named;
	if (named != 0 && name != NULL)
		add_name(grant->names, name);
}

/* ---- of the fleet's objects ---- */

static bool runs_pods(const struct kind_row *row)
{
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (row == &schedulers[i].object)
			return true;
	return false;
}

/* "nodepools" of "nodepools.karpenter.sh". */
static const char *plain_resource(const struct kind_row *row, struct arena *a)
{
	return arena_printf(a, "%.*s", (int)strcspn(row->resource, "."), row->resource);
}

static const char *namespace_of(const cJSON *object)
{
	const char *namespace = object_namespace(object);

	return namespace != NULL ? namespace : "";
}

/* Which rights a purpose has on one object of its names. */
static unsigned named_of(const struct purpose_row *purpose, const cJSON *object)
{
	return purpose->named | (object_is_shared(object) ? purpose->shared : 0);
}

/* A namespace is the administrator's: it is looked at, no more; one that fleets share gets and
 * loses their annotations. */
static void allow_object(struct grants *g, const cJSON *object, unsigned wanted)
{
	const struct kind_row *row = kind_of(object);
	struct grant *grant =
		grant_of(g, namespace_of(object), row->group, plain_resource(row, g->arena));
	unsigned at_most = object_is_shared(object) ? GET | PATCH : GET;

	for (int p = 0; p < RIGHTS_PURPOSES; p++) {
		const struct purpose_row *purpose = &purposes[p];

		if ((wanted >> p & 1) == 0 || (purpose->jobs_only && !runs_pods(row)))
			continue;
		if (row->leave == LEAVE_NAMESPACE)
			allow(grant, LIST, named_of(purpose, object) & at_most,
			      object_name(object));
		else
			allow(grant, purpose->any, named_of(purpose, object), object_name(object));
	}
}

/* Others may have installed its like, under whatever name and in whatever namespace. */
static void allow_head(struct grants *g, const cJSON *object, unsigned wanted)
{
	const struct kind_row *row = kind_of(object);

	for (int p = 0; p < RIGHTS_PURPOSES; p++)
		if ((wanted >> p & 1) != 0 && purposes[p].heads != 0 && found_is_head(object))
			allow(grant_of(g, "", row->group, plain_resource(row, g->arena)),
			      purposes[p].heads, 0, NULL);
}

/* Volcano's configuration is looked for wherever its scheduler runs. */
static void allow_volcano(struct grants *g, const struct fleet *fleet, unsigned wanted)
{
	if ((wanted & FOR(DEPLOY)) == 0 || !volcano_matters(fleet))
		return;
	allow(grant_of(g, "", "apps", "deployments"), LIST, 0, NULL);
	allow(grant_of(g, "", "", "configmaps"), 0, GET, VOLCANO_CONFIG);
}

/* Where a better target is looked for while the job runs on another. */
static void allow_scouts(struct grants *g, const struct fleet *fleet, unsigned wanted)
{
	if ((wanted & FOR(DEPLOY)) == 0 || !fleet->failover.returns)
		return;
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (scout_is_possible(fleet, &fleet->targets[i]))
			allow(grant_of(g, fleet->namespace, "batch", "jobs"),
			      purposes[RIGHTS_DEPLOY].any, purposes[RIGHTS_DEPLOY].named,
			      arena_printf(g->arena, "%s" SCOUT_SUFFIX, fleet->targets[i].job));
}

/* Rules of a rendered role, which whoever makes it must have. */
static void copy_rules(struct grants *g, const cJSON *role)
{
	const char *namespace = namespace_of(role);
	cJSON *list = cJSON_GetObjectItemCaseSensitive(g->copied, namespace);

	if (list == NULL)
		list = json_add_array(g->copied, namespace);
	for (const cJSON *rule = object_first(json_get(role, "rules")); rule != NULL;
	     rule = rule->next) {
		const cJSON *same = list->child;

		while (same != NULL && !cJSON_Compare(same, rule, true))
			same = same->next;
		if (same == NULL)
			json_push(list, cJSON_Duplicate(rule, true));
	}
}

static bool is_rendered(const struct k8s_output *out, const cJSON *wanted)
{
	for (size_t i = 0; out != NULL && i < out->n; i++)
		for (size_t j = 0; j < out->files[i].n; j++)
			if (object_same(out->files[i].at[j].doc, wanted))
				return true;
	return false;
}

/* A role of somebody else is bound by name. */
static void allow_binding(struct grants *g, const struct rights_opts *opts, const cJSON *binding)
{
	const cJSON *ref = json_get(binding, "roleRef");
	const char *kind = json_string(ref, "kind"), *name = json_string(ref, "name");
	bool wide = strcmp(kind, "ClusterRole") == 0;
	AUTO(json) cJSON *role = cJSON_CreateObject();
	cJSON *metadata;

	json_add_string(role, "apiVersion", RBAC_GROUP "/v1");
	json_add_string(role, "kind", kind);
	metadata = json_add_object(role, "metadata");
	json_add_string(metadata, "name", name);
	if (!wide)
		json_add_string(metadata, "namespace", object_namespace(binding));
	if (is_rendered(opts->fleet, role) || is_rendered(opts->controller, role))
		return;
	allow(grant_of(g, namespace_of(binding), RBAC_GROUP, wide ? "clusterroles" : "roles"), 0,
	      BIND, name);
}

static void allow_making(struct grants *g, const struct rights_opts *opts, const cJSON *object)
{
	if (json_get(object, "rules") != NULL)
		copy_rules(g, object);
	else if (json_get(object, "roleRef") != NULL)
		allow_binding(g, opts, object);
}

static void allow_output(struct grants *g, const struct rights_opts *opts,
                         const struct k8s_output *out, unsigned wanted)
{
	for (size_t i = 0; out != NULL && i < out->n; i++)
		for (size_t j = 0; j < out->files[i].n; j++) {
			const struct k8s_document *d = &out->files[i].at[j];

			if (d->foreign || (out == opts->fleet && !out->files[i].renderer->deployed))
				continue;
			allow_object(g, d->doc, wanted);
			allow_head(g, d->doc, wanted);
			for (int p = 0; p < RIGHTS_PURPOSES; p++)
				if ((wanted >> p & 1) != 0 && purposes[p].makes_roles)
					allow_making(g, opts, d->doc);
		}
}

static void allow_extras(struct grants *g, const struct fleet *fleet, unsigned wanted)
{
	const char *const places[] = {
		[CLUSTER] = "", [FLEET] = fleet->namespace, [DEFAULT] = "default"};

	for (size_t i = 0; i < ARRAY_LEN(extras); i++) {
		const struct extra_row *row = &extras[i];

		if ((row->purposes & wanted) == 0)
			continue;
		allow(grant_of(g, places[row->scope], row->group, row->resource), row->any,
		      row->named,
		      row->suffix != NULL ? arena_printf(g->arena, "%s%s", fleet->name, row->suffix)
		                          : NULL);
	}
}

/* ---- rules ---- */

static void add_rule(cJSON *rules, const struct grant *grant, unsigned verbs, const cJSON *names)
{
	cJSON *rule, *list;

	if (verbs == 0)
		return;
	rule = k8s_push_object(rules);
	json_push_string(json_add_array(rule, "apiGroups"), grant->group);
	json_push_string(json_add_array(rule, "resources"), grant->resource);
	if (names != NULL)
		cJSON_AddItemToObject(rule, "resourceNames", cJSON_Duplicate(names, true));
	list = json_add_array(rule, "verbs");
	for (size_t i = 0; i < ARRAY_LEN(verb_names); i++)
		if ((verbs >> i & 1) != 0)
			json_push_string(list, verb_names[i]);
}

static void add_rules(const struct grants *g, const char *namespace, cJSON *rules)
{
	const cJSON *copied = object_first(json_get(g->copied, namespace));

	for (size_t i = 0; i < g->n; i++) {
		const struct grant *grant = &g->at[i];

		if (strcmp(grant->namespace, namespace) != 0)
			continue;
		add_rule(rules, grant, grant->any, NULL);
		add_rule(rules, grant, grant->named & ~grant->any, grant->names);
	}
	for (; copied != NULL; copied = copied->next)
		json_push(rules, cJSON_Duplicate(copied, true));
}

/* ---- objects ---- */

/* As k8s_add, but nobody's: it is there before the fleet and stays after it. */
static cJSON *add_object(struct k8s_output *out, const char *version, const char *kind,
                         const char *namespace, const char *name)
{
	cJSON *object = k8s_add(out, version, kind, namespace, name);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");

	cJSON_DeleteItemFromObjectCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(metadata, "labels"), OWNER_LABEL);
	return object;
}

static void add_namespaces(const struct k8s_output *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < fleet->n; i++)
		for (size_t j = 0; j < fleet->files[i].n; j++) {
			const cJSON *o = fleet->files[i].at[j].doc;
			const cJSON *labels = json_get(json_get(o, "metadata"), "labels");
			cJSON *made;

			if (!object_is(o, "Namespace"))
				continue;
			made = add_object(out, "v1", "Namespace", NULL, object_name(o));
			cJSON *metadata = cJSON_GetObjectItemCaseSensitive(made, "metadata");

			cJSON_ReplaceItemInObjectCaseSensitive(metadata, "labels",
			                                       cJSON_Duplicate(labels, true));
			cJSON_DeleteItemFromObjectCaseSensitive(
				cJSON_GetObjectItemCaseSensitive(metadata, "labels"), OWNER_LABEL);
		}
}

static void add_role(const struct grants *g, const struct rights_opts *opts, const char *namespace,
                     const char *name, struct k8s_output *out)
{
	bool wide = namespace[0] == '\0';
	const char *kind = wide ? "ClusterRole" : "Role";
	const struct rights_subject *who = &opts->subject;
	const char *place = wide ? NULL : namespace;
	cJSON *object = add_object(out, RBAC_GROUP "/v1", kind, place, name), *ref, *subject;

	add_rules(g, namespace, json_add_array(object, "rules"));
	if (who->kind == NULL)
		return;
	object = add_object(out, RBAC_GROUP "/v1", wide ? "ClusterRoleBinding" : "RoleBinding",
	                    place, name);
	ref = json_add_object(object, "roleRef");
	json_add_string(ref, "apiGroup", RBAC_GROUP);
	json_add_string(ref, "kind", kind);
	json_add_string(ref, "name", name);
	subject = k8s_push_object(json_add_array(object, "subjects"));
	if (who->namespace == NULL)
		json_add_string(subject, "apiGroup", RBAC_GROUP);
	json_add_string(subject, "kind", who->kind);
	json_add_string(subject, "name", who->name);
	json_add_string(subject, "namespace", who->namespace);
}

/* "FLEET-slipway-deploy", with each purpose; all of them: "FLEET-slipway". */
static const char *role_name(const char *fleet, unsigned wanted, struct arena *a)
{
	const char *name = arena_printf(a, "%s-slipway", fleet);

	if (wanted == (1u << RIGHTS_PURPOSES) - 1)
		return name;
	for (int p = 0; p < RIGHTS_PURPOSES; p++)
		if ((wanted >> p & 1) != 0)
			name = arena_printf(a, "%s-%s", name, rights_purposes[p]);
	return name;
}

void rights_render(const struct rights_opts *opts, struct k8s_output *out)
{
	static const struct k8s_renderer row = {.number = "05", .name = "rbac"};
	const struct fleet *fleet = opts->fleet->fleet;
	const char *name;

	*out = (struct k8s_output){.fleet = fleet};
	AUTO(grants) struct grants g = {.copied = cJSON_CreateObject(), .arena = &out->arena};

	allow_extras(&g, fleet, opts->purposes);
	allow_volcano(&g, fleet, opts->purposes);
	allow_scouts(&g, fleet, opts->purposes);
	allow_output(&g, opts, opts->fleet, opts->purposes);
	allow_output(&g, opts, opts->controller, opts->purposes);
	k8s_begin(out, &row);
	name = role_name(fleet->name, opts->purposes, &out->arena);
	k8s_file(out, "rbac.yaml", "For a cluster's administrator to apply.");
	add_namespaces(opts->fleet, out);
	/* A role for each namespace, at its first grant. */
	for (size_t i = 0; i < g.n; i++) {
		size_t first = 0;

		while (strcmp(g.at[first].namespace, g.at[i].namespace) != 0)
			first++;
		if (first == i)
			add_role(&g, opts, g.at[i].namespace, name, out);
	}
}

/* ---- whom ---- */

static const struct subject_row {
	const char *prefix, *kind;
	bool in_namespace;
} subjects[] = {
	{"user:", "User", false},
	{"group:", "Group", false},
	{"serviceaccount:", "ServiceAccount", true},
};

int rights_subject_parse(const char *text, struct arena *a, struct rights_subject *ret,
                         struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		const char *name = text + strlen(subjects[i].prefix);
		const char *slash;

		if (!text_has_prefix(text, subjects[i].prefix) || name[0] == '\0')
			continue;
		*ret = (struct rights_subject){subjects[i].kind, name, NULL};
		if (!subjects[i].in_namespace)
			return 0;
		slash = strchr(name, '/');
		if (slash == NULL || slash == name || slash[1] == '\0')
			break;
		ret->namespace = arena_printf(a, "%.*s", (int)(slash - name), name);
		ret->name = slash + 1;
		return 0;
	}
	err_set(err, ERR_USAGE, "'%s' names nobody", text);
	return err_hint(err, "Write user:NAME, group:NAME or serviceaccount:NAMESPACE/NAME.");
}
