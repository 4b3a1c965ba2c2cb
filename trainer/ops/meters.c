#include "trainer/ops/meters.h"

#include "trainer/ops/ops.h"

static const struct meter_row rows[METERS] = {
	[METER_USE] = {"gpu_utilization_ratio", "GPU/Utilization", "gauge",
                       "Share of the time in which a kernel ran on rank 0's GPU", " %", 100},
	[METER_MEMORY_USE] = {"gpu_memory_utilization_ratio", "GPU/Memory_Utilization", "gauge",
                              "Share of the time in which the GPU's memory was read or written",
                              " % memory", 100},
	[METER_MEMORY] = {"gpu_memory_bytes", "GPU/Memory_Bytes", "gauge",
                          "Memory of the GPU in use by any process", " MB", 1e-6},
	[METER_POWER] = {"gpu_power_watts", "GPU/Power_Watts", "gauge", "Power that the GPU draws",
                         " W", 1},
	[METER_TEMPERATURE] = {"gpu_temperature_celsius", "GPU/Temperature", "gauge",
                               "Temperature of the GPU", " C", 1},
	[METER_CLOCK] = {"gpu_clock_hertz", "GPU/Clock", "gauge",
                         "Clock of the GPU's multiprocessors", " MHz", 1e-6},
	[METER_MEMORY_CLOCK] = {"gpu_memory_clock_hertz", "GPU/Memory_Clock", "gauge",
                                "Clock of the GPU's memory", NULL, 1},
	[METER_CORRECTED] = {"gpu_ecc_corrected_total", "GPU/ECC_Corrected", "counter",
                             "Errors of the GPU's memory that were corrected", NULL, 1},
	[METER_UNCORRECTABLE] = {"gpu_ecc_uncorrectable_total", "GPU/ECC_Uncorrectable", "counter",
                                 "Errors of the GPU's memory that could not be corrected", NULL, 1},
};

const struct meter_row *meter_row(enum meter which)
{
	return &rows[which];
}

void ops_read_meters(struct ops *ops, struct meters *ret)
{
	*ret = (struct meters){.has = {false}};
	if (ops->device->meters != NULL && !ops->has_failed)
		ops->device->meters(ops, ret);
}
