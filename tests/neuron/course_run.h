/*
 * Within a course (tests/neuron/course.h): an execution's room, and its replicas by the interpreter,
 * side by side, meeting at each sum.
 */
#ifndef SLIPWAY_TESTS_NEURON_COURSE_RUN_H
#define SLIPWAY_TESTS_NEURON_COURSE_RUN_H

#include "tests/neuron/course.h"

/* Of e->net: its bytes, read, and room for what replica 0 takes and gives. */
void execution_open(struct execution *e);
/* Room for e->replicas. */
void execution_more_replicas(struct execution *e);
bool execution_run(struct execution *e);
void execution_done(struct execution *e);

#endif
