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
int golden_run(const struct golden *g, struct model *m, struct threads *threads,
               const struct golden_sink *sink, struct golden_result *ret, struct err *err) MUST_USE;

/* The largest error of one kind, and the tolerance it is held to. */
struct golden_check {
	const char *kind;    /* "activations", "gradients", ... */
	char worst[160];     /* the tensor that is nearest to, or farthest beyond, its limit */
	double error, limit; /* of that tensor */
	size_t tensors;      /* compared */
	bool failed;
};

struct golden_report {
	struct golden_check checks[GOLDEN_CHECKS_MAX];
	size_t n;
	bool failed;
};

/* golden_run, compared with the folder's own files, within the limits of the ops' precision. ERR_*
 * only when a file is missing or bad. */
int golden_compare(const struct golden *g, struct model *m, const struct ops *ops,
                   struct golden_report *ret, struct err *err) MUST_USE;

#endif
