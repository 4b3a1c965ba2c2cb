/* `ca_certificates`. In order: what an origin has, extra files, the bundle in the image. */
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/text.h"
#include "builder/layer/source/certificates.h"
#include "builder/layer/source/source_data.h"
#include "builder/layer/source/source_origin.h"

#define BUNDLE "etc/ssl/certs/ca-certificates.crt"

/* Bundles that systems make, the first that is there: Debian, Fedora, SUSE, Alpine. */
static const char *const bundles[] = {
	BUNDLE,
	"etc/pki/tls/certs/ca-bundle.crt",
	"etc/ssl/ca-bundle.pem",
	"etc/ssl/cert.pem",
};

/* Debian's package: one file per certificate; a line of the list that starts with '!' drops one. */
#define PACKAGED "usr/share/ca-certificates"
#define LIST     "etc/ca-certificates.conf"

/* What is read of a root file system: where bundles lie and where links to them lead. */
static const char *const paths[] = {"etc/ssl/certs",
                                    "etc/ssl/cert.pem",
                                    "etc/ssl/ca-bundle.pem",
                                    "etc/pki/tls/certs",
                                    "etc/pki/ca-trust/extracted/pem",
                                    "var/lib/ca-certificates",
                                    PACKAGED,
                                    LIST,
                                    NULL};

/*
 * Where programs look: OpenSSL as built by Debian, by most others and by Fedora
 * (X509_get_default_cert_file), and curl and Go on Fedora.
 */
static const char *const links[] = {
	"usr/lib/ssl/cert.pem",
	"etc/ssl/cert.pem",
	"etc/pki/tls/cert.pem",
	"etc/pki/tls/certs/ca-bundle.crt",
};

struct collecting {
	struct tree *tree;
	const struct layer_certificates *want;
	struct base_files *base;
	struct diags *diags;
	struct certificates certificates;
};

/* ---- what the base has ---- */

static void add_text(struct collecting *c, const char *name, const struct strbuf *text)
{
	const struct certificates_text in = {.name = name,
	                                     .at = c->want->at,
	                                     .layer = c->tree->label,
	                                     .bytes = strbuf_str(text),
	                                     .len = text->len};

	certificates_add(&c->certificates, &in, c->diags);
}

/* The first bundle that the base has. */
static int add_base(struct collecting *c, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CERTIFICATES_FILE_MAX + 1);

	for (size_t i = 0; c->base != NULL && i < ARRAY_LEN(bundles); i++) {
		const char *path = arena_printf(c->tree->arena, "/%s", bundles[i]);
		struct err why = {0};

		if (base_text(c->base, path, CERTIFICATES_FILE_MAX, &text, &why) == 0) {
			add_text(c, arena_printf(c->tree->arena, "the base's '%s'", path), &text);
			return 0;
		}
		if (why.code != ERR_NOT_FOUND) {
			*err = why;
			return -1;
		}
	}
	diags_error(c->diags, c->want->at, "leave 'on: base' out: this machine's are packed then",
	            "layer '%s': the base %s has no certificate authorities", c->tree->label,
	            c->base != NULL ? c->base->name : "scratch");
	return 0;
}

/* ---- what an origin has ---- */

static int add_entry(struct collecting *c, const struct origin *o, const struct entry *file,
                     struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CERTIFICATES_FILE_MAX + 1);

	if (origin_load(o, file, &text, err) != 0)
		return -1;
	add_text(c, arena_printf(c->tree->arena, "%s: '%s'", o->name, file->path), &text);
	return 0;
}

/* The list has a line "!NAME". */
static bool dropped(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list != '\0') {
		size_t n = strcspn(list, "\n");

		if (n == len + 1 && list[0] == '!' && strncmp(list + 1, name, len) == 0)
			return true;
		list += n + (list[n] == '\n');
	}
	return false;
}

static int add_packaged(struct collecting *c, const struct origin *o, struct err *err)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(CERTIFICATES_FILE_MAX);
	const struct entry *conf = origin_find(o, LIST);

	if (conf != NULL && conf->type == ENTRY_FILE && origin_load(o, conf, &list, err) != 0)
		return -1;
	for (size_t i = 0; i < o->tree.n; i++) {
		const struct entry *e = &o->tree.at[i];

		if (text_has_prefix(e->path, PACKAGED "/") && text_has_suffix(e->path, ".crt") &&
		    e->type == ENTRY_FILE &&
		    !dropped(strbuf_str(&list), e->path + strlen(PACKAGED "/")) &&
		    add_entry(c, o, e, err) != 0)
			return -1;
	}
	return 0;
}

