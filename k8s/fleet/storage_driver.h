/*
 * A storage driver: a kind of file system that `storage` can name, and the CSI driver that mounts
 * it. One row each, listed in k8s/storage/storage.c. Whoever needs to know something of a fleet's
 * file system asks fleet->storage (k8s/fleet/model.h) and its row; no name of a driver stands
 * outside its own files.
 *
 *   const struct storage_driver efs_driver = {
 *           STORAGE_DRIVER("efs", "Elastic File System", "EFS", "efs.csi.aws.com", &node, is_set,
 *                          efs_resolve, render_efs_driver, render_efs_volume),
 *           .addon = "aws-efs-csi-driver",
 *   };
 */
#ifndef SLIPWAY_K8S_FLEET_STORAGE_DRIVER_H
#define SLIPWAY_K8S_FLEET_STORAGE_DRIVER_H

#include "k8s/fleet/model.h"
#include "k8s/fleet/overhead.h"

struct k8s_output; /* k8s/object/object.h */

/* What a driver resolves its part of the spec by; problems go to diags. */
struct storage_resolver {
	const struct fleet_sections *sections;
	struct fleet_storage *storage; /* to be filled: its driver and claim are set */
	struct arena *arena;
	struct diags *diags;
};

/* storage_problem(r, pos, hint, fmt, ...) adds an error with a hint (NULL = none) at pos. */
#define storage_problem(r, ...) diags_error((r)->diags, __VA_ARGS__)

struct storage_driver {
	/* What every row must say. */
	const char *name;            /* "fsx": key below `storage`, part of objects' names */
	const char *title;           /* "FSx for Lustre" */
	const char *label;           /* "FSx": in sentences */
	const char *csi;             /* "fsx.csi.aws.com" */
	const struct overhead *node; /* its DaemonSet, on every node of the fleet */
	bool (*wanted)(const struct storage_section *section); /* does the spec name it? */
	void (*resolve)(struct storage_resolver *r);
	/* The driver's own objects, where no add-on brings them; volume (or class) and claim. Both
	 * begin the files that they fill. */
	void (*render_driver)(const struct fleet *fleet, struct k8s_output *out);
	void (*render_volume)(const struct fleet *fleet, struct k8s_output *out);

	/* What a row may say; NULL = there is no such thing. */
	const char *addon;         /* of EKS: "aws-fsx-csi-driver" */
	const char *namespace;     /* of its controller; NULL = the controller needs no role */
	const char *account;       /* of its controller */
	const char *policy;        /* AWS's, of a controller that makes file systems */
	const char *startup_taint; /* on new nodes until its plugin is ready; effect NoExecute */
	/* A file system has one zone, and the pools must be there: why, in a sentence behind "The
	 * zone is the file system's:", and in a hint. */
	const char *one_zone, *one_zone_hint;
	const char *price;          /* key in tables of prices: per GiB and month */
	const char *delete_command; /* what deletes a file system, but for its id */
};

/* The members that every row must say: one that is left out does not compile. */
#define STORAGE_DRIVER(name_, title_, label_, csi_, node_, wanted_, resolve_, render_driver_,      \
                       render_volume_)                                                             \
	.name = "" name_, .title = "" title_, .label = "" label_, .csi = "" csi_, .node = (node_), \
	.wanted = (wanted_), .resolve = (resolve_), .render_driver = (render_driver_),             \
	.render_volume = (render_volume_)

#endif
