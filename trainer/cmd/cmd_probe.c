#include <stdio.h>
#include <string.h>

#include "trainer/cmd/cmd.h"
#include "trainer/cmd/probe.h"

struct probe_flags {
	const char *output;
};

static const struct flag_row rows[] = {
	FLAG_ROW_TEXT(struct probe_flags, "output", output, "text or json (default text)"),
};

int cmd_probe(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "probe"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct probe_flags f = {.output = "text"};
	struct probe probe;
	int status =
		cmd_parse("Shows what this node offers: CPU features, memory, NVIDIA GPUs, Neuron "
	                  "devices,\nEFA interfaces, and which backend would run.",
	                  &options, argc, argv, &f);

	if (status >= 0)
		return status;
	if (strcmp(f.output, "json") != 0 && strcmp(f.output, "text") != 0) {
		fprintf(stderr, "slipway-trainer: error: --output is '%s', expected text or json\n",
		        f.output);
		return RUN_EXIT_USAGE;
	}
	probe_node("", &probe);
	if (strcmp(f.output, "json") == 0)
		probe_json(&probe, &text);
	else
		probe_text(&probe, &text);
	if (fputs(strbuf_str(&text), stdout) == EOF || fflush(stdout) != 0) {
		fprintf(stderr, "slipway-trainer: error: write standard output\n");
		return RUN_EXIT_FAILED;
	}
	return RUN_EXIT_DONE;
}
