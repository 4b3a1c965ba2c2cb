/*
 * slipway doctor: what this machine offers to a build and a push, and what is wrong with it.
 */
#include <string.h>
#include <sys/statvfs.h>

#include "base/pool.h"
#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/image_ref.h"
#include "builder/oci/mediatype.h"

static const struct option options[] = {
	TEXT_OPTION("registry", 0, registry, "HOST/NAME",
                    "Try to reach this repository with its credentials"),
	REMOTE_OPTIONS,
};

struct doctor {
	struct cli *cli;
	cJSON *doc;
};

static void say(const struct doctor *d, const char *key, const char *value)
{
	json_add_string(d->doc, key, value);
	if (!cli_json(d->cli))
		fprintf(d->cli->out, "%-16s %s\n", key, value);
}

static void check_cache(const struct doctor *d)
{
	char dir[PATH_MAX], free_bytes[TEXT_BYTES_MAX];
	struct statvfs st;
	struct err err = {0};

	if (fs_cache_dir(dir, &err) != 0 || fs_mkdirs(dir, &err) != 0) {
		say(d, "cache", err.msg);
		return;
	}
	if (access(dir, W_OK) != 0 || statvfs(dir, &st) != 0) {
		say(d, "cache", arena_printf(&d->cli->arena, "%s is not writable", dir));
		return;
	}
	text_bytes((int64_t)st.f_bavail * (int64_t)st.f_frsize, free_bytes);
	say(d, "cache", arena_printf(&d->cli->arena, "%s (%s free)", dir, free_bytes));
}

static int reach(const struct doctor *d, const char *text, struct err *err)
{
	AUTO(remote) struct remote remote = {0};
	struct registry *registry = NULL;
	struct ref ref;
	const struct descriptor probe = {.media_type = MEDIA_LAYER, .digest = digest_of("", 0)};
	bool exists;

	if (strchr(text, '/') == NULL)
		text = arena_printf(&d->cli->arena, "%s/slipway-doctor", text);
	if (ref_parse(text, &d->cli->arena, &ref, err) != 0 ||
	    remote_open(d->cli, text, &remote, err) != 0 ||
	    remote_registry(&remote, &ref, &registry, err) != 0)
		return -1;
	int status = registry_has_blob(registry, &probe, &exists, err);

	registry_close(registry);
	return status;
}

static int cmd_doctor_run(struct cli *cli, struct err *err)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	const struct doctor d = {cli, doc};
	const char *registry = cli->options.registry;
	struct platform host = platform_host();
	char platform[PLATFORM_TEXT_MAX];
	int status = 0;

	say(&d, "version", SLIPWAY_VERSION);
	say(&d, "platform", platform_text(&host, platform));
	say(&d, "cpus", arena_printf(&cli->arena, "%u", pool_cpus()));
	check_cache(&d);
	if (registry != NULL) {
		status = reach(&d, registry, err);
		say(&d, "registry",
		    arena_printf(&cli->arena, "%s: %s", registry,
		                 status == 0 ? "reachable" : err->msg));
		if (status != 0)
			json_add_string(doc, "error", err->msg);
	}
	if (cli_json(cli))
		cli_print_json(cli, doc);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "Show what this machine offers to builds and pushes",
	.synopsis = "",
	.examples = "slipway doctor --registry registry.example.com/team/app\tCan I reach it and "
		    "log in?\n",
	.options = options,
	.n_options = ARRAY_LEN(options),
	.run = cmd_doctor_run,
};
