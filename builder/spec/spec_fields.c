/*
 * The field tables of the document and of `image`, with the grammar of its texts.
 */
#include <string.h>

#include "base/text.h"
#include "builder/oci/manifest.h"
#include "builder/oci/ref.h"
#include "builder/spec/spec_internal.h"
#include "k8s/cluster/cluster.h"
#include "k8s/job/job.h"
#include "k8s/monitoring/monitoring.h"
#include "k8s/object/patch.h"
#include "k8s/storage/storage.h"

enum { PLATFORMS_MAX = 64, SPEC_IMAGES_MAX = 64, SPEC_PATCHES_MAX = 200 };

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* ---- grammar of single texts ---- */

static const char *api_version_check(const char *text, const char **ret_hint)
{
	*ret_hint = "this slipway reads slipway/v1";
	return strcmp(text, "slipway/v1") == 0 ? NULL : "is not a known apiVersion";
}

/* RFC 1123 label: Kubernetes object names are made of it. */
static const char *name_check(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "use lower-case letters, digits and '-', at most 63, starting and ending with "
		    "a letter or digit";
	if (len == 0 || len > 63 || text[0] == '-' || text[len - 1] == '-' ||
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return "is not a valid name";
	return NULL;
}

static const char *repository_check(const char *text, const char **ret_hint)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref;
	struct err err = {0};

	*ret_hint = "write HOST/NAME in lower case, without tag; tags go to image.tags";
	if (ref_parse(text, &a, &ref, &err) != 0 || ref.kind != REF_REGISTRY)
		return "is not a repository";
	if (ref.tag != NULL || ref.has_digest)
		return "has a tag or digest";
	return NULL;
}

static const char *tag_check(const char *text, const char **ret_hint)
{
	*ret_hint = "a tag has letters, digits, '_', '.' and '-', at most 128, and does not start "
		    "with '.' or '-'";
	return ref_tag_valid(text) ? NULL : "is not a tag";
}

static bool user_part(const char *text, size_t len)
{
	return len > 0 && len <= 32 && strspn(text, ALNUM "._-") >= len && text[0] != '-';
}

static const char *user_check(const char *text, const char **ret_hint)
{
	size_t len = strcspn(text, ":");

	*ret_hint = "write a number or name with an optional group, as in 65532:65532";
	if (!user_part(text, len) ||
	    (text[len] == ':' && !user_part(text + len + 1, strlen(text + len + 1))))
		return "is not user or user:group";
	return NULL;
}

static const char *absolute_check(const char *text, const char **ret_hint)
{
	*ret_hint = "paths in the image start with '/' and have no '..'";
	return text[0] == '/' && strstr(text, "/../") == NULL && !text_has_suffix(text, "/..")
	               ? NULL
	               : "is not an absolute path";
}

static const char *port_check(const char *text, const char **ret_hint)
{
	size_t len = strspn(text, "0123456789");
	int64_t port;

	*ret_hint = "write a number from 1 to 65535 with an optional protocol, as in 8080/tcp";
	if (!text_int64(text, len, &port) || port < 1 || port > 65535)
		return "is not a port";
	return text[len] == '\0' || strcmp(text + len, "/tcp") == 0 ||
	                       strcmp(text + len, "/udp") == 0
	               ? NULL
	               : "is not a port";
}

static const char *env_name_check(const char *text, const char **ret_hint)
{
	*ret_hint = "use letters, digits and '_', not starting with a digit";
	if (text[0] == '\0' || (text[0] >= '0' && text[0] <= '9') ||
	    strspn(text, ALNUM "_") != strlen(text))
		return "is not the name of an environment variable";
	return NULL;
}

static const char *key_check(const char *text, const char **ret_hint)
{
	*ret_hint = "use a reverse domain name, as in org.opencontainers.image.source";
	return text[0] != '\0' && strlen(text) <= 255 && strstr(text, "${") == NULL
	               ? NULL
	               : "is not a valid key";
}

static const char *signal_check(const char *text, const char **ret_hint)
{
	int64_t number;

	*ret_hint = "write a name or number, as in SIGTERM or 15";
	if (text_int64(text, strlen(text), &number))
		return number >= 1 && number <= 64 ? NULL : "is not a signal";
	return text_has_prefix(text, "SIG") &&
	                       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") ==
	                               strlen(text)
	               ? NULL
	               : "is not a signal";
}

