/*
 * The head of a NEFF, the file that neuronx-cc makes and the Neuron runtime loads: 1024 bytes, then
 * a tar archive. Source: AWS Neuron, "Work with NEFF files"; the offsets follow from its struct and
 * natural alignment. What the archive holds is the runtime's business.
 */
#ifndef SLIPWAY_TRAINER_NEURON_NEFF_H
#define SLIPWAY_TRAINER_NEURON_NEFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { NEFF_HEAD = 1024 };

struct neff {
	uint64_t package_version, data_size, major, minor;
	uint32_t cores;         /* NeuronCores it wants, at least 1 */
	uint32_t logical_cores; /* per logical core, 1 or 2; 0 in files of older compilers */
	char name[256];
};

/* Reads and checks the head of a whole file of n bytes. ERR_FORMAT says what is not as it should
 * be: too short, cut off, of another kind. */
int neff_read(const void *bytes, size_t n, struct neff *ret, struct err *err) MUST_USE;

/* The same of a file on disk, whose name stands in the error. */
int neff_check(const char *path, struct neff *ret, struct err *err) MUST_USE;

#endif
