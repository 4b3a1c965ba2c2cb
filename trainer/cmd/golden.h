/*
 * A golden folder: weights, inputs, and what a trusted implementation made of them (activations,
 * logits, losses, gradients, three steps of three optimizers, a full decode). `selftest` compares
 * with it, `step` writes one. The layout is that of the files' own names; any configuration will
 * do.
 */
#ifndef SLIPWAY_TRAINER_CMD_GOLDEN_H
#define SLIPWAY_TRAINER_CMD_GOLDEN_H

#include "trainer/checkpoint/safetensors.h"
#include "trainer/train/optimizer.h"

enum { GOLDEN_STEPS = 3, GOLDEN_RUNS = 3, GOLDEN_CHECKS_MAX = 64 };

/* One optimizer run of the folder: after3.NAME.safetensors. */
struct golden_run {
	const char *name;
	struct optimizer_options options;
};

struct golden {
	struct model_config config;
	struct loss_weights weights;
	struct golden_run runs[GOLDEN_RUNS];
	struct st_file weights_file, inputs;
	const char *dir; /* borrowed */
	/* storage of the three batches */
	struct batch batches[GOLDEN_STEPS];
	float *floats[GOLDEN_STEPS][5]; /* image, audio, masks audio, image, label */
	int32_t *ints[GOLDEN_STEPS][3]; /* label, out_image, out_audio */
};

/* Reads config.json, weights and inputs of dir, checking every size and index. */
int golden_open(const char *dir, struct golden *ret, struct err *err) MUST_USE;
void golden_done(struct golden *g);

/* What the folder's steps give here. */
struct golden_result {
	struct losses losses[GOLDEN_RUNS][GOLDEN_STEPS];
	double norms[GOLDEN_RUNS][GOLDEN_STEPS];
};

/*
 * Runs the folder's steps on m (of golden's config) and hands each product to `take` as tensors of
 * one file: ("outputs", ...), ("grads", ...), ("after3.sgd", ...), ("eval", ...).
 */
struct golden_sink {
	int (*take)(void *ctx, const char *file, const struct st_item *items, size_t n,
	            struct err *err);
	void *ctx;
};
int golden_run(const struct golden *g, struct ops *ops, const struct golden_sink *sink,
               struct golden_result *ret, struct err *err) MUST_USE;

/*
 * How far a tensor is from the folder's: the root mean square and the largest of the differences,
 * and the factor that they have in common (their projection on the tensor, as a part of it), which
 * shows an error of scale far below what rounding does to single values.
 */
enum golden_measure { GOLDEN_RMS, GOLDEN_LARGEST, GOLDEN_FACTOR, GOLDEN_MEASURES };

struct golden_error {
	double of[GOLDEN_MEASURES];
};

/*
 * The error model of bf16 and f16: what is compared, in the order of comparing, with the largest of
 * each measure over GOLDEN_DRAWS runs of the same network whose operands err at random as theirs do
 * (trainer/cmd/golden_draw.h). An implementation in 16 bits is one more such draw, so it may be off
 * by GOLDEN_MULTIPLE times the largest drawn, beside the limit of float32. A gradient near 0 thus
 * has the limit of the products it is a difference of, and none of its own size.
 */
enum { GOLDEN_DRAWS = 32, GOLDEN_MULTIPLE = 3 };

struct golden_drawn {
	struct golden_error *at;
	size_t n, cap;
};

int golden_draw(const struct golden *g, enum op_precision precision, struct golden_drawn *ret,
                struct err *err) MUST_USE;
/* Raises measures of entry i, which is at most n, to those of error. */
void golden_drawn_raise(struct golden_drawn *d, size_t i, const struct golden_error *error);
void golden_drawn_done(struct golden_drawn *d); /* for AUTO(golden_drawn) */

/* The error of one kind that is nearest to its limit, and that limit. */
struct golden_check {
	const char *kind;    /* "activations", "gradients", ... */
	char worst[200];     /* the tensor that is nearest to, or farthest beyond, its limit */
	double error, limit; /* of that tensor */
	size_t tensors;      /* compared */
	bool failed;
};

struct golden_report {
	struct golden_check checks[GOLDEN_CHECKS_MAX];
	size_t n;
	bool failed;
};

/* golden_run, compared with the folder's own files: within float32's limits, or beyond them within
 * those drawn (NULL: none). golden_compare draws when the ops round. ERR_* only when a file is
 * missing or bad. */
int golden_hold(const struct golden *g, struct ops *ops, const struct golden_drawn *drawn,
                struct golden_report *ret, struct err *err) MUST_USE;
int golden_compare(const struct golden *g, struct ops *ops, struct golden_report *ret,
                   struct err *err) MUST_USE;

#endif
