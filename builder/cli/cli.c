#include <string.h>

#include "builder/cli/command.h"

bool cli_json(const struct cli *cli)
{
	return cli->options.output != NULL && strcmp(cli->options.output, "json") == 0;
}

void cli_print_json(struct cli *cli, const cJSON *doc)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print_pretty(doc, &text);
	fputs(strbuf_str(&text), cli->out);
	cli->json_printed = true;
}

enum exit_status cli_exit_status(const struct err *err)
{
	switch (err->code) {
	case ERR_NONE:
		return EXIT_OK;
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_SPEC:
	case ERR_CHECK:
		return EXIT_REFUSED;
	case ERR_DENIED:
		return EXIT_DENIED;
	case ERR_NETWORK:
		return EXIT_NETWORK;
	case ERR_CAPACITY:
		return EXIT_CAPACITY;
	case ERR_BUSY:
		return EXIT_BUSY;
	case ERR_JOB:
		return EXIT_JOB;
	case ERR_IO:
	case ERR_FORMAT:
	case ERR_DIGEST:
	case ERR_LIMIT:
	case ERR_NOT_FOUND:
	case ERR_CONFLICT:
	case ERR_SERVER:
	case ERR_UNSUPPORTED:
	case ERR_INTERRUPTED:
		return EXIT_FAILED;
	}
	BUG("error code %d", (int)err->code);
}
