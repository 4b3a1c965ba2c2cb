#include "k8s/view/explain.h"

#include <string.h>

#include "k8s/fleet/storage_driver.h"
#include "k8s/job/scheduler.h"

/* Columns of the text; continuation lines stand under the first. */
enum { LABEL_WIDTH = 12, TEXT_WIDTH = 88 };

const struct fleet_target *fleet_target_find(const struct fleet *fleet, const char *name)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (strcmp(fleet->targets[i].name, name) == 0)
			return &fleet->targets[i];
	return NULL;
}

/* Appends "label  text", the text wrapped; takes the text out of `line`. */
static void row(struct strbuf *sb, const char *label, struct strbuf *line)
{
	const char *p = strbuf_str(line);
	size_t column = 0;

	strbuf_addf(sb, "%-*s", LABEL_WIDTH, label);
	while (*p != '\0') {
		size_t word = strcspn(p, " ");

		if (column > 0 && column + 1 + word > TEXT_WIDTH - LABEL_WIDTH) {
			strbuf_addf(sb, "\n%*s", LABEL_WIDTH, "");
			column = 0;
		}
		if (column > 0) {
			strbuf_addc(sb, ' ');
			column++;
		}
		strbuf_add(sb, p, word);
		column += word;
		p += word + strspn(p + word, " ");
	}
	strbuf_addc(sb, '\n');
	strbuf_reset(line);
}

static void list(struct strbuf *line, const char *const *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(line, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", at[i]);
}

static void explain_nodes(const struct fleet *fleet, const struct fleet_target *t,
                          struct strbuf *sb, struct strbuf *line)
{
	const struct instance *i = t->shape;

	for (size_t k = 0; k < t->n_instances; k++)
		strbuf_addf(line, "%s%s", k == 0 ? "" : ", ", t->instances[k]->type);
	strbuf_addf(line, ", as ");
	list(line, t->capacity, t->n_capacity);
	strbuf_addf(line, " capacity%s%s.", t->zone != NULL ? " in " : "",
	            t->zone != NULL ? t->zone : "");
	if (fleet_has_storage(fleet) && fleet->storage.driver->one_zone != NULL)
		strbuf_addf(line, " The zone is the file system's: %s",
		            fleet->storage.driver->one_zone);
	row(sb, "nodes", line);
	strbuf_addf(line, "A pod is sized for %s: %lld vCPU, %lld GiB, %lld x %s with %.0f GiB%s, ",
	            i->type, (long long)i->vcpu, (long long)(i->memory_mib / 1024),
	            (long long)i->devices, i->device, (double)i->device_memory_mib / 1024.0,
	            i->devices > 1 ? " each" : "");
	if (i->efa > 0)
		strbuf_addf(line, "%lld x EFA, ", (long long)i->efa);
	if (i->nvme_gb > 0)
		strbuf_addf(line, "%lld GB of local disk.", (long long)i->nvme_gb);
	else
		strbuf_adds(line, "no local disk.");
	row(sb, "shape", line);
	strbuf_addf(line, "%s, weight %lld: ", t->pool, (long long)t->section->weight);
	strbuf_addf(line,
	            "at most %lld nodes and %lld devices; empty nodes are removed after %s; nodes "
	            "with a running job stay.",
	            (long long)t->limit_nodes, (long long)t->limit_devices,
	            t->section->consolidate_after);
	row(sb, "pool", line);
	strbuf_addf(line, "%s",
	            t->ami_alias != NULL         ? t->ami_alias
	            : t->section->ami.id != NULL ? t->section->ami.id
	                                         : t->section->ami.ssm);
	strbuf_addf(line, ", linux/%s", t->arch);
	if (t->ami_alias == NULL)
		strbuf_adds(line, ", an image of your own.");
	else
		strbuf_addf(line, " with %s.", t->accelerator->driver);
	row(sb, "image", line);
}

static void explain_pod(const struct fleet *fleet, const struct fleet_target *t, struct strbuf *sb,
                        struct strbuf *line)
{
	if (fleet_target_uses_dra(fleet, t))
		strbuf_addf(line, "%lld devices by a resource claim", (long long)t->devices);
	else
		strbuf_addf(line, "%s: %lld", t->resource, (long long)t->devices);
	strbuf_addf(line, ", cpu: %lldm, memory: %lldMi", (long long)t->cpu_milli,
	            (long long)t->memory_mib);
	if (t->efa > 0)
		strbuf_addf(line, ", vpc.amazonaws.com/efa: %lld", (long long)t->efa);
	if (t->hugepages_mib > 0)
		strbuf_addf(line, ", hugepages-2Mi: %lldMi", (long long)t->hugepages_mib);
	strbuf_addf(line, "; /dev/shm %lld MiB. CPU and memory are what DaemonSets%s leave%s.",
	            (long long)t->shm_mib, t->shape->efa > 0 ? " and huge pages" : "",
	            t->whole_node ? "" : " in the share of the devices");
	row(sb, "pod asks", line);
	if (t->efa == 0 && t->shape->efa == 0)
		strbuf_addf(line, "None: %s has no EFA; nodes communicate over TCP.",
		            t->shape->type);
	else if (t->efa == 0 && t->nodes == 1)
		strbuf_addf(line, "None: a job of one node has no traffic between nodes.");
	else if (t->efa == 0)
		strbuf_addf(line, "None, though %s has %lld interfaces.", t->shape->type,
		            (long long)t->shape->efa);
	else
		strbuf_addf(line,
		            "%lld interface%s, %s; the security group must allow all traffic from "
		            "and to itself.",
		            (long long)t->efa, t->efa == 1 ? "" : "s",
		            t->shape->rdma ? "with RDMA" : "without GPUDirect RDMA");
	row(sb, "EFA", line);
	for (size_t i = 0; i < t->n_taints; i++)
		strbuf_addf(line, "%s=%s:%s; the job and the plugins tolerate it.",
		            t->taints[i].key, t->taints[i].value, t->taints[i].effect);
	for (size_t i = 0; i < t->n_startup_taints; i++)
		strbuf_addf(line, " %s until the %s driver is up.", t->startup_taints[i].key,
		            fleet->storage.driver->label);
	if (line->len > 0)
		row(sb, "taints", line);
}

static void explain_job(const struct fleet *fleet, const struct fleet_target *t, struct strbuf *sb,
                        struct strbuf *line)
{
	if (!fleet->job->set)
		return;
	strbuf_addf(line, "%s: %s of %lld pod%s with %lld process%s each; image %s.", t->job,
	            fleet->scheduler->title, (long long)t->nodes, t->nodes == 1 ? "" : "s",
	            (long long)t->processes, t->processes == 1 ? "" : "es", fleet->image);
	if (fleet->job->root != NULL)
		strbuf_addf(line, " As root: %s.", fleet->job->root);
	if (fleet->job->writable_root != NULL)
		strbuf_addf(line, " With a writable root file system: %s.",
		            fleet->job->writable_root);
	row(sb, "job", line);
	strbuf_addf(line,
	            "After SIGTERM a pod has %lld seconds; the job is retried up to %lld times",
	            (long long)fleet->job->grace_seconds, (long long)fleet->job->retries);
	strbuf_addf(line,
	            fleet->storage.mount != NULL ? " and continues from its checkpoint in %s."
	                                         : ".",
	            fleet->storage.mount);
	row(sb, "end", line);
}

/* The target that is tried when this one has no capacity: the next lower weight. */
static void explain_next(const struct fleet *fleet, const struct fleet_target *t, struct strbuf *sb,
                         struct strbuf *line)
{
	size_t i = (size_t)(t - fleet->targets);

	if (i + 1 < fleet->n_targets) {
		const struct fleet_target *next = &fleet->targets[i + 1];

		strbuf_addf(line, "%s (weight %lld), when %s has no capacity.", next->name,
		            (long long)next->section->weight, t->name);
		if (strcmp(next->resource, t->resource) != 0)
			strbuf_addf(line,
			            " Its pods ask for another resource (%s), so slipway, not "
			            "the scheduler, moves the job.",
			            next->resource);
	} else {
		strbuf_addf(line, "none: this is the last target of the fleet.");
	}
	row(sb, "next", line);
}

void explain_target(const struct fleet *fleet, const struct fleet_target *t, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);

	strbuf_addf(sb, "%s: %s\n", t->name, t->accelerator->title);
	explain_nodes(fleet, t, sb, &line);
	explain_pod(fleet, t, sb, &line);
	explain_job(fleet, t, sb, &line);
	explain_next(fleet, t, sb, &line);
}

