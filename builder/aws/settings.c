#include "builder/aws/settings.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/text.h"

enum { ATTEMPTS_STANDARD = 3, ATTEMPTS_LEGACY = 5, ATTEMPTS_MAX = 20 };

void aws_settings_done(struct aws_settings *s)
{
	aws_files_done(&s->files);
	arena_done(&s->arena);
}

static const char *file_path(const struct aws_outside *outside, const char *variable,
                             const char *fallback, struct arena *a)
{
	const char *path = aws_env(outside, variable);

	return aws_expand_path(outside, path != NULL ? path : fallback, a);
}

static int read_one(const struct aws_outside *outside, struct aws_settings *s,
                    enum aws_file_kind kind, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct err why = {0};

	if (outside->read_file(outside, path, INI_BYTES_MAX, &text, &why) != 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return err_wrap(err, "AWS configuration '%s'", path);
	}
	int status = aws_files_parse(&s->files, kind, path, strbuf_str(&text), text.len, err);

	if (text.ptr != NULL)
		explicit_bzero(text.ptr, text.len);
	return status;
}

static int read_files(const struct aws_outside *outside, struct aws_settings *s, struct err *err)
{
	struct stat st;

	s->config_path = file_path(outside, "AWS_CONFIG_FILE", "~/.aws/config", &s->arena);
	s->credentials_path =
		file_path(outside, "AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials", &s->arena);
	if (read_one(outside, s, AWS_CONFIG_FILE, s->config_path, err) != 0 ||
	    read_one(outside, s, AWS_CREDENTIALS_FILE, s->credentials_path, err) != 0)
		return -1;
	s->group_readable = stat(s->credentials_path, &st) == 0 && S_ISREG(st.st_mode) &&
	                    (st.st_mode & 077) != 0;
	return 0;
}

static int unknown_profile(const struct aws_settings_opts *opts, const struct aws_settings *s,
                           const char *name, struct err *err)
{
	const char *nearest = aws_files_nearest(&s->files, AWS_PROFILE, name);

	err_set(err, ERR_NOT_FOUND, "the AWS profile '%s' is neither in '%s' nor in '%s'", name,
	        s->config_path, s->credentials_path);
	if (nearest != NULL)
		return err_hint(err, "did you mean '%s'?", nearest);
	return err_hint(err, "check %s, or run `aws configure --profile %s`",
	                opts->profile != NULL ? "--profile" : "AWS_PROFILE", name);
}

static int choose_profile(const struct aws_outside *outside, const struct aws_settings_opts *opts,
                          struct aws_settings *s, struct err *err)
{
	const char *name = opts->profile;

	s->profile_given = name != NULL;
	if (name == NULL)
		name = aws_env(outside, "AWS_PROFILE");
	if (name == NULL)
		name = aws_env(outside, "AWS_DEFAULT_PROFILE");
	s->profile = arena_strdup(&s->arena, name != NULL ? name : "default");
	s->section = aws_files_find(&s->files, AWS_PROFILE, s->profile);
	if (s->section != NULL)
		return aws_section_check(s->section, err);
	if (name == NULL || strcmp(name, "default") == 0)
		return 0;
	return unknown_profile(opts, s, name, err);
}

/* A mistyped region would become part of a host's name. */
static int check_region(const struct aws_settings *s, struct err *err)
{
	const char *place = aws_section_place(s->section, "region");

	if (s->region == NULL || aws_region_valid(s->region))
		return 0;
	/* Where it is not the file's, the variable or the option has its say when it is used. */
	if (place == NULL || strcmp(aws_section_get(s->section, "region"), s->region) != 0)
		return 0;
	err_set(err, ERR_FORMAT, "%s: '%.60s' is not an AWS region", place, s->region);
	return err_hint(err, "write one like eu-central-1");
}

/* As the AWS CLI: a section that is named must be there. */
static int check_services(const struct aws_settings *s, struct err *err)
{
	const char *name = aws_section_get(s->section, "services");

	if (name == NULL || aws_files_find(&s->files, AWS_SERVICES_SECTION, name) != NULL)
		return 0;
	err_set(err, ERR_NOT_FOUND, "%s: there is no section [services %.100s] in '%s'",
	        aws_section_place(s->section, "services"), name, s->config_path);
	return err_hint(err, "add the section, or remove the key `services`");
}

