/*
 * The FSx for Lustre CSI driver, v1.9: controller on the system nodes, a plugin on every node that
 * mounts. The node plugin takes the startup taint from new nodes when it is ready.
 */
#include "base/attr.h"
#include "k8s/fleet/pins.h"
#include "k8s/object/workload.h"
#include "k8s/storage/fsx.h"

enum { CONTROLLER_HEALTH = 9910, NODE_HEALTH = 9810 };

static const struct rbac_rule controller_rules[] = {
	{"", "persistentvolumes", "get,list,watch,create,delete,update,patch"},
	{"", "persistentvolumeclaims", "get,list,watch,update"},
	{"", "persistentvolumeclaims/status", "update,patch"},
	{"", "pods", "get,list,watch"},
	{"", "nodes", "get,list,watch"},
	{"", "events", "list,watch,create,update,patch"},
	{"storage.k8s.io", "storageclasses,csinodes,volumeattributesclasses", "get,list,watch"},
	{"coordination.k8s.io", "leases", "get,list,watch,create,delete,update,patch"},
};

static const struct rbac_rule node_rules[] = {
	{"", "nodes", "get,patch"},
	{"", "pods", "get,list,watch"},
	{"", "persistentvolumes,persistentvolumeclaims", "get"},
};

static void render_rights(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fsx_section *fsx = fsx_of(fleet);
	cJSON *account = k8s_service_account(out, FSX_NAMESPACE, FSX_CONTROLLER_ACCESS);

	if (fleet->cluster->access == ACCESS_IRSA && fsx->driver_role != NULL)
		k8s_annotate(account, "eks.amazonaws.com/role-arn", fsx->driver_role);
	k8s_cluster_role(out, FSX_CONTROLLER, controller_rules, ARRAY_LEN(controller_rules));
	k8s_bind(out, FSX_CONTROLLER, FSX_CONTROLLER, FSX_NAMESPACE, FSX_CONTROLLER_ACCESS);
	k8s_service_account(out, FSX_NAMESPACE, FSX_NODE_ACCESS);
	k8s_cluster_role(out, FSX_NODE, node_rules, ARRAY_LEN(node_rules));
	k8s_bind(out, FSX_NODE, FSX_NODE, FSX_NAMESPACE, FSX_NODE_ACCESS);
}

