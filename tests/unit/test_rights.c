/* The roles that `slipway rbac` prints: what they allow, and above all what they do not. */
#include "tests/fleet_make.h"

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/rights.h"

static const struct rights_subject nobody;

/* The rules of every role of those purposes; `n_objects` of them are there in all. */
static void roles(const struct fleet_run *f, unsigned wanted, struct rights_subject who,
                  struct k8s_output *out)
{
	struct rights_opts opts = {.fleet = &f->out, .purposes = wanted, .subject = who};

	rights_render(&opts, out);
}

static bool holds(const cJSON *array, const char *text)
{
	for (const cJSON *item = array != NULL ? array->child : NULL; item != NULL;
	     item = item->next)
		if (strcmp(item->valuestring, text) == 0 || strcmp(item->valuestring, "*") == 0)
			return true;
	return false;
}

static bool rule_allows(const cJSON *rule, const char *verb, const char *resource, const char *name)
{
	const cJSON *names = json_get(rule, "resourceNames");

	return holds(json_get(rule, "verbs"), verb) &&
	       holds(json_get(rule, "resources"), resource) &&
	       (names == NULL || (name != NULL && holds(names, name)));
}

/* In a namespace, or cluster-wide (NULL); a ClusterRole counts everywhere. name NULL: any. */
static bool allowed(const struct k8s_output *out, const char *namespace, const char *verb,
                    const char *resource, const char *name)
{
	for (size_t i = 0; i < out->files[0].n; i++) {
		const cJSON *o = out->files[0].at[i].doc, *rules = json_get(o, "rules");
		const char *its = object_namespace(o);

		if (its != NULL && (namespace == NULL || strcmp(its, namespace) != 0))
			continue;
		for (const cJSON *r = rules != NULL ? rules->child : NULL; r != NULL; r = r->next)
			if (rule_allows(r, verb, resource, name))
				return true;
	}
	return false;
}

static const char spec[] = "slipway.yaml";

static void who_looks_cannot_change(void)
{
	static const char *const changes[] = {"create", "update",   "patch", "delete",
	                                      "bind",   "escalate", "*"};
	AUTO(k8s_output) struct k8s_output out = {0};
	struct fleet_run f;

	CHECK_INT(fleet_run(&f, spec), 0);
	roles(&f, 1 << RIGHTS_STATUS | 1 << RIGHTS_LOGS, nobody, &out);
	for (size_t i = 0; i < out.files[0].n; i++) {
		const cJSON *rules = json_get(out.files[0].at[i].doc, "rules");

		for (const cJSON *r = rules != NULL ? rules->child : NULL; r != NULL; r = r->next)
			for (size_t v = 0; v < ARRAY_LEN(changes); v++)
				CHECK(!holds(json_get(r, "verbs"), changes[v]));
	}
	CHECK(allowed(&out, "perceiver", "get", "pods/log", NULL));
	CHECK(allowed(&out, NULL, "list", "nodepools", NULL));
	CHECK(!allowed(&out, "perceiver", "get", "secrets", NULL));
	fleet_run_done(&f);
}

static void names_bound_what_can_be_bound(void)
{
	AUTO(k8s_output) struct k8s_output out = {0};
	struct fleet_run f;

	CHECK_INT(fleet_run(&f, spec), 0);
	roles(&f, 1 << RIGHTS_DEPLOY | 1 << RIGHTS_UNDEPLOY, nobody, &out);
	CHECK(allowed(&out, NULL, "patch", "nodepools", "perceiver-trn1"));
	CHECK(!allowed(&out, NULL, "patch", "nodepools", "other-trn1"));
	CHECK(!allowed(&out, NULL, "delete", "nodepools", NULL));
	CHECK(allowed(&out, "perceiver", "update", "leases", "perceiver-deploy"));
	CHECK(!allowed(&out, NULL, "create", "namespaces", NULL));
	CHECK(!allowed(&out, NULL, "delete", "namespaces", "perceiver"));
	CHECK(!allowed(&out, "perceiver", "create", "pods", NULL));
	CHECK(!allowed(&out, NULL, "escalate", "clusterroles", "neuron-device-plugin"));
	fleet_run_done(&f);
}

