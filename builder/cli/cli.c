#include <string.h>

#include "builder/cli/command.h"

bool cli_json(const struct cli *cli)
{
	return cli->common.output != NULL && strcmp(cli->common.output, "json") == 0;
}

void cli_print_json(struct cli *cli, const cJSON *doc)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print_pretty(doc, &text);
	fputs(strbuf_str(&text), cli->out);
	cli->json_printed = true;
}
