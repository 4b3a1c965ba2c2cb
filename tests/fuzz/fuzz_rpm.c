/*
 * Any bytes as one header of rpm's database: what is read of it stays inside it, and the package
 * has a name and a version.
 */
#include <stdint.h>

#include "base/attr.h"
#include "builder/sbom/rpm.h"
#include "builder/sbom/rpm_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void owns(void *ctx, const struct sbom_package *package, const char *path, size_t len)
{
	size_t *bytes = ctx;

	for (size_t i = 0; i < len; i++)
		*bytes += path[i] != '\0';
	if (package->name == NULL || *path == '/')
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	AUTO(inventory) struct inventory inv = {.arena = &a};
	size_t bytes = 0;
	const struct database_reader r = {
		.inv = &inv, .path = "/var/lib/rpm/rpmdb.sqlite", .owns = owns, .ctx = &bytes};

	if (rpm_read_header(&r, data, size) && inv.packages.n > 0 &&
	    (inv.packages.at[0]->name == NULL || inv.packages.at[0]->version == NULL))
		__builtin_trap();
	return 0;
}
