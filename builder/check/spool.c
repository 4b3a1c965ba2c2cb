#include "builder/check/spool.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fs.h"
#include "base/mem.h"

void spool_done(struct spool *s)
{
	free(s->memory);
	attr_close_fd(&s->fd);
	*s = (struct spool)SPOOL_INIT;
}

void spool_reset(struct spool *s)
{
	s->size = 0;
}

static int open_temporary(struct spool *s, struct err *err)
{
	const char *dir = getenv("TMPDIR");

	if (dir == NULL || dir[0] == '\0')
		dir = "/tmp";
	if (fs_open_unnamed(dir, &s->fd, err) != 0)
		return err_wrap(err, "temporary file for a large library");
	return 0;
}

/* Grows the file over a hole. A shorter one of a file before it may lie there. */
static int punch(struct spool *s, uint64_t offset, size_t len, struct err *err)
{
	if (ftruncate(s->fd, (off_t)offset) != 0 || ftruncate(s->fd, (off_t)(offset + len)) != 0)
		return err_set(err, ERR_IO, "extend temporary file");
	return 0;
}

static int write_at(struct spool *s, const void *bytes, size_t len, uint64_t offset,
                    struct err *err)
{
	while (len > 0) {
		ssize_t n = fs_pwrite(s->fd, bytes, len, (int64_t)offset);

		if (n < 0)
			return err_set(err, ERR_IO, "write temporary file");
		bytes = (const char *)bytes + n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int spool_write(struct spool *s, const void *bytes, size_t len, struct err *err)
{
	size_t fits = s->size < SPOOL_MEMORY_MAX ? SPOOL_MEMORY_MAX - (size_t)s->size : 0;

	if (len > (uint64_t)SPOOL_BYTES_MAX - s->size)
		BUG("a spool of more than %lld bytes", (long long)SPOOL_BYTES_MAX);
	if (fits > len)
		fits = len;
	if (s->memory == NULL)
		s->memory = mem_calloc(1, SPOOL_MEMORY_MAX);
	if (fits > 0)
		memcpy(s->memory + s->size, bytes, fits);
	if (len > fits) {
		if (s->fd < 0 && open_temporary(s, err) != 0)
			return -1;
		const char *rest = (const char *)bytes + fits;

		if ((mem_is_zero(rest, len - fits)
		             ? punch(s, s->size + fits, len - fits, err)
		             : write_at(s, rest, len - fits, s->size + fits, err)) != 0)
			return -1;
	}
	s->size += len;
	return 0;
}

int spool_read_at(void *ctx, uint64_t offset, void *buf, size_t len, struct err *err)
{
	const struct spool *s = ctx;
	unsigned char *out = buf;

	if (offset > s->size || len > s->size - offset)
		return err_set(err, ERR_FORMAT, "file is cut short");
	if (offset < SPOOL_MEMORY_MAX) {
		size_t n = SPOOL_MEMORY_MAX - (size_t)offset;

		n = n < len ? n : len;
		memcpy(out, s->memory + offset, n);
		out += n;
		len -= n;
		offset += n;
	}
	while (len > 0) {
		ssize_t n = fs_pread(s->fd, out, len, (int64_t)offset);

		if (n <= 0)
			return err_set(err, ERR_IO, "read temporary file");
		out += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

const void *spool_bytes(const struct spool *s)
{
	return s->size <= SPOOL_MEMORY_MAX ? s->memory : NULL;
}
