#include "builder/sbom/document_internal.h"

#include <string.h>

#include "builder/sbom/purl.h"

enum { ID_BYTES_MAX = 16 << 10 };

const struct sbom_form_name sbom_forms[SBOM_FORMS] = {
	[SBOM_SPDX] = {"spdx", "application/spdx+json", "https://spdx.dev/Document"},
	[SBOM_CYCLONEDX] = {"cyclonedx", "application/vnd.cyclonedx+json",
                            "https://cyclonedx.org/bom"},
};

void document_text(struct sbom_document *d, const char *key, const char *value)
{
	if (value == NULL)
		return;
	jsonw_key(&d->w, key);
	jsonw_string(&d->w, value);
}

const char *document_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* SPDX 2.3, 7.2: letters, digits, '.' and '-'; another byte becomes its number. */
static void add_id(struct strbuf *sb, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789.-";

	for (; *text != '\0'; text++)
		if (strchr(plain, *text) != NULL)
			strbuf_addc(sb, *text);
		else
			strbuf_addf(sb, "C%u", (unsigned)(unsigned char)*text);
}

const char *document_package_id(struct sbom_document *d, const struct sbom_package *p)
{
	static const char *const kinds[] = {[PACKAGE_DEB] = "deb",
	                                    [PACKAGE_APK] = "apk",
	                                    [PACKAGE_PYPI] = "pypi",
	                                    [PACKAGE_RPM] = "rpm"};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(ID_BYTES_MAX);

	strbuf_addf(&sb, "Package-%s-", kinds[p->kind]);
	add_id(&sb, p->name);
	strbuf_addc(&sb, '-');
	add_id(&sb, p->version);
	if (p->architecture != NULL) {
		strbuf_addc(&sb, '-');
		add_id(&sb, p->architecture);
	}
	/* Two packages may come to one name: "a-1" of version 2, "a" of version 1-2. */
	strbuf_addf(&sb, "-%zu", p->number + 1);
	return arena_strdup(&d->arena, strbuf_str(&sb));
}

const char *document_part_id(struct sbom_document *d, size_t part)
{
	const size_t n = d->inv->packages.n;

	return part < n ? document_package_id(d, d->inv->packages.at[part])
	                : arena_printf(&d->arena, "Binary-%zu", part - n + 1);
}

const char *document_purl(struct sbom_document *d, const struct sbom_package *p)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(ID_BYTES_MAX);

	purl_package(p, &d->inv->distro, &sb);
	return arena_strdup(&d->arena, strbuf_str(&sb));
}

const char *document_image_purl(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(ID_BYTES_MAX);

	purl_image(s->name, &s->manifest, s->platform.architecture, s->tag, &sb);
	return arena_strdup(&d->arena, strbuf_str(&sb));
}

const char *document_base_purl(struct sbom_document *d)
{
	const struct sbom_subject *s = d->subject;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(ID_BYTES_MAX);

	purl_reference(s->base_name, &s->base_digest, s->platform.architecture, &sb);
	return arena_strdup(&d->arena, strbuf_str(&sb));
}

const char *document_source(struct sbom_document *d, const struct sbom_package *p)
{
	if (p->source == NULL)
		return NULL;
	return p->source_version == NULL
	               ? p->source
	               : arena_printf(&d->arena, "%s %s", p->source, p->source_version);
}

void sbom_print(enum sbom_form form, const struct sbom_subject *s, const struct inventory *inv,
                struct strbuf *sb)
{
	static void (*const writers[SBOM_FORMS])(struct sbom_document *) = {
		[SBOM_SPDX] = spdx_print,
		[SBOM_CYCLONEDX] = cyclonedx_print,
	};
	struct sbom_document d = {.subject = s, .inv = inv};

	jsonw_init(&d.w, sb, false);
	d.links = links_make(inv, &d.arena);
	writers[form](&d);
	arena_done(&d.arena);
}
