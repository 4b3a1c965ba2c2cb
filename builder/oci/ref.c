#include "builder/oci/ref.h"

#include <string.h>

#include "base/text.h"

enum { REF_TEXT_MAX = 4096, REF_REPOSITORY_MAX = 255, REF_TAG_MAX = 128 };

static const struct {
	const char *prefix;
	enum ref_kind kind;
} transports[] = {{"oci:", REF_LAYOUT},
                  {"oci-archive:", REF_OCI_ARCHIVE},
                  {"docker-archive:", REF_DOCKER_ARCHIVE}};

static bool lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool ref_tag_valid(const char *tag)
{
	size_t len = strlen(tag);

	if (len == 0 || len > REF_TAG_MAX || tag[0] == '.' || tag[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!lower_or_digit(tag[i]) && !(tag[i] >= 'A' && tag[i] <= 'Z') &&
		    strchr("._-", tag[i]) == NULL)
			return false;
	return true;
}

/* The length of a separator between alphanumerics: ".", "_", "__" or any run of "-"; 0 = none. */
static size_t separator(const char *s)
{
	if (*s == '.')
		return 1;
	if (*s == '_')
		return s[1] == '_' ? 2 : 1;
	return strspn(s, "-");
}

bool ref_repository_valid(const char *repository)
{
	const char *s = repository;

	if (strlen(repository) > REF_REPOSITORY_MAX)
		return false;
	for (;;) {
		if (!lower_or_digit(*s))
			return false;
		while (lower_or_digit(*s))
			s++;
		if (*s == '\0')
			return true;
		size_t n = *s == '/' ? 1 : separator(s);

		if (n == 0)
			return false;
		s += n;
	}
}

const char *ref_api_host(const char *host)
{
	return strcmp(host, "docker.io") == 0 ? "registry-1.docker.io" : host;
}

static bool port_valid(const char *colon)
{
	int64_t number = 0;

	return colon == NULL ||
	       (text_int64(colon + 1, strlen(colon + 1), &number) && number > 0 && number < 65536);
}

/* "[2001:db8::1]" with an optional port. */
static bool v6_host_valid(const char *host)
{
	const char *end = strchr(host, ']');

	if (end == NULL || end == host + 1 || (end[1] != '\0' && end[1] != ':'))
		return false;
	if (strspn(host + 1, "0123456789abcdefABCDEF:.") != (size_t)(end - host - 1))
		return false;
	return port_valid(end[1] == ':' ? end + 1 : NULL);
}

static bool host_valid(const char *host)
{
	const char *port = strchr(host, ':');
	size_t len = port != NULL ? (size_t)(port - host) : strlen(host);

	if (host[0] == '[')
		return v6_host_valid(host);
	if (len == 0 || len > 253 || host[0] == '-' || host[0] == '.' || strstr(host, "..") != NULL)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!lower_or_digit(host[i]) && !(host[i] >= 'A' && host[i] <= 'Z') &&
		    host[i] != '.' && host[i] != '-')
			return false;
	return port_valid(port);
}

/* The first segment is a host when it could not be part of a name of Docker Hub (Docker's rule). */
static bool looks_like_host(const char *segment, size_t len)
{
	return memchr(segment, '.', len) != NULL || memchr(segment, ':', len) != NULL ||
	       segment[0] == '[' || (len == 9 && memcmp(segment, "localhost", 9) == 0);
}

/* Cuts "@sha256:..." off the end of text. */
static int cut_digest(char *text, struct ref *r, struct err *err)
{
	char *at = strrchr(text, '@');

	if (at == NULL)
		return 0;
	*at = '\0';
	r->has_digest = true;
	if (digest_parse(at + 1, &r->digest, err) == 0)
		return 0;
	return err_hint(err, "write @sha256: and 64 lower-case hex digits");
}

/* Cuts ":TAG" off, where the colon stands behind the last slash. */
static int cut_tag(char *text, struct ref *r, struct err *err)
{
	char *slash = strrchr(text, '/'), *colon = strrchr(text, ':');

	if (colon == NULL || (slash != NULL && colon < slash))
		return 0;
	*colon = '\0';
	r->tag = colon + 1;
	if (ref_tag_valid(r->tag))
		return 0;
	if (r->tag[0] == '\0')
		err_set(err, ERR_FORMAT, "the tag is empty");
	else
		err_set(err, ERR_FORMAT, "'%.140s' is not a tag", r->tag);
	return err_hint(err, "a tag has letters, digits, '_', '.' and '-', at most 128 of them");
}