static void render_registration(struct k8s_output *out)
{
	cJSON *spec = json_add_object(
		k8s_add(out, "storage.k8s.io/v1", "CSIDriver", NULL, FSX_DRIVER), "spec");

	json_add_bool(spec, "attachRequired", false);
	json_add_string(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
}

/* A container beside the driver that speaks to it through the shared socket. */
struct sidecar {
	const char *name;
	enum pin_name pin;
	const char *args[5];
};

static cJSON *add_sidecar(struct workload *w, const struct sidecar *sidecar, const char *mount)
{
	cJSON *containers = cJSON_GetObjectItemCaseSensitive(w->pod, "containers");
	cJSON *container = k8s_push_object(containers);
	size_t n = 0;

	while (n < ARRAY_LEN(sidecar->args) && sidecar->args[n] != NULL)
		n++;
	json_add_string(container, "name", sidecar->name);
	json_add_string(container, "image", pins[sidecar->pin].image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	k8s_add_strings(container, "args", sidecar->args, n);
	k8s_mount(json_add_array(container, "volumeMounts"), "socket", mount, false);
	return container;
}

static void add_driver(struct workload *w, const char *mode, const char *socket, int64_t health)
{
	workload_arg(w, mode);
	workload_arg(w, "--endpoint=$(CSI_ENDPOINT)");
	workload_arg(w, "--logging-format=text");
	workload_arg(w, "--v=2");
	workload_env(w, "CSI_ENDPOINT", socket);
	workload_env_field(w, "CSI_NODE_NAME", "spec.nodeName");
	workload_port(w, "healthz", health);
	workload_liveness(w, "/healthz", "healthz");
}

/* ---- controller ---- */

static const struct sidecar controller_sidecars[] = {
	{"csi-provisioner",
         PIN_CSI_PROVISIONER,
         {"--csi-address=/csi/csi.sock", "--v=2", "--timeout=5m", "--extra-create-metadata",
          "--leader-election=true"}},
	{"csi-resizer",
         PIN_CSI_RESIZER,
         {"--csi-address=/csi/csi.sock", "--v=2", "--timeout=5m", "--leader-election=true"}},
	{"liveness-probe", PIN_CSI_PROBE, {"--csi-address=/csi/csi.sock", "--health-port=9910"}},
};

static void add_empty_socket(struct workload *w)
{
	cJSON *volume = k8s_push_object(json_add_array(w->pod, "volumes"));

	json_add_string(volume, "name", "socket");
	json_add_object(volume, "emptyDir");
	k8s_mount(json_add_array(w->container, "volumeMounts"), "socket", "/csi", false);
}

/* What the driver's chart (1.9) gives: a provisioner with less is killed in a large cluster. */
static void add_upstream(cJSON *container, const char *request, const char *limit)
{
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	json_add_string(requests, "cpu", "10m");
	json_add_string(requests, "memory", request);
	json_add_string(json_add_object(resources, "limits"), "memory", limit);
}

static void render_controller(const struct fleet *fleet, struct k8s_output *out)
{
	struct workload_opts opts = {.namespace = FSX_NAMESPACE,
	                             .name = FSX_CONTROLLER,
	                             .container = "fsx-plugin",
	                             .account = FSX_CONTROLLER_ACCESS,
	                             .image = pins[PIN_FSX_DRIVER].image,
	                             .priority = PRIORITY_CLUSTER,
	                             .replicas = 2};
	struct workload w;

	k8s_deployment(out, &opts, &w);
	add_driver(&w, "--mode=controller", "unix:///csi/csi.sock", CONTROLLER_HEALTH);
	workload_env(&w, "AWS_REGION", fleet->cluster->region);
	k8s_restricted(w.container);
	add_upstream(w.container, "40Mi", "256Mi");
	add_empty_socket(&w);
	for (size_t i = 0; i < ARRAY_LEN(controller_sidecars); i++) {
		cJSON *sidecar = add_sidecar(&w, &controller_sidecars[i], "/csi");

		k8s_restricted(sidecar);
		add_upstream(sidecar, "32Mi", "128Mi");
	}
}

/* ---- nodes ---- */

#define NODE_SOCKET_DIR "/var/lib/kubelet/plugins/" FSX_DRIVER

static const struct sidecar node_sidecars[] = {
	{"node-driver-registrar",
         PIN_CSI_REGISTRAR,
         {"--csi-address=/csi/csi.sock", "--kubelet-registration-path=" NODE_SOCKET_DIR "/csi.sock",
          "--v=2"}},
	{"liveness-probe", PIN_CSI_PROBE, {"--csi-address=/csi/csi.sock", "--health-port=9810"}},
};

static void add_host_volume(cJSON *volumes, const char *name, const char *path, const char *type)
{
	cJSON *volume = k8s_push_object(volumes);

	json_add_string(volume, "name", name);
	cJSON *host = json_add_object(volume, "hostPath");

	json_add_string(host, "path", path);
	json_add_string(host, "type", type);
}

static void add_node_volumes(struct workload *w)
{
	cJSON *volumes = json_add_array(w->pod, "volumes");
	cJSON *mounts = json_add_array(w->container, "volumeMounts");
	cJSON *kubelet = k8s_push_object(mounts);

	/* Mounts that the driver makes must be seen by the pods. */
	json_add_string(kubelet, "name", "kubelet");
	json_add_string(kubelet, "mountPath", "/var/lib/kubelet");
	json_add_string(kubelet, "mountPropagation", "Bidirectional");
	k8s_mount(mounts, "socket", "/csi", false);
	add_host_volume(volumes, "kubelet", "/var/lib/kubelet", "Directory");
	add_host_volume(volumes, "socket", NODE_SOCKET_DIR, "DirectoryOrCreate");
	add_host_volume(volumes, "registration", "/var/lib/kubelet/plugins_registry", "Directory");
}

/* What the driver takes of a node is the pod's: its three containers share it. */
static void add_share(cJSON *container)
{
	const struct overhead *row = fsx_driver.node;
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	k8s_addf(requests, "cpu", "%lldm", (long long)(row->cpu_milli / 3));
	k8s_addf(requests, "memory", "%lldMi", (long long)(row->memory_mib / 3));
}

static void render_node(struct k8s_output *out)
{
	struct workload_opts opts = {.namespace = FSX_NAMESPACE,
	                             .name = FSX_NODE,
	                             .container = "fsx-plugin",
	                             .account = FSX_NODE_ACCESS,
	                             .image = pins[PIN_FSX_DRIVER].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_daemonset(out, &opts, &w);
	workload_tolerate_all(&w);
	add_driver(&w, "--mode=node", "unix:///csi/csi.sock", NODE_HEALTH);
	k8s_privileged(w.container);
	add_share(w.container);
	/* Pods that still have it mounted leave before the driver does. */
	cJSON *hook = json_add_object(json_add_object(w.container, "lifecycle"), "preStop");
	cJSON *command = json_add_array(json_add_object(hook, "exec"), "command");

	json_push_string(command, "/bin/aws-fsx-csi-driver");
	json_push_string(command, "pre-stop-hook");
	add_node_volumes(&w);
	for (size_t i = 0; i < ARRAY_LEN(node_sidecars); i++) {
		cJSON *sidecar = add_sidecar(&w, &node_sidecars[i], "/csi");

		k8s_drop_all(sidecar);
		add_share(sidecar);
		if (i == 0)
			k8s_mount(cJSON_GetObjectItemCaseSensitive(sidecar, "volumeMounts"),
			          "registration", "/registration", false);
	}
}

void render_fsx_driver(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "driver.yaml",
	         "The FSx for Lustre CSI driver: controller and node plugin, with their rights.");
	k8s_share(out, "fsx-csi-driver");
	render_rights(fleet, out);
	render_registration(out);
	render_controller(fleet, out);
	render_node(out);
}
