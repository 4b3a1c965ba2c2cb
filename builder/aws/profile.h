/*
 * The AWS configuration files, ~/.aws/config and ~/.aws/credentials: parsing and lookup. Pure: the
 * texts are passed in. Grammar: the cross-SDK profile test suite; where the AWS CLI is more lenient
 * (an indented comment), so are we.
 */
#ifndef SLIPWAY_BUILDER_AWS_PROFILE_H
#define SLIPWAY_BUILDER_AWS_PROFILE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"

enum aws_section_kind { AWS_PROFILE, AWS_SSO_SESSION, AWS_SERVICES_SECTION };

struct aws_section {
	enum aws_section_kind kind;
	const char *name;
	bool prefixed;                     /* "[profile default]" replaces "[default]" */
	struct strmap config, credentials; /* keys in lower case, by file */
};

/* Zero-initialise; AUTO(aws_files). */
struct aws_files {
	struct arena arena; /* owns all texts; not wiped key by key, see aws_files_done */
	VEC(struct aws_section) sections;
};
void aws_files_done(struct aws_files *files); /* wipes the values, then frees */

enum aws_file_kind { AWS_CONFIG_FILE, AWS_CREDENTIALS_FILE };

enum { AWS_FILE_BYTES_MAX = 1 << 20, AWS_SECTIONS_MAX = 10000 };

/*
 * Adds one file's sections. ERR_FORMAT with file and line in the message, which quotes no value.
 * Section and property names that are not valid are passed over, as the SDKs do.
 */
int aws_files_parse(struct aws_files *files, enum aws_file_kind kind, const char *file,
                    const char *text, size_t len, struct err *err) MUST_USE;

/* NULL if there is none. */
const struct aws_section *aws_files_find(const struct aws_files *files, enum aws_section_kind kind,
                                         const char *name);

/* The value of a key: the credentials file's before the config file's; NULL if absent. */
const char *aws_section_get(const struct aws_section *section, const char *key);

/* KEY of a nested block ("ecr =\n  endpoint_url = ..."), in the arena; NULL if absent. */
const char *aws_section_nested(const struct aws_section *section, const char *block,
                               const char *key, struct arena *a);

#endif
