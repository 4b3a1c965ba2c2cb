#include "base/slurp.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fs.h"

enum { SLURP_CHUNK = 64 << 10 };

int slurp_fd(int fd, size_t max_bytes, struct strbuf *sb, struct err *err)
{
	char chunk[SLURP_CHUNK];

	strbuf_reset(sb);
	if (sb->max < max_bytes)
		sb->max = max_bytes;
	for (;;) {
		ssize_t n = fs_read(fd, chunk, sizeof(chunk));

		if (n < 0)
			return err_set(err, ERR_IO, "read");
		if (n == 0)
			return 0;
		if ((size_t)n > max_bytes - sb->len)
			return err_set(err, ERR_LIMIT, "more than %zu bytes", max_bytes);
		strbuf_add(sb, chunk, (size_t)n);
	}
}

int slurp_file(const char *path, size_t max_bytes, struct strbuf *sb, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	strbuf_reset(sb);
	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
		               errno == ENOENT ? "'%s' does not exist" : "open '%s'", path);
	if (slurp_fd(fd, max_bytes, sb, err) != 0)
		return err_wrap(err, "'%s'", path);
	return 0;
}
