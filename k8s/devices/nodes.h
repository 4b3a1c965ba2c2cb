/*
 * Where the DaemonSets of devices run. They are shared by all fleets of a cluster, so that they go
 * by what a node is, never by whose it is.
 */
#ifndef SLIPWAY_K8S_DEVICES_NODES_H
#define SLIPWAY_K8S_DEVICES_NODES_H

#include "k8s/object/workload.h"

struct device_nodes {
	bool (*wanted)(const struct instance *instance); /* of these types */
	/* A requirement on OFFER_LABEL besides, "In" or "NotIn" some values; NULL = none. */
	const char *offer;
	const char *offers[3];
};

/* On nodes of every fleet, of the types that are wanted; with a toleration of each of their
 * accelerators. */
void workload_on_devices(struct workload *w, const struct device_nodes *nodes);

/* Nodes whose devices the shared plugin of an accelerator offers: nothing else does. */
#define OFFERED_BY_PLUGIN .offer = "NotIn", .offers = {OFFER_CLAIMS, OFFER_NODE, OFFER_SHARES}

#endif
