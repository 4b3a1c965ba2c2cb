/*
 * slipway-trainer: the payload of the image, a Perceiver IO multimodal autoencoder trainer.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fds.h"
#include "trainer/cmd/cmd.h"

/*
 * What the program opens while it runs, where it is there (UAPI group, "ELF dlopen Metadata"):
 * whoever looks at an image sees it. The node, the base image or a layer brings all of it.
 */
#define ON_DEMAND(feature, description, sonames)                                                   \
	"{\"feature\":\"" feature "\",\"description\":\"" description                              \
	"\",\"priority\":\"suggested\",\"soname\":[" sonames "]}"
#define DRIVER   ON_DEMAND("cuda", "the driver of NVIDIA's GPUs", "\"libcuda.so.1\"")
#define SONAMES  "\"libcublasLt.so.13\",\"libcublasLt.so.12\",\"libcublasLt.so.11\""
#define CUBLASLT ON_DEMAND("cublaslt", "matrix products on NVIDIA's GPUs", SONAMES)
#define NCCL     ON_DEMAND("nccl", "sums over several of NVIDIA's GPUs", "\"libnccl.so.2\"")
#define NOTE     "[" DRIVER "," CUBLASLT "," NCCL "]"

static const struct {
	uint32_t name_n, content_n, type;
	char name[4], content[sizeof(NOTE)];
} note __attribute__((section(".note.dlopen"), used, aligned(4))) = {
	.name_n = 4, .content_n = sizeof(NOTE), .type = 0x407c0c0a, .name = "FDO", .content = NOTE};

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
	{"compile", cmd_compile, "Compile a run's modules for Trainium, ahead of it"},
	{"install", cmd_install, "Copy this program into a folder"},
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
