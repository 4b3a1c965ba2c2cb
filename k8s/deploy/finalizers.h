/*
 * Why a deleted object is still there: a finalizer says that a controller has something to do
 * first. Which controller, what it waits for and what is left behind without it is a table; the
 * rest is read from the object. Pure but for finalizers_remove.
 *
 * Sources: kubernetes.io "Finalizers" and "Storage Object in Use Protection"; Karpenter's
 * "Disruption" (termination controller); the sidecars external-provisioner and external-attacher.
 */
#ifndef SLIPWAY_K8S_DEPLOY_FINALIZERS_H
#define SLIPWAY_K8S_DEPLOY_FINALIZERS_H

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"

/* Has it finalizers, which may be removed, and is it being deleted? */
bool object_is_held(const cJSON *object);
bool object_is_leaving(const cJSON *object);

/* "Node 'n': finalizer karpenter.sh/termination of Karpenter, which drains the node ..."; of a
 * namespace, what its controller reports of the objects in it. */
void finalizers_tell(const cJSON *object, struct strbuf *sb);

/* The command that shows the controller of the object's first finalizer; NULL if not known. */
const char *finalizers_look(const cJSON *object);

/* What goes on, and may cost money, once the finalizers are removed by force: "instance i-1 may go
 * on running: `aws ec2 ...`" and a line feed. Nothing when nothing does. */
void finalizers_tell_risk(const cJSON *object, struct strbuf *sb);

/* Removes all of them, if it is still the same object; one that is gone is as good. */
int finalizers_remove(struct kubectl *k, const cJSON *object, struct err *err) MUST_USE;

#endif
