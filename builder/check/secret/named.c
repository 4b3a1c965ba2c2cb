#include "builder/check/secret/named.h"

#include <string.h>

#include "base/attr.h"
#include "base/doc/json.h"
#include "base/text.h"
#include "builder/check/secret/values.h"

/* ---- line by line ---- */

struct named_line {
	const char *at;
	size_t len;
};

/* The next line without blanks at its ends; false behind the last one. */
static bool next_line(const char **at, const char *end, struct named_line *ret_line)
{
	const char *start = *at, *stop;

	if (start >= end)
		return false;
	stop = memchr(start, '\n', (size_t)(end - start));
	*at = stop != NULL ? stop + 1 : end;
	if (stop == NULL)
		stop = end;
	while (start < stop && strchr(" \t\r", *start) != NULL && *start != '\0')
		start++;
	while (stop > start && strchr(" \t\r", stop[-1]) != NULL && stop[-1] != '\0')
		stop--;
	*ret_line = (struct named_line){start, (size_t)(stop - start)};
	return true;
}

static bool is_comment(const struct named_line *l)
{
	return l->len == 0 || l->at[0] == '#' || l->at[0] == ';';
}

/* The value without quotes, up to a blank, a quote or a comma outside of them. */
static struct named_line value_of(const char *at, const char *end)
{
	char quote = at < end && (*at == '"' || *at == '\'') ? *at++ : '\0';
	const char *stop = at;

	while (stop < end && (quote != '\0' ? *stop != quote : strchr(" \t,\"'", *stop) == NULL))
		stop++;
	return (struct named_line){at, (size_t)(stop - at)};
}

/* Behind KEY [quote] blanks (= or :) blanks; NULL when the key does not stand at p. */
static const char *behind_key(const char *p, const char *end, const char *key, size_t n)
{
	if ((size_t)(end - p) < n || memcmp(p, key, n) != 0)
		return NULL;
	for (p += n; p < end && (*p == '"' || *p == '\''); p++)
		;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (p == end || (*p != '=' && *p != ':'))
		return NULL;
	for (p++; p < end && (*p == ' ' || *p == '\t'); p++)
		;
	return p;
}

static bool key_has_value(const struct named_line *l, const char *key, size_t n)
{
	const char *end = l->at + l->len;

	for (const char *p = l->at; p < end; p++) {
		const char *value;

		if (p > l->at && p[-1] != '\0' && strchr(" \t:\"'{,", p[-1]) == NULL)
			continue;
		value = behind_key(p, end, key, n);
		if (value != NULL) {
			struct named_line v = value_of(value, end);

			return !secret_is_placeholder(v.at, v.len);
		}
	}
	return false;
}

static bool judge_keys(const struct secret_named *row, const char *text, size_t len)
{
	const char *at = text;
	struct named_line l;

	while (next_line(&at, text + len, &l)) {
		const char *key = row->keys;

		while (!is_comment(&l) && *key != '\0') {
			size_t n = strcspn(key, " ");

			if (key_has_value(&l, key, n))
				return true;
			key += n + (key[n] == ' ');
		}
	}
	return false;
}

/* NAME=value where the name promises a secret. */
static bool judge_env(const struct secret_named *row, const char *text, size_t len)
{
	const char *at = text;
	struct named_line l;

	(void)row;
	while (next_line(&at, text + len, &l)) {
		const char *equals = memchr(l.at, '=', l.len);
		struct named_line v;

		if (is_comment(&l) || equals == NULL)
			continue;
		v = value_of(equals + 1, l.at + l.len);
		if (secret_assignment_leaks(l.at, (size_t)(equals - l.at), v.at, v.len))
			return true;
	}
	return false;
}

static bool judge_urls(const struct secret_named *row, const char *text, size_t len)
{
	const char *at = text;
	struct named_line l;

	(void)row;
	while (next_line(&at, text + len, &l))
		if (!is_comment(&l) && secret_has_url_password(l.at, l.len))
			return true;
	return false;
}

/* name:HASH (crypt(5): "$id$..." or 13 characters); "*", "!" and "" lock or open an account. */
static bool judge_hashes(const struct secret_named *row, const char *text, size_t len)
{
	const char *at = text;
	struct named_line l;

	(void)row;
	while (next_line(&at, text + len, &l)) {
		const char *colon = memchr(l.at, ':', l.len);
		size_t rest, n;

		if (is_comment(&l) || colon == NULL)
			continue;
		rest = (size_t)(l.at + l.len - colon - 1);
		for (n = 0; n < rest && colon[1 + n] != ':'; n++)
			;
		if (n >= 13 && colon[1] != '*' && colon[1] != '!')
			return true;
	}
	return false;
}