/* ---- values with a form of their own ---- */

static void decode_platforms(struct fields_context *c, const struct yaml_node *node, void *member)
{
	struct spec_image *image =
		(struct spec_image *)(void *)((char *)member -
	                                      offsetof(struct spec_image, platforms));

	if (node->kind != YAML_SEQUENCE || node->n_items == 0) {
		struct diag *d =
			fields_problem(c, node, "image.platforms: expected a list of platforms");

		diag_hint(c->diags, d, "write [linux/amd64, linux/arm64]");
		return;
	}
	if (node->n_items > PLATFORMS_MAX) {
		fields_problem(c, node, "image.platforms: more than %d", PLATFORMS_MAX);
		return;
	}
	image->platforms = arena_calloc(c->arena, node->n_items, sizeof(*image->platforms));
	for (size_t i = 0; i < node->n_items; i++) {
		const char *text = fields_text(c, node->items[i], "image.platforms");
		struct platform p;

		if (text != NULL && spec_platform(c, node->items[i], text, &p))
			image->platforms[image->n_platforms++] = p;
	}
	for (size_t i = 0; i < image->n_platforms; i++)
		for (size_t k = 0; k < i; k++)
			if (platform_equal(&image->platforms[i], &image->platforms[k]))
				diags_error(c->diags, node->at, "remove one of the two",
				            "image.platforms: %s appears twice",
				            platform_text(&image->platforms[i],
				                          (char[PLATFORM_TEXT_MAX]){0}));
}

bool spec_platform(struct fields_context *c, const struct yaml_node *node, const char *text,
                   struct platform *ret_platform)
{
	struct err err = {0};

	if (platform_parse(text, ret_platform, &err) != 0) {
		struct diag *d = fields_problem(c, node, "'%s' is not a platform", node->text);

		diag_hint(c->diags, d, "%s", err.hint);
		return false;
	}
	if (strcmp(ret_platform->os, "linux") != 0 ||
	    platform_arch_find(ret_platform->architecture) == NULL) {
		struct diag *d = fields_problem(c, node, "'%s' is not a platform that can be built",
		                                node->text);

		diag_hint(c->diags, d,
		          "write linux/amd64, linux/arm64, linux/arm, linux/386, linux/ppc64le, "
		          "linux/riscv64 or linux/s390x");
		return false;
	}
	return true;
}

/* "zstd", "gzip:9", "none" */
static void decode_compression(struct fields_context *c, const struct yaml_node *node, void *member)
{
	static const struct {
		const char *name;
		enum compression compression;
		int64_t max_level;
	} codecs[] = {{"zstd", COMPRESSION_ZSTD, 19},
	              {"gzip", COMPRESSION_GZIP, 12},
	              {"none", COMPRESSION_NONE, 0}};
	struct spec_image *image =
		(struct spec_image *)(void *)((char *)member -
	                                      offsetof(struct spec_image, compression));
	const char *text = fields_text(c, node, "image.compression");
	size_t len = text != NULL ? strcspn(text, ":") : 0;

	for (size_t i = 0; text != NULL && i < ARRAY_LEN(codecs); i++) {
		int64_t level = 0;

		if (strlen(codecs[i].name) != len || strncmp(text, codecs[i].name, len) != 0)
			continue;
		if (text[len] == ':' &&
		    (!text_int64(text + len + 1, strlen(text + len + 1), &level) || level < 1 ||
		     level > codecs[i].max_level)) {
			struct diag *d = fields_problem(
				c, node, "image.compression: no such level: '%s'", node->text);

			if (codecs[i].max_level > 0)
				diag_hint(c->diags, d, "%s has levels 1 to %d", codecs[i].name,
				          (int)codecs[i].max_level);
			return;
		}
		image->compression = codecs[i].compression;
		image->level = level;
		return;
	}
	if (text != NULL) {
		struct diag *d =
			fields_problem(c, node, "image.compression: '%s' is not known", node->text);

		diag_hint(c->diags, d,
		          "write zstd, gzip or none, with an optional level as in zstd:9");
	}
}

static const char *base_check(const char *text, const char **ret_hint)
{
	AUTO(arena) struct arena a = {0};
	struct ref ref;
	struct err err = {0};

	*ret_hint = "write scratch, HOST/NAME:TAG, HOST/NAME@sha256:..., or oci:PATH";
	if (strcmp(text, "scratch") == 0)
		return NULL;
	return ref_parse(text, &a, &ref, &err) == 0 ? NULL : "is not an image reference";
}

