/*
 * Compiled modules in a folder, in the layout of AWS's own persistent cache, so that whoever knows
 * that one finds his way:
 *
 *   CACHE/neuronxcc-VERSION/MODULE_<module>+<flags>/model.hlo_module.pb    what was compiled
 *                                                   compile_flags.json     how
 *                                                   model.neff             the result
 *                                                   model.done             empty: it is whole
 *                                                   model.log              of a failed compile only
 *
 * <module> and <flags> are the first 20 and 8 hex digits of SHA-256, of the module and of the
 * flags; AWS makes its own by other rules, so that neither takes the other's entries.
 *
 * An entry appears whole, by a rename; a lock file beside it, held while it is made, keeps two
 * compilers from the same work. The folder may be shared by many machines, where flock(2) works.
 */
#ifndef SLIPWAY_TRAINER_NEURON_CACHE_H
#define SLIPWAY_TRAINER_NEURON_CACHE_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"

enum { NEURON_KEY_MAX = 64, NEURON_FLAGS_MAX = 16 };

/* What names an entry. Flags are the compiler's words, NULL-terminated. */
void neuron_cache_key(const struct strbuf *module, const char *const flags[],
                      char ret[NEURON_KEY_MAX]);

/* The entry of the newest compiler that has a whole one. ERR_NOT_FOUND, with the command that makes
 * it as its hint; ERR_FORMAT where its NEFF is damaged. */
int neuron_cache_find(const char *cache, const char *key, char ret_neff[PATH_MAX],
                      struct err *err) MUST_USE;

/* One that is being made. */
struct neuron_entry {
	char folder[PATH_MAX]; /* where it will be */
	char work[PATH_MAX];   /* where it is made; "" when there is nothing to remove */
	int lock;              /* -1: not held */
	bool there;            /* somebody has made it */
	bool failed;           /* somebody has tried */
};

/* Takes the lock, waiting for whoever holds it (`wait` is called once, first; may be NULL), and
 * sees what is there. Unless it is, work holds module and flags. ERR_INTERRUPTED while it waits. */
int neuron_entry_open(const char *cache, const char *version, const char *key,
                      void (*wait)(void *ctx), void *ctx, struct neuron_entry *ret,
                      struct err *err) MUST_USE;

/* What is to be compiled, into the folder it is made in. */
int neuron_entry_begin(struct neuron_entry *e, const struct strbuf *module,
                       const char *const flags[], struct err *err) MUST_USE;

/* The work folder becomes the entry: with its NEFF, which is checked, or with the log alone. */
int neuron_entry_commit(struct neuron_entry *e, bool failed, struct err *err) MUST_USE;

/* Lets go of the lock, and of what was not committed. For AUTO(neuron_entry). */
void neuron_entry_done(struct neuron_entry *e);

#endif