void explain_fleet(const struct fleet *fleet, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);

	strbuf_addf(sb, "%s on %s: Kubernetes %s, Karpenter %s\n", fleet->name, fleet->cluster_name,
	            fleet->version, fleet->karpenter_version);
	for (size_t i = 0; i < fleet->n_targets; i++)
		strbuf_addf(&line, "%s%s (%lld)", i == 0 ? "" : ", then ", fleet->targets[i].name,
		            (long long)fleet->targets[i].section->weight);
	row(sb, "order", &line);
	for (size_t i = 0; i < fleet->n_targets; i++) {
		strbuf_addc(sb, '\n');
		explain_target(fleet, &fleet->targets[i], sb);
	}
}

static void strings(cJSON *object, const char *key, const char *const *at, size_t n)
{
	cJSON *array = json_add_array(object, key);

	for (size_t i = 0; i < n; i++)
		json_push_string(array, at[i]);
}

void explain_json(const struct fleet *fleet, const struct fleet_target *t, cJSON *object)
{
	cJSON *types, *pod;

	json_add_string(object, "target", t->name);
	json_add_int(object, "weight", t->section->weight);
	json_add_string(object, "pool", t->pool);
	types = json_add_array(object, "instances");
	for (size_t i = 0; i < t->n_instances; i++)
		json_push_string(types, t->instances[i]->type);
	json_add_string(object, "shape", t->shape->type);
	json_add_string(object, "architecture", t->arch);
	json_add_string(object, "zone", t->zone);
	strings(object, "capacity", t->capacity, t->n_capacity);
	json_add_int(object, "nodes", t->nodes);
	json_add_int(object, "processes", t->processes);
	pod = json_add_object(object, "pod");
	json_add_string(pod, "resource", t->resource);
	json_add_int(pod, "devices", t->devices);
	json_add_bool(pod, "claims", fleet_target_uses_dra(fleet, t));
	json_add_int(pod, "efa", t->efa);
	json_add_int(pod, "hugepages_mib", t->hugepages_mib);
	json_add_int(pod, "cpu_milli", t->cpu_milli);
	json_add_int(pod, "memory_mib", t->memory_mib);
	json_add_int(pod, "shm_mib", t->shm_mib);
}
