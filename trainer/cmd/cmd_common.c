#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/cmd/cmd.h"

void cmd_help(const char *command, const char *purpose, const struct flag_table *options)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

	flag_table_help(options, &text);
	printf("Usage: slipway-trainer %s [OPTIONS]\n\n%s\n\nOptions:\n%s", command, purpose,
	       strbuf_str(&text));
}

int cmd_parse(const char *purpose, const struct flag_table *options, int argc, char **argv,
              void *values)
{
	struct err err = {0};
	int at = 0;

	switch (flag_table_read(options, argc, argv, &at, values, NULL, &err)) {
	case FLAGS_READ:
		return -1;
	case FLAGS_HELP:
		cmd_help(options->command, purpose, options);
		return RUN_EXIT_DONE;
	case FLAGS_BAD_WORD:
		fprintf(stderr, "slipway-trainer %s: error: %s\n", options->command, err.msg);
		if (err.hint[0] != '\0')
			fprintf(stderr, "%s\n", err.hint);
		return RUN_EXIT_USAGE;
	case FLAGS_BAD_VALUE:
		break;
	}
	return cmd_fail(&err);
}

int cmd_fail(const struct err *err)
{
	fprintf(stderr, "slipway-trainer: error: %s\n", err->msg);
	if (err->hint[0] != '\0')
		fprintf(stderr, "  %s\n", err->hint);
	return cmd_status(err);
}

int cmd_status(const struct err *err)
{
	static const struct {
		enum err_code code;
		enum run_exit status;
	} rows[] = {
		{ERR_USAGE, RUN_EXIT_USAGE},       {ERR_INTERRUPTED, RUN_EXIT_STOPPED},
		{ERR_NETWORK, RUN_EXIT_RANK_LOST}, {ERR_MACHINE, RUN_EXIT_BAD_NODE},
		{ERR_MEMORY, RUN_EXIT_MEMORY},     {ERR_FORMAT, RUN_EXIT_BAD_INPUT},
		{ERR_DIGEST, RUN_EXIT_BAD_INPUT},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == err->code)
			return (int)rows[i].status;
	return RUN_EXIT_FAILED;
}
