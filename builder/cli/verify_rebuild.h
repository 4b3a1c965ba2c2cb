/*
 * `slipway verify --rebuild`: an image is built again from its source, and compared bit by bit.
 */
#ifndef SLIPWAY_BUILDER_CLI_VERIFY_REBUILD_H
#define SLIPWAY_BUILDER_CLI_VERIFY_REBUILD_H

#include "builder/cli/command.h"
#include "builder/image/image.h"
#include "builder/trust/key.h"

struct rebuild_options {
	bool wanted;
	const char *source, *file; /* the source's folder; the spec in it, NULL = as stated */
	struct strlist set, label, annotation, env; /* values that no statement holds */
	bool run_build;
};
#define REBUILD_OPTIONS(object, member)                                                            \
	REBUILD_OPTIONS_IN(OPTION_MEMBER(object, member, struct rebuild_options))
#define REBUILD_OPTIONS_IN(base)                                                                   \
	FLAG_OPTION_IN(base, struct rebuild_options, wanted, "rebuild", 0,                         \
	               "Check instead that the source gives this image, bit by bit, as its "       \
	               "provenance says"),                                                         \
		TEXT_OPTION_IN(base, struct rebuild_options, source, "source", 0, "DIR",           \
	                       "With --rebuild: the folder that it was built in, or a copy "       \
	                       "(default: this one); nothing in it is changed",                    \
	                       .complete = COMPLETE_DIR),                                          \
		TEXT_OPTION_IN(base, struct rebuild_options, file, "file", 'f', "FILE",            \
	                       "With --rebuild: the spec, from --source (default: as the "         \
	                       "statement names it)",                                              \
	                       .complete = COMPLETE_FILE),                                         \
		FLAG_OPTION_IN(base, struct rebuild_options, run_build, "run-build", 0,            \
	                       "With --rebuild: run the commands of pipeline.build first, in a "   \
	                       "copy of the source"),                                              \
		LIST_OPTION_IN(base, struct rebuild_options, set, "set", 0, "PATH=VALUE",          \
	                       "With --rebuild: what `build --set` was given"),                    \
		LIST_OPTION_IN(base, struct rebuild_options, label, "label", 0, "KEY=VALUE",       \
	                       "With --rebuild: what `build --label` was given"),                  \
		LIST_OPTION_IN(base, struct rebuild_options, annotation, "image-annotation", 0,    \
	                       "KEY=VALUE",                                                        \
	                       "With --rebuild: what `build --annotation` was given"),             \
		LIST_OPTION_IN(base, struct rebuild_options, env, "env", 0, "NAME=VALUE",          \
	                       "With --rebuild: what `build --env` was given")

/* Whether any of them was given besides --rebuild itself. */
bool rebuild_options_given(const struct rebuild_options *o);

struct rebuild_request {
	const struct rebuild_options *options;
	const char *platform; /* NULL = all that the image has */
	const char *name;     /* of the image, as the user wrote it */
	int64_t jobs, max_unpacked;
	struct trust_key *const *keys; /* who has to have signed the statement */
	size_t n_keys;
};

/*
 * Builds the image again in a scratch folder and prints what came of it. ERR_CHECK when an input or
 * a bit differs, or the statement is missing or is not signed as asked for; otherwise what reading
 * and building give. Works in another folder for a while.
 */
int verify_rebuild(struct cli *cli, const struct rebuild_request *request,
                   const struct remote *remote, const struct image *image,
                   struct err *err) MUST_USE;

#endif
