/*
 * The commands of slipway-trainer. Each gets the words after its name, writes results to stdout and
 * complaints to stderr, and returns the exit status (base/run_exit.h). trainer/main.c has the
 * table.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_H
#define SLIPWAY_TRAINER_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/run_exit.h"
#include "trainer/config/flag_table.h"
#include "trainer/ops/ops.h"

int cmd_probe(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_prepare(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_classify(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_inspect(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_step(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_compile(int argc, char **argv);
int cmd_install(int argc, char **argv);

/* Prints how a command is called and what its options are for. */
void cmd_help(const char *command, const char *purpose, const struct flag_table *options);

/* Reads the words of options->command into values, as flag_table_read does. A status to end with
 * (the complaint or, after --help, the help is printed), or -1 to go on. */
int cmd_parse(const char *purpose, const struct flag_table *options, int argc, char **argv,
              void *values) MUST_USE;

/* Prints "slipway-trainer: error: ..." and the hint; returns cmd_status. */
int cmd_fail(const struct err *err);

/* The exit status of a command that failed for this reason. */
int cmd_status(const struct err *err);

#define CMD_ISA_HELP                                                                               \
	"avx512_bf16, avx512, avx2, neon_bf16, neon or generic (default: the best here)"

/* This process becomes slipway-prepare with these words (the last is NULL): the one beside this
 * program, else the one that PATH finds. Returns only with ERR_NOT_FOUND. */
void cmd_become_prepare(char **words, struct err *err);

/* slipway-prepare as a child: what it prints goes to standard error. ERR_NOT_FOUND,
 * ERR_INTERRUPTED (it is ended too), ERR_JOB when it fails, having said why. Fewer than
 * CMD_PREPARE_WORDS words, and a NULL. */
enum { CMD_PREPARE_WORDS = 40 };
int cmd_run_prepare(const char *const words[], struct err *err) MUST_USE;

#endif
