/*
 * Which form an archive has: told by the names of its members, not by its own name.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/oci/archive_internal.h"

int archive_open_file(const char *path, int *ret_fd, int64_t *ret_size, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	*ret_size = st.st_size;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int discard(struct sink *s UNUSED, const void *bytes UNUSED, size_t len UNUSED,
                   struct err *err UNUSED)
{
	return 0;
}

int archive_pass_over(const char *path, struct archive *tar, struct err *err)
{
	struct sink nowhere = {discard};

	if (archive_filter_code(tar, 0) == ARCHIVE_FILTER_NONE)
		return 0;
	return archive_copy_member(path, tar, &nowhere, err);
}

/* An archive that is both, as newer `docker save` writes, has index.json first. */
static int find_form(const char *path, struct archive *tar, enum archive_form *ret_form,
                     struct err *err)
{
	static const struct {
		const char *name;
		enum archive_form form;
	} signs[] = {{"oci-layout", ARCHIVE_OCI},
	             {"index.json", ARCHIVE_OCI},
	             {"manifest.json", ARCHIVE_DOCKER}};
	struct archive_entry *entry;
	int status;

	while ((status = archive_read_next_header(tar, &entry)) == ARCHIVE_OK ||
	       status == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);

		if (interrupt_check(err) != 0)
			return -1;
		if (name != NULL && text_has_prefix(name, "./"))
			name += 2;
		for (size_t i = 0; name != NULL && i < ARRAY_LEN(signs); i++)
			if (strcmp(name, signs[i].name) == 0) {
				*ret_form = signs[i].form;
				return 0;
			}
		if (archive_pass_over(path, tar, err) != 0)
			return -1;
	}
	return status == ARCHIVE_EOF
	               ? err_set(err, ERR_FORMAT,
	                         "'%s' is neither an OCI archive nor a docker archive", path)
	               : archive_read_failed(path, tar, err);
}

int archive_form(const char *path, enum archive_form *ret_form, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct archive *tar = NULL;
	int64_t size;

	if (archive_open_file(path, &fd, &size, err) != 0)
		return -1;
	int result = archive_read_start(path, fd, &tar, err);

	if (result == 0)
		result = find_form(path, tar, ret_form, err);
	archive_read_free(tar);
	return result;
}
