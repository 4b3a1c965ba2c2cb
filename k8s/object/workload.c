#include "k8s/object/workload.h"

#include <string.h>

#include "base/attr.h"

/* ---- workloads ---- */

static cJSON *once(cJSON *object, cJSON **member, const char *key)
{
	if (*member == NULL)
		*member = json_add_array(object, key);
	return *member;
}

static void workload_begin(struct k8s_output *out, const char *kind,
                           const struct workload_opts *opts, struct workload *w)
{
	*w = (struct workload){0};
	w->object = k8s_add(out, "apps/v1", kind, opts->namespace, opts->name);
	w->spec = json_add_object(w->object, "spec");
	if (opts->replicas > 0)
		json_add_int(w->spec, "replicas", opts->replicas);
	k8s_selector(out, json_add_object(json_add_object(w->spec, "selector"), "matchLabels"),
	             opts->name);
}

static void add_pod(struct k8s_output *out, const struct workload_opts *opts, struct workload *w)
{
	cJSON *template = json_add_object(w->spec, "template");

	w->pod_metadata = json_add_object(template, "metadata");
	k8s_labels(out, json_add_object(w->pod_metadata, "labels"), opts->name);
	w->pod = json_add_object(template, "spec");
	json_add_string(w->pod, "serviceAccountName", opts->account);
	if (opts->account == NULL)
		json_add_bool(w->pod, "automountServiceAccountToken", false);
	json_add_string(w->pod, "priorityClassName", opts->priority);
	json_add_string(json_add_object(w->pod, "nodeSelector"), "kubernetes.io/os", "linux");
	w->container = k8s_push_object(json_add_array(w->pod, "containers"));
	json_add_string(w->container, "name",
	                opts->container != NULL ? opts->container : opts->name);
	json_add_string(w->container, "image", opts->image);
	json_add_string(w->container, "imagePullPolicy", "IfNotPresent");
}

void k8s_daemonset(struct k8s_output *out, const struct workload_opts *opts, struct workload *w)
{
	workload_begin(out, "DaemonSet", opts, w);
	cJSON *strategy = json_add_object(w->spec, "updateStrategy");

	json_add_string(strategy, "type", "RollingUpdate");
	json_add_string(json_add_object(strategy, "rollingUpdate"), "maxUnavailable", "10%");
	add_pod(out, opts, w);
}

void k8s_deployment(struct k8s_output *out, const struct workload_opts *opts, struct workload *w)
{
	workload_begin(out, "Deployment", opts, w);
	add_pod(out, opts, w);
}

void workload_env(struct workload *w, const char *name, const char *value)
{
	k8s_env(once(w->container, &w->env, "env"), name, value);
}

void workload_env_field(struct workload *w, const char *name, const char *field_path)
{
	k8s_env_field(once(w->container, &w->env, "env"), name, field_path);
}

void workload_arg(struct workload *w, const char *arg)
{
	json_push_string(once(w->container, &w->args, "args"), arg);
}

void workload_port(struct workload *w, const char *name, int64_t port)
{
	cJSON *entry = k8s_push_object(json_add_array(w->container, "ports"));

	json_add_string(entry, "name", name);
	json_add_int(entry, "containerPort", port);
	json_add_string(entry, "protocol", "TCP");
}

void k8s_mount(cJSON *mounts, const char *volume, const char *path, bool read_only)
{
	cJSON *mount = k8s_push_object(mounts);

	json_add_string(mount, "name", volume);
	json_add_string(mount, "mountPath", path);
	if (read_only)
		json_add_bool(mount, "readOnly", true);
}

void workload_host_path(struct workload *w, const char *volume, const char *path, const char *type)
{
	cJSON *entry = k8s_push_object(once(w->pod, &w->volumes, "volumes"));

	json_add_string(entry, "name", volume);
	cJSON *host = json_add_object(entry, "hostPath");

	json_add_string(host, "path", path);
	json_add_string(host, "type", type);
	k8s_mount(once(w->container, &w->mounts, "volumeMounts"), volume, path, false);
}

void workload_host_read(struct workload *w, const char *volume, const char *path, const char *mount)
{
	cJSON *entry = k8s_push_object(once(w->pod, &w->volumes, "volumes"));

	json_add_string(entry, "name", volume);
	json_add_string(json_add_object(entry, "hostPath"), "path", path);
	k8s_mount(once(w->container, &w->mounts, "volumeMounts"), volume, mount, true);
}

void workload_config_map(struct workload *w, const char *volume, const char *config_map,
                         const char *mount)
{
	cJSON *entry = k8s_push_object(once(w->pod, &w->volumes, "volumes"));

	json_add_string(entry, "name", volume);
	json_add_string(json_add_object(entry, "configMap"), "name", config_map);
	k8s_mount(once(w->container, &w->mounts, "volumeMounts"), volume, mount, true);
}

