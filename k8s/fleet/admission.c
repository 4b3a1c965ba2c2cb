#include "k8s/fleet/admission.h"

bool admission_has(const struct admission *admission, enum admission_kind kind)
{
	for (size_t i = 0; admission != NULL && i < admission->n; i++)
		if (admission->rules[i].kinds[kind])
			return true;
	return false;
}
