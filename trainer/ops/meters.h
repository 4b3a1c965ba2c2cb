/*
 * What a device's maker can tell of it besides results: how busy it is, how warm. A row a meter, by
 * which logs and metrics name it. Whoever cannot tell one leaves it out, and nothing fails for it.
 */
#ifndef SLIPWAY_TRAINER_OPS_METERS_H
#define SLIPWAY_TRAINER_OPS_METERS_H

#include <stdbool.h>

struct ops;

enum meter {
	METER_USE,           /* share of the time in which a kernel ran */
	METER_MEMORY_USE,    /* share of the time in which memory was read or written */
	METER_MEMORY,        /* bytes in use, by any process */
	METER_POWER,         /* watts */
	METER_TEMPERATURE,   /* degrees Celsius */
	METER_CLOCK,         /* Hz, of the multiprocessors */
	METER_MEMORY_CLOCK,  /* Hz */
	METER_CORRECTED,     /* errors of the memory since the driver was loaded */
	METER_UNCORRECTABLE, /* the same, that could not be corrected */
	METERS
};

struct meter_row {
	const char *name; /* "gpu_memory_bytes": JSON's key, and Prometheus' after the prefix */
	const char *tag;  /* TensorBoard's */
	const char *type; /* Prometheus': gauge or counter */
	const char *help;
	const char *unit; /* for people, of the value times `times`; NULL: not for them */
	double times;
};

const struct meter_row *meter_row(enum meter which);

struct meters {
	bool has[METERS];
	double value[METERS];
};

/* Of the ops' device, now. */
void ops_read_meters(struct ops *ops, struct meters *ret);

#endif
