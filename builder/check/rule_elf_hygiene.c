/*
 * Rules over single ELF files that work, and should not be shipped so: what a base brought is not
 * spoken of.
 */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"
#include "builder/layer/elf/elf_search.h"

/* A program or library of the platform that a layer of our own brought. */
static const struct elf_info *own_elf(const struct check_image *image, const struct view_node *n)
{
	const struct elf_info *elf = view_is_file(n) ? n->content->elf : NULL;

	if (elf == NULL || image->arch == NULL || elf->machine != image->arch->elf_machine ||
	    (elf->type != ET_EXEC && elf->type != ET_DYN) || rule_layer_of_base(image, n->layer))
		return NULL;
	return elf;
}

void rule_check_textrel(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct elf_info *elf = own_elf(image, n);

		if (elf != NULL && elf->textrel)
			rule_hint(image,
			          rule_report(image, RULE_ELF_TEXTREL, rule_place_of(image, n),
			                      "has text relocations: the loader makes its code "
			                      "writable to load it, which hardened nodes refuse"),
			          "compile all of it with -fPIC (for a program: -fPIE)");
	}
}

void rule_check_exec_stack(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct elf_info *elf = own_elf(image, n);

		if (elf != NULL && elf->exec_stack)
			rule_hint(image,
			          rule_report(image, RULE_ELF_EXEC_STACK, rule_place_of(image, n),
			                      "asks for an executable stack: what is written to "
			                      "the stack can be run as code"),
			          "add '.section .note.GNU-stack' to its assembly files, or link "
			          "it with -z noexecstack");
	}
}

/* ---- RPATH and RUNPATH ---- */

/* Where installed software lives: a folder of it that this image lacks is nothing but superfluous.
 */
static bool is_installed_path(const char *path)
{
	static const char *const prefixes[] = {"/usr/", "/lib",      "/opt/", "/bin/", "/sbin/",
	                                       "/etc/", "/var/lib/", "/nix/", "/gnu/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (text_has_prefix(path, prefixes[i]))
			return true;
	return false;
}

/* What is wrong with an item, NULL when nothing is. */
static const char *fault_of(const struct check_image *image, const char *item)
{
	const struct view_node *n;

	if (item[0] == '\0')
		return "is empty, which stands for the working folder";
	if (item[0] == '$')
		return NULL;
	if (item[0] != '/')
		return "is relative to the working folder";
	if (strchr(item, '$') != NULL || is_installed_path(item))
		return NULL;
	n = view_find(&image->view, item, true);
	return n == NULL ? "is not in the image: a folder of the machine that built it" : NULL;
}

static void check_path(struct check_image *image, const struct view_node *n, const char *text)
{
	char *copy = arena_strdup(image->run->arena, text);

	for (char *item = copy, *next; item != NULL; item = next) {
		const char *fault;

		next = strchr(item, ':');
		if (next != NULL)
			*next++ = '\0';
		fault = fault_of(image, item);
		if (fault == NULL)
			continue;
		rule_hint(
			image,
			rule_report(image, RULE_ELF_RPATH, rule_place_of(image, n),
		                    "its loader looks for libraries in '%s', which %s: whoever can "
		                    "write there decides what it runs",
		                    item, fault),
			"link it without -rpath, or remove it: patchelf --remove-rpath FILE");
		return;
	}
}

void rule_check_rpath(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct elf_info *elf = own_elf(image, n);
		const char *text;

		if (elf == NULL)
			continue;
		text = elf->runpath != NULL ? elf->runpath : elf->rpath;
		/* An empty text as a whole is no path. */
		if (text != NULL && text[0] != '\0')
			check_path(image, n, text);
	}
}

/* ---- the processor ---- */

/* Variants that the loader chooses by the processor. */
static bool is_variant(const char *path)
{
	return strstr(path, "/glibc-hwcaps/") != NULL;
}

void rule_check_isa(struct check_image *image)
{
	const struct check_opts *opts = image->run->opts;

	if (opts->isa_level == 0)
		return;
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct elf_info *elf =
			view_is_file(n) && image->arch != NULL ? n->content->elf : NULL;
		struct rule_place place;

		if (elf == NULL || elf->machine != EM_X86_64 || elf->isa <= opts->isa_level)
			continue;
		place = rule_place_of(image, n);
		if (is_variant(place.path))
			continue;
		rule_hint(image,
		          rule_report(
				  image, RULE_ELF_ISA, place,
				  "needs a processor of level x86-64-v%u, and the fleet's %s has "
				  "x86-64-v%u: there the loader refuses it with 'CPU ISA level is "
				  "lower than required'",
				  elf->isa, opts->isa_instance, opts->isa_level),
		          arena_printf(
				  image->run->arena,
				  "compile it with -march=x86-64-v%u, or take the instance out of "
				  "the fleet",
				  opts->isa_level));
	}
}
