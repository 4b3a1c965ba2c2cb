/*
 * Any bytes as a database of vulnerabilities, as waivers and as a bill of materials (the first byte
 * says which), the others being good: what is found is printable, counted, and of a package that
 * the document names.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fs.h"
#include "base/text.h"
#include "builder/scan/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum part { PART_DATABASE, PART_WAIVERS, PART_DOCUMENT, PARTS };

static const char *const good[PARTS] = {
	[PART_DATABASE] =
		"[{\"id\":\"GHSA-1\",\"aliases\":[\"CVE-1\"],\"modified\":\"2026-01-01T00:00:00Z\","
		"\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"a\"},\"ranges\":[{"
		"\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":\"0\"},{\"fixed\":\"2\"}]}]},{"
		"\"package\":{\"ecosystem\":\"Debian:12\",\"name\":\"b\"},\"versions\":[\"1-1\"]}]}"
		"]",
	[PART_WAIVERS] =
		"{\"@context\":\"https://openvex.dev/ns/v0.2.0\",\"statements\":[{"
		"\"vulnerability\":\"CVE-1\",\"products\":[\"pkg:pypi/a\"],\"status\":\"fixed\"}]}",
	[PART_DOCUMENT] =
		"{\"bomFormat\":\"CycloneDX\",\"components\":[{\"purl\":\"pkg:pypi/a@1.0\"},"
		"{\"purl\":\"pkg:deb/debian/b@1-1?distro=debian-12\"}]}",
};

/* A file of these bytes that has no name but in /proc. */
static int put(const char *text, size_t len, char path[32])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct err err = {0};

	if (fd < 0 || fs_write_all(fd, text, len, &err) != 0)
		__builtin_trap();
	(void)snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void check_text(const char *text)
{
	AUTO_FREE char *copy = mem_strdup(text);

	text_make_printable(copy);
	if (strcmp(copy, text) != 0)
		__builtin_trap();
}

static void check_findings(const struct scan_image *image)
{
	int64_t counted = 0;

	for (size_t i = 0; i < image->findings.n; i++) {
		const struct finding *f = &image->findings.at[i];
		bool known = false;

		check_text(f->name);
		check_text(f->fixed_in);
		check_text(f->waived != NULL ? f->waived : "");
		for (size_t k = 0; k < image->n_packages; k++)
			known |= strcmp(image->packages[k].purl.name, f->package) == 0;
		if (!known)
			__builtin_trap();
		counted += f->waived == NULL;
	}
	if (findings_refused(&image->findings, SEVERITY_UNDEFINED) != counted)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	enum part which = size > 0 ? (enum part)(data[0] % PARTS) : PART_DATABASE;
	char path[PARTS][32];
	const char *paths[PARTS];
	int fds[PARTS];
	size_t len[PARTS];
	const char *text[PARTS];
	struct scan_image image = {.repository = "host/app"};
	struct scan_result result;
	struct err err = {0};

	for (unsigned i = 0; i < PARTS; i++) {
		text[i] = i == which && size > 0 ? (const char *)data + 1 : good[i];
		len[i] = i == which && size > 0 ? size - 1 : strlen(good[i]);
		fds[i] = put(text[i], len[i], path[i]);
		paths[i] = path[i];
	}
	const struct scan_opts opts = {.databases = {&paths[PART_DATABASE], 1},
	                               .waivers = {&paths[PART_WAIVERS], 1},
	                               .allow_unjudged = true};

	if (scan_read_document(text[PART_DOCUMENT], len[PART_DOCUMENT], &a, &image, &err) == 0 &&
	    scan_images(&image, 1, &opts, &a, &result, &err) == 0)
		check_findings(&image);
	for (unsigned i = 0; i < PARTS; i++)
		close(fds[i]);
	return 0;
}
