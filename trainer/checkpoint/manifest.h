/*
 * manifest.json of a checkpoint: {"format": "slipway-checkpoint/v1", "run": "9f86...", "step": 200,
 * "files": {"model.safetensors": {"size": 79435020, "sha256": "..."}, ...}}.
 */
#ifndef SLIPWAY_TRAINER_CHECKPOINT_MANIFEST_H
#define SLIPWAY_TRAINER_CHECKPOINT_MANIFEST_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/sha256.h"

enum { MANIFEST_RUN_MAX = 65 }; /* bytes of a run's identity, with its NUL */

/* Syncs and hashes every file of the folder and writes its manifest, synced. ERR_IO. */
int manifest_write(const char *folder, const char *run, uint64_t step, struct err *err) MUST_USE;

/* The run that wrote the checkpoint; "" where it does not say. Nothing else is verified. */
int manifest_run(const char *folder, char ret_run[MANIFEST_RUN_MAX], struct err *err) MUST_USE;

/* What a manifest says. */
struct manifest_file {
	char *name; /* owned */
	uint64_t size;
	char sha256[SHA256_HEX_MAX];
};
struct checkpoint_manifest {
	char run[MANIFEST_RUN_MAX];
	uint64_t step;
	VEC(struct manifest_file) files;
};
/* Nothing is compared with the files. ERR_NOT_FOUND, ERR_FORMAT. The caller: manifest_done. */
int manifest_read(const char *folder, struct checkpoint_manifest *ret, struct err *err) MUST_USE;
void manifest_done(struct checkpoint_manifest *m); /* for AUTO(manifest) */

/* Whether the folder holds exactly what its manifest says. */
int manifest_verify(const char *folder, struct err *err) MUST_USE;

#endif
