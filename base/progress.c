#include "base/progress.h"

#include <stdarg.h>

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

void progress_note(struct progress *p, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (p == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *c = text; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	p->note(p, text);
}