void workload_liveness(struct workload *w, const char *path, const char *port)
{
	cJSON *probe = json_add_object(w->container, "livenessProbe");
	cJSON *get = json_add_object(probe, "httpGet");

	json_add_string(get, "path", path);
	json_add_string(get, "port", port);
	json_add_int(probe, "initialDelaySeconds", 10);
	json_add_int(probe, "periodSeconds", 10);
	json_add_int(probe, "timeoutSeconds", 3);
	json_add_int(probe, "failureThreshold", 5);
}

void workload_tolerate_all(struct workload *w)
{
	json_add_string(k8s_push_object(json_add_array(w->pod, "tolerations")), "operator",
	                "Exists");
}

void k8s_drop_all(cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");

	json_add_bool(context, "allowPrivilegeEscalation", false);
	json_push_string(json_add_array(json_add_object(context, "capabilities"), "drop"), "ALL");
}

void k8s_privileged(cJSON *container)
{
	json_add_bool(json_add_object(container, "securityContext"), "privileged", true);
}

void k8s_small_resources(cJSON *container, const char *cpu, const char *memory)
{
	cJSON *resources = json_add_object(container, "resources");
	cJSON *requests = json_add_object(resources, "requests");

	json_add_string(requests, "cpu", cpu);
	json_add_string(requests, "memory", memory);
	json_add_string(json_add_object(resources, "limits"), "memory", memory);
}

const char *k8s_system_arch(const struct fleet *fleet)
{
	return fleet->has_amd64 || !fleet->has_arm64 ? "amd64" : "arm64";
}

/* ---- rights ---- */

/* "a,b" as an array of "a" and "b"; "" is one empty text: the core group. */
static void add_list(cJSON *object, const char *key, const char *list)
{
	cJSON *array = json_add_array(object, key);
	AUTO(strbuf) struct strbuf word = STRBUF_INIT(256);

	for (;;) {
		size_t len = strcspn(list, ",");

		strbuf_reset(&word);
		strbuf_add(&word, list, len);
		json_push_string(array, strbuf_str(&word));
		if (list[len] == '\0')
			return;
		list += len + 1;
	}
}

static void add_rules(cJSON *role, const struct rbac_rule *rules, size_t n)
{
	cJSON *array = json_add_array(role, "rules");

	for (size_t i = 0; i < n; i++) {
		cJSON *rule = k8s_push_object(array);

		add_list(rule, "apiGroups", rules[i].groups);
		add_list(rule, "resources", rules[i].resources);
		add_list(rule, "verbs", rules[i].verbs);
	}
}

cJSON *k8s_service_account(struct k8s_output *out, const char *namespace, const char *name)
{
	return k8s_add(out, "v1", "ServiceAccount", namespace, name);
}

void k8s_cluster_role(struct k8s_output *out, const char *name, const struct rbac_rule *rules,
                      size_t n)
{
	add_rules(k8s_add(out, "rbac.authorization.k8s.io/v1", "ClusterRole", NULL, name), rules,
	          n);
}

void k8s_role(struct k8s_output *out, const char *namespace, const char *name,
              const struct rbac_rule *rules, size_t n)
{
	add_rules(k8s_add(out, "rbac.authorization.k8s.io/v1", "Role", namespace, name), rules, n);
}

static void add_binding(cJSON *binding, const char *kind, const char *role, const char *namespace,
                        const char *account)
{
	cJSON *ref = json_add_object(binding, "roleRef");

	json_add_string(ref, "apiGroup", "rbac.authorization.k8s.io");
	json_add_string(ref, "kind", kind);
	json_add_string(ref, "name", role);
	cJSON *subject = k8s_push_object(json_add_array(binding, "subjects"));

	json_add_string(subject, "kind", "ServiceAccount");
	json_add_string(subject, "name", account);
	json_add_string(subject, "namespace", namespace);
}

void k8s_bind(struct k8s_output *out, const char *name, const char *cluster_role,
              const char *namespace, const char *account)
{
	cJSON *binding =
		k8s_add(out, "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", NULL, name);

	add_binding(binding, "ClusterRole", cluster_role, namespace, account);
}

void k8s_bind_role(struct k8s_output *out, const struct role_binding *b)
{
	cJSON *binding =
		k8s_add(out, "rbac.authorization.k8s.io/v1", "RoleBinding", b->namespace, b->name);

	add_binding(binding, "Role", b->role, b->account_namespace, b->account);
}

cJSON *k8s_service(struct k8s_output *out, const char *namespace, const char *name,
                   const char *port_name, int64_t port)
{
	cJSON *service = k8s_add(out, "v1", "Service", namespace, name);
	cJSON *spec = json_add_object(service, "spec");

	k8s_selector(out, json_add_object(spec, "selector"), name);
	cJSON *entry = k8s_push_object(json_add_array(spec, "ports"));

	json_add_string(entry, "name", port_name);
	json_add_int(entry, "port", port);
	json_add_string(entry, "targetPort", port_name);
	json_add_string(entry, "protocol", "TCP");
	return service;
}

void k8s_config_map(struct k8s_output *out, const char *namespace, const char *name,
                    const char *key, const char *text)
{
	json_add_string(json_add_object(k8s_add(out, "v1", "ConfigMap", namespace, name), "data"),
	                key, text);
}
