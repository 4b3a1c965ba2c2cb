#include "builder/scan/ecosystem.h"

#include <string.h>

#include "base/text.h"

/* https://www.debian.org/releases/, oldest first; sid has no number. */
static const struct {
	const char *number, *name;
} debian[] = {{"8", "jessie"},    {"9", "stretch"},   {"10", "buster"},
              {"11", "bullseye"}, {"12", "bookworm"}, {"13", "trixie"},
              {"14", "forky"},    {"15", "duke"},     {NULL, "sid"}};

/* The release behind the distribution's name: "12" of "debian-12.4"; "" when it is not said. */
static const char *release_of(const struct scan_package *p, struct arena *a)
{
	const char *distro = strmap_get(&p->purl.qualifiers, "distro");
	size_t vendor = strlen(p->purl.vendor);

	if (distro == NULL || strcmp(distro, p->purl.vendor) == 0)
		return "";
	if (strncmp(distro, p->purl.vendor, vendor) == 0 && distro[vendor] == '-')
		distro += vendor + 1;
	return arena_strdup(a, distro);
}

static void name_debian(const struct scan_package *p, const char *suite, struct arena *a,
                        struct advisory_name *n)
{
	const char *release = release_of(p, a);
	size_t len;

	release = release[0] == '\0' && suite != NULL ? suite : release;
	len = strcspn(release, ".");
	for (size_t i = 0; i < ARRAY_LEN(debian); i++) {
		const char *number = debian[i].number;

		if (strcmp(release, debian[i].name) != 0 &&
		    (number == NULL || strlen(number) != len || strncmp(release, number, len) != 0))
			continue;
		n->suite = debian[i].name;
		n->ecosystem = number != NULL ? arena_printf(a, "Debian:%s", number) : NULL;
		n->order = version_deb;
	}
	n->package = p->source;
	n->version = p->source_version;
}

static void name_ubuntu(const struct scan_package *p, const char *suite, struct arena *a,
                        struct advisory_name *n)
{
	const char *release = release_of(p, a);

	(void)suite;
	n->ecosystem = arena_printf(a, "Ubuntu:%s", release);
	n->package = p->source;
	n->version = p->source_version;
	n->order = release[0] != '\0' ? version_deb : NULL;
}

static void name_python(const struct scan_package *p, const char *suite, struct arena *a,
                        struct advisory_name *n)
{
	(void)suite;
	n->ecosystem = "PyPI";
	n->package = ecosystem_spelling("PyPI", p->purl.name, a);
	n->version = p->purl.version;
	n->order = version_pypi;
}

/* "3.20" of "3.20.1": the number of dots that stay, and all of it where there are fewer. */
static const char *release_cut(const struct scan_package *p, unsigned dots, struct arena *a)
{
	const char *release = release_of(p, a), *at = release;

	for (at += strcspn(at, "."); *at != '\0' && dots > 0; dots--)
		at += 1 + strcspn(at + 1, ".");
	return arena_strndup(a, release, (size_t)(at - release));
}

static bool is_numbered(const char *release)
{
	return release[0] >= '0' && release[0] <= '9';
}

/* The branch, "v3.20"; edge and what calls itself something else has none. */
static void name_alpine(const struct scan_package *p, const char *suite, struct arena *a,
                        struct advisory_name *n)
{
	const char *branch = release_cut(p, 1, a);

	(void)suite;
	n->ecosystem = arena_printf(a, "Alpine:v%s", branch);
	n->package = p->source;
	n->version = p->source_version;
	n->order = is_numbered(branch) ? version_apk : NULL;
}

/* Distributions that have no releases. */
static void name_rolling_apk(const struct scan_package *p, const char *suite, struct arena *a,
                             struct advisory_name *n)
{
	(void)suite;
	n->ecosystem = strcmp(p->purl.vendor, "wolfi") == 0 ? "Wolfi" : "Chainguard";
	(void)a;
	n->package = p->source;
	n->version = p->source_version;
	n->order = version_apk;
}

/* "curl" of "curl-8.5.0-1.amzn2023.src.rpm". */
static const char *source_of_rpm(const struct scan_package *p, struct arena *a)
{
	static const char end[] = ".src.rpm";
	size_t len = strlen(p->source);
	int hyphens = 0;

	if (!text_has_suffix(p->source, end))
		return p->source;
	for (len -= strlen(end); len > 0; len--)
		if (p->source[len - 1] == '-' && ++hyphens == 2)
			return arena_strndup(a, p->source, len - 1);
	return p->source;
}

