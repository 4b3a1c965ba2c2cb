/*
 * The commands of slipway-trainer. Each gets the words after its name, writes results to stdout and
 * complaints to stderr, and returns the exit status; trainer/main.c holds the table.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_H
#define SLIPWAY_TRAINER_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "trainer/config/flag_table.h"
#include "trainer/ops/ops.h"

enum trainer_exit {
	TRAINER_OK = 0,
	TRAINER_FAILED = 1,
	TRAINER_USAGE = 2,
	TRAINER_STOPPED = 75,  /* SIGTERM or --stop-after: saved, to be resumed (EX_TEMPFAIL) */
	TRAINER_RANK_LOST = 76 /* another rank did not come, or is gone: to be resumed */
};

int cmd_probe(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_prepare(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_step(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* Prints how a command is called and what its options are for. */
void cmd_help(const char *command, const char *purpose, const struct flag_table *options);

/* Reads the words of options->command into values, as flag_table_read does. A status to end with
 * (the complaint or, after --help, the help is printed), or -1 to go on. */
int cmd_parse(const char *purpose, const struct flag_table *options, int argc, char **argv,
              void *values) MUST_USE;

/* Prints "slipway-trainer: error: ..." and the hint; returns TRAINER_FAILED, or TRAINER_USAGE for
 * ERR_USAGE. */
int cmd_fail(const struct err *err);

#define CMD_ISA_HELP                                                                               \
	"avx512_bf16, avx512, avx2, neon_bf16, neon or generic (default: the best here)"

/* --precision: "f32" or "bf16"; ERR_USAGE for others. */
int cmd_precision(const char *text, enum op_precision *ret, struct err *err) MUST_USE;

/* This process becomes slipway-prepare with these words (the last is NULL): the one beside this
 * program, else the one that PATH finds. Returns only with ERR_NOT_FOUND. */
void cmd_become_prepare(char **words, struct err *err);

#endif
