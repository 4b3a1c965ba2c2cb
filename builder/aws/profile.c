#include "builder/aws/profile.h"

#include <string.h>

#include "base/text.h"
#include "builder/aws/words.h"

void aws_files_done(struct aws_files *files)
{
	for (size_t i = 0; i < ARRAY_LEN(files->ini); i++) {
		if (files->ini[i] != NULL)
			ini_done(files->ini[i]);
		free(files->ini[i]);
		files->ini[i] = NULL;
	}
	vec_done(&files->sections);
}

/* ---- sections become profiles ---- */

static struct aws_section *find_or_add(struct aws_files *files, enum aws_section_kind kind,
                                       const char *name)
{
	for (size_t i = 0; i < files->sections.n; i++)
		if (files->sections.at[i].kind == kind &&
		    strcmp(files->sections.at[i].name, name) == 0)
			return &files->sections.at[i];
	vec_push(&files->sections, ((struct aws_section){.kind = kind, .name = name}));
	return &files->sections.at[files->sections.n - 1];
}

/* What a section's name in the config file says; false when it is not one of ours. */
static bool read_name(const char *header, struct arena *a, enum aws_section_kind *ret_kind,
                      const char **ret_name)
{
	static const struct {
		const char *prefix;
		enum aws_section_kind kind;
	} rows[] = {{"profile", AWS_PROFILE},
	            {"sso-session", AWS_SSO_SESSION},
	            {"services", AWS_SERVICES_SECTION}};
	struct err ignored = {0};
	struct word_list words;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!text_has_prefix(header, rows[i].prefix))
			continue;
		if (words_split(header, a, &words, &ignored) != 0 || words.n != 2)
			return false;
		*ret_kind = rows[i].kind;
		*ret_name = words.at[1];
		return true;
	}
	*ret_kind = AWS_PROFILE;
	*ret_name = header;
	return strcmp(header, "default") == 0;
}

int aws_files_parse(struct aws_files *files, enum aws_file_kind kind, const char *file,
                    const char *text, size_t len, struct err *err)
{
	struct ini *ini = mem_zalloc(sizeof(*ini));

	files->ini[kind] = ini;
	if (ini_parse(ini, file, text, len, err) != 0)
		return -1;
	for (size_t i = 0; i < ini->sections.n; i++) {
		enum aws_section_kind what = AWS_PROFILE;
		const char *name = ini->sections.at[i].name;

		if (kind == AWS_CONFIG_FILE && !read_name(name, &ini->arena, &what, &name))
			continue;
		struct aws_section *s = find_or_add(files, what, name);

		s->ini[kind] = ini;
		s->in[kind] = &ini->sections.at[i];
	}
	return 0;
}

/* ---- lookup ---- */

const struct aws_section *aws_files_find(const struct aws_files *files, enum aws_section_kind kind,
                                         const char *name)
{
	for (size_t i = 0; i < files->sections.n; i++)
		if (files->sections.at[i].kind == kind &&
		    strcmp(files->sections.at[i].name, name) == 0)
			return &files->sections.at[i];
	return NULL;
}

const char *aws_files_nearest(const struct aws_files *files, enum aws_section_kind kind,
                              const char *name)
{
	VEC(const char *) names = {0};

	for (size_t i = 0; i < files->sections.n; i++)
		if (files->sections.at[i].kind == kind)
			vec_push(&names, files->sections.at[i].name);
	const char *nearest = text_nearest(name, names.at, names.n);

	vec_done(&names);
	return nearest;
}

const char *aws_section_get_in(const struct aws_section *section, enum aws_file_kind kind,
                               const char *key)
{
	if (section == NULL || section->in[kind] == NULL)
		return NULL;
	return ini_get(section->ini[kind], section->in[kind], key);
}

const char *aws_section_get(const struct aws_section *section, const char *key)
{
	const char *value = aws_section_get_in(section, AWS_CREDENTIALS_FILE, key);

	return value != NULL ? value : aws_section_get_in(section, AWS_CONFIG_FILE, key);
}

const char *aws_section_place(const struct aws_section *section, const char *key)
{
	for (enum aws_file_kind kind = 0; section != NULL && kind < AWS_FILE_KINDS; kind++)
		if (aws_section_get_in(section, kind, key) != NULL)
			return ini_place(section->ini[kind], section->in[kind], key);
	return NULL;
}

const char *aws_section_nested(const struct aws_section *section, const char *block,
                               const char *key, struct arena *a)
{
	const char *text = aws_section_get(section, block);

	return text != NULL ? ini_nested(text, key, a) : NULL;
}

/* ---- comments that are none ---- */

static bool has_comment(const char *value)
{
	for (const char *at = value; *at != '\0'; at++)
		if ((*at == ' ' || *at == '\t') && (at[1] == '#' || at[1] == ';'))
			return true;
	return false;
}

int aws_section_check(const struct aws_section *section, struct err *err)
{
	static const char *const keys[] = {
		"aws_access_key_id",
		"aws_secret_access_key",
		"aws_session_token",
		"aws_security_token",
		"aws_account_id",
		"ca_bundle",
		"credential_source",
		"duration_seconds",
		"endpoint_url",
		"external_id",
		"ignore_configured_endpoint_urls",
		"login_session",
		"max_attempts",
		"mfa_serial",
		"region",
		"retry_mode",
		"role_arn",
		"role_session_name",
		"sso_account_id",
		"sso_region",
		"sso_role_name",
		"sso_start_url",
		"sts_regional_endpoints",
		"use_dualstack_endpoint",
		"use_fips_endpoint",
		"web_identity_token_file",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *value = aws_section_get(section, keys[i]);

		if (value == NULL || !has_comment(value))
			continue;
		err_set(err, ERR_FORMAT, "%s: %s has a comment behind its value",
		        aws_section_place(section, keys[i]), keys[i]);
		return err_hint(err, "give the comment a line of its own: the AWS CLI would take "
		                     "it for part of the value");
	}
	return 0;
}