/* "password" as a word of its own, with a word after it (netrc of GNU inetutils, curl). */
static bool judge_netrc(const struct secret_named *row, const char *text, size_t len)
{
	(void)row;
	(void)len;
	for (const char *p = strstr(text, "password"); p != NULL; p = strstr(p + 8, "password")) {
		const char *value = p + 8 + strspn(p + 8, " \t\r\n");

		if ((p == text || strchr(" \t\r\n", p[-1]) != NULL) && value > p + 8 &&
		    !secret_is_placeholder(value, strcspn(value, " \t\r\n")))
			return true;
	}
	return false;
}

/* host:port:database:user:password, one a line (PostgreSQL, "The Password File"). */
static bool judge_pgpass(const struct secret_named *row, const char *text, size_t len)
{
	const char *at = text;
	struct named_line l;

	(void)row;
	while (next_line(&at, text + len, &l)) {
		size_t colons = 0, i = 0;

		for (; i < l.len && colons < 4; i++)
			colons += l.at[i] == ':' && (i == 0 || l.at[i - 1] != '\\');
		if (!is_comment(&l) && colons == 4 && !secret_is_placeholder(l.at + i, l.len - i))
			return true;
	}
	return false;
}

/* ---- documents ---- */

static bool judge_docker(const struct secret_named *row, const char *text, size_t len)
{
	static const char *const members[] = {"auth", "password", "identitytoken", "registrytoken"};
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	const cJSON *auths, *item;

	(void)row;
	if (json_parse("docker configuration", text, len, &doc, &err) != 0)
		return false;
	/* .dockercfg has the registries at its top. */
	auths = json_get(doc, "auths") != NULL ? json_get(doc, "auths") : doc;
	if (!cJSON_IsObject(auths))
		return false;
	cJSON_ArrayForEach (item, auths) {
		for (size_t i = 0; i < ARRAY_LEN(members); i++) {
			const char *value = json_string(item, members[i]);

			if (value != NULL && !secret_is_placeholder(value, strlen(value)))
				return true;
		}
	}
	return false;
}

/* <password>TEXT</password>, as Maven and NuGet have it; "{...}" is locked by a master password. */
static bool judge_xml(const struct secret_named *row, const char *text, size_t len)
{
	char tag[32];

	(void)len;
	snprintf(tag, sizeof(tag), "<%s>", row->keys);
	for (const char *p = strstr(text, tag); p != NULL; p = strstr(p, tag)) {
		p += strlen(tag);
		if (!secret_is_placeholder(p, strcspn(p, "<")))
			return true;
	}
	return false;
}

static bool judge_content(const struct secret_named *row, const char *text, size_t len)
{
	size_t n = strcspn(text, " \t\r\n");

	(void)row;
	return len >= 16 && n >= 16 && !secret_is_placeholder(text, n);
}

/* ---- the table ---- */

#define KUBE_KEYS "token password client-key-data"

