/*
 * The AWS configuration files, ~/.aws/config and ~/.aws/credentials: which profiles there are, and
 * what each says. Pure: the texts are passed in. The AWS CLI is the measure (botocore,
 * configloader.py): builder/aws/ini.h says how text becomes sections, and sections become profiles
 * so:
 *
 * - config: [default] and every section whose name begins with "profile", "sso-session" or
 *   "services" and is two words, the second being the name; of two sections for one name the later
 *   counts
 * - credentials: every section, under its whole name
 * - a profile in both files has the keys of both, and the credentials file's first
 */
#ifndef SLIPWAY_BUILDER_AWS_PROFILE_H
#define SLIPWAY_BUILDER_AWS_PROFILE_H

#include "builder/aws/ini.h"

enum aws_section_kind { AWS_PROFILE, AWS_SSO_SESSION, AWS_SERVICES_SECTION };

enum aws_file_kind { AWS_CREDENTIALS_FILE, AWS_CONFIG_FILE, AWS_FILE_KINDS };

struct aws_section {
	enum aws_section_kind kind;
	const char *name;
	const struct ini *ini[AWS_FILE_KINDS];        /* NULL where a file does not have it */
	const struct ini_section *in[AWS_FILE_KINDS]; /* likewise */
};

/* Zero-initialise; AUTO(aws_files). */
struct aws_files {
	struct ini *ini[AWS_FILE_KINDS]; /* NULL = not read */
	VEC(struct aws_section) sections;
};
void aws_files_done(struct aws_files *files); /* wipes the values, then frees */

/* Reads one file, each kind at most once. As ini_parse. */
int aws_files_parse(struct aws_files *files, enum aws_file_kind kind, const char *file,
                    const char *text, size_t len, struct err *err) MUST_USE;

/* NULL if there is none. */
const struct aws_section *aws_files_find(const struct aws_files *files, enum aws_section_kind kind,
                                         const char *name);

/* The name that resembles this one most; NULL when none does. */
const char *aws_files_nearest(const struct aws_files *files, enum aws_section_kind kind,
                              const char *name);

/* The value of a key: the credentials file's before the config file's; NULL if absent. */
const char *aws_section_get(const struct aws_section *section, const char *key);

/* The value in one of the files; NULL if absent. */
const char *aws_section_get_in(const struct aws_section *section, enum aws_file_kind kind,
                               const char *key);

/* Where aws_section_get's value stands: "FILE:LINE:COLUMN"; NULL if absent. */
const char *aws_section_place(const struct aws_section *section, const char *key);

/* KEY of a nested block ("ecr =\n  endpoint_url = ..."), in the arena; NULL if absent. */
const char *aws_section_nested(const struct aws_section *section, const char *block,
                               const char *key, struct arena *a);

/*
 * Refuses, with its place, a value that a comment follows in the same line: the AWS CLI takes the
 * comment for part of the value, and then fails or, worse, quietly does something else. Only keys
 * whose values cannot have such a part; not credential_process, nor what names a section.
 */
int aws_section_check(const struct aws_section *section, struct err *err) MUST_USE;

#endif