/* Advisories name binary packages or sources, by the distribution: either counts. */
static void name_rpm(const struct scan_package *p, const char *suite, struct arena *a,
                     struct advisory_name *n)
{
	static const struct {
		const char *vendor, *ecosystem;
	} distributions[] = {{"almalinux", "AlmaLinux"},
	                     {"rocky", "Rocky Linux"},
	                     {"rhel", "Red Hat:enterprise_linux"},
	                     {"azurelinux", "Azure Linux"}};
	const char *epoch = strmap_get(&p->purl.qualifiers, "epoch");
	const char *release = release_cut(p, 0, a), *source = source_of_rpm(p, a);

	(void)suite;
	for (size_t i = 0; i < ARRAY_LEN(distributions); i++) {
		if (strcmp(distributions[i].vendor, p->purl.vendor) != 0 || !is_numbered(release))
			continue;
		n->ecosystem = arena_printf(a, "%s:%s", distributions[i].ecosystem, release);
		n->order = version_rpm;
	}
	n->also = strcmp(source, n->package) != 0 ? source : NULL;
	n->version =
		epoch != NULL ? arena_printf(a, "%s:%s", epoch, p->purl.version) : p->purl.version;
}

/* The whole path is the name: "@scope/name", "github.com/org/module". */
static void name_by_path(const struct scan_package *p, const char *suite, struct arena *a,
                         struct advisory_name *n)
{
	static const struct {
		const char *type, *ecosystem;
	} registries[] = {{"npm", "npm"}, {"golang", "Go"}, {"cargo", "crates.io"}};

	(void)suite;
	for (size_t i = 0; i < ARRAY_LEN(registries); i++)
		if (strcmp(registries[i].type, p->purl.type) == 0)
			n->ecosystem = registries[i].ecosystem;
	if (p->purl.vendor[0] != '\0')
		n->package = arena_printf(a, "%s/%s", p->purl.vendor, p->purl.name);
	n->order = version_semver;
}

void advisory_name(const struct scan_package *p, const char *suite, struct arena *a,
                   struct advisory_name *ret_name)
{
	static const struct {
		const char *type, *vendor; /* vendor NULL: any */
		void (*name)(const struct scan_package *p, const char *suite, struct arena *a,
		             struct advisory_name *n);
	} kinds[] = {{"deb", "debian", name_debian},
	             {"deb", "ubuntu", name_ubuntu},
	             {"apk", "alpine", name_alpine},
	             {"apk", "wolfi", name_rolling_apk},
	             {"apk", "chainguard", name_rolling_apk},
	             {"rpm", NULL, name_rpm},
	             {"pypi", "", name_python},
	             {"npm", NULL, name_by_path},
	             {"golang", NULL, name_by_path},
	             {"cargo", "", name_by_path}};

	*ret_name = (struct advisory_name){.package = p->purl.name, .version = p->purl.version};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].type, p->purl.type) == 0 &&
		    (kinds[i].vendor == NULL || strcmp(kinds[i].vendor, p->purl.vendor) == 0) &&
		    p->purl.version[0] != '\0')
			kinds[i].name(p, suite, a, ret_name);
}

bool ecosystem_is(const char *record, const char *wanted)
{
	size_t n = strlen(wanted);

	return strncmp(record, wanted, n) == 0 &&
	       (record[n] == '\0' || strcmp(record + n, ":LTS") == 0 ||
	        text_has_prefix(record + n, "::"));
}

/* PyPA, "Names and normalization": runs of '-', '_' and '.' are one '-', in small letters. */
const char *ecosystem_spelling(const char *ecosystem, const char *name, struct arena *a)
{
	char *out;
	size_t n = 0;

	if (strcmp(ecosystem, "PyPI") != 0)
		return name;
	out = arena_lower(a, name, strlen(name));
	for (const char *at = out; *at != '\0'; at++) {
		bool joint = strchr("-_.", *at) != NULL;

		if (!joint || n == 0 || out[n - 1] != '-')
			out[n++] = joint ? '-' : *at;
	}
	out[n] = '\0';
	return out;
}
