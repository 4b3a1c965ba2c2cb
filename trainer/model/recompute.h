/*
 * Activation checkpointing: what the encoder's layers do not keep of a forward pass for the
 * backward pass, which computes it again. It takes the same operations on the same numbers, dropout
 * included (its masks are functions of counters), so gradients have the same bits under every
 * setting.
 *
 *   none       everything is kept
 *   selective  all but what costs next to nothing to compute again: the outputs of LayerNorm and
 *              GELU
 *   N          besides, every N-th self attention with its MLP keeps its input alone
 *   full       N = 1; the cross attention's MLP likewise
 *
 * The decoder has one layer, the last of the forward pass and the first of the backward pass: all
 * it computes is needed at once, so nothing would be won. Its buffers are shared with derivatives
 * instead, which costs nothing (workspace.c).
 */
#ifndef SLIPWAY_TRAINER_MODEL_RECOMPUTE_H
#define SLIPWAY_TRAINER_MODEL_RECOMPUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct recompute {
	bool selective;
	size_t every; /* with selective; 0: no layer as a whole */
};

enum { RECOMPUTE_EVERY_MAX = 1000000, RECOMPUTE_TEXT_MAX = 24 };

/* "none", "selective", "full" or a number from 1. ERR_USAGE, with the hint. */
int recompute_parse(const char *text, struct recompute *ret, struct err *err) MUST_USE;

/* As recompute_parse reads it: a literal, or out. */
const char *recompute_text(struct recompute r, char out[RECOMPUTE_TEXT_MAX]);

/* Of n layers, how many keep their input alone; whether layer i is one of them. */
size_t recompute_layers(struct recompute r, size_t n);
bool recompute_layer(struct recompute r, size_t i);

#endif
