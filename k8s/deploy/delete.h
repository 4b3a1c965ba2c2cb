/*
 * Asking for the deletion of exactly the object that was seen: kubectl's own `delete` names an
 * object and takes whatever bears that name by then, so the request is sent as it is (DELETE with
 * DeleteOptions: Kubernetes API conventions, "preconditions").
 */
#ifndef SLIPWAY_K8S_DEPLOY_DELETE_H
#define SLIPWAY_K8S_DEPLOY_DELETE_H

#include "k8s/deploy/kubectl.h"

/*
 * Asks for it and does not wait: ERR_CONFLICT when the object has another uid by now, or another
 * resourceVersion than `version` (NULL = any). *ret_gone: it is gone, or was before; otherwise it
 * is on its way out.
 */
int delete_exact(struct kubectl *k, const cJSON *object, const char *version, bool *ret_gone,
                 struct err *err) MUST_USE;

#endif
