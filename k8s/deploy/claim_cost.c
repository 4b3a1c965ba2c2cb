#include "k8s/deploy/claim_cost.h"

#include "k8s/deploy/status.h"
#include "k8s/storage/storage.h"

const struct storage_driver *claim_driver(const struct fleet *fleet, const cJSON *owned)
{
	const struct storage_driver *driver = fleet->storage.driver;
	const cJSON *o = owned != NULL ? owned->child : NULL;

	for (; o != NULL && driver == NULL; o = o->next) {
		/* A class and a volume of a file system that was there. */
		driver = storage_driver_find(json_string(o, "provisioner"));
		if (driver == NULL)
			driver = storage_driver_find(
				json_string(json_get(json_get(o, "spec"), "csi"), "driver"));
	}
	return driver;
}

bool claim_cost(const struct fleet *fleet, const struct prices *prices, const cJSON *owned,
                int64_t *ret_micros)
{
	const struct storage_driver *driver = claim_driver(fleet, owned);

	return prices != NULL && driver != NULL && driver->price != NULL &&
	       prices_storage(prices, driver->price, claim_gib(owned), ret_micros);
}
