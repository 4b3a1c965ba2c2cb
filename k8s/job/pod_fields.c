#include "k8s/job/pod_fields.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/fleet/env_fields.h"
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"

#define CPU_SCHEMA    "{\"type\":[\"string\",\"integer\"],\"pattern\":\"^[0-9]+m?$\"}"
#define MEMORY_SCHEMA "{\"type\":\"string\",\"pattern\":\"^[0-9]+[MG]i$\"}"

/* ---- reasons ---- */

enum { REASON_MIN = 8, REASON_MAX = 200 };

void decode_reason(struct fields_context *c, const struct yaml_node *node, void *member)
{
	bool word = node->kind == YAML_SCALAR && yaml_is_bool_like(node);
	const char *text = word ? "" : fields_text(c, node, "a reason");

	if (text == NULL)
		return;
	if (strlen(text) < REASON_MIN || strlen(text) > REASON_MAX || strpbrk(text, "\r\n") != NULL)
		diags_error(c->diags, node->at,
		            "write why, as in root: \"its entrypoint changes /etc/hosts\"; leave "
		            "the key out where it need not be",
		            "'%s' gives no reason: a sentence of %d to %d characters", node->text,
		            (int)REASON_MIN, (int)REASON_MAX);
	else
		*(const char **)member = text;
}

/* ---- volumes ---- */

static void check_volume(struct fields_context *c, const struct yaml_node *node,
                         void *object UNUSED)
{
	static const char *const kinds[] = {"claim",   "config_map", "secret",
	                                    "scratch", "memory",     "host"};
	size_t found = 0;

	for (size_t i = 0; node->kind == YAML_MAPPING && i < ARRAY_LEN(kinds); i++)
		found += yaml_get(node, kinds[i]) != NULL;
	if (node->kind == YAML_MAPPING && found != 1)
		diags_error(c->diags, node->at,
		            "write one of them, as in {claim: NAME, mount: /work}; other kinds can "
		            "be added by patches",
		            "job.volumes: a volume is one of claim, config_map, secret, scratch, "
		            "memory and host");
}

static const char *check_sub_path(const char *text, const char **ret_hint)
{
	*ret_hint = "write a path below the volume's root, without '..'";
	return text[0] != '/' && text[0] != '\0' && strstr(text, "..") == NULL
	               ? NULL
	               : "is not a part of a volume";
}

static const struct field volume_rows[] = {
	TEXT(struct volume_mount, claim, "claim", "PersistentVolumeClaim of the namespace.",
             .check = check_dns_subdomain),
	TEXT(struct volume_mount, config_map, "config_map", "ConfigMap of the namespace.",
             .check = check_dns_subdomain),
	TEXT(struct volume_mount, secret, "secret", "Secret of the namespace.",
             .check = check_dns_subdomain),
	FIELD_CUSTOM(struct volume_mount, scratch_gib, decode_gib, GIB_SCHEMA, "scratch",
                     "An empty folder of this size on the node's disk.", .type_doc = "Gi"),
	CUSTOM_AT(struct volume_mount, memory_gib, decode_gib, GIB_SCHEMA, "Gi", "memory",
                  "An empty folder of this size in memory; it counts as the pod's."),
	TEXT_AT(struct volume_mount, host, "host", "A folder of the node.", .check = check_path),
	REQUIRED_AT(struct volume_mount, mount, "mount", "Where the pods see it.",
                    .check = check_path),
	TEXT(struct volume_mount, sub_path, "sub_path", "The part of it that is mounted.",
             .check = check_sub_path, .fallback_doc = "all"),
	FIELD_BOOL(struct volume_mount, read_only, "read_only",
                   "Let nobody write; Secrets and ConfigMaps are read-only anyway.",
                   .fallback_doc = "false"),
};

const struct field_table job_volume_fields = FIELD_TABLE(
	struct volume_mount, "volume", volume_rows,
	"A volume of the pods: one of claim, config_map, secret, scratch, memory and "
	"host.",
	.has_pos = true, .pos_offset = offsetof(struct volume_mount, at), .check = check_volume);

/* ---- containers ---- */

static const struct field container_rows[] = {
	REQUIRED_AT(struct container_section, name, "name", "Its name.", .check = check_dns_label),
	TEXT(struct container_section, image, "image", "Its image.", .check = check_image_ref,
             .fallback_doc = "the job's"),
	FIELD_STRINGS(struct container_section, command, "command",
                      "Program in place of the image's entrypoint.", .flags = FIELD_LITERAL,
                      .check = check_text),
	FIELD_STRINGS(struct container_section, args, "args", "Arguments.", .flags = FIELD_LITERAL,
                      .check = check_text),
	ENV_ROW(struct container_section, "Environment variables; it has none of the job's."),
	ENV_FROM_ROW(struct container_section,
                     "Secrets and ConfigMaps whose every key is a variable."),
	CUSTOM_AT(struct container_section, cpu_milli, decode_cpu, CPU_SCHEMA, "CPUs", "cpu",
                  "CPU that it asks for.", .fallback_doc = "100m"),
	CUSTOM_AT(struct container_section, memory_mib, decode_mib, MEMORY_SCHEMA, "Mi or Gi",
                  "memory", "Memory that it asks for, and may have at most.",
                  .fallback_doc = "256Mi"),
};

static void default_amounts(struct fields_context *c UNUSED, const struct yaml_node *node UNUSED,
                            void *object)
{
	struct container_section *container = object;

	if (container->cpu_milli == 0)
		container->cpu_milli = 100;
	if (container->memory_mib == 0)
		container->memory_mib = 256;
}

const struct field_table job_container_fields =
	FIELD_TABLE(struct container_section, "container", container_rows,
                    "A container beside the job's own. It sees the same volumes at the same "
                    "folders.",
                    .has_pos = true, .pos_offset = offsetof(struct container_section, at),
                    .check = default_amounts);

/* ---- tolerations ---- */

const struct choices toleration_effects =
	CHOICE_TEXTS("any", "NoSchedule", "PreferNoSchedule", "NoExecute");
enum { EFFECT_NO_EXECUTE = 3 };

static void check_toleration(struct fields_context *c, const struct yaml_node *node, void *object)
{
	const struct toleration *t = object;

	if (t->seconds > 0 && t->effect != EFFECT_NO_EXECUTE)
		diags_error(c->diags, node->at, "add effect: NoExecute, or leave `seconds:` out",
		            "job.tolerations: only NoExecute ends after a time");
	if (t->value != NULL && t->key == NULL)
		diags_error(c->diags, node->at, "add `key:`",
		            "job.tolerations: a value without the taint's key");
}

static const struct field toleration_rows[] = {
	TEXT(struct toleration, key, "key", "Key of the taint.", .check = check_label_key,
             .fallback_doc = "any"),
	TEXT(struct toleration, value, "value", "Value of the taint.", .check = check_label_value,
             .fallback_doc = "any"),
	FIELD_CHOICE(struct toleration, effect, &toleration_effects, "effect",
                     "Effect of the taint."),
	FIELD_INT(struct toleration, seconds, "seconds",
                  "How long a pod stays on a node that gets the taint.", .min = 1, .max = 31536000,
                  .fallback_doc = "for ever"),
};

const struct field_table job_toleration_fields = FIELD_TABLE(
	struct toleration, "toleration", toleration_rows,
	"A taint of nodes that the pods tolerate; those of the fleet's own nodes need "
	"none.",
	.has_pos = true, .pos_offset = offsetof(struct toleration, at), .check = check_toleration);
