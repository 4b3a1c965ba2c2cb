/*
 * The EFA device plugin: the interfaces that bypass TCP between nodes. Its chart tolerates no
 * taint of ours, which is the usual reason why a tainted node shows no EFA.
 */
#include "k8s/devices/devices.h"
#include "k8s/devices/nodes.h"
#include "k8s/fleet/pins.h"
#include "k8s/object/eks_registry.h"

static const char name[] = "aws-efa-k8s-device-plugin";

static bool has_efa(const struct instance *instance)
{
	return instance->efa > 0;
}

static const struct device_nodes nodes = {.wanted = has_efa};

void render_efa_plugin(const struct fleet *fleet, struct k8s_output *out)
{
	const char *registry = eks_registry(fleet->cluster->region, &out->arena);
	const char *image =
		arena_printf(&out->arena, "%s/%s", registry, pins[PIN_EFA_PLUGIN].image);
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .image = image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "efa.yaml",
	         "EFA device plugin: offers vpc.amazonaws.com/efa on pools whose pods ask for it.\n"
	         "The nodes' security group must allow all traffic from and to itself.");
	k8s_share(out, name);
	k8s_daemonset(out, &opts, &w);
	json_add_bool(w.pod, "hostNetwork", true);
	workload_on_devices(&w, &nodes);
	k8s_privileged(w.container);
	k8s_overhead_resources(w.container, name);
	workload_host_path(&w, "device-plugins", KUBELET_PLUGINS, NULL);
	workload_host_path(&w, "infiniband", "/dev/infiniband", NULL);
	workload_host_path(&w, "neuron", "/opt/aws/neuron", "DirectoryOrCreate");
}
