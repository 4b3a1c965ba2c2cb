/*
 * What the spec's own files share; nobody else includes it.
 */
#ifndef SLIPWAY_BUILDER_SPEC_SPEC_INTERNAL_H
#define SLIPWAY_BUILDER_SPEC_SPEC_INTERNAL_H

#include "builder/spec/spec.h"

extern const struct field_table healthcheck_fields;

/* Docker's durations are Go's: "30s", "1m30s", "500ms"; false when it is not one, or is longer than
 * fits. */
bool spec_duration(const char *text, int64_t *ret_ns);

/* Git's variables of one spec, each asked for once. */
struct git_values {
	const char *dir; /* of the spec */
	struct strmap known;
	const char *suffix; /* "-dirty", or "" where nothing has changed; NULL: not asked yet */
	struct err failed;  /* why there are none, once that is known */
};

/* Where variables of one spec get their values from, and which were used. */
struct spec_outside {
	struct git_values git;
	struct strmap environment; /* names; the values are empty, for they may be secrets */
};

/* The value of "git:describe" or "git:commit", made of what a tag may have. ERR_NOT_FOUND without
 * git, ERR_IO with git's own words. */
int git_value(struct git_values *g, const char *name, struct arena *a, const char **ret_value,
              struct err *err) MUST_USE;
bool git_variable(const char *name);

/* Writes what the options say into the tree, before it is decoded. */
int spec_write_over(struct yaml_node *root, const struct spec_over *over, struct arena *a,
                    struct diags *d, struct err *err) MUST_USE;

/* Chooses among `images` the one that the job runs. */
void spec_choose_image(struct spec *spec, const struct yaml_node *root, struct arena *a,
                       struct diags *d);

/* Reads a platform that can be built; false after a problem at node. */
bool spec_platform(struct fields_context *c, const struct yaml_node *node, const char *text,
                   struct platform *ret_platform);

/* What no single key of `image` shows. */
void spec_check_image(struct fields_context *c, const struct yaml_node *node, void *object);

/* Replaces ${env:NAME}, ${env:NAME:-default} and ${git:...} (c->expand_state is the struct
 * spec_outside, NULL = there is no repository); NULL after a problem, as an unknown variable. Those
 * of the platform (${arch}, ...) stay for variables_expand. "$${" stays too, and becomes "${"
 * there. */
const char *variables_load(struct fields_context *c, const struct yaml_node *node);

/* Text with every variable of the platform replaced; NULL stays NULL. */
const char *variables_expand(const char *text, const struct platform *platform, struct arena *a);

/* Resolves the fleet from the sections and the image; problems go to diags. */
void spec_resolve_fleet(struct spec *spec, const char *file, struct arena *a, struct diags *d);

/* What admission controllers are told of `trust`, in spec->fleet. */
void spec_resolve_admission(struct spec *spec, struct arena *a);

/* Where a spec is from: the steps of a pipeline load it the same way. */
struct spec_origin {
	const char *file;
	const struct spec_set *sets;
	size_t n_sets;
};

/* Resolves the pipeline, after the fleet; problems go to diags. */
void spec_resolve_pipeline(struct spec *spec, const struct spec_origin *from, struct arena *a,
                           struct diags *d);

/* The architectures of image.platforms, in their order. */
struct strlist spec_architectures(const struct spec *spec, struct arena *a);

#endif
