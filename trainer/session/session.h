/*
 * A run put together: ranks, data, model, optimizer, checkpoints and reports, from the command
 * line's flags. `train` and `eval` are a few lines over it. Prints lines for people to `out` (rank
 * 0) and remarks to `remarks_out`; the commands print errors.
 */
#ifndef SLIPWAY_TRAINER_SESSION_SESSION_H
#define SLIPWAY_TRAINER_SESSION_SESSION_H

#include <stdio.h>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/comm/comm.h"
#include "trainer/config/flags.h"
#include "trainer/data/loader.h"
#include "trainer/device/devices.h"
#include "trainer/log/reporter.h"
#include "trainer/ops/ops.h"
#include "trainer/session/collective.h"

enum session_use { SESSION_TRAINS, SESSION_MEASURES };

struct session {
	const struct train_flags *flags;
	FILE *out, *remarks_out;
	void (*end)(void *ctx, int status);
	struct comm *comm;
	bool rank_lost; /* a rank is so slow that the run stopped; valid after session_close */
	unsigned rank, n_ranks;
	unsigned local_rank; /* among the ranks of this node */
	struct model_config config;
	struct ops ops; /* where the device computes ops */
	bool ops_open;
	struct session_collective collective; /* after the ops, which it uses */
	char device[DEVICE_NAME_MAX];         /* "cpu:0", for the log */
	char products[1024];                  /* who computes them, as it was told */
	struct learner *learner;
	struct train_options options;
	struct train_state state;
	struct class_list classes;   /* of the label head; empty: its labels are numbers */
	char classes_from[PATH_MAX]; /* the file they are named in; "" before they are looked for */
	struct dataset *data;
	struct dataset *val; /* what is evaluated on; NULL: not open */
	struct clip_loader *loader;
	struct saver *saver;
	struct reporter *reporter;
	char events_dir[PATH_MAX], output_dir[PATH_MAX];
	uint64_t epoch;      /* of the last step trained, from 1 */
	uint64_t data_clips; /* of the dataset trained on */
};

/* Joins the ranks, reads the configuration, makes the learner for this use. flags is borrowed; a
 * batch size of auto becomes a number. `end` ends the process with a status, from any thread
 * (comm_options). On failure *s is still to be closed. */
int session_open(struct session *s, enum session_use use, struct train_flags *flags, FILE *out,
                 FILE *remarks_out, void (*end)(void *ctx, int status), struct err *err) MUST_USE;

/*
 * What memory a run of these flags needs in this process, by part, beside what there is, and what
 * to lower; appended to sb. The same figures end session_open with ERR_MEMORY when there is less.
 */
int session_estimate(const struct train_flags *flags, struct strbuf *sb, struct err *err) MUST_USE;

/* Before anything is opened: the number that --batch_size auto would be here. Nothing else changes
 * when it is a number already. */
int session_settle_alone(struct train_flags *flags, struct err *err) MUST_USE;

/* Opens the dataset to train on and begins to read ahead. */
int session_open_data(struct session *s, struct err *err) MUST_USE;
/* Opens the clips to evaluate on, unless they are open. */
int session_open_val(struct session *s, struct err *err) MUST_USE;

/* Trains from the start, or from the newest checkpoint, to the end; with --eval_every evaluates on
 * the way. */
int session_train(struct session *s, enum train_end *ret_end, struct err *err) MUST_USE;

/* Weights into the model: a checkpoint's, or with --ema the averaged ones. */
int session_load_weights(struct session *s, const char *path, struct err *err) MUST_USE;

/* Evaluates the model as it is, with the PyTorch program's lines; epoch is shown in them. Ends with
 * ERR_INTERRUPTED when the user asks to stop. */
int session_evaluate(struct session *s, uint64_t epoch, struct err *err) MUST_USE;

/* status: what the process is to end with; unless it is 0, the other ranks are told to end, too. */
int session_close(struct session *s, int status, struct err *err);

#endif
