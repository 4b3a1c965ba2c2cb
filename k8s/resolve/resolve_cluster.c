/*
 * The cluster: names, zones, and whether its versions fit each other.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/eks_versions.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/pins.h"
#include "k8s/fleet/regions.h"
#include "k8s/resolve/resolve_internal.h"

/* The first Karpenter that runs on a Kubernetes version (1.x as 100 + x); Karpenter's own
 * compatibility table. */
static const struct {
	int kubernetes, karpenter;
} compatible[] = {{27, 28},  {28, 31},  {29, 34},  {30, 37},  {31, 100},
                  {32, 102}, {33, 105}, {34, 106}, {35, 109}, {36, 112}};

/* An API and the newest Karpenter that serves it. */
static const struct {
	const char *name;
	enum karpenter_api api;
	int first, last; /* minors that serve it, 1.x as 100 + x */
	enum pin_name newest;
} apis[] = {
	{"v1", KARPENTER_V1, 100, 999, PIN_KARPENTER_V1},
	{"v1beta1", KARPENTER_V1BETA1, 32, 99, PIN_KARPENTER_V1BETA1},
	{"v1alpha5", KARPENTER_V1ALPHA5, 28, 31, PIN_KARPENTER_V1ALPHA5},
};

static void resolve_karpenter(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	int major, minor;

	if (!resolve_sound(cluster->karpenter, check_karpenter))
		return;
	bool version = parse_version(cluster->karpenter, &major, &minor);

	for (size_t i = 0; i < ARRAY_LEN(apis); i++) {
		int given = version ? major * 100 + minor : 0;

		if (version ? given < apis[i].first || given > apis[i].last
		            : strcmp(cluster->karpenter, apis[i].name) != 0)
			continue;
		r->fleet->karpenter = apis[i].api;
		r->fleet->karpenter_version =
			version ? cluster->karpenter : pins[apis[i].newest].version;
		if (!version)
			parse_version(pins[apis[i].newest].version, &major, &minor);
		r->karpenter_minor = r->fleet->karpenter_minor = major * 100 + minor;
		return;
	}
}

/* Karpenter's APIs older than v1 end with the Kubernetes versions they knew. */
static void check_versions(struct resolver *r)
{
	const struct fleet *fleet = r->fleet;
	struct srcpos at = r->sections->cluster.karpenter_at.file != NULL
	                           ? r->sections->cluster.karpenter_at
	                           : r->sections->cluster.at;

	/* Older ones are known for clusters of former days, whose Karpenter is as old. */
	if (fleet->karpenter == KARPENTER_V1 && fleet->minor > 0 && fleet->minor < EKS_MINOR_OLDEST)
		resolve_problem(r, srcpos_or(r->sections->cluster.version_at, at),
		                "write version: \"" EKS_DEFAULT_VERSION "\"",
		                "cluster.version: EKS no longer runs Kubernetes %s: its extended "
		                "support has ended",
		                fleet->version);
	for (size_t i = 0; i < ARRAY_LEN(compatible); i++)
		if (compatible[i].kubernetes == fleet->minor && r->karpenter_minor > 0 &&
		    r->karpenter_minor < compatible[i].karpenter) {
			int need = compatible[i].karpenter;

			resolve_problem(
				r, at, "choose a newer Karpenter, or an older Kubernetes",
				"cluster.karpenter: Karpenter %s does not run on Kubernetes "
				"%s, which needs %d.%d or newer",
				fleet->karpenter_version, fleet->version, need / 100, need % 100);
		}
}

static void check_devices(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;

	if (cluster->devices != DEVICES_DRA)
		return;
	if (r->fleet->minor > 0 && r->fleet->minor < 34)
		resolve_problem(r, cluster->devices_at,
		                "write version: \"1.34\" or devices: plugin",
		                "cluster.devices: Kubernetes %s has no stable resource claims, "
		                "which need 1.34",
		                cluster->version);
	if (r->karpenter_minor > 0 && r->karpenter_minor < 114)
		resolve_problem(r, cluster->devices_at,
		                "write karpenter: v1 (1.14) or devices: plugin",
		                "cluster.devices: Karpenter %s ignores pods with resource claims",
		                r->fleet->karpenter_version);
}

