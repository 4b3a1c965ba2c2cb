/*
 * What a target gets and why, in words (`slipway explain`).
 */
#ifndef SLIPWAY_K8S_VIEW_EXPLAIN_H
#define SLIPWAY_K8S_VIEW_EXPLAIN_H

#include "base/doc/json.h"
#include "base/strbuf.h"
#include "k8s/fleet/model.h"

/* The target of a name, NULL if the fleet has none of it. */
const struct fleet_target *fleet_target_find(const struct fleet *fleet, const char *name);

/* Appends the explanation of one target, or of the fleet: its order and what falls to what. */
void explain_target(const struct fleet *fleet, const struct fleet_target *t, struct strbuf *sb);
void explain_fleet(const struct fleet *fleet, struct strbuf *sb);

/* The same facts for programs: one object per target. */
void explain_json(const struct fleet *fleet, const struct fleet_target *t, cJSON *object);

#endif
