/*
 * Any bytes as a file that is looked at for secrets, in pieces of any size, also as an archive: no crash, bounded work, and
 * the same findings however the bytes are cut. The first byte chooses the name, the second the size of the pieces.
 */
#include <stdint.h>
#include <string.h>

#include "builder/check/secret/search.h"
#include "builder/check/secret/values.h"

enum { HEAD = 2, BUDGET = 8 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"a",
                                    "root/.netrc",
                                    "root/.pgpass",
                                    "root/.docker/config.json",
                                    "app/.npmrc",
                                    "root/.kube/config",
                                    "root/.m2/settings.xml",
                                    "root/.git-credentials",
                                    "etc/shadow",
                                    "app/.env",
                                    "x.keytab",
                                    "root/.vault-token"};

static unsigned look(struct secret_search *s, const char *name, const uint8_t *data, size_t size,
                     size_t step)
{
	unsigned kinds = 0;

	secret_search_begin(s, name);
	for (size_t at = 0; at < size; at += step)
		secret_search_feed(s, data + at, size - at < step ? size - at : step);
	secret_search_end(s);
	for (size_t i = 0; i < s->findings.n; i++)
		kinds += !s->findings.at[i].in_archive ? 1u + (unsigned)s->findings.at[i].kind : 0;
	return kinds;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct secret_search s; /* as one layer's: making it takes longer than a look */
	const char *name;

	if (size <= HEAD)
		return 0;
	if (s.archive == NULL)
		secret_search_init(&s, 0);
	s.budget = BUDGET;
	name = names[data[0] % (sizeof(names) / sizeof(names[0]))];
	if (look(&s, name, data + HEAD, size - HEAD, size) !=
	    look(&s, name, data + HEAD, size - HEAD, 1u + data[1]))
		__builtin_trap();
	if (s.budget < 0)
		__builtin_trap();
	return 0;
}
