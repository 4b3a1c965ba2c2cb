/*
 * The packages of rpm's database in the form of SQLite (rpmdb.sqlite, since rpm 4.16): Fedora,
 * Amazon Linux 2023, UBI 9. The file comes from an image: SQLite reads it from memory, may do
 * nothing but this one query, and not for long.
 */
#ifndef SLIPWAY_BUILDER_SBOM_RPM_H
#define SLIPWAY_BUILDER_SBOM_RPM_H

#include "builder/sbom/database.h"

/* A database that cannot be read is a gap of the inventory. */
void rpm_read_sqlite(const struct database_reader *r, const char *text, size_t len);

/* One header of it; false when it is none. */
bool rpm_read_header(const struct database_reader *r, const void *bytes, size_t len);

#endif
