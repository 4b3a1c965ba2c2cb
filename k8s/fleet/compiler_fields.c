/*
 * The field table of fleet.TARGET.compiler.
 */
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/sections.h"

#define CPU_SCHEMA    "{\"type\":[\"string\",\"integer\"],\"pattern\":\"^[0-9]+m?$\"}"
#define MEMORY_SCHEMA "{\"type\":\"string\",\"pattern\":\"^[0-9]+[MG]i$\"}"

enum { CPU_MILLI = 8000, MEMORY_MIB = 64 << 10 };

static void check_compiler(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct compiler_section *s = object;

	if (s->cpu_milli == 0)
		s->cpu_milli = CPU_MILLI;
	if (s->memory_mib == 0)
		s->memory_mib = MEMORY_MIB;
	if (node->kind != YAML_MAPPING)
		return;
	if (s->image == NULL && !s->compiled)
		diags_error(c->diags, node->at,
		            "name an image with the compiler, or write compiled: true where the "
		            "modules come from elsewhere",
		            "compiler: it names no image");
	if (s->image != NULL && s->compiled)
		diags_error(c->diags, s->image_at, "leave one of them out",
		            "compiler: with compiled: true no image compiles");
	if (s->compiled && s->command.n > 0)
		diags_error(c->diags, node->at, "leave `command:` out",
		            "compiler: with compiled: true there is nothing to run");
}

static const struct field rows[] = {
	TEXT_AT(struct compiler_section, image, "image",
                "Image with the devices' compiler. A Job runs it ahead of the training, on a node "
                "without devices.",
                .check = check_image_ref, .fallback_doc = "required, or compiled: true"),
	FIELD_BOOL(struct compiler_section, compiled, "compiled",
                   "The modules are compiled elsewhere: the Job sees whether they are there, and "
                   "stops the deploy where one is missing.",
                   .fallback_doc = "false"),
	TEXT_AT(struct compiler_section, slipway, "slipway",
                "Image with slipway: modules are kept in the registry, beside the job's image, "
                "and not in the file system. Where that is not ECR, it logs in with "
                "job.pull_secrets.",
                .check = check_image_ref, .fallback_doc = "modules stay in the file system"),
	FIELD_STRINGS(struct compiler_section, command, "command",
                      "What compiles, in place of `slipway-trainer compile`, for a job that is "
                      "another program.",
                      .flags = FIELD_LITERAL, .check = check_text),
	CUSTOM_AT(struct compiler_section, cpu_milli, decode_cpu, CPU_SCHEMA, "CPUs", "cpu",
                  "CPU that the compiler asks for.", .fallback_doc = "8"),
	CUSTOM_AT(struct compiler_section, memory_mib, decode_mib, MEMORY_SCHEMA, "Mi or Gi",
                  "memory", "Memory that the compiler asks for, and may have at most.",
                  .fallback_doc = "64Gi"),
};

const struct field_table compiler_fields =
	FIELD_TABLE(struct compiler_section, "compiler", rows,
                    "Who compiles what the devices run, ahead of the job.", .has_pos = true,
                    .pos_offset = offsetof(struct compiler_section, at), .shorthand = "image",
                    .check = check_compiler);