static void add_base(struct fields_context *c, struct spec_image *image,
                     const struct yaml_node *platform, const struct yaml_node *value)
{
	struct spec_base *base = &image->bases[image->n_bases];
	const char *text = fields_text(c, value, "image.base"), *hint = NULL;

	if (text == NULL ||
	    (platform != NULL && !spec_platform(c, platform, platform->text, &base->platform)))
		return;
	static const struct platform sample = {"linux", "amd64", ""};
	const char *why = base_check(variables_expand(text, &sample, c->arena), &hint);

	if (why != NULL) {
		struct diag *d = fields_problem(c, value, "image.base: '%s' %s", value->text, why);

		diag_hint(c->diags, d, "%s", hint);
		return;
	}
	base->at = value->at;
	base->ref = text;
	image->n_bases++;
}

/* One reference for every platform, or a mapping from platform to reference. */
static void decode_base(struct fields_context *c, const struct yaml_node *node, void *member)
{
	struct spec_image *image =
		(struct spec_image *)(void *)((char *)member - offsetof(struct spec_image, bases));

	if (node->n_pairs > PLATFORMS_MAX) {
		fields_problem(c, node, "image.base: more than %d platforms", PLATFORMS_MAX);
		return;
	}
	image->bases = arena_calloc(c->arena, node->n_pairs + 1, sizeof(*image->bases));
	if (node->kind == YAML_SEQUENCE)
		diags_error(
			c->diags, node->at,
			"write debian:12, or {linux/amd64: REFERENCE, linux/arm64: REFERENCE}",
			"image.base: expected a reference or a mapping from platform to reference");
	else if (node->kind == YAML_SCALAR)
		add_base(c, image, NULL, node);
	for (size_t i = 0; i < node->n_pairs; i++)
		add_base(c, image, node->pairs[i].key, node->pairs[i].value);
}

/* ---- the tables ---- */

