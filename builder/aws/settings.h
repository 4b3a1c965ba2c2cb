/*
 * What the environment, the configuration files and the command line together say about how AWS is
 * to be reached: profile, region, endpoints, retries. Precedence is that of the AWS CLI version 2.
 */
#ifndef SLIPWAY_BUILDER_AWS_SETTINGS_H
#define SLIPWAY_BUILDER_AWS_SETTINGS_H

#include "builder/aws/endpoint.h"
#include "builder/aws/outside.h"
#include "builder/aws/profile.h"

struct aws_settings_opts {
	const char *profile; /* --profile, NULL = not given */
	const char *region;  /* --region, NULL = not given */
};

/* Zero-initialise; AUTO(aws_settings). Strings live in its arena or in the files. */
struct aws_settings {
	struct arena arena;
	struct aws_files files;
	const char *config_path, *credentials_path;
	const char *profile;               /* chosen name, "default" when nobody said */
	bool profile_given;                /* on the command line: it beats environment variables */
	const struct aws_section *section; /* of the profile; NULL = none */
	const char *region;                /* NULL = not set */
	bool fips, dual_stack, sts_global;
	unsigned max_attempts; /* tries in all, the first included */
	const char *ca_bundle; /* of the profile, NULL = none; AWS_CA_BUNDLE is the transport's */
	bool skew_correction;
	bool group_readable; /* others than the owner may read the credentials file */
};
void aws_settings_done(struct aws_settings *s);

/*
 * Reads and decides. A missing file is none; a broken one is ERR_FORMAT with file and line, an
 * unreadable one ERR_IO. ERR_NOT_FOUND when a profile is named that does not exist.
 */
int aws_settings_load(const struct aws_outside *outside, const struct aws_settings_opts *opts,
                      struct aws_settings *ret_settings, struct err *err) MUST_USE;

/*
 * The user's own endpoint URL for a service: AWS_ENDPOINT_URL_X, AWS_ENDPOINT_URL, the profile's
 * services section, its endpoint_url; NULL = none, or AWS_IGNORE_CONFIGURED_ENDPOINT_URLS. In the
 * arena.
 */
const char *aws_settings_endpoint_url(const struct aws_outside *outside,
                                      const struct aws_settings *settings, const char *service_id,
                                      struct arena *a);

#endif
