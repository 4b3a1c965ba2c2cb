#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "trainer/cmd/cmd.h"
#include "trainer/cmd/local_ranks.h"
#include "trainer/session/session.h"

static const char *look(const char *name)
{
	return getenv(name);
}

static void print_statuses(void)
{
	const struct run_exit_row *row;

	printf("\nExit status:\n");
	for (unsigned i = 0; (row = run_exit_at(i)) != NULL; i++)
		printf("  %2d  %s\n", row->status, row->meaning);
}

/* A run's folder, OUT/latest and OUT/best stand for the checkpoints they name. */
static int find_checkpoint(struct train_flags *f, const char **path, struct err *err)
{
	char found[PATH_MAX];

	if (*path == NULL)
		return 0;
	if (store_find(*path, found, err) != 0)
		return -1;
	*path = arena_strdup(&f->texts, found);
	return 0;
}

/* Before a model is made for it. Weights to begin with are for rank 0 alone to see. */
static int check_checkpoint(const struct train_flags *f, struct err *err)
{
	if (f->checkpoint == NULL || fs_exists(f->checkpoint))
		return 0;
	err_set(err, ERR_NOT_FOUND, "--checkpoint '%s' does not exist", f->checkpoint);
	return err_hint(err, "Name a checkpoint (OUT/step-00000200), a run's --output_dir, or a "
	                     "folder with config.json and model.safetensors.");
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
		print_statuses();
		return RUN_EXIT_DONE;
	}
	fputs(strbuf_str(&text), stderr);
	if (find_checkpoint(ret, &ret->checkpoint, &err) != 0 || check_checkpoint(ret, &err) != 0 ||
	    find_checkpoint(ret, &ret->init_from, &err) != 0)
		return cmd_fail(&err);
	if (!ret->print_config && !ret->estimate)
		return -1;
	strbuf_reset(&text);
	if (session_settle_alone(ret, &err) != 0)
		return cmd_fail(&err);
	if (ret->print_config)
		train_flags_print(ret, &text);
	if (ret->estimate && session_estimate(ret, &text, &err) != 0)
		return cmd_fail(&err);
	fputs(strbuf_str(&text), stdout);
	return RUN_EXIT_DONE;
}

/* For a process whose main thread does not come round to ending: a rank was lost while it is inside
 * MPI. Nothing is flushed: the main thread may hold any lock. */
static void end_now(void *ctx, int status)
{
	(void)ctx;
	_exit(status);
}

/* A rank that fails says which it is, and ends the others. */
static int end(struct session *s, int rc, struct err *err)
{
	struct err late = {0};
	int status = RUN_EXIT_DONE;

	if (rc != 0 && s->n_ranks > 1)
		err_wrap(err, "rank %u", s->rank);
	if (rc != 0)
		status = cmd_fail(err);
	if (session_close(s, status, &late) != 0)
		return cmd_fail(&late);
	return status == RUN_EXIT_DONE && s->rank_lost ? RUN_EXIT_RANK_LOST : status;
}

/* Starts the ranks of this node where that is this process's part: a status to end with, or -1 to
 * go on, as a rank. */
static int as_ranks(const struct train_flags *f)
{
	struct local_ranks l = {(unsigned)f->local_ranks, (unsigned)f->rank_timeout};
	struct err err = {0};
	bool wanted, is_rank;
	int status = RUN_EXIT_DONE;

	interrupt_install();
	if (local_ranks_wanted(l.n, &wanted, &err) != 0)
		return cmd_fail(&err);
	if (!wanted)
		return -1;
	if (local_ranks_run(&l, &is_rank, &status, &err) != 0)
		return cmd_fail(&err);
	return is_rank ? -1 : status;
}

static int train(struct session *s, struct train_flags *flags, enum train_end *ret_end,
                 struct err *err)
{
	if (session_open(s, SESSION_TRAINS, flags, stdout, stderr, end_now, err) != 0 ||
	    session_train(s, ret_end, err) != 0)
		return -1;
	if (*ret_end != TRAIN_STOPPED && flags->do_eval)
		return session_evaluate(s, s->epoch, err);
	return 0;
}

int cmd_train(int argc, char **argv)
{
	AUTO(train_flags) struct train_flags flags = {0};
	struct session s = {0};
	struct err err = {0};
	enum train_end how = TRAIN_COMPLETE;
	int status =
		read_flags("train", "Trains a model. After exit status 75, --resume continues.",
	                   argc, argv, &flags);

	if (status < 0)
		status = as_ranks(&flags);
	if (status >= 0)
		return status;
	status = end(&s, train(&s, &flags, &how, &err), &err);
	return status == RUN_EXIT_DONE && how == TRAIN_STOPPED ? RUN_EXIT_STOPPED : status;
}

static int eval(struct session *s, struct train_flags *flags, struct err *err)
{
	if (flags->checkpoint == NULL)
		return err_set(err, ERR_USAGE, "eval needs --checkpoint");
	if (session_open(s, SESSION_MEASURES, flags, stdout, stderr, end_now, err) != 0 ||
	    session_load_weights(s, flags->checkpoint, err) != 0)
		return -1;
	return session_evaluate(s, 1, err);
}

int cmd_eval(int argc, char **argv)
{
	AUTO(train_flags) struct train_flags flags = {0};
	struct session s = {0};
	struct err err = {0};
	int status = read_flags(
		"eval", "Computes the losses of a checkpoint over the val clips, labels hidden.",
		argc, argv, &flags);

	if (status < 0)
		status = as_ranks(&flags);
	if (status >= 0)
		return status;
	return end(&s, eval(&s, &flags, &err), &err);
}
