#include "trainer/log/events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/fs.h"
#include "trainer/data/le.h"

/* Wire types of protocol buffers, and (field << 3 | type) of the fields in use. */
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
enum {
	EVENT_WALL_TIME = 1 << 3 | WIRE_64,
	EVENT_STEP = 2 << 3 | WIRE_VARINT,
	EVENT_FILE_VERSION = 3 << 3 | WIRE_BYTES,
	EVENT_SUMMARY = 5 << 3 | WIRE_BYTES,
	SUMMARY_VALUE = 1 << 3 | WIRE_BYTES,
	VALUE_TAG = 1 << 3 | WIRE_BYTES,
	VALUE_SIMPLE = 2 << 3 | WIRE_32
};

static void add_varint(struct strbuf *sb, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		strbuf_addc(sb, (char)(v | 128));
	strbuf_addc(sb, (char)v);
}

static void add_bytes(struct strbuf *sb, unsigned field, const void *bytes, size_t n)
{
	add_varint(sb, field);
	add_varint(sb, n);
	strbuf_add(sb, bytes, n);
}

static void add_wall_time(struct strbuf *sb, double seconds)
{
	unsigned char raw[8];
	uint64_t bits;

	memcpy(&bits, &seconds, sizeof(bits));
	le64_put(raw, bits);
	add_varint(sb, EVENT_WALL_TIME);
	strbuf_add(sb, raw, sizeof(raw));
}

static void add_record(struct strbuf *sb, const struct strbuf *message)
{
	unsigned char head[12], tail[4];

	le64_put(head, message->len);
	le32_put(head + 8, crc32c_masked(crc32c(0, head, 8)));
	le32_put(tail, crc32c_masked(crc32c(0, message->ptr, message->len)));
	strbuf_add(sb, head, sizeof(head));
	strbuf_add(sb, message->ptr, message->len);
	strbuf_add(sb, tail, sizeof(tail));
}

void events_version(struct strbuf *sb, double wall_seconds)
{
	static const char version[] = "brain.Event:2";
	AUTO(strbuf) struct strbuf event = STRBUF_INIT(0);

	add_wall_time(&event, wall_seconds);
	add_bytes(&event, EVENT_FILE_VERSION, version, sizeof(version) - 1);
	add_record(sb, &event);
}

static void add_scalar(struct strbuf *summary, const struct events_scalar *s)
{
	AUTO(strbuf) struct strbuf value = STRBUF_INIT(0);
	unsigned char raw[4];
	uint32_t bits;

	memcpy(&bits, &s->value, sizeof(bits));
	le32_put(raw, bits);
	add_bytes(&value, VALUE_TAG, s->tag, strlen(s->tag));
	add_varint(&value, VALUE_SIMPLE);
	strbuf_add(&value, raw, sizeof(raw));
	add_bytes(summary, SUMMARY_VALUE, value.ptr, value.len);
}

void events_scalars(struct strbuf *sb, double wall_seconds, int64_t step,
                    const struct events_scalar *scalars, size_t n)
{
	AUTO(strbuf) struct strbuf event = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf summary = STRBUF_INIT(0);

	for (size_t i = 0; i < n; i++)
		add_scalar(&summary, &scalars[i]);
	add_wall_time(&event, wall_seconds);
	add_varint(&event, EVENT_STEP);
	add_varint(&event, (uint64_t)step);
	add_bytes(&event, EVENT_SUMMARY, strbuf_str(&summary), summary.len);
	add_record(sb, &event);
}

int events_create(const char *folder, double wall_seconds, int *ret_fd, struct err *err)
{
	AUTO(strbuf) struct strbuf first = STRBUF_INIT(0);
	char host[HOST_NAME_MAX + 1] = "localhost", name[HOST_NAME_MAX + 80], path[PATH_MAX];
	AUTO_CLOSE int fd = -1;

	gethostname(host, sizeof(host) - 1);
	snprintf(name, sizeof(name), "events.out.tfevents.%.0f.%s.%d.0", wall_seconds, host,
	         (int)getpid());
	if (fs_mkdirs(folder, err) != 0 || fs_join(path, folder, name, err) != 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, ERR_IO, "create '%s'", path);
	events_version(&first, wall_seconds);
	if (fs_write_all(fd, first.ptr, first.len, err) != 0)
		return -1;
	*ret_fd = fd;
	fd = -1;
	return 0;
}
