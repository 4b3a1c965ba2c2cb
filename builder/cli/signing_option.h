/*
 * The options that say who signs an image, and how.
 */
#ifndef SLIPWAY_BUILDER_CLI_SIGNING_OPTION_H
#define SLIPWAY_BUILDER_CLI_SIGNING_OPTION_H

#include "builder/cli/key_option.h"
#include "builder/cli/push_signing.h"

struct signing_options {
	const char *key; /* NULL = nobody signs */
	struct strlist format, annotation;
};

#define SIGNING_OPTIONS(type, member)                                                              \
	TEXT_OPTION(type, member.key, "key", 'k', "KEY",                                           \
	            "Sign with this private key: a file, env://VARIABLE or "                       \
	            "awskms:///alias/NAME",                                                        \
	            .complete = COMPLETE_FILE),                                                    \
		LIST_OPTION(                                                                       \
			type, member.format, "format", 0, "bundle|tag",                            \
			"How it is written: as a referrer (bundle, the default), under the older " \
			"tag sha256-HEX.sig; repeat for both"),                                    \
		LIST_OPTION(type, member.annotation, "annotation", 'a', "NAME=VALUE",              \
	                    "What the signature says besides the image's digest")

/* Forms and annotations, without the key. ERR_USAGE for what is none. */
int signing_parse(const struct signing_options *o, struct arena *a, struct image_signing *ret,
                  struct err *err) MUST_USE;

/* Opens the key, if one is named, and makes the target, which borrows s, say who signs. ERR_USAGE
 * for --format or --annotation without a key. */
int signing_from_options(const struct signing_options *o, struct cli *cli,
                         struct key_variables *variables, const struct remote *remote,
                         struct push_signing *s, struct image_target *target,
                         struct err *err) MUST_USE;

#endif