/* Every rule of a role that deploy makes is one of the roles of who deploys. */
static void who_deploys_has_the_rights_of_what_is_deployed(void)
{
	AUTO(k8s_output) struct k8s_output out = {0};
	struct fleet_run f;
	size_t n = 0;

	CHECK_INT(fleet_run(&f, spec), 0);
	roles(&f, 1 << RIGHTS_DEPLOY, nobody, &out);
	for (size_t i = 0; i < f.out.n; i++)
		for (size_t j = 0; j < f.out.files[i].n; j++) {
			const cJSON *o = f.out.files[i].at[j].doc, *rules = json_get(o, "rules");

			if (!f.out.files[i].renderer->deployed || rules == NULL)
				continue;
			for (const cJSON *r = rules->child; r != NULL; r = r->next, n++)
				CHECK(allowed(&out, object_namespace(o),
				              json_get(r, "verbs")->child->valuestring,
				              json_get(r, "resources")->child->valuestring, NULL));
		}
	CHECK(n > 5);
	fleet_run_done(&f);
}

/* Plugins may be installed by others, and Volcano's configuration is wherever its scheduler is. */
static void who_deploys_keeps_runs_watches_and_looks_for_better_targets(void)
{
	AUTO(k8s_output) struct k8s_output deploy = {0}, undeploy = {0}, returning = {0};
	struct fleet_run f;

	CHECK_INT(fleet_run(&f, spec), 0);
	const char *space = f.out.fleet->namespace;
	struct fleet fleet = *f.out.fleet;

	roles(&f, 1 << RIGHTS_DEPLOY, nobody, &deploy);
	roles(&f, 1 << RIGHTS_UNDEPLOY, nobody, &undeploy);
	CHECK(allowed(&deploy, space, "get", "configmaps", "perceiver-runs"));
	CHECK(allowed(&deploy, space, "patch", "configmaps", "perceiver-runs"));
	CHECK(!allowed(&deploy, space, "delete", "configmaps", "perceiver-runs"));
	CHECK(allowed(&undeploy, space, "delete", "configmaps", "perceiver-runs"));
	CHECK(allowed(&deploy, space, "watch", "pods", NULL));
	CHECK(allowed(&deploy, "default", "watch", "events", NULL));
	CHECK(allowed(&deploy, NULL, "watch", "nodeclaims", NULL));
	CHECK(!allowed(&undeploy, NULL, "watch", "nodeclaims", NULL));
	CHECK(!allowed(&deploy, space, "delete", "jobs", "perceiver-trn1-scout"));
	fleet.failover.returns = true;
	f.out.fleet = &fleet;
	roles(&f, 1 << RIGHTS_DEPLOY, nobody, &returning);
	CHECK(allowed(&returning, space, "create", "jobs", NULL));
	CHECK(allowed(&returning, space, "delete", "jobs", "perceiver-trn1-scout"));
	fleet_run_done(&f);
}

