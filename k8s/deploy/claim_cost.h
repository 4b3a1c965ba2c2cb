/*
 * What the file system behind the fleet's claim costs, by the prices that the user gave.
 */
#ifndef SLIPWAY_K8S_DEPLOY_CLAIM_COST_H
#define SLIPWAY_K8S_DEPLOY_CLAIM_COST_H

#include "base/doc/json.h"
#include "k8s/deploy/prices.h"
#include "k8s/fleet/storage_driver.h"

/* Whose the claim among the fleet's objects is: the driver that the spec names, else the one that
 * an owned class or volume names, as an earlier spec left it; NULL = not known. */
const struct storage_driver *claim_driver(const struct fleet *fleet, const cJSON *owned);

/* Per hour, in millionths of the currency. False: there is no claim, or its price is unknown. */
bool claim_cost(const struct fleet *fleet, const struct prices *prices, const cJSON *owned,
                int64_t *ret_micros);

#endif
