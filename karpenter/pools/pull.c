#include "karpenter/pools/pull.h"

#include <string.h>

#include "karpenter/pools/pools.h"

/* nodeadm chooses 20 connections of 16 MiB pieces and 12 unpacked layers by itself. */
static const char node_config[] = "apiVersion: node.eks.aws/v1alpha1\n"
				  "kind: NodeConfig\n"
				  "spec:\n"
				  "  featureGates:\n"
				  "    FastImagePull: true\n";

/* Bottlerocket's own defaults are 3 connections and 1 layer: all four are said. */
static const char settings[] =
	"[settings.container-runtime]\n"
	"snapshotter = \"soci\"\n"
	"\n"
	"[settings.container-runtime-plugins.soci-snapshotter]\n"
	"pull-mode = \"parallel-pull-unpack\"\n"
	"\n"
	"[settings.container-runtime-plugins.soci-snapshotter.parallel-pull-unpack]\n"
	"max-concurrent-downloads-per-image = 20\n"
	"concurrent-download-chunk-size = \"16mb\"\n"
	"max-concurrent-unpacks-per-image = 12\n"
	"discard-unpacked-layers = true\n";

void pool_user_data(cJSON *spec, const struct fleet_target *t, struct k8s_output *out)
{
	const struct target_section *s = t->section;

	if (!t->parallel_pull)
		return;
	json_add_string(spec, "userData",
	                strcmp(pool_ami_family(t), "Bottlerocket") == 0 ? settings : node_config);
	if (s->pull_at.file != NULL)
		k8s_note(out, spec, "userData", s->pull_at, pool_path(t, "pull", out));
}
