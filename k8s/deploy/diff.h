/*
 * What applying would change: objects as they are against objects as the server would have them
 * (server-side dry run), field by field. What the server maintains itself is left out. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_DIFF_H
#define SLIPWAY_K8S_DEPLOY_DIFF_H

#include "k8s/deploy/apply.h"

/*
 * Adds to the array `changes` one row per object of the stage that would change:
 *   {"stage", "action": "create" | "change", "kind", "namespace", "name",
 *    "fields": [{"path", "was", "is"}]}
 * "was" or "is" is absent where the field is; an object that is made has no fields. `after` lacks
 * objects that are not sent: they are not changes.
 */
void diff_stage(const struct stage *stage, const cJSON *before, const cJSON *after, cJSON *changes);

/*
 * Adds a row for each object of `stage`, which would be made anew in the place of the one that is
 * there: "action" is "replace", "why" says what would happen ("run 8 takes the place of run 7"),
 * and "fields" are against the object of that kind and name in `was`; [] where it has none.
 */
void diff_replaced(const struct stage *stage, const cJSON *was, const char *why, cJSON *changes);

/* Appends the rows as text. */
void diff_changes_text(const cJSON *changes, struct strbuf *sb);

#endif
