#include "k8s/object/shared.h"

const char *shared_user_key(const char *fleet, struct arena *a)
{
	return arena_printf(a, SHARED_USER "%s", fleet);
}
