#include <stdio.h>
#include <string.h>

#include "trainer/cmd/cmd.h"
#include "trainer/cmd/probe.h"

int cmd_probe(int argc, char **argv)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	const char *output = "text";
	const struct cmd_option options[] = {
		{"output", &output, NULL, "text or json (default text)"},
	};
	struct probe probe;
	int rc = cmd_parse("probe",
	                   "Shows what this node offers: CPU features, memory, NVIDIA GPUs, Neuron "
	                   "devices,\nEFA interfaces, and which backend would run.",
	                   options, ARRAY_LEN(options), argc, argv);

	if (rc != 0)
		return rc > 0 ? TRAINER_OK : TRAINER_USAGE;
	if (strcmp(output, "json") != 0 && strcmp(output, "text") != 0) {
		fprintf(stderr, "slipway-trainer: error: --output is '%s', expected text or json\n",
		        output);
		return TRAINER_USAGE;
	}
	probe_node("", &probe);
	if (strcmp(output, "json") == 0)
		probe_json(&probe, &text);
	else
		probe_text(&probe, &text);
	if (fputs(strbuf_str(&text), stdout) == EOF || fflush(stdout) != 0) {
		fprintf(stderr, "slipway-trainer: error: write standard output\n");
		return TRAINER_FAILED;
	}
	return TRAINER_OK;
}