static int check_repository(const struct ref *r, struct err *err)
{
	if (ref_repository_valid(r->repository))
		return 0;
	if (r->repository[0] == '\0')
		return err_set(err, ERR_FORMAT, "the repository name is empty");
	if (strlen(r->repository) > REF_REPOSITORY_MAX)
		return err_set(err, ERR_FORMAT, "the repository name is longer than %d bytes",
		               REF_REPOSITORY_MAX);
	err_set(err, ERR_FORMAT, "'%.260s' is not a repository name", r->repository);
	for (const char *c = r->repository; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			return err_hint(err, "repository names are lower case");
	return err_hint(
		err,
		"write HOST/NAME[:TAG], with lower-case letters, digits, '.', '_', '-' and '/'");
}

static int parse_registry(char *text, struct arena *a, struct ref *r, struct err *err)
{
	if (cut_digest(text, r, err) != 0)
		return -1;
	const char *slash = strchr(text, '/');
	char *rest = text;

	r->host = "docker.io";
	r->host_implied = slash == NULL || !looks_like_host(text, (size_t)(slash - text));
	if (!r->host_implied) {
		r->host = arena_strndup(a, text, (size_t)(slash - text));
		rest = text + (slash - text) + 1;
	}
	if (strcmp(r->host, "index.docker.io") == 0 || strcmp(r->host, "registry-1.docker.io") == 0)
		r->host = "docker.io";
	if (!host_valid(r->host)) {
		err_set(err, ERR_FORMAT, "'%.260s' is not a host name", r->host);
		return err_hint(err,
		                text_has_prefix(rest, "/") && text_has_suffix(r->host, ":")
		                        ? "write HOST/NAME:TAG without %.20s//"
		                        : "write HOST/NAME:TAG",
		                r->host);
	}
	if (cut_tag(rest, r, err) != 0)
		return -1;
	r->repository = rest;
	if (strcmp(r->host, "docker.io") == 0 && strchr(rest, '/') == NULL)
		r->repository = arena_printf(a, "library/%s", rest);
	return check_repository(r, err);
}

static int parse_path(char *text, struct ref *r, struct err *err)
{
	if (strstr(text, "@sha256:") != NULL && cut_digest(text, r, err) != 0)
		return -1;
	if (r->kind == REF_DOCKER_ARCHIVE) {
		/* NAME:TAG behind the first colon is a whole reference of its own. */
		char *colon = strchr(text, ':');

		if (colon != NULL) {
			*colon = '\0';
			r->tag = colon + 1;
		}
	} else if (cut_tag(text, r, err) != 0) {
		return -1;
	}
	r->path = text;
	if (text[0] == '\0')
		return err_set(err, ERR_FORMAT, "the reference has no path");
	return 0;
}

int ref_parse(const char *text, struct arena *a, struct ref *ret_ref, struct err *err)
{
	struct ref r = {.kind = REF_REGISTRY};
	size_t len = strlen(text);

	if (len == 0 || len > REF_TEXT_MAX)
		return err_set(err, ERR_FORMAT, "an image reference has 1 to %d bytes",
		               REF_TEXT_MAX);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20)
			return err_set(err, ERR_FORMAT, "the image reference has a control byte");
	for (size_t i = 0; i < ARRAY_LEN(transports); i++)
		if (text_has_prefix(text, transports[i].prefix)) {
			r.kind = transports[i].kind;
			text += strlen(transports[i].prefix);
			break;
		}
	char *copy = arena_strdup(a, text);

	if ((r.kind == REF_REGISTRY ? parse_registry(copy, a, &r, err)
	                            : parse_path(copy, &r, err)) != 0)
		return err_wrap(err, "image reference '%.300s'", text);
	*ret_ref = r;
	return 0;
}

char *ref_text(const struct ref *r, struct arena *a)
{
	char digest[DIGEST_TEXT_MAX + 1] = "@";
	const char *tag = r->tag != NULL ? r->tag : "", *colon = r->tag != NULL ? ":" : "";

	if (r->has_digest)
		digest_text(&r->digest, digest + 1);
	else
		digest[0] = '\0';
	if (r->kind == REF_REGISTRY)
		return arena_printf(a, "%s/%s%s%s%s", r->host, r->repository, colon, tag, digest);
	return arena_printf(a, "%s%s%s%s%s", transports[r->kind - REF_LAYOUT].prefix, r->path,
	                    colon, tag, digest);
}
