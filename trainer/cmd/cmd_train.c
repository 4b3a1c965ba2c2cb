#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "trainer/cmd/cmd.h"
#include "trainer/session/session.h"

static const char *look(const char *name)
{
	return getenv(name);
}

/* Reads the flags; a status to end with, or -1 to go on. */
static int read_flags(const char *command, const char *purpose, int argc, char **argv,
                      struct train_flags *ret)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct err err = {0};
	bool help;

	if (train_flags_parse(argc, argv, look, ret, &text, &help, &err) != 0)
		return cmd_fail(&err);
	if (help) {
		cmd_help(command, purpose, train_flags_table());
		return TRAINER_OK;
	}
	fputs(strbuf_str(&text), stderr);
	return -1;
}

/* For a process whose main thread does not come round to ending: a rank was lost while it is inside
 * MPI. Nothing is flushed: the main thread may hold any lock. */
static void end_now(void *ctx, int status)
{
	(void)ctx;
	_exit(status);
}

static int status_of(const struct err *err)
{
	switch (err->code) {
	case ERR_USAGE:
		return TRAINER_USAGE;
	case ERR_INTERRUPTED:
		return TRAINER_STOPPED;
	case ERR_NETWORK:
		return TRAINER_RANK_LOST;
	default:
		return TRAINER_FAILED;
	}
}

/* A rank that fails says which it is, and ends the others. */
static int end(struct session *s, int rc, struct err *err)
{
	struct err late = {0};
	int status = rc != 0 ? status_of(err) : TRAINER_OK;

	if (rc != 0 && s->n_ranks > 1)
		err_wrap(err, "rank %u", s->rank);
	if (rc != 0)
		cmd_fail(err);
	if (session_close(s, status, &late) != 0) {
		cmd_fail(&late);
		return status_of(&late);
	}
	return status == TRAINER_OK && s->rank_lost ? TRAINER_RANK_LOST : status;
}

static int train(struct session *s, const struct train_flags *flags, enum train_end *ret_end,
                 struct err *err)
{
	if (session_open(s, flags, stdout, stderr, end_now, err) != 0 ||
	    session_train(s, ret_end, err) != 0)
		return -1;
	if (*ret_end == TRAIN_COMPLETE && flags->do_eval)
		return session_evaluate(s, (uint64_t)flags->num_epochs, err);
	return 0;
}

int cmd_train(int argc, char **argv)
{
	struct train_flags flags;
	struct session s = {0};
	struct err err = {0};
	enum train_end how = TRAIN_COMPLETE;
	int status = read_flags(
		"train",
		"Trains a model. Exits with 0 when all steps are done, 75 when it was "
		"stopped by SIGTERM or\n--stop_after with a checkpoint saved "
		"(continue with --resume), 76 when another rank was lost (the same), 1 on "
		"errors, 2 on\nwrong usage.",
		argc, argv, &flags);

	if (status >= 0)
		return status;
	interrupt_install();
	status = end(&s, train(&s, &flags, &how, &err), &err);
	return status == TRAINER_OK && how == TRAIN_STOPPED ? TRAINER_STOPPED : status;
}

static int eval(struct session *s, const struct train_flags *flags, struct err *err)
{
	if (flags->checkpoint == NULL)
		return err_set(err, ERR_USAGE, "eval needs --checkpoint");
	if (session_open(s, flags, stdout, stderr, end_now, err) != 0 ||
	    checkpoint_load_weights(flags->checkpoint, s->model, err) != 0)
		return -1;
	return session_evaluate(s, 1, err);
}

int cmd_eval(int argc, char **argv)
{
	struct train_flags flags;
	struct session s = {0};
	struct err err = {0};
	int status = read_flags(
		"eval", "Computes the losses of a checkpoint over the val clips, labels hidden.",
		argc, argv, &flags);

	if (status >= 0)
		return status;
	interrupt_install();
	return end(&s, eval(&s, &flags, &err), &err);
}
