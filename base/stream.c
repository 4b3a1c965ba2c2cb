#include "base/stream.h"

#include <string.h>

#include "base/fs.h"
#include "base/mem.h"

enum { STREAM_CHUNK = 256 << 10 };

int sink_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	return s->write(s, bytes, len, err);
}

int source_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return s->read(s, buf, cap, ret_n, err);
}

void source_close(struct source *s)
{
	if (s != NULL && s->close != NULL)
		s->close(s);
}

int stream_copy(struct source *src, struct sink *dst, int64_t *ret_bytes, struct err *err)
{
	AUTO_FREE unsigned char *buf = mem_realloc(NULL, STREAM_CHUNK, 1);
	int64_t total = 0;

	for (;;) {
		size_t n;

		if (source_read(src, buf, STREAM_CHUNK, &n, err) != 0)
			return -1;
		if (n == 0)
			break;
		if (sink_write(dst, buf, n, err) != 0)
			return -1;
		total += (int64_t)n;
	}
	if (ret_bytes != NULL)
		*ret_bytes = total;
	return 0;
}

int stream_read_all(struct source *src, struct strbuf *sb, struct err *err)
{
	struct strbuf_sink sink;

	strbuf_sink_init(&sink, sb);
	return stream_copy(src, &sink.sink, NULL, err);
}

static int fd_sink_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	return fs_write_all(((struct fd_sink *)s)->fd, bytes, len, err);
}

void fd_sink_init(struct fd_sink *s, int fd)
{
	*s = (struct fd_sink){.sink.write = fd_sink_write, .fd = fd};
}

static int strbuf_sink_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	struct strbuf *sb = ((struct strbuf_sink *)s)->sb;

	strbuf_add(sb, bytes, len);
	if (sb->overflow)
		return err_set(err, ERR_LIMIT, "more than %zu bytes", sb->max);
	return 0;
}

void strbuf_sink_init(struct strbuf_sink *s, struct strbuf *sb)
{
	*s = (struct strbuf_sink){.sink.write = strbuf_sink_write, .sb = sb};
}

struct fd_source {
	struct source source;
	int fd;
};

static int fd_source_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	ssize_t n = fs_read(((struct fd_source *)s)->fd, buf, cap);

	if (n < 0)
		return err_set(err, ERR_IO, "read");
	*ret_n = (size_t)n;
	return 0;
}

static void fd_source_close(struct source *s)
{
	struct fd_source *f = (struct fd_source *)s;

	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

struct source *source_from_fd(int fd)
{
	struct fd_source *f = mem_zalloc(sizeof(*f));

	f->source = (struct source){fd_source_read, fd_source_close};
	f->fd = fd;
	return &f->source;
}

struct bytes_source {
	struct source source;
	const unsigned char *at;
	size_t left;
};

static int bytes_source_read(struct source *s, void *buf, size_t cap, size_t *ret_n,
                             struct err *err UNUSED)
{
	struct bytes_source *b = (struct bytes_source *)s;
	size_t n = cap < b->left ? cap : b->left;

	if (n > 0)
		memcpy(buf, b->at, n);
	b->at += n;
	b->left -= n;
	*ret_n = n;
	return 0;
}

static void bytes_source_close(struct source *s)
{
	free(s);
}

struct source *source_from_bytes(const void *bytes, size_t len)
{
	struct bytes_source *b = mem_zalloc(sizeof(*b));

	b->source = (struct source){bytes_source_read, bytes_source_close};
	b->at = bytes;
	b->left = len;
	return &b->source;
}
