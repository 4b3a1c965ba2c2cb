/*
 * A run's identity and settings, kept in OUT/run.json and in every checkpoint:
 *   {"format": "slipway-run/v1", "id": "9f86d081...", "overwrites": false,
 *    "settings": {"batch_size": "8", "model.num_latents": "784", ...}}
 *
 * A used folder is refused unless --resume or --overwrite is given, before anything is written.
 * Resuming compares the settings: some make it another run and are refused, others may change and
 * are said. Settings are texts, so that they compare the same in any version.
 */
#ifndef SLIPWAY_TRAINER_SESSION_RUN_H
#define SLIPWAY_TRAINER_SESSION_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "trainer/checkpoint/manifest.h"

struct run_setting {
	char *name, *value; /* owned */
};

struct run_record {
	char id[MANIFEST_RUN_MAX];
	bool overwrites; /* begun with --overwrite: what others left there may go */
	VEC(struct run_setting) settings;
};

void run_record_add(struct run_record *r, const char *name, const char *value);
const char *run_record_get(const struct run_record *r, const char *name); /* NULL: not there */
void run_record_done(struct run_record *r);                               /* for AUTO(run_record) */

/* A new identity, from the system's random numbers. ERR_IO. */
int run_record_begin(struct run_record *r, struct err *err) MUST_USE;

void run_record_print(const struct run_record *r, struct strbuf *sb);
/* ERR_FORMAT. The caller: run_record_done. */
int run_record_parse(const char *what, const char *text, size_t len, struct run_record *ret,
                     struct err *err) MUST_USE;

/* OUT/run.json, or a checkpoint's. ERR_NOT_FOUND. */
int run_record_read(const char *folder, struct run_record *ret, struct err *err) MUST_USE;
int run_record_write(const char *folder, const struct run_record *r, struct err *err) MUST_USE;

/*
 * May `now` continue what `then` began? ERR_USAGE names the settings that make it another run;
 * those that may change get a line each in remarks. The batch may be shared out among other ranks
 * (the same clips per step), or be the same on each of another number of ranks. What `then` does
 * not know is not compared.
 */
int run_record_compare(const struct run_record *then, const struct run_record *now,
                       const char *folder, struct strbuf *remarks, struct err *err) MUST_USE;

enum run_start { RUN_FRESH, RUN_RESUME, RUN_OVERWRITE };

/* Before anything is written: ERR_USAGE for a folder with checkpoints that is neither to be resumed
 * nor overwritten. */
int run_check_folder(const char *folder, enum run_start start, struct err *err) MUST_USE;

/*
 * Decides what a locked folder is begun with: now->id becomes the run's, and ret_checkpoint the
 * checkpoint to continue from ("": from nothing). Remarks as above, and about damaged checkpoints.
 * Writes nothing.
 */
int run_choose(const char *folder, enum run_start start, struct run_record *now,
               char ret_checkpoint[PATH_MAX], struct strbuf *remarks, struct err *err) MUST_USE;

/* Makes the folder that run's, as it was decided: run.json is written and, with --overwrite, what
 * others left is removed. */
int run_take(const char *folder, const struct run_record *now, const char *checkpoint,
             struct err *err) MUST_USE;

#endif
