#include "builder/check/secret/kinds.h"

static const struct {
	enum diag_severity severity;
	const char *text;
} kinds[] = {
#define ROW(id, severity, text) [SECRET_##id] = {severity, text},
	SECRET_KIND_TABLE(ROW)
#undef ROW
};

const char *secret_text(enum secret_kind kind)
{
	return kinds[kind].text;
}

enum diag_severity secret_severity(enum secret_kind kind)
{
	return kinds[kind].severity;
}
