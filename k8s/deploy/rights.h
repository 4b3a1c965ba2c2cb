/*
 * The least roles with which a person or a pipeline can run slipway's commands on a fleet: a
 * ClusterRole for what has no namespace, and a Role for each namespace with objects of the fleet.
 * What can be limited to names is: lists and creation cannot (RBAC compares no labels, and a new
 * object has no name yet).
 *
 * The API server lets nobody make a role that allows more than they may do themselves ("Privilege
 * escalation prevention" in Kubernetes' RBAC page): who deploys plugins has their rights, so theirs
 * are copied from the rendered roles, and roles of others that are bound get the verb "bind".
 *
 * Pure; the roles of the deploy inside the cluster are k8s/deploy/incluster.c's.
 */
#ifndef SLIPWAY_K8S_DEPLOY_RIGHTS_H
#define SLIPWAY_K8S_DEPLOY_RIGHTS_H

#include "k8s/object/object.h"

enum rights_purpose { RIGHTS_DEPLOY, RIGHTS_UNDEPLOY, RIGHTS_STATUS, RIGHTS_LOGS, RIGHTS_PURPOSES };

/* "deploy", ..., NULL-terminated: the commands' names, in the enum's order. */
extern const char *const rights_purposes[RIGHTS_PURPOSES + 1];

/* Who is given the roles; kind NULL = nobody yet, and no bindings are made. */
struct rights_subject {
	const char *kind; /* "User", "Group", "ServiceAccount" */
	const char *name;
	const char *namespace; /* of a ServiceAccount */
};

/* "user:NAME", "group:NAME" or "serviceaccount:NAMESPACE/NAME"; ERR_USAGE otherwise. */
int rights_subject_parse(const char *text, struct arena *a, struct rights_subject *ret,
                         struct err *err) MUST_USE;

struct rights_opts {
	const struct k8s_output *fleet;      /* rendered, with every target's job */
	const struct k8s_output *controller; /* of deploy --in-cluster; NULL = not used */
	unsigned purposes;                   /* 1 << enum rights_purpose each */
	struct rights_subject subject;
};

/*
 * Renders into `out`, which belongs to the caller: the fleet's namespaces, which are the
 * administrator's to make, then roles and bindings. None has the owner's label: undeploy leaves
 * them.
 */
void rights_render(const struct rights_opts *opts, struct k8s_output *out);

#endif
