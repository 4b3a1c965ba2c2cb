#include "k8s/deploy/refusal.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"

struct refusal_row {
	const char *pattern, *second; /* both must be there; second NULL = one is enough */
	enum refusal refusal;
	const char *hint;
};

#define POLICY "A policy of the cluster refuses the pods: change the spec, or ask who owns it."

/* The special before the general. */
static const struct refusal_row rows[] = {
	{"failed calling webhook", NULL, REFUSAL_PASSING,
         "An admission webhook does not answer: its own pods must run."},
	{"error looking up service account", NULL, REFUSAL_PASSING,
         "job.service_account must name an account of the namespace."},
	{"exceeded quota", NULL, REFUSAL_QUOTA,
         "Raise the ResourceQuota of the namespace, or ask for less in the spec."},
	{"failed quota", NULL, REFUSAL_FINAL,
         "The ResourceQuota wants limits that the pods do not have: change it."},
	{"violates PodSecurity", NULL, REFUSAL_FINAL,
         "The namespace's label pod-security.kubernetes.io/enforce sets what pods may do: change "
         "it, or deploy to another namespace."},
	{"admission webhook", "denied the request", REFUSAL_FINAL, POLICY},
	{"ValidatingAdmissionPolicy", "denied request", REFUSAL_FINAL, POLICY},
	{"no PriorityClass with name", NULL, REFUSAL_FINAL,
         "job.priority_class must name a PriorityClass of the cluster."},
	{"is being terminated", NULL, REFUSAL_PASSING,
         "The namespace is being deleted: run this again when it is gone."},
	{"is forbidden", NULL, REFUSAL_FINAL, POLICY},
	{"is invalid", NULL, REFUSAL_FINAL, "Change what the message names in the spec."},
};

/* "exceeded quota: q, requested: requests.nvidia.com/gpu=8, used: ...": a resource of a vendor is
 * not what every target asks for. */
static bool is_of_a_device(const char *message)
{
	const char *start = strstr(message, "requested: ");
	const char *end = start != NULL ? strstr(start, ", used:") : NULL;

	return end != NULL && memchr(start, '/', (size_t)(end - start)) != NULL;
}

enum refusal refusal_of(const char *message, const char **ret_hint)
{
	for (size_t i = 0; message != NULL && i < ARRAY_LEN(rows); i++) {
		const struct refusal_row *row = &rows[i];

		if (strstr(message, row->pattern) == NULL ||
		    (row->second != NULL && strstr(message, row->second) == NULL))
			continue;
		if (ret_hint != NULL)
			*ret_hint = row->hint;
		return row->refusal == REFUSAL_QUOTA && is_of_a_device(message) ? REFUSAL_TARGET
		                                                                : row->refusal;
	}
	return REFUSAL_NONE;
}

bool refusal_settles(enum refusal refusal)
{
	return refusal == REFUSAL_QUOTA || refusal == REFUSAL_TARGET;
}

bool image_is_refused(const char *message)
{
	static const char *const words[] = {
		"not found",
		"manifest unknown",
		"name unknown",
		"NAME_UNKNOWN",
		"MANIFEST_UNKNOWN",
		"access denied",
		"requested access to the resource is denied",
		"insufficient_scope",
		"403 Forbidden",
		"401 Unauthorized",
		"no basic auth credentials",
		"couldn't parse image name",
	};

	for (size_t i = 0; message != NULL && i < ARRAY_LEN(words); i++)
		if (strstr(message, words[i]) != NULL)
			return true;
	return false;
}
