/*
 * neuronx-cc, which makes a NEFF of a module on any x86 host: called as AWS documents it, its
 * output kept, its result checked and put into the cache (trainer/neuron/cache.h). It has never run
 * here; tests call a stand-in.
 */
#ifndef SLIPWAY_TRAINER_NEURON_COMPILER_H
#define SLIPWAY_TRAINER_NEURON_COMPILER_H

#include <limits.h>

#include "trainer/neuron/cache.h"

struct neuron_target {
	const char *name, *flag; /* "trn1", "--target=trn1" */
	unsigned logical_cores;  /* physical cores of a logical one: -lnc where it is not 1 */
	const char *infinity;    /* a flag of its own; NULL: none */
};

/* The row of that name; ERR_USAGE naming all of them. */
int neuron_target_find(const char *name, const struct neuron_target **ret,
                       struct err *err) MUST_USE;

/* The compiler's flags for a target, NULL-terminated; texts are constants. */
void neuron_flags(const struct neuron_target *t, const char *ret[NEURON_FLAGS_MAX]);

struct neuron_compiler {
	const char *program; /* "neuronx-cc", found by PATH, or a path */
	const struct neuron_target *target;
	unsigned timeout_s; /* for one module; 0: none */
	bool retry;         /* what failed before is tried again */
	void (*say)(void *ctx, const char *line);
	void *ctx;
	char version[64]; /* set by neuron_compiler_open */
};

/* Asks for the compiler's version. ERR_NOT_FOUND where there is none, with what to do. */
int neuron_compiler_open(struct neuron_compiler *c, struct err *err) MUST_USE;

/*
 * The NEFF of a module: from the cache, or compiled into it. `name` is for messages ("step"). A
 * line goes to c->say when it begins, when it waits for another compiler, every half minute, and at
 * the end. ERR_JOB when the compiler fails or failed before, with the log's path; ERR_INTERRUPTED,
 * and the compiler is ended.
 */
int neuron_compile(const struct neuron_compiler *c, const char *cache, const char *name,
                   const struct strbuf *module, bool *ret_was_there, char ret_neff[PATH_MAX],
                   struct err *err) MUST_USE;

#endif
