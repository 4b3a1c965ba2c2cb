/*
 * The field tables of `job`.
 */
#include "k8s/fleet/env_fields.h"
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "k8s/job/job.h"
#include "k8s/job/pod_fields.h"
#include "k8s/job/scheduler.h"

static const struct field nettest_rows[] = {
	NUMBER_AT(struct nettest_section, nodes, "nodes", "Nodes of the test.", .min = 2,
                  .max = 1000, .fallback = 2),
	TEXT(struct nettest_section, image, "image", "Image with nccl-tests and Open MPI.",
             .check = check_image_ref,
             .fallback_text = "public.ecr.aws/hpc-cloud/nccl-tests:latest"),
	FIELD_INT(struct nettest_section, floor_gbps, "floor",
                  "Bus bandwidth in GB/s that the largest size must reach.", .min = 1, .max = 1000,
                  .fallback_doc = "60 % of the instance's network"),
};

static const struct field_table nettest_fields =
	FIELD_TABLE(struct nettest_section, "network_test", nettest_rows,
                    "An NCCL all-reduce over EFA before the training.", .has_pos = true,
                    .pos_offset = offsetof(struct nettest_section, at));

static const struct field rows[] = {
	NUMBER_AT(struct job_section, nodes, "nodes", "Pods of the job, each on a node of its own.",
                  .min = 1, .max = 1000, .fallback = 1),
	CHOICE_AT(struct job_section, scheduler, &scheduler_choices, "scheduler",
                  "The kind of job: Volcano's, a plain indexed Job, a JobSet or an MPIJob.",
                  .fallback = SCHEDULER_VOLCANO),
	TEXT_AT(struct job_section, queue, "queue", "Volcano's queue.", .check = check_dns_label,
                .fallback_text = "default"),
	FIELD_BOOL(struct job_section, create_queue, "create_queue",
                   "Render the queue; false when the cluster has it already.",
                   .set_offset = offsetof(struct job_section, has_create_queue)),
	TEXT_AT(struct job_section, image, "image", "Image of the job.", .check = check_image_ref,
                .fallback_doc = "image.repository with the first of image.tags"),
	TEXT(struct job_section, digest, "digest", "Digest that pins the image.",
             .check = check_digest),
	FIELD_STRINGS(struct job_section, command, "command",
                      "Program in place of the image's entrypoint.", .flags = FIELD_LITERAL,
                      .check = check_text),
	FIELD_STRINGS(struct job_section, args, "args", "Arguments.", .flags = FIELD_LITERAL,
                      .check = check_text),
	ENV_ROW(struct job_section, "Environment variables."),
	ENV_FROM_ROW(struct job_section, "Secrets and ConfigMaps whose every key is a variable.",
                     .pos_offset = offsetof(struct job_section, env_from_at)),
	FIELD_STRINGS(struct job_section, pull_secrets, "pull_secrets",
                      "Secrets of the namespace that nodes pull images with; ECR needs none.",
                      .flags = FIELD_LITERAL, .check = check_dns_subdomain),
	FIELD_NAMED(struct job_section, volumes, n_volumes, struct volume_mount, name,
                    &job_volume_fields, "volumes", "Volumes beside the fleet's file system.",
                    .check_key = check_dns_label, .max = POD_VOLUMES_MAX),
	FIELD_OBJECTS(struct job_section, init, n_init, struct container_section,
                      &job_container_fields, "init",
                      "Containers that run to their end, one after another, before the job's.",
                      .max = POD_CONTAINERS_MAX),
	FIELD_OBJECTS(struct job_section, sidecars, n_sidecars, struct container_section,
                      &job_container_fields, "sidecars",
                      "Containers that start before the job's and end after it. What they ask for "
                      "is taken from the job's share.",
                      .max = POD_CONTAINERS_MAX,
                      .pos_offset = offsetof(struct job_section, sidecars_at)),
	FIELD_OBJECTS(struct job_section, tolerations, n_tolerations, struct toleration,
                      &job_toleration_fields, "tolerations",
                      "Taints that the pods tolerate beside those of the fleet's own nodes.",
                      .max = POD_TOLERATIONS_MAX),
	CUSTOM_AT(struct job_section, root, decode_reason, "{\"type\":\"string\"}", "a reason",
                  "root", "Why the pods must run as root; without it they run as user.",
                  .fallback_doc = "they do not"),
	CUSTOM_AT(struct job_section, writable_root, decode_reason, "{\"type\":\"string\"}",
                  "a reason", "writable_root",
                  "Why the program must write elsewhere than to /tmp, /dev/shm and volumes.",
                  .fallback_doc = "it need not"),
	TEXT(struct job_section, home, "home", "HOME of the program.", .check = check_path,
             .fallback_doc = "/tmp with job.image, unless it runs as root or may write "
                             "everywhere; else the image's"),
	FIELD_INT(struct job_section, retries, "retries", "Restarts after failures.", .min = 0,
                  .max = 1000, .fallback = 3),
	FIELD_BOOL(
		struct job_section, returns, "return",
		"While `slipway deploy --wait` watches the job on a target that is not the best: "
		"look for capacity of a better one, and move back to it through a checkpoint."),
	FIELD_INT(struct job_section, grace_seconds, "grace",
                  "Seconds from SIGTERM to SIGKILL: enough to save the last checkpoint.", .min = 10,
                  .max = 3600, .fallback = 120),
	CUSTOM_AT(struct job_section, shm_gib, decode_gib, GIB_SCHEMA, "Gi", "shm",
                  "Size of /dev/shm.", .fallback_doc = "a quarter of the pod's memory"),
	FIELD_INT(struct job_section, ttl_seconds, "ttl", "Seconds that a finished job is kept.",
                  .min = 60, .max = 2592000, .fallback = 86400),
	FIELD_INT(struct job_section, deadline_seconds, "deadline", "Seconds that the job may run.",
                  .min = 60, .max = 31536000, .fallback_doc = "none"),
	TEXT_AT(struct job_section, service_account, "service_account",
                "Service account of the pods.", .check = check_dns_label,
                .fallback_doc = "the spec's name"),
	TEXT_AT(struct job_section, role, "role", "IAM role of the pods, by ARN.",
                .check = check_role_arn),
	TEXT(struct job_section, priority_class, "priority_class", "An existing PriorityClass.",
             .check = check_dns_subdomain),
	FIELD_INT(struct job_section, user, "user", "User of the pods.", .min = 1,
                  .max = 4294967294, .fallback = 65532),
	FIELD_INT(struct job_section, group, "group", "Group of the pods and of their volumes.",
                  .min = 1, .max = 4294967294, .fallback = 65532),
	NUMBER_AT(struct job_section, metrics_port, "metrics_port",
                  "Port of the trainer's Prometheus endpoint.", .min = 1024, .max = 65535,
                  .fallback = 9090),
	MAP_AT(struct job_section, labels, "labels", "Labels of the pods.",
               .check_key = check_object_label_key, .check = check_label_value),
	MAP_AT(struct job_section, annotations, "annotations", "Annotations of the pods.",
               .check_key = check_label_key, .check = check_annotation_value),
	FIELD_OBJECT(struct job_section, network_test, struct nettest_section, &nettest_fields,
                     "network_test", "An NCCL all-reduce over EFA before the training.",
                     .set_offset = offsetof(struct job_section, network_test.set)),
};

