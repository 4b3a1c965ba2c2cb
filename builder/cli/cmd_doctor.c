/*
 * slipway doctor: what this machine offers to a build and a push, and what is wrong with it.
 */
#include <string.h>
#include <sys/statvfs.h>

#include "base/cpus.h"
#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/doctor_aws.h"
#include "builder/cli/doctor_tools.h"
#include "builder/cli/remote_option.h"
#include "builder/layer/pack/cache_owner.h"
#include "builder/oci/mediatype.h"

struct doctor_options {
	const char *registry;
	struct remote_options remote;
};

static const struct option options[] = {
	TEXT_OPTION(struct doctor_options, registry, "registry", 0, "HOST[/NAME]",
                    "Try to reach this registry with its credentials"),
	REMOTE_OPTIONS(struct doctor_options, remote),
};

static void check_cache(const struct doctor *d)
{
	char dir[PATH_MAX], free_bytes[TEXT_BYTES_MAX];
	struct statvfs st;
	struct err err = {0};

	if (fs_cache_dir(dir, &err) != 0 || cache_check_owner(dir, &err) != 0 ||
	    cache_make_dir(dir, &err) != 0) {
		doctor_say(d, "cache", err.msg);
		return;
	}
	if (access(dir, W_OK) != 0 || statvfs(dir, &st) != 0) {
		doctor_say(d, "cache", arena_printf(&d->cli->arena, "%s is not writable", dir));
		return;
	}
	text_bytes((int64_t)st.f_bavail * (int64_t)st.f_frsize, free_bytes);
	doctor_say(d, "cache", arena_printf(&d->cli->arena, "%s (%s free)", dir, free_bytes));
}

/* A HEAD of a blob that need not be there: credentials, network and certificates are tried. */
static int reach_registry(const struct doctor *d, const struct remote *remote, const char *name,
                          const struct ref *ref, struct err *err)
{
	const struct descriptor probe = {.media_type = MEDIA_LAYER, .digest = digest_of("", 0)};
	struct registry *registry = NULL;
	bool exists;

	if (remote_registry(remote, ref, &registry, err) != 0)
		return -1;
	int status = registry_has_blob(registry, &probe, &exists, err);

	registry_close(registry);
	doctor_say(
		d, "registry",
		arena_printf(&d->cli->arena, "%s: %s", name, status == 0 ? "reachable" : err->msg));
	return status;
}

static int check_registry(const struct doctor *d, const struct doctor_options *o,
                          const struct remote *remote, const char *text, struct err *err)
{
	struct ecr_host host;
	struct ref ref;
	bool named = strchr(o->registry, '/') != NULL;

	if (ref_parse(text, &d->cli->arena, &ref, err) != 0)
		return -1;
	if (!ecr_registry_host(remote->aws->ecr, ref.host, &d->cli->arena, &host) ||
	    o->remote.username != NULL)
		return reach_registry(d, remote, o->registry, &ref, err);
	if (doctor_ecr(d, remote, &host, err) != 0)
		return -1;
	/* Of a repository that nobody named nothing is known: only the token counts. */
	struct err why = {0};

	if (reach_registry(d, remote, o->registry, &ref, &why) == 0 || !named)
		return 0;
	*err = why;
	return -1;
}

static int check_remote(const struct doctor *d, const struct doctor_options *o, struct err *err)
{
	AUTO(remote) struct remote remote = {0};
	const char *text = o->registry;

	if (text != NULL && strchr(text, '/') == NULL)
		text = arena_printf(&d->cli->arena, "%s/slipway-doctor", text);
	if (remote_from_options(d->cli, &o->remote, 0, text, &remote, err) != 0)
		return -1;
	if (text != NULL)
		return check_registry(d, o, &remote, text, err);
	doctor_aws_local(d, &remote);
	return 0;
}

static int cmd_doctor_run(struct cli *cli, struct err *err)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	const struct doctor_options *o = cli->options;
	const struct doctor d = {cli, doc};
	struct platform host = platform_host();
	char platform[PLATFORM_TEXT_MAX];

	doctor_say(&d, "version", SLIPWAY_VERSION);
	doctor_say(&d, "platform", platform_text(&host, platform));
	doctor_say(&d, "cpus", arena_printf(&cli->arena, "%u", cpus_usable()));
	check_cache(&d);
	if (o->registry == NULL)
		doctor_tools(&d);
	int status = check_remote(&d, o, err);

	if (status != 0)
		json_add_string(doc, "error", err->msg);
	if (status != 0 && err->hint[0] != '\0')
		json_add_string(doc, "hint", err->hint);
	if (cli_json(cli))
		cli_print_json(cli, doc);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "Check this machine for builds and pushes",
	.synopsis = "",
	.details =
		"Without a registry: the programs that a deploy to EKS calls, with their versions, "
		"and what each\n"
		"is missing for; a build and a push need none of them.\n\n"
		"With a registry of Amazon ECR: which provider supplied the AWS credentials and "
		"why the\n"
		"others did not, the identity, the region and endpoint, whether ECR issues a "
		"token, and how\n"
		"far this machine's clock is from AWS's. Exit status 4 when ECR issues no "
		"token, 5 when the\n"
		"network is the cause. No secret is shown.\n",
	.examples = "slipway doctor --registry registry.example.com/team/app\tTest reachability "
		    "and login\n",
	.options = OPTION_TABLE(struct doctor_options, options),
	.run = cmd_doctor_run,
};
