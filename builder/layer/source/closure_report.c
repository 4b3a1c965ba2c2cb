/* What a closure says of problems, each at its position and with the next step. */
#include <string.h>

#include "builder/layer/source/closure_internal.h"

/* "build/x -> libfoo.so.1": who needed whom, from the program on. */
static void chain_text(const struct closure_object *o, struct strbuf *sb)
{
	if (o->loader != NULL) {
		chain_text(o->loader, sb);
		strbuf_adds(sb, " -> ");
	}
	strbuf_adds(sb, o->name);
}

/* Debian Policy 8.1: package libNAMESOVERSION, with '-' between when NAME ends in a digit. */
static const char *debian_package(const char *soname, struct arena *a)
{
	const char *so = strstr(soname, ".so.");
	char *name;

	if (so == NULL || so == soname)
		return NULL;
	name = arena_printf(a, "%.*s%s%s", (int)(so - soname), soname,
	                    so[-1] >= '0' && so[-1] <= '9' ? "-" : "", so + 4);
	for (char *p = name; *p != '\0'; p++) {
		if (*p == '_')
			*p = '-';
		else if (*p >= 'A' && *p <= 'Z')
			*p |= 0x20;
	}
	return name;
}

void closure_report_missing(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const char *wrong)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096), places = STRBUF_INIT(4096);
	const char *package = debian_package(needed, run->arena);
	struct closure_dir *dirs;
	size_t n = closure_search_dirs(run, from, &dirs);
	struct diag *diag;

	chain_text(from, &chain);
	for (size_t i = 0; i < n; i++)
		if (dirs[i].reason != CLOSURE_BY_CONF)
			strbuf_addf(&places, "%s%s", places.len > 0 ? ", " : "",
			            dirs[i].reason == CLOSURE_OUTSIDE
			                    ? dirs[i].path
			                    : sysroot_host_path(&run->sysroot, dirs[i].path,
			                                        run->arena));
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: '%s', needed by %s, not found in %s%s%s%s", needed,
	                 strbuf_str(&chain), strbuf_str(&places), wrong != NULL ? "; '" : "",
	                 wrong != NULL ? wrong : "",
	                 wrong != NULL ? "' is for another architecture" : "");
	if (package != NULL)
		diag_hint(run->diags, diag,
		          "install the package that has it (in Debian perhaps %s:%s), or list "
		          "'%s' under provided when the node brings it",
		          package, run->req->platform->architecture, needed);
	else
		diag_hint(run->diags, diag,
		          "install it for %s, or list '%s' under provided when the node brings it",
		          run->req->platform->architecture, needed);
}

void closure_report_outside(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const struct closure_dir *dir)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096);
	struct diag *diag;

	chain_text(from, &chain);
	diag = diags_add(
		run->diags, DIAG_ERROR, run->at,
		"closure: '%s', needed by %s, is found relative to the program ($ORIGIN) in '%s': "
		"where the program lands in the image is not known here",
		needed, strbuf_str(&chain), dir->path);
	diag_hint(run->diags, diag,
	          "add it by `files:` at the same place relative to the program, and list '%s' "
	          "under provided",
	          needed);
}

void closure_report_unsearched(struct closure_run *run, const struct closure_object *from,
                               const char *needed, const struct closure_dir *dir)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096);
	struct diag *diag;

	chain_text(from, &chain);
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: '%s', needed by %s, is in '%s', which the image's loader '%s' "
	                 "does not search",
	                 needed, strbuf_str(&chain), dir->path,
	                 run->interpreter != NULL ? run->interpreter : "?");
	diag_hint(run->diags, diag,
	          "link with -Wl,-rpath,%s, or add the library by `files:` to '%s/' and list it "
	          "under provided",
	          dir->image,
	          run->builtin.n > 0 ? run->builtin.at[run->builtin.n > 1 ? 1 : 0] : "/usr/lib");
}

void closure_report_no_base(struct closure_run *run)
{
	struct diag *diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                              "closure: 'on: base', but the image has no base to stand on");

	diag_hint(run->diags, diag, "name an image in image.base, or leave 'on' out");
}

void closure_report_no_loader(struct closure_run *run, const struct closure_object *program)
{
	struct diag *diag =
		diags_add(run->diags, DIAG_ERROR, run->at,
	                  "closure: '%s' is started by '%s', which the base '%s' does not have",
	                  program->name, program->elf.interpreter, run->req->base->name);

	diag_hint(run->diags, diag,
	          "use a base with that C library, or leave out 'on: base' so that loader and "
	          "libraries are packed");
}

/* "GLIBC_" of "GLIBC_2.38". */
static size_t family_length(const char *version)
{
	const char *bar = strrchr(version, '_');

	return bar != NULL ? (size_t)(bar + 1 - version) : 0;
}

/* The newest version of the same family that a library defines, NULL for none. */
static const char *newest_like(const struct elf_info *elf, const char *version)
{
	size_t n = family_length(version);
	const char *best = NULL;

	for (size_t i = 0; i < elf->defined.n && n > 0; i++) {
		const char *v = elf->defined.at[i];

		if (strncmp(v, version, n) == 0 && v[n] >= '0' && v[n] <= '9' &&
		    (best == NULL || strverscmp(v, best) > 0))
			best = v;
	}
	return best;
}

void closure_report_too_new(struct closure_run *run, const struct closure_object *from,
                            const struct closure_object *library, const char *version)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096);
	const char *newest = newest_like(&library->elf, version);
	struct diag *diag;

	chain_text(from, &chain);
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: %s needs %s of %s; the base '%s' has %s%s", strbuf_str(&chain),
	                 version, library->name, run->req->base->name,
	                 newest != NULL ? newest : "no such version",
	                 newest != NULL ? " at most" : "");
	diag_hint(run->diags, diag,
	          "use a newer base, build against the libraries of this one, or leave out "
	          "'on: base' so that loader and libraries are packed");
}

void closure_report_older(struct closure_run *run, const char *name, const char *version)
{
	struct diag *diag = diags_add(
		run->diags, DIAG_WARNING, run->at,
		"closure: the packed %s replaces a newer one of the base '%s', which has %s: "
		"programs of the base may not start",
		name, run->req->base->name, version);

	diag_hint(run->diags, diag, "write {path: ..., on: base}, so that the base's own is used");
}

void closure_report_two(struct closure_run *run, const struct closure_object *packed,
                        const char *path, bool certain)
{
	struct diag *diag = diags_add(
		run->diags, certain ? DIAG_ERROR : DIAG_WARNING, run->at,
		"closure: %s is packed to '%s', but the base '%s' has another at '%s': the loader "
		"%s take the wrong one",
		packed->name, packed->image_dir, run->req->base->name, path,
		certain ? "would" : "may");

	diag_hint(run->diags, diag, "write {path: ..., on: base}, so that the base's own is used");
}
