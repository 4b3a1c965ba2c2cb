/*
 * The commands of slipway-trainer. Each gets the words after its name, writes results to stdout and
 * complaints to stderr, and returns the exit status; trainer/main.c holds the table.
 */
#ifndef SLIPWAY_TRAINER_CMD_CMD_H
#define SLIPWAY_TRAINER_CMD_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "trainer/ops/ops.h"

enum trainer_exit {
	TRAINER_OK = 0,
	TRAINER_FAILED = 1,
	TRAINER_USAGE = 2,
	TRAINER_STOPPED = 75 /* SIGTERM or --stop-after: saved, to be resumed (EX_TEMPFAIL) */
};

int cmd_probe(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_prepare(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_step(int argc, char **argv);
int cmd_bench(int argc, char **argv);

/* One option that a command takes: --name VALUE, --name=VALUE, or a bare --name when flag is set.
 */
struct cmd_option {
	const char *name;   /* without the dashes */
	const char **value; /* the text given, else untouched */
	bool *flag;         /* instead of value: set to true */
	const char *help;   /* one line */
};

/* Reads the words; -1 after an error (complaint printed) and 1 after --help (help printed). */
int cmd_parse(const char *command, const char *purpose, const struct cmd_option *options, size_t n,
              int argc, char **argv);

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

/* A whole number from text into *ret; ERR_USAGE naming the option when it is none or above max. */
int cmd_number(const char *option, const char *text, unsigned long long max,
               unsigned long long *ret, struct err *err) MUST_USE;

#endif
