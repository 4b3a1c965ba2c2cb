/*
 * The field tables of accounts, certificates, time zones and locales.
 */
#include "builder/layer/source/model_data.h"

#include <string.h>

#include "base/text.h"
#include "builder/layer/source/model.h"

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define ALNUM SMALL "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* (uid_t)-1 means "no user" to chown(2) and setreuid(2). */
enum { ACCOUNT_NAME_MAX = 32, ACCOUNTS_MAX = 4096 };
#define ID_MAX (INT64_C(0xffffffff) - 1)

/* ---- texts ---- */

/* useradd(8), CAVEATS, and capitals and dots, which programs take as well. */
static const char *account_name_check(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "use letters, digits, '_', '-' and '.', at most 32, starting with a letter or "
		    "'_'";
	if (len == 0 || len > ACCOUNT_NAME_MAX || strspn(text, ALNUM "_-.") != len ||
	    strchr("0123456789-.", text[0]) != NULL)
		return "is not an account name";
	return NULL;
}

/* A field of passwd(5) ends at ':', the entry at the end of the line. */
static const char *passwd_text_check(const char *text, const char **ret_hint)
{
	*ret_hint = "the fields of /etc/passwd stand between ':' on one line";
	for (const char *s = text; *s != '\0'; s++)
		if (*s == ':' || (unsigned char)*s < 0x20 || *s == 0x7f)
			return "has a ':' or a control character";
	return NULL;
}

static const char *passwd_path_check(const char *text, const char **ret_hint)
{
	const char *why = image_path_check(text, ret_hint);

	return why != NULL ? why : passwd_text_check(text, ret_hint);
}

static const char *locale_name_check(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "write it as in LANG: de_DE.UTF-8";
	if (len == 0 || len > 64 || strspn(text, ALNUM "_-.@") != len || text[0] == '.')
		return "is not the name of a locale";
	if (strcmp(text, "C") != 0 && strcmp(text, "POSIX") != 0)
		return NULL;
	*ret_hint = "leave it out";
	return "is in every C library: it needs no data";
}

const char *layer_zone_check(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "write a name of the tz database, as in Europe/Berlin";
	if (len == 0 || len > 255 || strspn(text, ALNUM "_-+/") != len || text[0] == '/' ||
	    text[len - 1] == '/' || strstr(text, "//") != NULL)
		return "is not the name of a time zone";
	return NULL;
}

static const char *zone_glob_check(const char *text, const char **ret_hint)
{
	*ret_hint = "zones are relative to usr/share/zoneinfo, as in Europe/*";
	return text[0] == '/' ? "is an absolute path" : text[0] == '\0' ? "is empty" : NULL;
}

/* ---- accounts ---- */

static const struct field user_rows[] = {
	FIELD_STRING(struct layer_user, name, "name", "Name of the user.",
                     .flags = FIELD_REQUIRED | FIELD_LITERAL, .check = account_name_check),
	FIELD_INT(struct layer_user, uid, "uid", "Number of the user.", .flags = FIELD_REQUIRED,
                  .max = ID_MAX),
	FIELD_INT(struct layer_user, gid, "gid",
                  "Number of the user's first group; when no group has it, a group of the user's "
                  "name is made.",
                  .max = ID_MAX, .fallback = -1, .fallback_doc = "as uid"),
	FIELD_STRING(struct layer_user, home, "home",
                     "Home folder, made with the user as its owner; `/` and `/nonexistent` are "
                     "only written down.",
                     .flags = FIELD_LITERAL, .check = passwd_path_check,
                     .fallback_doc = "/home/NAME, /root for root"),
	FIELD_MODE(struct layer_user, home_mode, "home_mode", "Permission bits of the home folder.",
                   .fallback = 0700),
	FIELD_STRING(struct layer_user, shell, "shell", "Login shell.", .flags = FIELD_LITERAL,
                     .check = passwd_path_check, .fallback_text = "/sbin/nologin"),
	FIELD_STRING(struct layer_user, comment, "comment", "Full name or purpose of the user.",
                     .flags = FIELD_LITERAL, .check = passwd_text_check),
	FIELD_STRINGS(struct layer_user, groups, "groups",
                      "Names of further groups that the user belongs to.", .flags = FIELD_LITERAL,
                      .check = account_name_check),
};

static const struct field_table user_fields = FIELD_TABLE(
	struct layer_user, "user", user_rows, "A user of the image, without a password.",
	.has_pos = true, .pos_offset = offsetof(struct layer_user, at));

static const struct field group_rows[] = {
	FIELD_STRING(struct layer_group, name, "name", "Name of the group.",
                     .flags = FIELD_REQUIRED | FIELD_LITERAL, .check = account_name_check),
	FIELD_INT(struct layer_group, gid, "gid", "Number of the group.", .flags = FIELD_REQUIRED,
                  .max = ID_MAX),
};

static const struct field_table group_fields =
	FIELD_TABLE(struct layer_group, "group", group_rows, "A group of the image.",
                    .has_pos = true, .pos_offset = offsetof(struct layer_group, at));

static const struct field accounts_rows[] = {
	FIELD_OBJECTS(struct layer_accounts, users, n_users, struct layer_user, &user_fields,
                      "users", "Users.", .max = ACCOUNTS_MAX),
	FIELD_OBJECTS(struct layer_accounts, groups, n_groups, struct layer_group, &group_fields,
                      "groups", "Groups besides those that users bring.", .max = ACCOUNTS_MAX),
};

