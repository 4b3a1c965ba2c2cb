#include "builder/cli/doctor_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/proc.h"
#include "base/text.h"
#include "k8s/deploy/kubectl.h"

enum { SAID_MAX = 64 << 10, WAIT_MS = 15000, VERSION_TEXT_MAX = 24 };

/* aws: `eks get-token` writes what kubectl 1.24 reads. helm: charts from OCI registries without a
 * switch. */
static const struct {
	const char *name, *variable;
	const char *const argv[4];
	int major, minor; /* the oldest that serves; 0.0: any */
	const char *needed_for;
} tools[] = {
	{"kubectl",
         "KUBECTL",
         {"version", "--client", "--output=yaml"},
         1,
         KUBECTL_MINOR_MIN,
         "slipway deploy, status, logs and undeploy"},
	{"aws", NULL, {"--version"}, 1, 24, "kubectl's login to a cluster in EKS, and stacks"},
	{"eksctl", NULL, {"version"}, 0, 0, "making a cluster in EKS"},
	{"helm", NULL, {"version", "--short"}, 3, 8, "installing Karpenter and other operators"},
};

bool doctor_version(const char *said, int *ret_major, int *ret_minor, char *ret_text, size_t size)
{
	static const char digits[] = "0123456789";
	int64_t major, minor;

	for (const char *at = strpbrk(said, digits); at != NULL; at = strpbrk(at, digits)) {
		size_t first = strspn(at, digits);
		size_t second = at[first] == '.' ? strspn(at + first + 1, digits) : 0;
		size_t all = strspn(at, "0123456789.");

		if (first > 6 || second == 0 || second > 6) {
			at += first;
			continue;
		}
		while (at[all - 1] == '.')
			all--;
		if (!text_int64(at, first, &major) || !text_int64(at + first + 1, second, &minor))
			return false;
		*ret_major = (int)major;
		*ret_minor = (int)minor;
		snprintf(ret_text, size, "%.*s", (int)all, at);
		return true;
	}
	return false;
}

static const char *program_of(size_t i)
{
	const char *own = tools[i].variable != NULL ? getenv(tools[i].variable) : NULL;

	return own != NULL && own[0] != '\0' ? own : tools[i].name;
}

static const char *judged(const struct doctor *d, size_t i, const char *said)
{
	char text[VERSION_TEXT_MAX];
	int major, minor;

	if (!doctor_version(said, &major, &minor, text, sizeof(text)))
		return "found, but it does not tell its version";
	if (major > tools[i].major || (major == tools[i].major && minor >= tools[i].minor))
		return arena_strdup(&d->cli->arena, text);
	return arena_printf(&d->cli->arena, "%s is too old: %d.%d or newer is needed for %s", text,
	                    tools[i].major, tools[i].minor, tools[i].needed_for);
}

static void look_for(const struct doctor *d, size_t i)
{
	const char *argv[ARRAY_LEN(tools[i].argv) + 2] = {program_of(i)};
	struct proc_result r = {.out = STRBUF_INIT(SAID_MAX), .err_text = STRBUF_INIT(SAID_MAX)};
	const char *key = arena_printf(&d->cli->arena, "tools.%s", tools[i].name), *value;
	struct err err = {0};

	for (size_t k = 0; k < ARRAY_LEN(tools[i].argv) && tools[i].argv[k] != NULL; k++)
		argv[k + 1] = tools[i].argv[k];
	if (proc_run(argv, NULL, WAIT_MS, &r, &err) == 0 && r.exit_status == 0)
		value = judged(d, i, strbuf_str(&r.out));
	else if (err.code == ERR_NOT_FOUND)
		value = arena_printf(&d->cli->arena, "not found; needed for %s",
		                     tools[i].needed_for);
	else
		value = arena_printf(&d->cli->arena, "does not run; needed for %s",
		                     tools[i].needed_for);
	doctor_say(d, key, value);
	proc_result_done(&r);
}

void doctor_tools(const struct doctor *d)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		look_for(d, i);
}
