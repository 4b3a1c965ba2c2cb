/*
 * The YAML that Hugging Face's PerceiverConfig is dumped in (the seeds' config/main.yaml), without
 * a foreign library: one flat mapping whose values are scalars, lists of scalars or mappings of
 * scalars (docs/adr/0010). Everything else of YAML (anchors, tags, block scalars, deeper nesting,
 * several documents) is refused with its line, never guessed.
 */
#ifndef SLIPWAY_TRAINER_CONFIG_FLAT_YAML_H
#define SLIPWAY_TRAINER_CONFIG_FLAT_YAML_H

#include "base/err.h"
#include "base/strbuf.h"
#include "trainer/model/config.h"

/*
 * Called once a key, in order. A list arrives as its items joined by ',', a mapping as its number
 * of entries. Returning -1 stops the reading with that error.
 */
struct flat_yaml_sink {
	int (*value)(void *ctx, const char *key, const char *text, struct err *err);
	void *ctx;
	/* before each of these calls, the key's line; NULL: not wanted */
	void (*at_line)(void *ctx, unsigned line);
	/* called before that for each entry of a mapping; NULL: not wanted */
	int (*entry)(void *ctx, const char *key, const char *name, const char *text,
	             struct err *err);
};

/* ERR_FORMAT with the line. */
int flat_yaml_read(const char *what, const char *text, size_t len,
                   const struct flat_yaml_sink *sink, struct err *err) MUST_USE;

/*
 * Reads a model configuration: a file that begins with '{' as JSON (config.json), others as YAML.
 * Unknown and unused keys are appended to remarks, a line each. The result is checked.
 */
int model_config_file(const char *path, struct model_config *config, struct strbuf *remarks,
                      struct err *err) MUST_USE;

#endif
