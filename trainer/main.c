/*
 * slipway-trainer: the payload of the image, a Perceiver IO multimodal autoencoder trainer.
 */
#include <stdio.h>
#include <string.h>

#include "base/fds.h"
#include "trainer/cmd/cmd.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"prepare", cmd_prepare, "Decode videos into the clips that train reads"},
	{"train", cmd_train, "Train a model"},
	{"eval", cmd_eval, "Compute a checkpoint's losses"},
	{"sample", cmd_sample, "Write a clip and its reconstruction as pictures and sound"},
	{"classify", cmd_classify, "Write what a model takes videos for, as CSV"},
	{"export", cmd_export, "Write a checkpoint as a Hugging Face model folder"},
	{"inspect", cmd_inspect, "Show what a checkpoint or a run's folder holds"},
	{"selftest", cmd_selftest, "Compare this machine's arithmetic with a golden folder"},
	{"step", cmd_step, "Run a golden folder's steps and write the results as such a folder"},
	{"bench", cmd_bench, "Measure steps per second of a configuration"},
	{"probe", cmd_probe, "Show what this node offers: CPU, memory, GPUs, Neuron, EFA, backend"},
};

static int usage(FILE *out, int status)
{
	fputs("Usage: slipway-trainer COMMAND [OPTIONS]\n\nCommands:\n", out);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fputs("  version   Show the version\n  help      Show this text\n\n"
	      "slipway-trainer COMMAND --help shows a command's options.\n",
	      out);
	return fflush(out) == 0 ? status : RUN_EXIT_FAILED;
}

static int version(void)
{
	if (puts("slipway-trainer " SLIPWAY_VERSION) == EOF || fflush(stdout) != 0) {
		fputs("slipway-trainer: error: write standard output\n", stderr);
		return RUN_EXIT_FAILED;
	}
	return RUN_EXIT_DONE;
}

/* What a full disk or a reader that went away did not take is not done. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	if (status == RUN_EXIT_DONE)
		fputs("slipway-trainer: error: write standard output\n", stderr);
	return status == RUN_EXIT_DONE ? RUN_EXIT_FAILED : status;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (fds_secure() != 0)
		return RUN_EXIT_FAILED;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(word, commands[i].name) == 0)
			return finish(commands[i].run(argc - 2, argv + 2));
	if (strcmp(word, "version") == 0 || strcmp(word, "--version") == 0)
		return version();
	if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return usage(stdout, RUN_EXIT_DONE);
	if (word[0] != '\0')
		fprintf(stderr, "slipway-trainer: error: unknown command '%s'\n", word);
	return usage(stderr, RUN_EXIT_USAGE);
}
