/*
 * The model a command works on: by name, by main.yaml, or by config.json.
 */
#ifndef SLIPWAY_TRAINER_CONFIG_MODEL_FILE_H
#define SLIPWAY_TRAINER_CONFIG_MODEL_FILE_H

#include "base/strbuf.h"
#include "trainer/data/shard.h"
#include "trainer/model/config.h"

/*
 * `which`: full, mid or tiny (built in), or a file. The PyTorch program's default,
 * config/main.yaml, stands for `full` where there is no such file; remarks say so, and name unknown
 * and unused keys.
 */
int model_file_load(const char *which, struct model_config *ret, struct strbuf *remarks,
                    struct err *err) MUST_USE;

/* Is it one of those names, and so no file? */
bool model_file_is_built_in(const char *which);

/* The clips that such a model learns from. */
struct clip_shape model_clip_shape(const struct model_config *c);

#endif
