#include "builder/sbom/purl.h"

#include <string.h>

#include "base/text.h"

/* Percent-encoding: what is not unreserved is encoded, but for the colon. */
static void add_encoded(struct strbuf *sb, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-_~:";

	for (; *text != '\0'; text++)
		if (strchr(plain, *text) != NULL)
			strbuf_addc(sb, *text);
		else
			strbuf_addf(sb, "%%%02X", (unsigned)(unsigned char)*text);
}

static void add_qualifier(struct strbuf *sb, char *between, const char *key, const char *value)
{
	if (value == NULL)
		return;
	strbuf_addf(sb, "%c%s=", *between, key);
	add_encoded(sb, value);
	*between = '&';
}

/* PyPI's names are the same in any case, with '_' for '-' (purl-spec, types/pypi). */
static void add_python_name(struct strbuf *sb, const char *name)
{
	for (; *name != '\0'; name++) {
		const char text[2] = {*name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a')
		                      : *name == '_'               ? '-'
		                                                   : *name,
		                      '\0'};

		add_encoded(sb, text);
	}
}

/* "debian-12"; a distribution without a version (sid) by its name alone. */
static void add_distro(struct strbuf *sb, char *between, const struct sbom_distro *d)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);

	if (d->id == NULL)
		return;
	strbuf_adds(&text, d->id);
	if (d->version_id != NULL)
		strbuf_addf(&text, "-%s", d->version_id);
	add_qualifier(sb, between, "distro", strbuf_str(&text));
}

/* The source by which advisories name the package: only where it is not the package's own. */
static void add_upstream(struct strbuf *sb, char *between, const struct sbom_package *p)
{

	if (p->source == NULL || (strcmp(p->source, p->name) == 0 && p->source_version == NULL))
		return;
	add_qualifier(sb, between, "upstream", p->source);
	if (p->source_version != NULL) {
		strbuf_adds(sb, "%40");
		add_encoded(sb, p->source_version);
	}
}

/* rpm's epoch with its colon is a qualifier, dpkg's is of the version (types/rpm, types/deb). */
static char *epoch_of(const struct sbom_package *p)
{
	size_t n = p->kind == PACKAGE_RPM ? strcspn(p->version, ":") : 0;

	return mem_strndup(p->version, n > 0 && p->version[n] == ':' ? n + 1 : 0);
}

void purl_package(const struct sbom_package *p, const struct sbom_distro *image, struct strbuf *sb)
{
	static const struct {
		const char *type,
			*vendor; /* vendor where no distribution says so; NULL: has none */
	} kinds[] = {[PACKAGE_DEB] = {"deb", "debian"},
	             [PACKAGE_APK] = {"apk", "alpine"},
	             [PACKAGE_PYPI] = {"pypi", NULL},
	             [PACKAGE_RPM] = {"rpm", "redhat"}};
	const struct sbom_distro *distro = p->distro != NULL ? p->distro : image;
	AUTO_FREE char *epoch = epoch_of(p);
	char between = '?';

	strbuf_addf(sb, "pkg:%s/", kinds[p->kind].type);
	if (kinds[p->kind].vendor == NULL) {
		add_python_name(sb, p->name);
		strbuf_addc(sb, '@');
		add_encoded(sb, p->version);
		return;
	}
	add_encoded(sb, distro->id != NULL ? distro->id : kinds[p->kind].vendor);
	strbuf_addc(sb, '/');
	add_encoded(sb, p->name);
	strbuf_addc(sb, '@');
	add_encoded(sb, p->version + strlen(epoch));
	add_qualifier(sb, &between, "arch", p->architecture);
	add_distro(sb, &between, distro);
	if (epoch[0] != '\0')
		strbuf_addf(sb, "&epoch=%.*s", (int)strlen(epoch) - 1, epoch);
	add_upstream(sb, &between, p);
}

void purl_image(const char *repository, const struct digest *digest, const char *arch,
                const char *tag, struct strbuf *sb)
{
	const char *slash = strrchr(repository, '/');
	char hex[DIGEST_HEX_MAX], between = '?';

	strbuf_adds(sb, "pkg:oci/");
	add_encoded(sb, slash != NULL ? slash + 1 : repository);
	strbuf_addf(sb, "@sha256%%3A%s", digest_hex(digest, hex));
	add_qualifier(sb, &between, "arch", arch);
	add_qualifier(sb, &between, "repository_url", slash != NULL ? repository : NULL);
	add_qualifier(sb, &between, "tag", tag);
}

/* What a layout or an archive is called is a path of some machine: its last name is enough. */
static const char *without_folders(const char *reference)
{
	static const char *const forms[] = {"oci:", "oci-archive:", "docker-archive:"};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (text_has_prefix(reference, forms[i])) {
			const char *path = reference + strlen(forms[i]);
			const char *slash = strrchr(path, '/');

			return slash != NULL ? slash + 1 : path;
		}
	return reference;
}

void purl_reference(const char *reference, const struct digest *digest, const char *arch,
                    struct strbuf *sb)
{
	const char *plain = without_folders(reference), *slash = strrchr(plain, '/');
	const char *stop = strpbrk(slash != NULL ? slash : plain, ":@");
	AUTO_FREE char *name =
		mem_strndup(plain, stop != NULL ? (size_t)(stop - plain) : strlen(plain));

	purl_image(name, digest, arch, NULL, sb);
}
