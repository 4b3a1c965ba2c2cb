/*
 * A course (tests/neuron/course.h) as files, for who runs its modules elsewhere: FOLDER/what says
 * what it is; of each execution n from 0, n.hlo.pb and n.hlo.txt are its module, n.json says what
 * it takes and gives, and n.safetensors holds "in.R.I" and "out.R.I", inputs and the interpreter's
 * results by replica, and "cpu.I", the CPU's. Words of 32 bits are I32.
 */
#ifndef SLIPWAY_TESTS_NEURON_EMIT_COURSE_H
#define SLIPWAY_TESTS_NEURON_EMIT_COURSE_H

#include "tests/neuron/course.h"

/* What a module takes and gives, in order: {"replicas": 1, "inputs": [[kind, index, name], ...],
 * "results": [...]}. */
void emit_order(const struct neuron_net *n, unsigned replicas, struct strbuf *to);

/* dir is there. Ends the program where a file cannot be written. */
void emit_file(const char *dir, const char *name, const char *end, const void *bytes, size_t n);

void emit_course(const char *dir, const struct course *c);

#endif