static void check_accounts(struct fields_context *c, const struct yaml_node *node,
                           void *object UNUSED)
{
	if (yaml_get(node, "users") == NULL && yaml_get(node, "groups") == NULL) {
		struct diag *d = fields_problem(c, node, "accounts: there are no users or groups");

		diag_hint(c->diags, d, "write users: [{name: app, uid: 65532}]");
	}
}

const struct field_table layer_accounts_fields = FIELD_TABLE(
	struct layer_accounts, "accounts", accounts_rows,
	"Users and groups by name: /etc/passwd, /etc/group, /etc/nsswitch.conf and home folders. "
	"root is there always. What the base has is kept; of an image's layers one has accounts. "
	"With glibc before 2.34 a program also opens libnss_files.so.2 and libnss_dns.so.2: put "
	"them into `files` or `closure`.",
	.has_pos = true, .pos_offset = offsetof(struct layer_accounts, at),
	.check = check_accounts);

/* ---- certificates ---- */

static const struct field certificate_rows[] = {
	FIELD_STRING(struct layer_certificate, path, "path",
                     "Path on the building machine of certificates in PEM, or one in DER.",
                     .flags = FIELD_REQUIRED),
};

static const struct field_table certificate_fields =
	FIELD_TABLE(struct layer_certificate, "certificate file", certificate_rows,
                    "A file of certificates; a plain string is its path.", .has_pos = true,
                    .pos_offset = offsetof(struct layer_certificate, at), .shorthand = "path");

static const char *const certificates_grounds[] = {
	[CERTIFICATES_ON_SCRATCH] = "scratch", [CERTIFICATES_ON_BASE] = "base"};
static const struct choices certificates_on = CHOICES(certificates_grounds);

static const struct field certificates_rows[] = {
	FIELD_BOOL(struct layer_certificates, enabled, "enabled",
                   "What a plain `true` or `false` sets.", .fallback = 1),
	FIELD_STRING(struct layer_certificates, from, "from",
                     "A bundle in PEM, Debian's package ca-certificates (a .deb), or a folder with "
                     "a root file system that has either.",
                     .fallback_doc = "this machine"),
	FIELD_CHOICE(struct layer_certificates, on, &certificates_on, "on",
                     "With `base`, the authorities of the base image are kept, and `extra` is "
                     "added to them; `scratch` takes those of `from` instead.",
                     .fallback = CERTIFICATES_ON_SCRATCH),
	FIELD_OBJECTS(
		struct layer_certificates, extra, n_extra, struct layer_certificate,
		&certificate_fields, "extra",
		"Certificates to add, as that of a company's own authority; one needs no list.",
		.flags = FIELD_ONE, .max = 256),
};

static void check_certificates(struct fields_context *c, const struct yaml_node *node, void *object)
{
	const struct layer_certificates *want = object;

	if (want->on == CERTIFICATES_ON_BASE && yaml_get(node, "from") != NULL) {
		struct diag *d = fields_problem(c, yaml_get(node, "from"),
		                                "ca_certificates: 'from' has no meaning with "
		                                "'on: base'");

		diag_hint(c->diags, d, "leave one of them out, or write the file into 'extra'");
	}
}

const struct field_table layer_certificates_fields = FIELD_TABLE(
	struct layer_certificates, "certificates", certificates_rows,
	"Certificate authorities that programs trust, as one bundle, "
	"/etc/ssl/certs/ca-certificates.crt, with links where OpenSSL, curl, Go and Python look "
	"for it. Each certificate is parsed, equal ones stand once, and their order is fixed.",
	.has_pos = true, .pos_offset = offsetof(struct layer_certificates, at),
	.shorthand = "enabled", .check = check_certificates);

/* ---- time zones ---- */

static const struct field zones_rows[] = {
	FIELD_BOOL(struct layer_zones, enabled, "enabled", "What a plain `true` or `false` sets.",
                   .fallback = 1),
	FIELD_STRING(struct layer_zones, from, "from",
                     "Debian's package tzdata (a .deb), or a folder with a root file system; "
                     "`timezone` is taken from there, too.",
                     .fallback_doc = "this machine"),
	FIELD_STRINGS(struct layer_zones, zones, "zones",
                      "Globs of names below /usr/share/zoneinfo, as in Europe/*; the tables "
                      "(tzdata.zi for C++, zone1970.tab, leap-seconds.list) are named alike.",
                      .flags = FIELD_LITERAL, .check = zone_glob_check, .fallback_doc = "all"),
};

const struct field_table layer_zones_fields = FIELD_TABLE(
	struct layer_zones, "time zones", zones_rows,
	"The tz database, /usr/share/zoneinfo, without its variants posix and right.",
	.has_pos = true, .pos_offset = offsetof(struct layer_zones, at), .shorthand = "enabled");

/* ---- locales ---- */

static const struct field locale_rows[] = {
	FIELD_STRING(struct layer_locale, name, "name", "Name of the locale, as in LANG.",
                     .flags = FIELD_REQUIRED | FIELD_LITERAL, .check = locale_name_check),
	FIELD_STRING(struct layer_locale, from, "from",
                     "Debian's package locales-all (a .deb), or a folder with a root file system "
                     "in which localedef has made /usr/lib/locale.",
                     .fallback_doc = "this machine"),
};

const struct field_table layer_locale_fields = FIELD_TABLE(
	struct layer_locale, "locale", locale_rows,
	"A compiled locale of glibc (musl has no use for it), as a folder of /usr/lib/locale; a "
	"plain string is its name. It should be of the glibc release that the image has; amd64 "
	"and arm64 read the same files. A program uses it when LANG or LC_ALL names it: set that "
	"in `env`.",
	.has_pos = true, .pos_offset = offsetof(struct layer_locale, at), .shorthand = "name");
