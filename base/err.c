#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"

static const char *const names[] = {
	[ERR_NONE] = "none",
	[ERR_IO] = "io",
	[ERR_USAGE] = "usage",
	[ERR_SPEC] = "spec",
	[ERR_CHECK] = "check",
	[ERR_FORMAT] = "format",
	[ERR_DIGEST] = "digest",
	[ERR_LIMIT] = "limit",
	[ERR_NOT_FOUND] = "not_found",
	[ERR_CONFLICT] = "conflict",
	[ERR_DENIED] = "denied",
	[ERR_NETWORK] = "network",
	[ERR_SERVER] = "server",
	[ERR_UNSUPPORTED] = "unsupported",
	[ERR_CAPACITY] = "capacity",
	[ERR_BUSY] = "busy",
	[ERR_JOB] = "job",
	[ERR_MEMORY] = "memory",
	[ERR_MACHINE] = "machine",
	[ERR_INTERRUPTED] = "interrupted",
};

const char *err_code_name(enum err_code code)
{
	return (size_t)code < ARRAY_LEN(names) ? names[code] : "unknown";
}

static PRINTF_LIKE(4, 0) void set_message(struct err *err, enum err_code code, int os_errno,
                                          const char *fmt, va_list args)
{
	*err = (struct err){.code = code};
	vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	if (code == ERR_IO && os_errno != 0) {
		size_t len = strlen(err->msg);
		char text[128];

		err->os_errno = os_errno;
		snprintf(err->msg + len, sizeof(err->msg) - len, ": %s",
		         strerror_r(os_errno, text, sizeof(text)));
	}
	text_make_printable(err->msg);
}

int(err_set)(struct err *err, enum err_code code, const char *fmt, ...)
{
	int os_errno = errno;
	va_list args;

	va_start(args, fmt);
	set_message(err, code, os_errno, fmt, args);
	va_end(args);
	return -1;
}

int(err_at)(struct err *err, enum err_code code, struct srcpos at, const char *fmt, ...)
{
	int os_errno = errno;
	va_list args;

	va_start(args, fmt);
	set_message(err, code, os_errno, fmt, args);
	va_end(args);
	err->at = at;
	return -1;
}

int(err_wrap)(struct err *err, const char *fmt, ...)
{
	char inner[ERR_MSG_MAX];
	va_list args;
	size_t len;

	memcpy(inner, err->msg, sizeof(inner));
	va_start(args, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	len = strlen(err->msg);
	snprintf(err->msg + len, sizeof(err->msg) - len, ": %s", inner);
	text_make_printable(err->msg);
	return -1;
}

int(err_hint)(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (err->hint[0] != '\0')
		return -1;
	va_start(args, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, args);
	va_end(args);
	text_make_printable(err->hint);
	return -1;
}

void err_bug(const char *file, int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: bug: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
