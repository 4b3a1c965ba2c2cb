#include "trainer/neuron/runtime.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"

#define VISIBLE "NEURON_RT_VISIBLE_CORES"
#define DEVICE  "/dev/neuron0"

enum { CORES_MAX = 4096 };

/* A whole number at *at, which moves behind it; -1: there is none, or too large a one. */
static long number(const char **at)
{
	char *end = NULL;
	long value;

	if (!isdigit((unsigned char)**at))
		return -1;
	value = strtol(*at, &end, 10);
	*at = end;
	return value < CORES_MAX ? value : -1;
}

int neuron_core_of(const char *list, unsigned index)
{
	while (*list != '\0') {
		long first = number(&list), last = first;

		if (first >= 0 && *list == '-') {
			list++;
			last = number(&list);
		}
		if (first < 0 || last < first || (*list != ',' && *list != '\0'))
			return -1;
		if (index <= (unsigned)(last - first))
			return (int)(first + index);
		index -= (unsigned)(last - first) + 1;
		list += *list == ',';
	}
	return -1;
}

int neuron_count(unsigned *ret, struct err *err)
{
	struct err absent = {0};
	struct nrt nrt;
	uint32_t n = 0;
	int status;

	*ret = 0;
	if (nrt_open(NULL, &nrt, &absent) != 0) {
		if (absent.code == ERR_NOT_FOUND)
			return 0;
		*err = absent;
		return -1;
	}
	/* the runtime would pick as many free ones as this says: here each rank has its own */
	unsetenv("NEURON_RT_NUM_CORES");
	status = nrt.cores(&n);
	if (status != 0 && access(DEVICE, F_OK) == 0)
		return nrt_failure(&nrt, status, "nrt_get_visible_vnc_count", err);
	*ret = status == 0 ? n : 0;
	return 0;
}

/* The runtime takes all that it sees: it is shown one. */
static int show_one(unsigned index, unsigned *ret, struct err *err)
{
	const char *list = getenv(VISIBLE);
	int core = list != NULL ? neuron_core_of(list, index) : (int)index;
	char text[16];

	if (core < 0) {
		err_set(err, ERR_USAGE, "the environment's " VISIBLE " is '%.60s'", list);
		return err_hint(err, "It lists numbers and ranges of NeuronCores: \"0-3,8\".");
	}
	snprintf(text, sizeof(text), "%d", core);
	setenv(VISIBLE, text, 1);
	*ret = (unsigned)core;
	return 0;
}

/* By nrt.h's NRT_INSTANCE families. */
static const struct {
	uint32_t family;
	const char *target;
} families[] = {{2, "trn1"}, {3, "trn1n"}, {4, "inf2"}, {5, "trn2"}, {9, "trn2"}};

static int find_target(struct neuron_runtime *r, struct err *err)
{
	struct nrt_instance_info info = {0};
	int status = r->nrt.instance(&info, sizeof(info));

	if (status != 0)
		return nrt_failure(&r->nrt, status, "nrt_get_instance_info", err);
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (families[i].family == info.family)
			r->target = families[i].target;
	if (r->target != NULL)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
	               "no module is compiled for this instance: its family is %u (%.16s)",
	               info.family, info.arch_name);
}

int neuron_runtime_open(unsigned index, struct neuron_runtime *ret, struct err *err)
{
	struct neuron_runtime r = {.open = true};
	int status;

	if (nrt_open(NULL, &r.nrt, err) != 0 || show_one(index, &r.core, err) != 0)
		return -1;
	status = r.nrt.init(NRT_NO_FRAMEWORK, "", "");
	if (status != 0)
		return nrt_failure(&r.nrt, status, "nrt_init", err);
	if (find_target(&r, err) != 0) {
		neuron_runtime_close(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

void neuron_runtime_close(struct neuron_runtime *r)
{
	if (r->open)
		r->nrt.close();
	*r = (struct neuron_runtime){0};
}
