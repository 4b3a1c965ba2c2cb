/*
 * manifest.json of a checkpoint: {"format": "slipway-checkpoint/v1", "step": 200,
 * "files": {"model.safetensors": {"size": 79435020, "sha256": "..."}, ...}}.
 */
#ifndef SLIPWAY_TRAINER_CHECKPOINT_MANIFEST_H
#define SLIPWAY_TRAINER_CHECKPOINT_MANIFEST_H

#include <stdint.h>

#include "base/err.h"

/* Syncs and hashes every file of the folder and writes its manifest, synced. ERR_IO. */
int manifest_write(const char *folder, uint64_t step, struct err *err) MUST_USE;

/* Whether the folder holds exactly what its manifest says. */
int manifest_verify(const char *folder, struct err *err) MUST_USE;

#endif