static const struct field image_rows[] = {
	FIELD_STRING(struct spec_image, repository, "repository",
                     "Where the image is pushed: HOST/NAME, without tag.", .flags = FIELD_LITERAL,
                     .check = repository_check,
                     .pos_offset = offsetof(struct spec_image, repository_at)),
	FIELD_STRINGS(struct spec_image, tags, "tags", "Tags of the image.", .flags = FIELD_LITERAL,
                      .check = tag_check),
	FIELD_CUSTOM(struct spec_image, platforms, decode_platforms,
                     "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\"}}",
                     "platforms", "Platforms to build for.",
                     .fallback_doc = "[linux/amd64, linux/arm64]",
                     .type_doc = "list of os/architecture",
                     .pos_offset = offsetof(struct spec_image, platforms_at)),
	FIELD_CUSTOM(struct spec_image, compression, decode_compression,
                     "{\"type\":\"string\",\"pattern\":\"^(zstd(:([1-9]|1[0-9]))?|gzip(:([1-9]|1[0-"
                     "2]))?|none)$\"}",
                     "compression", "Codec of the layers, with an optional level.",
                     .fallback_doc = "zstd; gzip with soci",
                     .type_doc = "zstd[:1-19], gzip[:1-12] or none"),
	FIELD_BOOL(
		struct spec_image, soci, "soci",
		"Add a SOCI index (version 2), for nodes that start a container before its image "
		"is there. Needs gzip layers.",
		.pos_offset = offsetof(struct spec_image, soci_at)),
	FIELD_CUSTOM(struct spec_image, bases, decode_base,
                     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"object\","
                     "\"additionalProperties\":{\"type\":\"string\"}}]}",
                     "base",
                     "The base image: scratch, a registry reference by tag or digest, or "
                     "oci:PATH; per platform if a mapping.",
                     .fallback_doc = "scratch", .type_doc = "reference, or platform to reference"),
	FIELD_OBJECTS(struct spec_image, layers, n_layers, struct layer_spec, &layer_spec_fields,
                      "layers", "The layers, bottom first.", .max = IMAGE_LAYERS_MAX),
	FIELD_STRINGS(struct spec_image, entrypoint, "entrypoint", "Program and leading arguments.",
                      .set_offset = offsetof(struct spec_image, has_entrypoint),
                      .pos_offset = offsetof(struct spec_image, entrypoint_at)),
	FIELD_STRINGS(struct spec_image, cmd, "cmd", "Default arguments.",
                      .set_offset = offsetof(struct spec_image, has_cmd),
                      .pos_offset = offsetof(struct spec_image, cmd_at)),
	FIELD_MAP(struct spec_image, env, "env", "Environment variables.",
                  .check_key = env_name_check, .pos_offset = offsetof(struct spec_image, env_at)),
	FIELD_STRING(struct spec_image, user, "user", "User, with an optional group.",
                     .check = user_check, .pos_offset = offsetof(struct spec_image, user_at)),
	FIELD_STRING(struct spec_image, workdir, "workdir", "Working folder.",
                     .check = absolute_check,
                     .pos_offset = offsetof(struct spec_image, workdir_at)),
	FIELD_STRINGS(struct spec_image, ports, "ports",
                      "Ports the program listens on, as in 8080/tcp.", .check = port_check),
	FIELD_STRINGS(struct spec_image, volumes, "volumes", "Folders declared as volumes.",
                      .check = absolute_check),
	FIELD_MAP(struct spec_image, labels, "labels", "Labels in the image configuration.",
                  .check_key = key_check),
	FIELD_MAP(struct spec_image, annotations, "annotations",
                  "Annotations of the index and of every manifest.", .check_key = key_check),
	FIELD_STRING(struct spec_image, stop_signal, "stop_signal",
                     "Signal that asks the program to stop.", .check = signal_check),
	FIELD_STRING(struct spec_image, author, "author", "Author of the image."),
	FIELD_OBJECT(struct spec_image, healthcheck, struct healthcheck, &healthcheck_fields,
                     "healthcheck",
                     "How Docker asks whether the program works. Kubernetes ignores it: there a "
                     "pod has probes.",
                     .set_offset = offsetof(struct spec_image, healthcheck.set)),
	FIELD_OBJECT(struct spec_image, check, struct check_spec, &check_spec_fields, "check",
                     "The image check."),
	FIELD_OBJECT(struct spec_image, sbom, struct sbom_spec, &sbom_spec_fields, "sbom",
                     "The bill of materials: what is in the image. `true` attaches it.",
                     .set_offset = offsetof(struct spec_image, sbom.set)),
	FIELD_BOOL(struct spec_image, provenance, "provenance",
                   "Whether a statement is attached to the image of each platform: what it was "
                   "built from, by whom (in-toto, SLSA provenance v1)."),
	FIELD_OBJECT(struct spec_image, ecr, struct ecr_settings, &ecr_settings_fields, "ecr",
                     "The Amazon ECR repository, where slipway creates it."),
	FIELD_OBJECT(struct spec_image, sign, struct sign_settings, &sign_settings_fields, "sign",
                     "Who signs the image when it is pushed.",
                     .set_offset = offsetof(struct spec_image, sign.set)),
};

/* The words of Dockerfiles and of compose files that have another name here. */
static const struct field_habit image_habits[] = {
	{"from", "write `base:`, as in base: debian:12"},
	{"image", "the name is `repository:` and `tags:`, what it is built upon `base:`"},
	{"run",
         "slipway runs nothing inside an image: run it before, and pack what it made by `layers:`"},
	{"copy", "write `layers: [{files: [{from: build/app, to: /usr/bin/app}]}]`"},
	{"add",
         "write `layers: [{files: [{from: build/app, to: /usr/bin/app}]}]`, for archives `tar:`"},
	{"files",
         "files are a layer's: write `layers: [{files: [{from: build/app, to: /usr/bin/app}]}]`"},
	{"command", "write `cmd: [WORD, WORD]`"},
	{"expose", "write `ports: [8080]`"},
	{"environment", "write `env: {NAME: VALUE}`"},
	{"arg", "write `${env:NAME}` where the value is wanted"},
	{"platform", "write `platforms: [linux/amd64, linux/arm64]`"},
	{"maintainer", "write `author:`"},
	{"pullPolicy", "a policy of pods: leave it out; a job runs its image by digest"},
	{"dockerfile", "slipway reads no Dockerfile: pack what was built by `layers:`"},
	{"context", "paths are relative to the spec's folder: leave it out"},
	{"args", "write `${env:NAME}` where the value is wanted"},
	{"<<", "write the keys out: a spec has no merge keys"},
	{"", "its name is `repository:` and `tags:` below it, what it is built upon `base:`"},
	{NULL, NULL},
};

