/*
 * What the parts of fleet_resolve share; nobody else includes it.
 */
#ifndef SLIPWAY_K8S_RESOLVE_RESOLVE_INTERNAL_H
#define SLIPWAY_K8S_RESOLVE_RESOLVE_INTERNAL_H

#include "base/doc/fields.h"
#include "k8s/resolve/resolve.h"

/* Of the spec's name, when there is a fleet: objects add to it, and names are labels too, of at
 * most 63 characters. */
enum { NAME_MAX_LEN = 40 };

struct resolver {
	const struct fleet_sections *sections;
	const struct fleet_image *image;
	struct srcpos name_at;
	struct fleet *fleet;
	int karpenter_minor; /* of the version that runs, with 1.x as 100 + x */
	struct arena *arena;
	struct diags *diags;
};

/* resolve_problem(r, pos, hint, fmt, ...) adds an error with a hint (NULL = none) at pos. */
#define resolve_problem(r, ...) diags_error((r)->diags, __VA_ARGS__)

/* Is the text there, and right by its grammar? What is not was reported already. */
bool resolve_sound(const char *text, field_check check);

/* Where things are (resolve_places.c): is there such a region; is it one of the region's zones;
 * are roles, keys and topics of the cluster's part of AWS? `what` is the key's path. */
void resolve_check_region(struct resolver *r);
void resolve_check_zone(struct resolver *r, const char *zone, struct srcpos at, const char *what);
void resolve_check_arns(struct resolver *r);

/* Devices that pods share: which resource, and how many shares of each device. */
void resolve_shares(struct resolver *r, struct fleet_target *target);

/* What sidecars ask for is taken from the pod's share, before it is rounded. */
void resolve_sidecars(struct resolver *r, struct fleet_target *target);
void resolve_beside(struct resolver *r); /* the job's volumes, other containers and rights */

/* The plain path: without doubled and trailing slashes and "." parts; is it the folder itself, or
 * something below it? */
const char *resolve_plain_path(const char *path, struct arena *a);
bool resolve_is_in(const char *path, const char *folder);

/* What a mount at this plain path would hide, NULL = nothing; *ret_folder says where that is. */
const char *resolve_hidden(const char *mount, const char **ret_folder);

/* How nodes fetch images, and what their volume needs for it: after resolve_ami. */
void resolve_pull(struct resolver *r, struct fleet_target *target);
void resolve_volume(struct resolver *r, struct fleet_target *target); /* of the nodes; after that */

/* What slipway-trainer is told of the target's devices, where the job runs it: after the pod's
 * figures and the scheduler. */
void resolve_trainer(struct resolver *r, struct fleet_target *target);

/* What is compiled ahead of the job, and where it is kept: before resolve_trainer. */
void resolve_compile(struct resolver *r, struct fleet_target *target);

void resolve_cluster(struct resolver *r);
void resolve_targets(struct resolver *r); /* pools, and what a pod of each asks for */
void resolve_pods(struct resolver *r, const struct fleet_target *target); /* job against target */
void resolve_limits(struct resolver *r, struct fleet_target *target);
void resolve_ami(struct resolver *r, struct fleet_target *target);
void resolve_storage(struct resolver *r);
void resolve_job(struct resolver *r);
void resolve_monitoring(struct resolver *r);
void resolve_failover(struct resolver *r);
void resolve_inside(struct resolver *r); /* of pods: mounts, ports, rights */

#endif
