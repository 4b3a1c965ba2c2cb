/*
 * Devices that several pods share: in turns, or divided into parts.
 */
#include <string.h>

#include "k8s/resolve/resolve_internal.h"
#include "karpenter/catalogue/mig.h"

#define SLICES_RESOURCE "nvidia.com/gpu.shared"

/* How a target's devices are shared: the key that says so, and where it stands. */
struct sharing {
	const char *key;
	struct srcpos at;
};

/* What both ways need: NVIDIA's devices, a plugin that offers shares, and a Karpenter that can be
 * told of them. */
static bool check_sharing(struct resolver *r, const struct fleet_target *t, const struct sharing *s)
{
	const char *why = NULL, *hint = "leave it out";

	if (t->accelerator->kind != ACCELERATOR_NVIDIA) {
		why = "only NVIDIA's devices can be shared";
	} else if (r->sections->cluster.devices == DEVICES_DRA) {
		why = "resource claims are for whole devices here";
		hint = "write cluster.devices: plugin, or leave it out";
	} else if (r->karpenter_minor > 0 && r->karpenter_minor < 107) {
		why = "Karpenter before 1.7 has no NodeOverlay to learn of shares";
		hint = "write cluster.karpenter: v1, or leave it out";
	} else if (t->section->devices > 1) {
		why = "a pod gets one share";
		hint = "leave devices out: a job takes more by more nodes, each of which is a pod";
	}
	if (why != NULL)
		resolve_problem(r, s->at, hint, "fleet.%s.%s: %s", t->name, s->key, why);
	return why == NULL;
}

static void slice(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;
	const struct ami_section *ami = &s->ami;

	if (!check_sharing(r, t, &(struct sharing){"time_slices", s->time_slices_at}))
		return;
	/* Bottlerocket runs the plugin itself, by settings of its own. */
	if (ami->set && ami->alias != NULL && strncmp(ami->alias, "bottlerocket", 12) == 0)
		resolve_problem(r, s->time_slices_at, "write ami: al2023@latest",
		                "fleet.%s.time_slices: Bottlerocket's own plugin offers whole "
		                "devices",
		                t->name);
	t->shares = s->time_slices;
	t->resource = SLICES_RESOURCE;
}

static void no_profile(struct resolver *r, const struct fleet_target *t, const struct instance *i)
{
	AUTO(strbuf) struct strbuf known = STRBUF_INIT(1024);

	mig_profiles(i, &known);
	resolve_problem(r, t->section->mig_at,
	                known.len > 0 ? arena_printf(r->arena, "it has %s", strbuf_str(&known))
	                              : "A100, H100 and H200 can be divided, on p4d and p5",
	                "fleet.%s.mig: devices of %s have no profile '%s'", t->name, i->type,
	                t->section->mig);
}

static void divide(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;

	if (!check_sharing(r, t, &(struct sharing){"mig", s->mig_at}))
		return;
	for (size_t i = 0; i < t->n_instances; i++)
		if (mig_parts(t->instances[i], s->mig) == 0) {
			no_profile(r, t, t->instances[i]);
			return;
		}
	if (r->sections->cluster.devices != DEVICES_NONE)
		resolve_problem(
			r, s->mig_at,
			"install it, and write cluster.devices: none, for it brings a "
			"device plugin, too",
			"fleet.%s.mig: NVIDIA's GPU operator divides devices, and nothing of "
			"slipway does",
			t->name);
	t->shares = mig_parts(t->shape, s->mig);
	t->resource = arena_printf(r->arena, "nvidia.com/mig-%s", s->mig);
}

void resolve_shares(struct resolver *r, struct fleet_target *t)
{
	const struct target_section *s = t->section;

	t->shares = 1;
	t->resource = t->accelerator->resource;
	if (s->time_slices > 0 && s->mig != NULL)
		resolve_problem(
			r, s->mig_at, "leave one of them out",
			"fleet.%s: devices are shared by time_slices or by mig, not by both",
			t->name);
	else if (s->time_slices > 0)
		slice(r, t);
	else if (s->mig != NULL)
		divide(r, t);
}