static const struct field_table image_fields =
	FIELD_TABLE(struct spec_image, "image", image_rows, "The container image.", .has_pos = true,
                    .habits = image_habits, .pos_offset = offsetof(struct spec_image, at),
                    .check = spec_check_image);

/* A section that the fleet's room decodes; absent, it is not rendered. */
#define SECTION(section, doc_)                                                                     \
	FIELD_OBJECT(struct spec, sections.section, struct section##_section, &section##_fields,   \
	             #section, doc_, .set_offset = offsetof(struct spec, sections.section.set))

static const struct field rows[] = {
	FIELD_STRING(struct spec, api_version, "apiVersion", "Version of the format: slipway/v1.",
                     .flags = FIELD_REQUIRED, .check = api_version_check),
	FIELD_STRING(struct spec, name, "name", "Name of the job; objects are named after it.",
                     .flags = FIELD_REQUIRED | FIELD_LITERAL, .check = name_check,
                     .pos_offset = offsetof(struct spec, name_at)),
	FIELD_OBJECT(struct spec, image, struct spec_image, &image_fields, "image",
                     "The container image.", .fallback_doc = "required, or images, or job.image",
                     .set_offset = offsetof(struct spec, has_image)),
	FIELD_NAMED(struct spec, images, n_images, struct spec_image, name, &image_fields, "images",
                    "Several images in place of one, each under its name, with the keys of image.",
                    .check_key = name_check, .min = 1, .max = SPEC_IMAGES_MAX),
	SECTION(cluster, "The EKS cluster."),
	SECTION(fleet, "The machines that the job may run on; the highest weight is tried first."),
	SECTION(storage, "Storage of data and checkpoints."),
	SECTION(job, "The training job, the same on every target."),
	SECTION(monitoring, "Metrics and alarms."),
	FIELD_OBJECTS(struct spec, sections.patches, sections.n_patches, struct patch_section,
                      &patch_fields, "patches",
                      "Changes to rendered objects, for what has no key of its own.",
                      .max = SPEC_PATCHES_MAX),
	FIELD_OBJECTS(struct spec, trust, n_trust, struct trust_rule, &trust_rule_fields, "trust",
                      "What the images of the job's pods have to show before they are deployed: a "
                      "rule, or several.",
                      .flags = FIELD_ONE, .max = TRUST_RULES_MAX),
	FIELD_OBJECT(struct spec, pipeline_section, struct pipeline_section, &pipeline_fields,
                     "pipeline", "From a commit to a checked image, and on to the cluster.",
                     .set_offset = offsetof(struct spec, pipeline_section.set)),
};

static const char *const image_keys[] = {"image", "images"};
/* A ready one. */
static const char *const job_image[] = {"job", "image"};

/* The words that files of other tools begin with. */
static const struct field_habit spec_habits[] = {
	{"services", "a compose file: `slipway init` writes a spec, with `images:` for several"},
	{"version", "the first line is `apiVersion: slipway/v1`; an image's version is its tag"},
	{"kind", "an object of Kubernetes: `slipway render` makes those, from `fleet:` and `job:`"},
	{"metadata", "write `name:` alone; labels are `image.labels` and `job.labels`"},
	{"spec", "write its sections at the top: image, cluster, fleet, job"},
	{"on", "a CI service's file: `slipway init --ci` writes those; here it is `pipeline:`"},
	{"jobs", "write `job:`; steps of CI are `pipeline:`"},
	{"steps", "write `pipeline: {test: [COMMAND], build: [COMMAND]}`"},
	{"layers", "they are the image's: write `image: {layers: [...]}`"},
	{"base", "it is the image's: write `image: {base: debian:12}`"},
	{"repository", "it is the image's: write `image: {repository: HOST/NAME}`"},
	{"targets", "write `fleet:`, with a key for each"},
	{"nodes", "write `job: {nodes: 2}`"},
	{"", "`slipway init` writes a spec; a Dockerfile is none"},
	{NULL, NULL},
};

const struct field_table spec_fields =
	FIELD_TABLE(struct spec, "spec", rows, "A native job: its image, and the fleet it runs on.",
                    .habits = spec_habits, .either = image_keys, .instead = job_image);
