#include "trainer/device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "trainer/cuda/backend.h"
#include "trainer/cuda/library.h"
#include "trainer/neuron/runtime.h"

enum { DEVICES_MAX = 1024 };

static int count_cpu(unsigned *ret, struct err *err)
{
	(void)err;
	*ret = 1;
	return 0;
}

static int open_cpu(unsigned index, const struct ops_options *options, struct ops *ret,
                    struct err *err)
{
	(void)index;
	return ops_require(options, ret, err);
}

static const struct device_row rows[] = {
	{"neuron", "NeuronCore", false, "NEURON_RT_VISIBLE_CORES", neuron_count, NULL, NULL, NULL},
	{"cuda", "NVIDIA GPU", false, "CUDA_VISIBLE_DEVICES", cuda_count, cuda_ops_open,
         cuda_ops_rehearse, cuda_ops_room},
	{"cpu", "processor", true, NULL, count_cpu, open_cpu, NULL, NULL},
};

const struct device_row *devices(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(rows);
	return rows;
}

/* A device that is meant, of a row that says how many there are. */
struct chosen {
	const struct device_row *row;
	unsigned n, index;
	bool named; /* by its number */
};

/* The first row that has devices here: the last one always has. */
static int choose_first(bool ops, struct chosen *ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(rows) && ret->n == 0; i++) {
		if (ops && rows[i].open == NULL)
			continue;
		ret->row = &rows[i];
		if (rows[i].count(&ret->n, err) == 0)
			continue;
		err_wrap(err, "look for a %s", rows[i].what);
		return -1;
	}
	return 0;
}

static const struct device_row *cpu_row(void)
{
	return &rows[ARRAY_LEN(rows) - 1];
}

void device_auto(char ret_name[DEVICE_NAME_MAX])
{
	struct chosen c = {0};
	struct err broken = {0};

	if (choose_first(false, &c, &broken) != 0)
		c.row = cpu_row();
	snprintf(ret_name, DEVICE_NAME_MAX, "%s:0", c.row->name);
}

/* "cuda" or "cuda:N"; false when the text is neither. */
static bool find(const char *choice, struct chosen *ret)
{
	size_t n = strcspn(choice, ":");
	int64_t index = 0;

	ret->named = choice[n] == ':';
	if (ret->named && (!text_int64(choice + n + 1, strlen(choice + n + 1), &index) ||
	                   index < 0 || index >= DEVICES_MAX))
		return false;
	ret->index = (unsigned)index;
	for (size_t i = 0; i < ARRAY_LEN(rows) && ret->row == NULL; i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, choice, n) == 0)
			ret->row = &rows[i];
	return ret->row != NULL;
}

const struct device_row *device_row_of(const char *name)
{
	struct chosen c = {0};

	return find(name, &c) ? c.row : NULL;
}

static int refuse(const char *choice, struct err *err)
{
	err_set(err, ERR_USAGE,
	        "--device is '%.60s', expected auto, cpu, cuda, cuda:N, neuron or neuron:N",
	        choice);
	return err_hint(err, "N counts devices from 0; slipway-trainer probe shows what is here.");
}

static int choose(const struct device_choice *choice, const struct ops_options *options, bool ops,
                  struct chosen *ret, struct err *err)
{
	bool of_a_cpu = options->reference || options->isa != NULL || options->plain_cross;

	if (strcmp(choice->name, "auto") == 0 && of_a_cpu) {
		ret->row = cpu_row();
		return ret->row->count(&ret->n, err);
	}
	if (strcmp(choice->name, "auto") == 0)
		return choose_first(ops, ret, err);
	if (!find(choice->name, ret))
		return refuse(choice->name, err);
	return ret->row->count(&ret->n, err);
}

/* One process per device: each takes that of its own number on the node, or the one that its
 * launcher lets it see. */
static void take_own(const struct device_choice *choice, struct chosen *c)
{
	const char *shown = c->row->shown_by != NULL ? getenv(c->row->shown_by) : NULL;

	if (c->named || c->row->ranks_share || (c->n == 1 && shown != NULL))
		return;
	c->index = choice->local_rank;
}

/* Where there is none at all, opening it tells why. */
static int check_here(const struct device_choice *choice, const struct chosen *c, struct err *err)
{
	const struct device_row *row = c->row;

	if (c->n == 0 || c->index < c->n)
		return 0;
	if (c->named) {
		err_set(err, ERR_NOT_FOUND, "--device %.60s: there %s %u %s%s here", choice->name,
		        c->n == 1 ? "is" : "are", c->n, row->what, c->n == 1 ? "" : "s");
		return err_hint(err, "slipway-trainer probe shows what is here.");
	}
	err_set(err, ERR_NOT_FOUND, "rank %u of this node has no %s of its own: there %s %u here",
	        choice->local_rank, row->what, c->n == 1 ? "is" : "are", c->n);
	return err_hint(err, "Start as many ranks on a node as it has devices.");
}

static int choose_own(const struct device_choice *choice, const struct ops_options *options,
                      bool ops, struct device_found *ret, struct err *err)
{
	struct chosen c = {0};

	if (choose(choice, options, ops, &c, err) != 0)
		return -1;
	take_own(choice, &c);
	if (check_here(choice, &c, err) != 0)
		return -1;
	*ret = (struct device_found){.row = c.row, .index = c.index};
	snprintf(ret->name, DEVICE_NAME_MAX, "%s:%u", c.row->name, c.index);
	return 0;
}

int device_choose(const struct device_choice *choice, const struct ops_options *options,
                  struct device_found *ret, struct err *err)
{
	return choose_own(choice, options, false, ret, err);
}

int device_open(const struct device_choice *choice, const struct ops_options *options,
                struct ops *ret, char ret_name[DEVICE_NAME_MAX], struct err *err)
{
	struct device_found f;

	if (choose_own(choice, options, true, &f, err) != 0)
		return -1;
	if (f.row->open == NULL) {
		err_set(err, ERR_UNSUPPORTED,
		        "a %s runs modules that were compiled for train, eval, classify and "
		        "sample, not this command",
		        f.row->what);
		return err_hint(err, "Give --device cpu or cuda.");
	}
	if (f.row->open(f.index, options, ret, err) != 0)
		return -1;
	memcpy(ret_name, f.name, DEVICE_NAME_MAX);
	return 0;
}
