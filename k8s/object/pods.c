#include "k8s/object/pods.h"

#include <string.h>

#include "k8s/object/quantity.h"

void each_pod(const cJSON *object, void (*visit)(const cJSON *pod, void *listener), void *listener)
{
	if (cJSON_IsArray(json_get(object, "containers")))
		visit(object, listener);
	for (const cJSON *child = object->child; child != NULL; child = child->next)
		if (cJSON_IsObject(child) || cJSON_IsArray(child))
			each_pod(child, visit, listener);
}

static const cJSON *first_of(const cJSON *pod, const char *key)
{
	const cJSON *list = json_get(pod, key);

	return cJSON_IsArray(list) ? list->child : NULL;
}

struct pod_walk pod_walk(const cJSON *pod)
{
	return (struct pod_walk){first_of(pod, "initContainers"), first_of(pod, "containers")};
}

const cJSON *pod_walk_next(struct pod_walk *c)
{
	const cJSON *found = c->next != NULL ? c->next : c->rest;

	if (found == NULL)
		return NULL;
	if (c->next != NULL)
		c->next = found->next;
	else
		c->rest = found->next;
	return found;
}

static bool add_request(const cJSON *container, const char *resource, int64_t *sum)
{
	const cJSON *resources = json_get(container, "resources");
	const cJSON *amounts = json_get(resources, "requests");
	int64_t amount;

	/* Without a request the limit is one. */
	if (json_get(amounts, resource) == NULL)
		amounts = json_get(resources, "limits");
	return quantity_of(amounts, resource, &amount) &&
	       !__builtin_add_overflow(*sum, amount, sum);
}

bool pod_requests(const cJSON *pod, const char *resource, int64_t *ret_thousandths)
{
	int64_t beside = 0, before = 0, sum;

	for (const cJSON *c = first_of(pod, "initContainers"); c != NULL; c = c->next) {
		const char *policy = json_string(c, "restartPolicy");

		sum = beside;
		if (!add_request(c, resource, &sum))
			return false;
		if (policy != NULL && strcmp(policy, "Always") == 0)
			beside = sum;
		before = sum > before ? sum : before;
	}
	sum = beside;
	for (const cJSON *c = first_of(pod, "containers"); c != NULL; c = c->next)
		if (!add_request(c, resource, &sum))
			return false;
	*ret_thousandths = sum > before ? sum : before;
	return true;
}
