#include "builder/oci/platform.h"

#include <elf.h>
#include <string.h>
#include <sys/utsname.h>

static const struct platform_arch arches[] = {
	{"amd64", EM_X86_64, "x86_64-linux-gnu", "x86_64", 64},
	{"arm64", EM_AARCH64, "aarch64-linux-gnu", "aarch64", 64},
	{"386", EM_386, "i386-linux-gnu", "i686", 32},
	{"arm", EM_ARM, "arm-linux-gnueabihf", "armv7l", 32},
	{"ppc64le", EM_PPC64, "powerpc64le-linux-gnu", "ppc64le", 64},
	{"s390x", EM_S390, "s390x-linux-gnu", "s390x", 64},
	{"riscv64", EM_RISCV, "riscv64-linux-gnu", "riscv64", 64},
};

/* Names other worlds use for the same architecture (containerd, platforms/database.go). */
static const struct {
	const char *from, *to;
} aliases[] = {{"x86_64", "amd64"},
               {"x86-64", "amd64"},
               {"aarch64", "arm64"},
               {"i386", "386"},
               {"armhf", "arm"}};

/* Variants that mean the baseline, which is written as none. */
static const struct {
	const char *architecture, *variant;
} baselines[] = {{"amd64", "v1"}, {"arm64", "v8"}, {"arm64", "8"}, {"arm64", "v8.0"}};

static bool part_valid(const char *text, size_t len)
{
	if (len == 0 || len >= PLATFORM_PART_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
		           text[i]) == NULL)
			return false;
	return true;
}

int platform_parse(const char *text, struct platform *ret_platform, struct err *err)
{
	struct platform p = {0};
	char *const parts[] = {p.os, p.architecture, p.variant};
	size_t n = 0;
	const char *at = text;

	for (;; at++) {
		size_t len = strcspn(at, "/");

		if (n == ARRAY_LEN(parts) || !part_valid(at, len))
			break;
		memcpy(parts[n], at, len);
		parts[n++][len] = '\0';
		at += len;
		if (*at == '\0' && n >= 2) {
			platform_normalise(&p);
			*ret_platform = p;
			return 0;
		}
		if (*at == '\0')
			break;
	}
	err_set(err, ERR_FORMAT, "'%.80s' is not a platform", text);
	return err_hint(err, strchr(text, ',') != NULL
	                             ? "name one at a time: --platform linux/amd64 --platform "
	                               "linux/arm64"
	                             : "write os/architecture, as in linux/amd64 or linux/arm64");
}

char *platform_text(const struct platform *p, char out[PLATFORM_TEXT_MAX])
{
	snprintf(out, PLATFORM_TEXT_MAX, "%s/%s%s%s", p->os, p->architecture,
	         p->variant[0] != '\0' ? "/" : "", p->variant);
	return out;
}

void platform_normalise(struct platform *p)
{
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (strcmp(p->architecture, aliases[i].from) == 0)
			snprintf(p->architecture, sizeof(p->architecture), "%s", aliases[i].to);
	for (size_t i = 0; i < ARRAY_LEN(baselines); i++)
		if (strcmp(p->architecture, baselines[i].architecture) == 0 &&
		    strcmp(p->variant, baselines[i].variant) == 0)
			p->variant[0] = '\0';
	if (strcmp(p->architecture, "arm") == 0 && p->variant[0] == '\0')
		snprintf(p->variant, sizeof(p->variant), "v7");
}

bool platform_equal(const struct platform *a, const struct platform *b)
{
	return strcmp(a->os, b->os) == 0 && strcmp(a->architecture, b->architecture) == 0 &&
	       strcmp(a->variant, b->variant) == 0;
}

int platform_match(const struct platform *want, const struct platform *have)
{
	if (strcmp(want->os, have->os) != 0 || strcmp(want->architecture, have->architecture) != 0)
		return 0;
	if (strcmp(want->variant, have->variant) == 0)
		return 2;
	/* An image without a variant runs on every variant; one for a lower variant does too. */
	if (have->variant[0] == '\0')
		return 1;
	return want->variant[0] != '\0' && strcmp(have->variant, want->variant) < 0;
}

struct platform platform_host(void)
{
	struct platform p = {.os = "linux"};
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(p.architecture, sizeof(p.architecture), "%.31s", name.machine);
	platform_normalise(&p);
	return p;
}

const struct platform_arch *platform_arch_find(const char *architecture)
{
	for (size_t i = 0; i < ARRAY_LEN(arches); i++)
		if (strcmp(arches[i].architecture, architecture) == 0)
			return &arches[i];
	return NULL;
}
