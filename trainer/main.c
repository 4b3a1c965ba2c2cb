/*
 * slipway-trainer: the payload of the image. Today it has one command, probe; the trainer itself is
 * built in this folder next (docs/ARCHITECTURE.md).
 */
#include <string.h>

#include "base/attr.h"
#include "trainer/probe.h"

enum trainer_exit { TRAINER_OK = 0, TRAINER_FAILED = 1, TRAINER_USAGE = 2 };

static const char usage[] = "Usage: slipway-trainer COMMAND [OPTIONS]\n"
			    "\n"
			    "Commands:\n"
			    "  probe [--output text|json]  Show what this node offers: CPU "
			    "features, memory, NVIDIA GPUs,\n"
			    "                              Neuron devices, EFA interfaces, and "
			    "which backend would run\n"
			    "  version                     Show the version\n"
			    "  help                        Show this text\n";

static int refuse(const char *what, const char *word)
{
	fprintf(stderr, "slipway-trainer: error: %s '%s'\n%s", what, word, usage);
	return TRAINER_USAGE;
}

static int show(const char *text)
{
	if (fputs(text, stdout) == EOF || fflush(stdout) != 0) {
		fprintf(stderr, "slipway-trainer: error: write standard output\n");
		return TRAINER_FAILED;
	}
	return TRAINER_OK;
}

/* --output json | --output=json | --json; false when a word is not understood. */
static bool parse_output(int argc, char **argv, bool *ret_json, const char **ret_bad)
{
	for (int i = 0; i < argc; i++) {
		const char *value = NULL;

		if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
			value = argv[++i];
		else if (strncmp(argv[i], "--output=", 9) == 0)
			value = argv[i] + 9;
		if (value == NULL || (strcmp(value, "json") != 0 && strcmp(value, "text") != 0)) {
			*ret_bad = argv[i];
			return false;
		}
		*ret_json = strcmp(value, "json") == 0;
	}
	return true;
}

static int run_probe(int argc, char **argv)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct probe probe;
	bool json = false;
	const char *bad = NULL;

	if (argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
		return show(usage);
	if (!parse_output(argc, argv, &json, &bad))
		return refuse("probe does not understand", bad);
	probe_node("", &probe);
	if (json)
		probe_json(&probe, &text);
	else
		probe_text(&probe, &text);
	return show(strbuf_str(&text));
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs(usage, stderr);
		return TRAINER_USAGE;
	}
	if (strcmp(argv[1], "probe") == 0)
		return run_probe(argc - 2, argv + 2);
	if (strcmp(argv[1], "version") == 0 || strcmp(argv[1], "--version") == 0)
		return show("slipway-trainer " SLIPWAY_VERSION "\n");
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return show(usage);
	return refuse("unknown command", argv[1]);
}