/* A variable before the profile's key; NULL when neither is set. */
static const char *setting(const struct aws_outside *outside, const struct aws_settings *s,
                           const char *variable, const char *key)
{
	const char *value = aws_env(outside, variable);

	if (value == NULL)
		value = aws_section_get(s->section, key);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *choose_region(const struct aws_outside *outside,
                                 const struct aws_settings_opts *opts, const struct aws_settings *s)
{
	const char *region = opts->region;

	if (region == NULL)
		region = aws_env(outside, "AWS_REGION");
	if (region == NULL)
		region = aws_env(outside, "AWS_DEFAULT_REGION");
	if (region == NULL)
		region = aws_section_get(s->section, "region");
	return region != NULL && region[0] != '\0' ? region : NULL;
}

static int choose_attempts(const struct aws_outside *outside, struct aws_settings *s,
                           struct err *err)
{
	const char *mode = setting(outside, s, "AWS_RETRY_MODE", "retry_mode");
	const char *text = setting(outside, s, "AWS_MAX_ATTEMPTS", "max_attempts");
	int64_t n = mode != NULL && strcasecmp(mode, "legacy") == 0 ? ATTEMPTS_LEGACY
	                                                            : ATTEMPTS_STANDARD;

	if (mode != NULL && strcasecmp(mode, "legacy") != 0 && strcasecmp(mode, "standard") != 0 &&
	    strcasecmp(mode, "adaptive") != 0) {
		err_set(err, ERR_USAGE, "AWS_RETRY_MODE: '%.40s' is not a retry mode", mode);
		return err_hint(err, "write standard, adaptive or legacy");
	}
	if (text != NULL && (!text_int64(text, strlen(text), &n) || n < 1)) {
		err_set(err, ERR_USAGE, "AWS_MAX_ATTEMPTS: '%.40s' is not a number from 1", text);
		return -1;
	}
	s->max_attempts = (unsigned)(n < ATTEMPTS_MAX ? n : ATTEMPTS_MAX);
	return 0;
}

static int decide(const struct aws_outside *outside, const struct aws_settings_opts *opts,
                  struct aws_settings *s, struct err *err)
{
	if (choose_profile(outside, opts, s, err) != 0 || choose_attempts(outside, s, err) != 0 ||
	    check_services(s, err) != 0)
		return -1;
	const char *sts =
		setting(outside, s, "AWS_STS_REGIONAL_ENDPOINTS", "sts_regional_endpoints");

	s->region = arena_strdup(&s->arena, choose_region(outside, opts, s));
	s->fips = aws_is_true(setting(outside, s, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint"));
	s->dual_stack = aws_is_true(
		setting(outside, s, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint"));
	s->sts_global = sts != NULL && strcasecmp(sts, "legacy") == 0;
	s->ca_bundle = aws_section_get(s->section, "ca_bundle");
	s->skew_correction = !aws_is_true(aws_env(outside, "AWS_DISABLE_CLOCK_SKEW_CORRECTION"));
	return check_region(s, err);
}

int aws_settings_load(const struct aws_outside *outside, const struct aws_settings_opts *opts,
                      struct aws_settings *ret_settings, struct err *err)
{
	struct aws_settings s = {0};

	if (read_files(outside, &s, err) != 0 || decide(outside, opts, &s, err) != 0) {
		aws_settings_done(&s);
		return -1;
	}
	*ret_settings = s;
	return 0;
}

static const char *upper(const char *text, struct arena *a)
{
	char *copy = arena_strdup(a, text);

	for (char *c = copy; *c != '\0'; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	return copy;
}

const char *aws_settings_endpoint_url(const struct aws_outside *outside,
                                      const struct aws_settings *settings, const char *service_id,
                                      struct arena *a)
{
	const char *variable = arena_printf(a, "AWS_ENDPOINT_URL_%s", upper(service_id, a));
	const char *services = aws_section_get(settings->section, "services"), *url;

	if (aws_is_true(setting(outside, settings, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
	                        "ignore_configured_endpoint_urls")))
		return NULL;
	url = aws_env(outside, variable);
	if (url == NULL)
		url = aws_env(outside, "AWS_ENDPOINT_URL");
	if (url == NULL && services != NULL)
		url = aws_section_nested(
			aws_files_find(&settings->files, AWS_SERVICES_SECTION, services),
			service_id, "endpoint_url", a);
	if (url == NULL)
		url = aws_section_get(settings->section, "endpoint_url");
	return url != NULL && url[0] != '\0' ? arena_strdup(a, url) : NULL;
}
