#include "base/progress.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

unsigned progress_start(struct progress *p, const char *label, int64_t total)
{
	return p != NULL ? p->start(p, label, total) : 0;
}

void progress_advance(struct progress *p, unsigned id, int64_t bytes)
{
	if (p != NULL)
		p->advance(p, id, bytes);
}

void progress_finish(struct progress *p, unsigned id, const char *result)
{
	if (p != NULL)
		p->finish(p, id, result);
}

enum { TEXT_MAX = 1024 };

/* Without control bytes: what servers say is shown on terminals. */
static PRINTF_LIKE(2, 0) void format(char text[TEXT_MAX], const char *fmt, va_list args)
{
	vsnprintf(text, TEXT_MAX, fmt, args);
	text_make_printable(text);
}

void progress_stage(struct progress *p, const char *name, const char *state, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	if (p == NULL || p->stage == NULL)
		return;
	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	p->stage(p, name, state, text);
}

void progress_rest(struct progress *p)
{
	if (p != NULL && p->rest != NULL)
		p->rest(p);
}

void progress_await(struct progress *p, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	if (p == NULL)
		return;
	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	if (p->await != NULL)
		p->await(p, text);
	else
		progress_note(p, "waiting for %s", text);
}

void progress_detail(struct progress *p, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	if (p == NULL || p->detail == NULL)
		return;
	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	p->detail(p, text);
}

void progress_note(struct progress *p, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list args;

	if (p == NULL)
		return;
	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	p->note(p, text);
}
