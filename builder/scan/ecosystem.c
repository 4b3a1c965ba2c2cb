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

void advisory_name(const struct scan_package *p, const char *suite, struct arena *a,
                   struct advisory_name *ret_name)
{
	static const struct {
		const char *type, *vendor;
		void (*name)(const struct scan_package *p, const char *suite, struct arena *a,
		             struct advisory_name *n);
	} kinds[] = {{"deb", "debian", name_debian},
	             {"deb", "ubuntu", name_ubuntu},
	             {"pypi", "", name_python}};

	*ret_name = (struct advisory_name){.package = p->purl.name, .version = p->purl.version};
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].type, p->purl.type) == 0 &&
		    strcmp(kinds[i].vendor, p->purl.vendor) == 0 && p->purl.version[0] != '\0')
			kinds[i].name(p, suite, a, ret_name);
}

bool ecosystem_is(const char *record, const char *wanted)
{
	size_t n = strlen(wanted);

	return strncmp(record, wanted, n) == 0 &&
	       (record[n] == '\0' || strcmp(record + n, ":LTS") == 0);
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