/* The words of Kubernetes' pods that have another name here. */
static const struct field_habit job_habits[] = {
	{"envFrom", "write `env_from: [{secret: NAME}]`, or `config_map: NAME`"},
	{"imagePullSecrets", "write `pull_secrets: [NAME]`"},
	{"initContainers", "write `init: [{name: NAME, image: IMAGE}]`"},
	{"containers", "the job's container is the job; write others as `sidecars:`"},
	{"volumeMounts", "a volume says where it is seen: `volumes: {NAME: {claim: CLAIM, mount: "
                         "/work}}`"},
	{"securityContext",
         "write `user:` and `group:`; `root:` and `writable_root:` with a reason"},
	{"runAsUser", "write `user:`"},
	{"serviceAccountName", "write `service_account:`"},
	{"terminationGracePeriodSeconds", "write `grace:`"},
	{"backoffLimit", "write `retries:`"},
	{"ttlSecondsAfterFinished", "write `ttl:`"},
	{"activeDeadlineSeconds", "write `deadline:`"},
	{"priorityClassName", "write `priority_class:`"},
	{"parallelism", "write `nodes:`"},
	{"replicas", "write `nodes:`"},
	{"entrypoint", "write `command: [WORD, WORD]`"},
	{"resources",
         "a pod gets what its node has: name the instances in `fleet:`, and `devices:` "
         "there for a part of one"},
	{"nodeSelector", "the pods are on the nodes of their target: see `fleet:`, or write "
                         "`patches:`"},
	{"affinity", "write `patches:`, which can change every rendered object"},
	{"restartPolicy", "leave it out: `retries:` says how often a failed job starts again"},
	{"imagePullPolicy", "leave it out: the job runs its image by digest"},
	{"name", "the job is named after the spec: leave it out"},
	{NULL, NULL},
};

const struct field_table job_fields = FIELD_TABLE(
	struct job_section, "job", rows, "The training job, the same on every target.",
	.has_pos = true, .habits = job_habits, .pos_offset = offsetof(struct job_section, at));
