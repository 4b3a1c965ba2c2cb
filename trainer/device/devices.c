#include "trainer/device/devices.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { DEVICES_MAX = 1024 };

static unsigned count_cpu(void)
{
	return 1;
}

static int open_cpu(unsigned index, const struct ops_options *options, struct ops *ret,
                    struct err *err)
{
	(void)index;
	return ops_require(options, ret, err);
}

static const struct device_row rows[] = {
	{"cuda", "NVIDIA GPU", NULL, NULL},
	{"cpu", "processor", count_cpu, open_cpu},
};

const struct device_row *devices(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(rows);
	return rows;
}

static unsigned count(const struct device_row *row)
{
	return row->probe != NULL ? row->probe() : 0;
}

/* The last row is always there. */
static const struct device_row *first_here(void)
{
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(rows) && count(&rows[i]) == 0)
		i++;
	return &rows[i];
}

void device_auto(char ret_name[DEVICE_NAME_MAX])
{
	snprintf(ret_name, DEVICE_NAME_MAX, "%s:0", first_here()->name);
}

/* "cuda" or "cuda:N"; NULL when the text is neither. */
static const struct device_row *find(const char *choice, unsigned *ret_index)
{
	size_t n = strcspn(choice, ":");
	int64_t index = 0;

	if (choice[n] == ':' && (!text_int64(choice + n + 1, strlen(choice + n + 1), &index) ||
	                         index < 0 || index >= DEVICES_MAX))
		return NULL;
	*ret_index = (unsigned)index;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strlen(rows[i].name) == n && memcmp(rows[i].name, choice, n) == 0)
			return &rows[i];
	return NULL;
}

static int refuse(const char *choice, struct err *err)
{
	err_set(err, ERR_USAGE, "--device is '%.60s', expected auto, cpu, cuda or cuda:N", choice);
	return err_hint(err, "N counts devices from 0; slipway-trainer probe shows what is here.");
}

static int check_here(const struct device_row *row, const char *choice, unsigned index,
                      struct err *err)
{
	unsigned n = count(row);

	if (row->probe == NULL) {
		err_set(err, ERR_USAGE,
		        "--device %.60s: this slipway-trainer cannot compute on %ss", choice,
		        row->what);
		return err_hint(err, "Give --device cpu, or leave it out.");
	}
	if (index < n)
		return 0;
	err_set(err, ERR_NOT_FOUND, "--device %.60s: there %s %u %s%s here", choice,
	        n == 1 ? "is" : "are", n, row->what, n == 1 ? "" : "s");
	return err_hint(err, "slipway-trainer probe shows what is here.");
}

int device_open(const char *choice, const struct ops_options *options, struct ops *ret,
                char ret_name[DEVICE_NAME_MAX], struct err *err)
{
	unsigned index = 0;
	const struct device_row *row =
		strcmp(choice, "auto") == 0 ? first_here() : find(choice, &index);

	if (row == NULL)
		return refuse(choice, err);
	if (check_here(row, choice, index, err) != 0 || row->open(index, options, ret, err) != 0)
		return -1;
	snprintf(ret_name, DEVICE_NAME_MAX, "%s:%u", row->name, index);
	return 0;
}