static void who_shares_looks_for_it_and_takes_its_name_away(void)
{
	AUTO(k8s_output) struct k8s_output deploy = {0}, undeploy = {0}, status = {0}, job = {0};
	static const char plugin[] = "nvidia-device-plugin", map[] = "volcano-scheduler-configmap";
	struct fleet_run f, g;

	CHECK_INT(fleet_run(&f, spec), 0);
	roles(&f, 1 << RIGHTS_DEPLOY, nobody, &deploy);
	roles(&f, 1 << RIGHTS_UNDEPLOY, nobody, &undeploy);
	roles(&f, 1 << RIGHTS_STATUS, nobody, &status);
	CHECK(allowed(&deploy, NULL, "list", "daemonsets", NULL));
	CHECK(allowed(&status, NULL, "list", "daemonsets", NULL));
	CHECK(!allowed(&undeploy, NULL, "list", "daemonsets", NULL));
	CHECK(allowed(&deploy, "kube-system", "patch", "daemonsets", plugin));
	CHECK(allowed(&undeploy, "kube-system", "patch", "daemonsets", plugin));
	CHECK(allowed(&undeploy, "kube-system", "delete", "daemonsets", plugin));
	CHECK(!allowed(&undeploy, "kube-system", "patch", "daemonsets", "another"));
	/* What is the fleet's own is not patched by who undeploys. */
	CHECK(!allowed(&undeploy, NULL, "patch", "nodepools", "perceiver-trn1"));
	CHECK(allowed(&deploy, NULL, "list", "deployments", NULL));
	CHECK(allowed(&deploy, "anywhere", "get", "configmaps", map));
	CHECK(!allowed(&deploy, "anywhere", "get", "configmaps", NULL));
	CHECK(!allowed(&deploy, "anywhere", "patch", "configmaps", map));
	CHECK(!allowed(&status, "anywhere", "get", "configmaps", map));
	CHECK_INT(fleet_run(&g, "tests/golden/fleet/scheduler-job.yaml"), 0);
	roles(&g, 1 << RIGHTS_DEPLOY, nobody, &job);
	CHECK(!allowed(&job, "anywhere", "get", "configmaps", map));
	fleet_run_done(&g);
	fleet_run_done(&f);
}

static void roles_are_the_administrators(void)
{
	AUTO(k8s_output) struct k8s_output out = {0};
	const struct rights_subject who = {"ServiceAccount", "ci", "people"};
	struct fleet_run f;
	size_t bindings = 0, made = 0;

	CHECK_INT(fleet_run(&f, spec), 0);
	roles(&f, 1 << RIGHTS_DEPLOY, who, &out);
	for (size_t i = 0; i < out.files[0].n; i++) {
		const cJSON *o = out.files[0].at[i].doc;

		CHECK(object_label(o, OWNER_LABEL) == NULL);
		bindings += json_get(o, "roleRef") != NULL;
		made += json_get(o, "rules") != NULL;
	}
	CHECK_INT(bindings, made);
	CHECK(object_is(out.files[0].at[0].doc, "Namespace"));
	fleet_run_done(&f);
}

static void subjects_are_read(void)
{
	static const char *const bad[] = {
		"ann",     "user:", "serviceaccount:ci", "serviceaccount:/ci", "serviceaccount:a/",
		"USER:ann"};
	AUTO(arena) struct arena a = {0};
	struct rights_subject s;
	struct err err = {0};

	CHECK_OK(rights_subject_parse("user:arn:aws:iam::1:user/a", &a, &s, &err), &err);
	CHECK_STR(s.kind, "User");
	CHECK_STR(s.name, "arn:aws:iam::1:user/a");
	CHECK_OK(rights_subject_parse("serviceaccount:people/ci", &a, &s, &err), &err);
	CHECK_STR(s.namespace, "people");
	CHECK_STR(s.name, "ci");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_INT(rights_subject_parse(bad[i], &a, &s, &err), -1);
}

int main(void)
{
	TEST("rights: who looks cannot change", who_looks_cannot_change);
	TEST("rights: names bound what can be bound", names_bound_what_can_be_bound);
	TEST("rights: who deploys has the rights of what is deployed",
	     who_deploys_has_the_rights_of_what_is_deployed);
	TEST("rights: who deploys keeps runs, watches, and looks for better targets",
	     who_deploys_keeps_runs_watches_and_looks_for_better_targets);
	TEST("rights: who shares looks for it, and takes its own name away from it",
	     who_shares_looks_for_it_and_takes_its_name_away);
	TEST("rights: the roles are the administrator's", roles_are_the_administrators);
	TEST("rights: subjects are read", subjects_are_read);
	return test_done();
}
