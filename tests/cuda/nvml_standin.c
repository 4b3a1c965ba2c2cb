/*
 * A stand-in for libnvidia-ml.so.1, beside that for the driver, whose devices it names by their
 * place on the bus. It checks that it is begun before it is asked and that handles are its own.
 *
 * Variables: STANDIN_NVML_FAIL_CALL has each call of that name fail (with 999), "all" every one;
 * STANDIN_NVML_ERRORS counts errors of the memory from the how manieth question for them on (2: the
 * first after the driver was opened). STANDIN_REPORT gets a line at the end of the process: "nvml N
 * calls held N problem TEXT".
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/uses.h"

enum { FINE, UNINITIALIZED, BAD_ARGUMENT, NOT_FOUND = 6, UNKNOWN = 999 };

static struct {
	size_t calls, held, asked;
	char device;
	const char *problem;
} state;

static struct uses uses;

static int wrong(int result, const char *problem)
{
	if (state.problem == NULL)
		state.problem = problem;
	return result;
}

static int count(const char *name)
{
	const char *fails = getenv("STANDIN_NVML_FAIL_CALL");

	state.calls++;
	uses_count(&uses, name);
	return fails != NULL && (strcmp(fails, "all") == 0 || strcmp(fails, name) == 0) ? UNKNOWN
	                                                                                : FINE;
}

static int check(const char *name, const void *device, const void *ret)
{
	int planted = count(name);

	if (planted != FINE)
		return planted;
	if (state.held == 0)
		return wrong(UNINITIALIZED, "asked before it was begun, or after its end");
	return device == &state.device && ret != NULL
	               ? FINE
	               : wrong(BAD_ARGUMENT, "not a device, or no room for the answer");
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("STANDIN_REPORT");
	FILE *f = path != NULL && state.calls > 0 ? fopen(path, "a") : NULL;

	uses_report(&uses);
	if (f == NULL)
		return;
	fprintf(f, "nvml %zu calls held %zu problem %s\n", state.calls, state.held,
	        state.problem != NULL ? state.problem : "none");
	(void)fclose(f);
}

int nvmlInit_v2(void)
{
	int planted = count(__func__);

	state.held += planted == FINE;
	return planted;
}

int nvmlShutdown(void)
{
	int planted = count(__func__);

	if (state.held == 0)
		return wrong(UNINITIALIZED, "ended more often than begun");
	state.held--;
	return planted;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
	int planted = count(__func__);

	if (planted != FINE)
		return planted;
	if (state.held == 0)
		return wrong(UNINITIALIZED, "asked before it was begun, or after its end");
	if (strncmp(bus_id, "0000:00:0", 9) != 0)
		return wrong(NOT_FOUND, "not a place on the bus that a device has");
	*device = &state.device;
	return FINE;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2])
{
	int rc = check(__func__, device, ret);

	if (rc == FINE) {
		ret[0] = 97;
		ret[1] = 41;
	}
	return rc;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
	int rc = check(__func__, device, ret);

	if (rc == FINE) {
		ret[0] = 16000000000;
		ret[1] = 12000000000;
		ret[2] = 4000000000;
	}
	return rc;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
	int rc = check(__func__, device, milliwatts);

	if (rc == FINE)
		*milliwatts = 250500;
	return rc;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret)
{
	int rc = check(__func__, device, ret);

	if (rc == FINE && sensor != 0)
		return wrong(BAD_ARGUMENT, "not a sensor");
	if (rc == FINE)
		*ret = 61;
	return rc;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz)
{
	int rc = check(__func__, device, megahertz);

	if (rc == FINE && kind != 1 && kind != 2)
		return wrong(BAD_ARGUMENT, "not a clock");
	if (rc == FINE)
		*megahertz = kind == 1 ? 1410 : 1215;
	return rc;
}

int nvmlDeviceGetTotalEccErrors(void *device, int kind, int counter, unsigned long long *ret)
{
	const char *from = getenv("STANDIN_NVML_ERRORS");
	int rc = check(__func__, device, ret);

	if (rc == FINE && (kind < 0 || kind > 1 || counter != 0))
		return wrong(BAD_ARGUMENT, "not a kind of errors");
	if (rc != FINE)
		return rc;
	state.asked += kind == 1;
	/* Some from before the run. */
	*ret = kind == 1 && from != NULL && state.asked >= strtoul(from, NULL, 10) ? 5 : 2;
	return FINE;
}
