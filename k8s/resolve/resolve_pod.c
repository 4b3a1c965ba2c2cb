/*
 * What a pod has inside: folders that a file system must not hide, ports that must differ, and the
 * rights that the namespace leaves.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/storage_driver.h"
#include "k8s/job/job.h"
#include "k8s/resolve/resolve_internal.h"

/* ---- the mount ---- */

const char *resolve_plain_path(const char *path, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	while (*path != '\0') {
		size_t len = strcspn(path, "/");

		if (len > 0 && !(len == 1 && path[0] == '.'))
			strbuf_addf(&sb, "/%.*s", (int)len, path);
		path += len + (path[len] == '/');
	}
	return arena_strdup(a, strbuf_str(&sb));
}

bool resolve_is_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* A mount at or above one of these hides it; `below`: inside, one cannot be made. */
static const struct {
	const char *folder, *what;
	bool below;
} kept_folders[] = {
	{"/tmp", "the pod's scratch folder", false},
	{"/dev", "the pod's devices and shared memory", true},
	{"/proc", "the kernel's files", true},
	{"/sys", "the kernel's files", true},
	{"/etc", "the image's settings", false},
	{"/usr", "the image's programs", false},
	{"/bin", "the image's programs", false},
	{"/sbin", "the image's programs", false},
	{"/lib", "the image's libraries", false},
	{"/lib64", "the image's libraries", false},
	{"/usr/bin", "the image's programs", false},
	{"/usr/sbin", "the image's programs", false},
	{"/usr/local/bin", "the image's programs", false},
	{"/usr/lib", "the image's libraries", false},
	{"/run", "where credentials are mounted", false},
	{"/var/run/secrets", "where credentials are mounted", false},
};

const char *resolve_hidden(const char *mount, const char **ret_folder)
{
	for (size_t i = 0; i < ARRAY_LEN(kept_folders); i++) {
		*ret_folder = kept_folders[i].folder;
		if (resolve_is_in(*ret_folder, mount) ||
		    (kept_folders[i].below && resolve_is_in(mount, *ret_folder)))
			return kept_folders[i].what;
	}
	return NULL;
}

static void mount_problem(struct resolver *r, const char *what, const char *folder)
{
	const struct fleet_storage *s = &r->fleet->storage;

	resolve_problem(r, srcpos_or(s->mount_at, r->sections->storage.at),
	                "choose a folder of its own, as in /data",
	                "storage.%s.mount: %s is in the way of %s (%s)", s->driver->name, s->mount,
	                what, folder);
}

static void check_mount(struct resolver *r)
{
	const struct fleet_storage *s = &r->fleet->storage;
	const struct strlist *command = &r->sections->job.command;
	const char *program = command->n > 0 ? command->at[0] : r->image->program;
	const char *folder, *what;

	if (s->driver == NULL || !resolve_sound(s->mount, check_path))
		return;
	const char *mount = resolve_plain_path(s->mount, r->arena);

	what = resolve_hidden(mount, &folder);
	if (what != NULL) {
		mount_problem(r, what, folder);
		return;
	}
	if (program != NULL && program[0] == '/' &&
	    resolve_is_in(resolve_plain_path(program, r->arena), mount))
		mount_problem(r, "the job's program", program);
}

/* ---- ports ---- */

/* Ranks and metrics listen in the same pod. */
static void check_ports(struct resolver *r)
{
	const struct job_section *job = &r->sections->job;

	if (job->metrics_port == MASTER_PORT) {
		resolve_problem(r, job->metrics_port_at, "choose another port, as in 9090",
		                "job.metrics_port: rank 0 listens on %d for the others",
		                MASTER_PORT);
		return;
	}
	for (size_t i = 0; i < r->fleet->n_targets; i++) {
		const struct fleet_target *t = &r->fleet->targets[i];

		if (t->nodes < 2 || t->accelerator->root_env == NULL ||
		    job->metrics_port != t->accelerator->root_port)
			continue;
		resolve_problem(r, job->metrics_port_at, "choose another port, as in 9090",
		                "job.metrics_port: on %s, %s's collectives meet at %d", t->name,
		                t->accelerator->maker, t->accelerator->root_port);
	}
}

/* ---- rights ---- */

/* Two pods of a fleet need root: what they do is worth less than what they would be refused. */
static void check_pod_security(struct resolver *r)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	const struct fleet_storage *s = &r->fleet->storage;

	if (cluster->pod_security != POD_SECURITY_DEFAULT &&
	    strcmp(r->fleet->namespace, "default") == 0)
		resolve_problem(r, cluster->pod_security_at, "name another in cluster.namespace",
		                "cluster.pod_security: the namespace 'default' is not rendered");
	if (cluster->pod_security != POD_SECURITY_RESTRICTED)
		return;
	if (r->sections->job.set && s->driver != NULL && s->id == NULL)
		resolve_problem(r, cluster->pod_security_at,
		                "write baseline, or name an existing file system by its id",
		                "cluster.pod_security: restricted refuses the pod that gives a new "
		                "file system to the job's user: it runs as root");
	if (r->sections->job.network_test.set)
		resolve_problem(r, cluster->pod_security_at,
		                "write baseline, or leave network_test out",
		                "cluster.pod_security: restricted refuses the network test, whose "
		                "image runs as root");
}

void resolve_inside(struct resolver *r)
{
	check_pod_security(r);
	if (r->sections->storage.set)
		check_mount(r);
	if (r->sections->job.set)
		check_ports(r);
	if (r->sections->job.set)
		resolve_beside(r);
}