static int add_origin(struct collecting *c, const struct origin *o, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(bundles); i++) {
		const struct entry *e = origin_find(o, bundles[i]);

		if (e != NULL && e->type == ENTRY_FILE)
			return add_entry(c, o, e, err);
	}
	size_t errors = c->diags->n_errors;

	if (add_packaged(c, o, err) != 0)
		return -1;
	if (c->certificates.all.n == 0 && c->diags->n_errors == errors)
		diags_error(c->diags, c->want->at,
		            "Debian's package ca-certificates has them: apt-get install "
		            "ca-certificates, or name its .deb in 'from'",
		            "layer '%s': %s has no certificate authorities: no /%s and no /%s",
		            c->tree->label, o->name, BUNDLE, PACKAGED);
	return 0;
}

/* ---- files ---- */

static int add_file(struct collecting *c, const char *path, struct srcpos at, bool own,
                    struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CERTIFICATES_FILE_MAX + 1);
	struct err why = {0};
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		diags_error(c->diags, at, "name a file of certificates",
		            "layer '%s': '%s' is not a regular file", c->tree->label, path);
		return 0;
	}
	if (fs_read_file(path, CERTIFICATES_FILE_MAX, &text, &why) != 0) {
		if (why.code == ERR_INTERRUPTED) {
			*err = why;
			return -1;
		}
		diags_error(c->diags, at, "correct the path: it is relative to the spec's folder",
		            "layer '%s': %s", c->tree->label, why.msg);
		return 0;
	}
	const struct certificates_text in = {.name = arena_printf(c->tree->arena, "'%s'", path),
	                                     .at = at,
	                                     .layer = c->tree->label,
	                                     .bytes = strbuf_str(&text),
	                                     .len = text.len,
	                                     .own = own};

	certificates_add(&c->certificates, &in, c->diags);
	return 0;
}

/* Systems keep some for long: no reason for anybody to act. */
static void note_expired(const struct collecting *c)
{
	const struct certificates *all = &c->certificates;

	if (all->n_expired == 0)
		return;
	struct diag *diag =
		diags_add(c->diags, DIAG_NOTE, c->want->at,
	                  "layer '%s': %zu of the certificates have expired, '%s' first",
	                  c->tree->label, all->n_expired, all->expired);

	diag_hint(c->diags, diag,
	          "programs refuse them by themselves; a newer ca-certificates has fewer");
}

static int collect_from(struct collecting *c, const struct platform *platform, struct err *err)
{
	AUTO(origin) struct origin o = {0};
	const struct origin_request req = {
		.from = c->want->from, .at = c->want->at, .platform = platform, .paths = paths};

	if (origin_read(&o, &req, c->tree, c->diags, err) != 0)
		return -1;
	if (o.kind == ORIGIN_FILE && add_file(c, c->want->from, c->want->at, false, err) != 0)
		return -1;
	if (o.kind != ORIGIN_FILE && o.kind != ORIGIN_NONE && add_origin(c, &o, err) != 0)
		return -1;
	note_expired(c);
	return 0;
}

static int collect(struct collecting *c, const struct platform *platform, struct err *err)
{
	if ((c->want->on == CERTIFICATES_ON_BASE ? add_base(c, err)
	                                         : collect_from(c, platform, err)) != 0)
		return -1;
	for (size_t i = 0; i < c->want->n_extra; i++)
		if (add_file(c, c->want->extra[i].path, c->want->extra[i].at, true, err) != 0)
			return -1;
	return 0;
}

/* ---- the bundle in the image ---- */

static int add_bundle(struct collecting *c, struct err *err)
{
	AUTO(strbuf) struct strbuf pem = STRBUF_INIT(0);

	certificates_pem(&c->certificates, &pem);
	if (pem.overflow)
		return err_set(err, ERR_LIMIT, "the bundle is larger than 1 GiB");
	if (data_file_add(c->tree, BUNDLE, strbuf_str(&pem), pem.len, c->want->at, err) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (data_link_add(c->tree, links[i], "/" BUNDLE, c->want->at, err) != 0)
			return -1;
	return 0;
}

int source_certificates_add(struct tree *t, const struct layer_certificates *want,
                            const struct platform *platform, struct base_files *base,
                            struct diags *d, struct err *err)
{
	struct collecting c = {.tree = t, .want = want, .base = base, .diags = d};
	int rc;

	if (want->at.file == NULL || !want->enabled)
		return 0;
	rc = collect(&c, platform, err);
	if (rc == 0)
		rc = add_bundle(&c, err);
	certificates_done(&c.certificates);
	return rc == 0 ? 0 : err_wrap(err, "layer '%s': ca_certificates", t->label);
}
