/* See attached.h. */
#include "builder/oci/attached.h"

#include <string.h>

#include "base/text.h"

const char *const attached_endings[ATTACHED_ENDINGS] = {".sig", ".att", ".sbom"};

bool tag_is_attached(const char *tag)
{
	static const char prefix[] = "sha256-";
	enum { HEX = 64 };
	const char *end;

	if (!text_has_prefix(tag, prefix) ||
	    strspn(tag + strlen(prefix), "0123456789abcdef") != (size_t)HEX)
		return false;
	end = tag + strlen(prefix) + HEX;
	for (size_t i = 0; i < ATTACHED_ENDINGS; i++)
		if (strcmp(end, attached_endings[i]) == 0)
			return true;
	return end[0] == '\0';
}
