/*
 * A kind of object as kubectl calls it, the operator that brings it, and when it goes away. Which
 * kinds there are stands with those who render them: a scheduler's with the scheduler, the others
 * in k8s/deploy/kinds.c. Constant data.
 */
#ifndef SLIPWAY_K8S_OBJECT_KIND_H
#define SLIPWAY_K8S_OBJECT_KIND_H

/* When an object goes away; lower goes first. What is awaited stands in k8s/deploy/undeploy.c. */
enum leave_order {
	LEAVE_JOB,
	LEAVE_CLAIM,
	LEAVE_VOLUME,
	LEAVE_POOL,
	LEAVE_NODE_CLASS,
	LEAVE_PLUGIN,
	LEAVE_RBAC,
	LEAVE_NAMESPACE,
	LEAVE_ORDERS
};

struct kind_row {
	const char *kind, *group; /* "NodePool", "karpenter.sh"; core: "" */
	const char *resource;     /* "nodepools.karpenter.sh" */
	enum leave_order leave;
};

struct operator_row {
	const char *name;    /* "Karpenter" */
	const char *groups;  /* API groups it brings, with blanks around each */
	const char *install; /* the command, without secrets */
};

#endif
