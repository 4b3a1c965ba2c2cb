/*
 * Dynamic resource allocation for NVIDIA devices: the driver, the class of whole devices, and one
 * claim template per target. A template asks for the target's devices by what they are: a pool
 * with A100s of 80 and of 40 GB gets a prioritized list, in the order of its instances.
 */
#include "base/attr.h"
#include "k8s/devices/nodes.h"
#include "k8s/devices/nvidia.h"
#include "k8s/fleet/pins.h"

static const char name[] = "nvidia-dra-driver";

#define PLUGINS          "/var/lib/kubelet/plugins"
#define PLUGINS_REGISTRY "/var/lib/kubelet/plugins_registry"
#define CDI              "/var/run/cdi"
#define DRIVER_ROOT      "/driver-root"

static const struct rbac_rule rules[] = {
	{"resource.k8s.io", "resourceclaims", "get,list,watch"},
	{"resource.k8s.io", "resourceclaims/status", "update"},
	{"resource.k8s.io", "resourceslices", "get,list,watch,create,update,delete"},
	{"", "nodes", "get,list,watch,update"},
	{"", "pods", "get,list,watch"},
};

/* Of whole devices. */
static const char *device_class(void)
{
	return accelerators[ACCELERATOR_NVIDIA].device_class;
}

static void add_mount(cJSON *mounts, const char *volume, const char *path, const char *propagation)
{
	cJSON *mount = k8s_push_object(mounts);

	json_add_string(mount, "name", volume);
	json_add_string(mount, "mountPath", path);
	json_add_string(mount, "mountPropagation", propagation);
}

static void add_volume(cJSON *volumes, const char *volume, const char *path)
{
	cJSON *entry = k8s_push_object(volumes);

	json_add_string(entry, "name", volume);
	json_add_string(json_add_object(entry, "hostPath"), "path", path);
}

static void add_volumes(struct workload *w)
{
	cJSON *mounts = json_add_array(w->container, "volumeMounts");
	cJSON *volumes = json_add_array(w->pod, "volumes");

	add_mount(mounts, "plugins-registry", PLUGINS_REGISTRY, NULL);
	add_mount(mounts, "plugins", PLUGINS, "Bidirectional");
	add_mount(mounts, "cdi", CDI, NULL);
	add_mount(mounts, "driver-root", DRIVER_ROOT, "HostToContainer");
	add_volume(volumes, "plugins-registry", PLUGINS_REGISTRY);
	add_volume(volumes, "plugins", PLUGINS);
	add_volume(volumes, "cdi", CDI);
	add_volume(volumes, "driver-root", "/");
}

static void add_environment(struct workload *w)
{
	workload_env(w, "NVIDIA_DRIVER_ROOT", "/");
	/* The toolkit must not give the driver's own container the devices. */
	workload_env(w, "NVIDIA_VISIBLE_DEVICES", "void");
	workload_env(w, "NVIDIA_MIG_CONFIG_DEVICES", "all");
	workload_env(w, "CDI_ROOT", CDI);
	workload_env(w, "IMAGE_NAME", pins[PIN_NVIDIA_DRA].image);
	workload_env(w, "KUBELET_REGISTRAR_DIRECTORY_PATH", PLUGINS_REGISTRY);
	workload_env(w, "KUBELET_PLUGINS_DIRECTORY_PATH", PLUGINS);
	workload_env_field(w, "NODE_NAME", "spec.nodeName");
	workload_env_field(w, "NAMESPACE", "metadata.namespace");
}

static const struct device_nodes nodes = {is_nvidia_node, .offer = "In", .offers = {OFFER_CLAIMS}};

static void render_driver(struct k8s_output *out)
{
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .account = name,
	                             .image = pins[PIN_NVIDIA_DRA].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_service_account(out, DEVICES_NAMESPACE, name);
	k8s_cluster_role(out, name, rules, ARRAY_LEN(rules));
	k8s_bind(out, name, name, DEVICES_NAMESPACE, name);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	cJSON *command = json_add_array(w.container, "command");

	json_push_string(command, "gpu-kubelet-plugin");
	json_push_string(command, "-v=2");
	add_environment(&w);
	k8s_privileged(w.container);
	/* It stands where the device plugin would: the sums reckon with one of the two. */
	k8s_daemon_resources(w.container, &accelerators[ACCELERATOR_NVIDIA].plugin);
	add_volumes(&w);
}

static void render_class(struct k8s_output *out)
{
	cJSON *class = k8s_add(out, "resource.k8s.io/v1", "DeviceClass", NULL, device_class());
	cJSON *selectors = json_add_array(json_add_object(class, "spec"), "selectors");

	json_add_string(json_add_object(k8s_push_object(selectors), "cel"), "expression",
	                "device.driver == 'gpu.nvidia.com' && "
	                "device.attributes['gpu.nvidia.com'].type == 'gpu'");
}

const char *dra_template_name(const struct fleet_target *target, struct arena *a)
{
	return arena_printf(a, "%s-devices", target->job);
}

/* Devices of at least this much memory; the driver reports what is left after its own share, so a
 * tenth is allowed for. */
static void add_request(cJSON *request, int64_t count, int64_t memory_mib)
{
	json_add_string(request, "deviceClassName", device_class());
	json_add_string(request, "allocationMode", "ExactCount");
	json_add_int(request, "count", count);
	cJSON *selectors = json_add_array(request, "selectors");

	k8s_addf(json_add_object(k8s_push_object(selectors), "cel"), "expression",
	         "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('%lldMi')) >= 0",
	         (long long)(memory_mib * 9 / 10));
}

enum { KINDS_MAX = 8 };

/* Distinct device memories of the target's instances that have enough devices, as listed. */
static size_t kinds_of(const struct fleet_target *target, int64_t kinds[KINDS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < target->n_instances; i++) {
		int64_t memory = target->instances[i]->device_memory_mib;
		size_t at = 0;

		while (at < n && kinds[at] != memory)
			at++;
		if (at == n && n < KINDS_MAX && target->instances[i]->devices >= target->devices)
			kinds[n++] = memory;
	}
	return n;
}

static void render_template(const struct fleet *fleet, const struct fleet_target *target,
                            struct k8s_output *out)
{
	int64_t kinds[KINDS_MAX];
	size_t n = kinds_of(target, kinds);
	cJSON *template = k8s_add(out, "resource.k8s.io/v1", "ResourceClaimTemplate",
	                          fleet->namespace, dra_template_name(target, &out->arena));
	cJSON *spec = json_add_object(json_add_object(template, "spec"), "spec");
	cJSON *requests = json_add_array(json_add_object(spec, "devices"), "requests");
	cJSON *request = k8s_push_object(requests);

	json_add_string(request, "name", "devices");
	if (n == 1) {
		add_request(json_add_object(request, "exactly"), target->devices, kinds[0]);
		return;
	}
	cJSON *list = json_add_array(request, "firstAvailable");

	for (size_t i = 0; i < n; i++) {
		cJSON *choice = k8s_push_object(list);

		k8s_addf(choice, "name", "memory-%lldg", (long long)(kinds[i] / 1024));
		add_request(choice, target->devices, kinds[i]);
	}
}

void render_nvidia_dra(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "nvidia-dra.yaml",
	         "NVIDIA devices by dynamic resource allocation, in place of the device plugin:\n"
	         "the driver, and the class of whole devices.");
	k8s_share(out, name);
	render_driver(out);
	render_class(out);
	k8s_file(out, "claims.yaml", "What a target's pods claim: a template each.");
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet_target_uses_dra(fleet, &fleet->targets[i]))
			render_template(fleet, &fleet->targets[i], out);
}
