#include "builder/cli/deploy_diff.h"

#include <string.h>

#include "k8s/deploy/diff.h"

static void note_changes(void *ctx, const struct stage *stage, const cJSON *before,
                         const cJSON *after)
{
	diff_stage(stage, before, after, ctx);
}

int deploy_diff_begin(struct cli *cli, const struct deploy_options *o, struct apply_opts *opts,
                      cJSON *result, struct err *err)
{
	if (o->dry_run != NULL && strcmp(o->dry_run, "client") == 0)
		return err_set(err, ERR_USAGE,
		               "--diff needs the cluster, and --dry-run=client does not use it");
	opts->dry_run = true;
	opts->observe = note_changes;
	opts->observe_ctx = json_add_array(result, "changes");
	cli->verdict = EXIT_UNKNOWN;
	return 0;
}

void deploy_diff_end(struct cli *cli, cJSON *result, size_t pruned)
{
	const cJSON *changes = json_get(result, "changes");
	bool same = cJSON_GetArraySize(changes) == 0 && pruned == 0;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	cli->verdict = same ? EXIT_OK : EXIT_FAILED;
	json_add_bool(result, "unchanged", same);
	progress_rest(cli->progress);
	if (cli_json(cli)) {
		cli_print_json(cli, result);
		return;
	}
	diff_changes_text(changes, &text);
	fputs(same ? "no difference: the cluster matches the spec\n" : strbuf_str(&text), cli->out);
}
