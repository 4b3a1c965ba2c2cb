/*
 * What `inspect` shows: one checkpoint, or the checkpoints of a run's folder.
 */
#ifndef SLIPWAY_TRAINER_CMD_INSPECT_H
#define SLIPWAY_TRAINER_CMD_INSPECT_H

#include <limits.h>

#include "trainer/checkpoint/store.h"
#include "trainer/classes/class_list.h"
#include "trainer/model/config.h"
#include "trainer/session/run.h"

/* Parts of the network, by the beginnings of their tensors' names. */
enum { INSPECT_PARTS = 7 };
struct inspect_part {
	size_t tensors, parameters;
};
const char *inspect_part_name(size_t part);

struct inspection {
	char path[PATH_MAX];
	bool verified; /* every file is as the manifest says; a damaged one is an error */
	struct checkpoint_manifest
		manifest;         /* no files: there is none, as in a Hugging Face folder */
	struct run_record record; /* no settings: there is none */
	struct model_config config;
	struct class_list classes;
	struct inspect_part parts[INSPECT_PARTS], all;
};

/* ERR_NOT_FOUND, ERR_FORMAT, ERR_DIGEST. The caller: inspection_done. */
int inspect_read(const char *checkpoint, struct inspection *ret, struct err *err) MUST_USE;
void inspection_done(struct inspection *i); /* for AUTO(inspection) */

/* A line of a run's folder. */
struct inspect_entry {
	char name[STORE_NAME_MAX];
	uint64_t step, bytes;
	char run[MANIFEST_RUN_MAX];
	char damage[ERR_MSG_MAX]; /* "": whole */
};
struct inspected_run {
	char path[PATH_MAX];
	char latest[STORE_NAME_MAX], best[STORE_NAME_MAX]; /* "": there is none */
	VEC(struct inspect_entry) entries;
	size_t damaged;
};
/* ERR_NOT_FOUND when the folder holds no checkpoint. The caller: inspected_run_done. */
int inspect_read_run(const char *folder, struct inspected_run *ret, struct err *err) MUST_USE;
void inspected_run_done(struct inspected_run *r); /* for AUTO(inspected_run) */

void inspect_text(const struct inspection *i, struct strbuf *sb);
void inspect_json(const struct inspection *i, struct strbuf *sb);
void inspect_run_text(const struct inspected_run *r, struct strbuf *sb);
void inspect_run_json(const struct inspected_run *r, struct strbuf *sb);

#endif
