/* Rules over single ELF files: machine and interpreter. */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"

/* Firmware is for other processors, whatever the platform. */
static bool is_firmware(const char *path)
{
	return strstr(path, "/firmware/") != NULL;
}

/* 32 bit programs run on every amd64 node. */
static bool machine_runs(const struct platform_arch *arch, const struct elf_info *elf)
{
	if (elf->machine == arch->elf_machine)
		return elf->bits == arch->elf_bits || arch->elf_machine == EM_X86_64;
	return arch->elf_machine == EM_X86_64 && elf->machine == EM_386;
}

void rule_check_machine(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		const struct scan_member *m = n->content;
		struct rule_place place;

		if (!view_is_file(n) || (m->elf == NULL && m->elf_error == NULL))
			continue;
		place = rule_place_of(image, n);
		if (m->elf_error != NULL && (n->member->mode & 0111) != 0) {
			rule_report_as(image, RULE_ELF_MACHINE, DIAG_WARNING, place,
			               arena_printf(image->run->arena, "is a broken ELF file: %s",
			                            m->elf_error));
			continue;
		}
		/* Objects to be linked (also for the kernel's BPF) are data to the image. */
		if (m->elf == NULL || (m->elf->type != ET_EXEC && m->elf->type != ET_DYN) ||
		    image->arch == NULL || machine_runs(image->arch, m->elf) ||
		    is_firmware(place.path))
			continue;
		rule_hint(image,
		          rule_report(image, RULE_ELF_MACHINE, place,
		                      "is for %s (%u bit), the platform needs %s (%u bit)",
		                      elf_machine_name(m->elf->machine, image->run->arena),
		                      m->elf->bits,
		                      elf_machine_name(image->arch->elf_machine, image->run->arena),
		                      image->arch->elf_bits),
		          "use ${arch} in the path, so that each platform gets its own build");
	}
}

static void check_interpreter(struct check_image *image, const struct view_node *n)
{
	const char *interpreter = n->content->elf->interpreter;
	const char *base = strrchr(interpreter, '/');
	const struct view_node *found = view_find(&image->view, interpreter, true);
	struct rule_place place = rule_place_of(image, n);

	if (rule_provided(image, base != NULL ? base + 1 : interpreter))
		return;
	if (found == NULL || !view_is_file(found))
		rule_hint(image,
		          rule_report(image, RULE_ELF_INTERPRETER, place,
		                      "its interpreter '%s' is not in the image: "
		                      "starting it fails with 'no such file or directory'",
		                      interpreter),
		          "add the program to a `closure:`, or use a base image with a C library");
	else if (found->content->elf == NULL ||
	         found->content->elf->machine != n->content->elf->machine)
		rule_report(image, RULE_ELF_INTERPRETER, place,
		            "its interpreter '%s' is not a loader for %s", interpreter,
		            elf_machine_name(n->content->elf->machine, image->run->arena));
	else if ((found->member->mode & 0111) == 0)
		rule_report(image, RULE_ELF_INTERPRETER, place,
		            "its interpreter '%s' is not executable", interpreter);
}

void rule_check_interpreter(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n)) {
		if (!view_is_file(n) || n->content->elf == NULL ||
		    n->content->elf->interpreter == NULL)
			continue;
		/* The C library has one too, and can be started, but nobody does. */
		if ((n->member->mode & 0111) == 0 || n->content->elf->soname != NULL)
			continue;
		check_interpreter(image, n);
	}
}
