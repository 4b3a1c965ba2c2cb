/*
 * Which form an archive has: told by the names of its members, not by its own name.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/text.h"
#include "builder/oci/archive_internal.h"

/* An archive that is both, as newer `docker save` writes, has index.json first. */
static int find_form(struct archive_reader *r, enum archive_form *ret_form, struct err *err)
{
	static const struct {
		const char *name;
		enum archive_form form;
	} signs[] = {{"oci-layout", ARCHIVE_OCI},
	             {"index.json", ARCHIVE_OCI},
	             {"manifest.json", ARCHIVE_DOCKER}};
	struct archive_entry *entry;
	int more;

	while ((more = archive_next_member(r, &entry, err)) == 1) {
		const char *name = archive_entry_pathname(entry);

		if (name != NULL && text_has_prefix(name, "./"))
			name += 2;
		for (size_t i = 0; name != NULL && i < ARRAY_LEN(signs); i++)
			if (strcmp(name, signs[i].name) == 0) {
				*ret_form = signs[i].form;
				return 0;
			}
	}
	return more != 0 ? -1
	                 : err_set(err, ERR_FORMAT,
	                           "'%s' is neither an OCI archive nor a docker archive", r->path);
}

int archive_form(const char *path, enum archive_form *ret_form, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct archive_reader r = {0};
	int64_t size;

	if (archive_open_file(path, &fd, &size, err) != 0)
		return -1;
	int result = archive_reader_open(&r, path, fd, err);

	if (result == 0)
		result = find_form(&r, ret_form, err);
	archive_reader_done(&r);
	return result;
}
