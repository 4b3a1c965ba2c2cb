/*
 * The typed model of slipway.yaml. spec_load reads, substitutes ${env:NAME}, decodes by field
 * tables and cross-checks; it reports every problem at once in diags. Variables of the platform, as
 * ${arch}, stay in the strings until plan_make expands them for one platform. All memory lives in
 * the caller's arena. Does no work on images and does not print.
 */
#ifndef SLIPWAY_BUILDER_SPEC_SPEC_H
#define SLIPWAY_BUILDER_SPEC_SPEC_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/doc/fields.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "builder/aws/ecr.h"
#include "builder/check/model.h"
#include "builder/layer/source/model.h"
#include "builder/oci/config.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/platform.h"
#include "builder/sbom/model.h"
#include "builder/trust/rules.h"
#include "builder/trust/settings.h"
#include "k8s/fleet/model.h"
#include "pipeline/model.h"

/* The base of one platform; platform.os empty = for every platform. */
struct spec_base {
	struct srcpos at;
	struct platform platform;
	const char *ref; /* "scratch", a registry reference, oci:PATH */
};

struct spec_image {
	struct srcpos at;
	const char *name;       /* among images; NULL = the spec's only one, without a name */
	const char *repository; /* without tag; NULL if absent */
	struct srcpos repository_at;
	struct strlist tags;
	struct platform *platforms; /* at least one */
	struct srcpos platforms_at;
	size_t n_platforms;
	enum compression compression;
	int64_t level; /* 0 = the codec's default */
	bool soci;     /* a SOCI index of the layers; they are gzip then */
	struct srcpos soci_at;
	struct spec_base *bases;
	size_t n_bases; /* 0 = scratch */
	struct layer_spec *layers;
	size_t n_layers;
	struct strlist entrypoint, cmd;
	bool has_entrypoint, has_cmd;
	struct srcpos entrypoint_at, cmd_at, user_at, workdir_at, env_at;
	struct strmap env, labels, annotations; /* annotations: on index and manifests */
	const char *user, *workdir, *stop_signal, *author;
	struct strlist ports, volumes;
	struct healthcheck healthcheck;
	struct check_spec check;
	struct sbom_spec sbom;
	bool provenance; /* a statement of how it was built is attached */
	struct ecr_settings ecr;
	struct sign_settings sign;
};

struct spec {
	const char *file; /* as named by the user */
	const char *dir;  /* relative paths in the spec start here */
	const char *api_version;
	const char *name;
	struct srcpos name_at;
	/* The one that is worked on: `image`, or of `images` what spec_select chose last. At first
	 * the job's, or the first one. */
	struct spec_image image;
	bool has_image;   /* `image` is written; without it and `images`, the job has its own */
	bool image_known; /* there is one alone, or the job names it */
	struct spec_image *images;
	size_t n_images;                /* 0 = written as `image` */
	struct strmap git;              /* ${git:...} that were used, with their values */
	struct strmap environment;      /* ${env:...} that were used: names, without values */
	struct fleet_sections sections; /* cluster, fleet, storage, job, monitoring as written */
	struct pipeline_section pipeline_section;
	struct trust_rule *trust; /* what the images of the job's pods have to show */
	size_t n_trust;
	struct fleet fleet; /* and resolved; the pipeline in fleet.pipeline */
};

struct spec_set {
	const char *assignment; /* "image.tags=[v2]" */
};

/* What options of their own write over the spec's image (or the images of these names), in the
 * spec's grammar; problems name the option. */
struct spec_over {
	struct strlist images; /* names; none = all of them */
	/* "TAG" or "HOST/NAME[:TAG]", in place of the spec's tags and repository */
	struct strlist tags;
	struct strlist labels, annotations, env; /* "KEY=VALUE", beside the spec's */
};

/*
 * Loads path with overrides applied. Returns 0 only without errors in diags; otherwise -1 and
 * ERR_SPEC with a one-line summary in err ("3 problems in slipway.yaml"), or ERR_IO /
 * ERR_NOT_FOUND.
 */
int spec_load(const char *path, const struct spec_set *sets, size_t n_sets, struct arena *a,
              struct spec **ret_spec, struct diags *d, struct err *err) MUST_USE;

/* spec_load with `over` (NULL = nothing); ERR_USAGE for an option that cannot be read. */
int spec_load_over(const char *path, const struct spec_set *sets, size_t n_sets,
                   const struct spec_over *over, struct arena *a, struct spec **ret_spec,
                   struct diags *d, struct err *err) MUST_USE;

/* Has the spec an image that can be built? ERR_USAGE when all it has is the job's ready one. */
int spec_need_image(const struct spec *spec, struct err *err) MUST_USE;

/*
 * The commit that git has checked out where the spec lies, and whether files that git knows differ
 * from it. *ret_commit is NULL where there is no repository, or no git.
 */
void spec_commit(const struct spec *spec, struct arena *a, const char **ret_commit,
                 bool *ret_modified);

/* Makes spec->image the image of this name. ERR_USAGE lists the names. */
int spec_select(struct spec *spec, const char *name, struct err *err) MUST_USE;

/* Where an image's layout lies below the folder that `slipway build -o` names: "dir/NAME", or dir
 * itself for an image without a name. */
const char *spec_image_dir(const struct spec_image *image, const char *dir, struct arena *a);

/* The top-level field table: the schema, docs/SPEC.md and the decoder come from it. */
extern const struct field_table spec_fields;

/* One platform's image with every variable expanded. */
struct plan_image {
	struct platform platform;
	const char *base; /* "scratch" or a reference */
	struct srcpos base_at;
	struct layer_spec *layers; /* those meant for this platform, in order */
	size_t n_layers;
	struct strlist entrypoint, cmd;
	struct strmap env, labels, annotations;
	const char *user, *workdir, *stop_signal, *author;
	struct strlist ports, volumes;
	struct healthcheck healthcheck;
};

struct plan {
	const struct spec *spec;
	struct plan_image *images; /* one per platform, in the spec's order */
	size_t n_images;
};

/* Expands the spec for the given platforms (NULL = all of the spec's). Pure. */
int plan_make(const struct spec *spec, const struct platform *only, size_t n_only, struct arena *a,
              struct plan **ret_plan, struct diags *d, struct err *err) MUST_USE;

/*
 * A layer whose blobs depend on the files of all platforms (share, with content that differs
 * between them), so that a machine which has one platform's files only cannot make it; NULL = none,
 * and each platform may be built where it likes.
 */
const struct layer_spec *spec_layer_across_platforms(const struct spec *spec);

/* Appends the plan as readable text (`slipway build --dry-run`) or JSON. */
void plan_text(const struct plan *plan, struct strbuf *sb);
cJSON *plan_json(const struct plan *plan);

/* JSON Schema (draft 2020-12) and Markdown reference from the field tables. */
cJSON *schema_json(void);
void schema_markdown(struct strbuf *sb);

#endif