/* The first row that fits a path counts. */
static const struct secret_named rows[] = {
	{".netrc", SECRET_NETRC, judge_netrc, NULL},
	{"_netrc", SECRET_NETRC, judge_netrc, NULL},
	{"etc/apt/auth.conf", SECRET_NETRC, judge_netrc, NULL},
	{"etc/apt/auth.conf.d/*.conf", SECRET_NETRC, judge_netrc, NULL},
	{".pgpass", SECRET_PGPASS, judge_pgpass, NULL},
	{".docker/config.json", SECRET_DOCKER, judge_docker, NULL},
	{".dockercfg", SECRET_DOCKER, judge_docker, NULL},
	{".dockerconfigjson", SECRET_DOCKER, judge_docker, NULL},
	{"containers/auth.json", SECRET_DOCKER, judge_docker, NULL},
	{".npmrc", SECRET_NPMRC, judge_keys, "_authToken _auth _password"},
	{"etc/npmrc", SECRET_NPMRC, judge_keys, "_authToken _auth _password"},
	{".yarnrc.yml", SECRET_NPMRC, judge_keys, "npmAuthToken npmAuthIdent"},
	{".pypirc", SECRET_PYPIRC, judge_keys, "password"},
	{"pip.conf", SECRET_URL_PASSWORD, judge_urls, NULL},
	{"pip.ini", SECRET_URL_PASSWORD, judge_urls, NULL},
	{".git-credentials", SECRET_URL_PASSWORD, judge_urls, NULL},
	{"git/credentials", SECRET_URL_PASSWORD, judge_urls, NULL},
	{".gitconfig", SECRET_URL_PASSWORD, judge_urls, NULL},
	{".git/config", SECRET_URL_PASSWORD, judge_urls, NULL},
	{".cargo/credentials", SECRET_PACKAGES, judge_keys, "token"},
	{".cargo/credentials.toml", SECRET_PACKAGES, judge_keys, "token"},
	{".gem/credentials", SECRET_PACKAGES, judge_keys, ":rubygems_api_key rubygems_api_key"},
	{".m2/settings.xml", SECRET_PACKAGES, judge_xml, "password"},
	{"composer/auth.json", SECRET_PACKAGES, judge_keys, "password token"},
	{".condarc", SECRET_URL_PASSWORD, judge_urls, NULL},
	{".my.cnf", SECRET_DATABASE, judge_keys, "password"},
	{"etc/mysql/debian.cnf", SECRET_DATABASE, judge_keys, "password"},
	{".s3cfg", SECRET_CLOUD, judge_keys, "secret_key access_token"},
	{".boto", SECRET_CLOUD, judge_keys, "gs_oauth2_refresh_token gs_secret_access_key"},
	{"rclone.conf", SECRET_CLOUD, judge_keys,
         "pass password token client_secret secret_access_key"},
	{".vault-token", SECRET_VAULT, judge_content, NULL},
	{"gh/hosts.yml", SECRET_GITHUB, judge_keys, "oauth_token"},
	{".config/hub", SECRET_GITHUB, judge_keys, "oauth_token"},
	{".terraformrc", SECRET_TERRAFORM, judge_keys, "token"},
	{"credentials.tfrc.json", SECRET_TERRAFORM, judge_keys, "token"},
	{".azure/msal_token_cache.json", SECRET_CLOUD, judge_keys, "secret"},
	{".kube/config", SECRET_KUBECONFIG, judge_keys, KUBE_KEYS},
	{"kubeconfig", SECRET_KUBECONFIG, judge_keys, KUBE_KEYS},
	{"*.kubeconfig", SECRET_KUBECONFIG, judge_keys, KUBE_KEYS},
	{"etc/kubernetes/*.conf", SECRET_KUBECONFIG, judge_keys, KUBE_KEYS},
	{".htpasswd", SECRET_PASSWORD_HASH, judge_hashes, NULL},
	{"etc/shadow", SECRET_PASSWORD_HASH, judge_hashes, NULL},
	{"etc/gshadow", SECRET_PASSWORD_HASH, judge_hashes, NULL},
	{".env", SECRET_ENV_FILE, judge_env, NULL},
	{".env.local", SECRET_ENV_FILE, judge_env, NULL},
	{".env.prod*", SECRET_ENV_FILE, judge_env, NULL},
	{".env.staging", SECRET_ENV_FILE, judge_env, NULL},
	{".env.dev*", SECRET_ENV_FILE, judge_env, NULL},
};

enum { SLASHES_MAX = 3 /* in a row's path */ };

/* Where the path's last segments begin: one, two, ... of them. */
static void last_segments(const char *path, const char *ret_ends[SLASHES_MAX + 1])
{
	const char *p = path + strlen(path);
	size_t n = 0;

	for (; p > path && n <= SLASHES_MAX; p--)
		if (p[-1] == '/')
			ret_ends[n++] = p;
	while (n <= SLASHES_MAX)
		ret_ends[n++] = path;
}

static size_t count_slashes(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == '/';
	if (n > SLASHES_MAX)
		BUG("a path of %zu segments", n + 1);
	return n;
}

static bool matches(const char *wanted, const char *const ends[SLASHES_MAX + 1])
{
	const char *end = ends[count_slashes(wanted)];

	return strchr(wanted, '*') != NULL ? text_glob(wanted, end) : strcmp(wanted, end) == 0;
}

static bool may_begin(const char *const ends[SLASHES_MAX + 1], char first)
{
	for (size_t i = 0; i <= SLASHES_MAX; i++)
		if (ends[i][0] == first)
			return true;
	return first == '*';
}

const struct secret_named *secret_named_find(const char *path)
{
	const char *ends[SLASHES_MAX + 1];

	last_segments(path, ends);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		/* Asked of every file of an image, so the first letter decides most. */
		if (may_begin(ends, rows[i].path[0]) && matches(rows[i].path, ends))
			return &rows[i];
	}
	return NULL;
}

bool secret_named_judge(const struct secret_named *row, const char *text, size_t len)
{
	return row->judge(row, text, len);
}