/* One of the same region for the control plane, beside the pools'. */
static const char *neighbour(struct resolver *r, const char *zone)
{
	const char *zones = region_zones(r->sections->cluster.region);
	char *other = arena_strdup(r->arena, zone);
	char *letter = other + strlen(other) - 1;

	if (zones == NULL)
		zones = "ab";
	*letter = *letter == zones[0] ? zones[1] : zones[0];
	return other;
}

/* The control plane wants two zones; the pools' own is one of them. */
static void resolve_zones(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	struct fleet *fleet = r->fleet;

	resolve_check_region(r);
	resolve_check_zone(r, cluster->zone, cluster->zone_at, "cluster.zone");
	for (size_t i = 0; i < cluster->zones.n; i++)
		resolve_check_zone(r, cluster->zones.at[i], cluster->zones.pos[i], "cluster.zones");
	fleet->zone = cluster->zone;
	if (cluster->zones.n > 0) {
		bool found = cluster->zone == NULL;

		fleet->zones = (struct strlist){cluster->zones.at, cluster->zones.n};
		for (size_t i = 0; i < fleet->zones.n; i++)
			found = found || strcmp(fleet->zones.at[i], cluster->zone) == 0;
		if (!found)
			resolve_problem(r, cluster->zones_at, "add it to the list",
			                "cluster.zones: the zone of the pools, %s, is missing",
			                cluster->zone);
		if (fleet->zones.n < 2)
			resolve_problem(r, cluster->zones_at, "add a zone of the same region",
			                "cluster.zones: a control plane needs two zones");
		return;
	}
	if (!resolve_sound(cluster->zone, check_zone) ||
	    !resolve_sound(cluster->region, check_region))
		return;
	const char **zones = arena_calloc(r->arena, 2, sizeof(*zones));

	zones[0] = cluster->zone;
	zones[1] = neighbour(r, cluster->zone);
	fleet->zones = (struct strlist){zones, 2};
}

/* The account of an ECR host: 123456789012.dkr.ecr.us-west-2.amazonaws.com. */
static const char *ecr_account(struct resolver *r)
{
	const char *repository = r->image->repository;

	if (repository == NULL || strspn(repository, "0123456789") != 12 ||
	    !text_has_prefix(repository + 12, ".dkr.ecr."))
		return NULL;
	return arena_strndup(r->arena, repository, 12);
}

void resolve_cluster(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	struct fleet *fleet = r->fleet;
	int major;

	fleet->cluster = cluster;
	fleet->cluster_name = cluster->name != NULL ? cluster->name : fleet->name;
	fleet->namespace = cluster->namespace != NULL ? cluster->namespace : fleet->name;
	fleet->discovery = cluster->discovery != NULL ? cluster->discovery : fleet->cluster_name;
	fleet->node_role = cluster->role != NULL ? cluster->role
	                                         : arena_printf(r->arena, "KarpenterNodeRole-%s",
	                                                        fleet->cluster_name);
	fleet->account = cluster->account != NULL ? cluster->account : ecr_account(r);
	if (!cluster->set)
		return;
	fleet->version = cluster->version;
	if (resolve_sound(cluster->version, check_kubernetes_version))
		parse_version(cluster->version, &major, &fleet->minor);
	if (strlen(fleet->name) > NAME_MAX_LEN)
		resolve_problem(r, r->name_at, "choose a shorter name",
		                "name: %zu characters are too many: names of the fleet's objects "
		                "add to it, so it may have %d",
		                strlen(fleet->name), (int)NAME_MAX_LEN);
	else if (cluster->role == NULL && strlen(fleet->node_role) > 64)
		resolve_problem(r, cluster->name_at.file != NULL ? cluster->name_at : cluster->at,
		                "name the role in cluster.role",
		                "cluster: the role's name, %s, has more than 64 characters",
		                fleet->node_role);
	if (cluster->tags.n > 40)
		resolve_problem(r, cluster->tags_at,
		                "AWS allows 50, and Karpenter and EKS add some",
		                "cluster.tags: %zu tags are more than 40", cluster->tags.n);
	resolve_karpenter(r);
	check_versions(r);
	check_devices(r);
	resolve_zones(r);
}
