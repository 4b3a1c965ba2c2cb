/*
 * --batch_size auto. The estimate (estimate_device.c) is gone through until the largest batch that
 * fits is found, before anything is allocated. What is too large all the same ends with the
 * driver's refusal, which names the array: a batch that shrinks by itself in the midst of a run
 * would make another run of it.
 */
#include <string.h>

#include "base/text.h"
#include "trainer/neuron/fit.h"
#include "trainer/neuron/report.h"
#include "trainer/session/run.h"
#include "trainer/session/setup.h"

/* More clips than this make no GPU faster. A CPU is as fast with few: it gets the default. */
enum { DEVICE_CLIPS = 1024, CPU_CLIPS = 8, WHY_MAX = 160 };

struct batch_found {
	size_t n;
	char why[WHY_MAX];
};

static bool is_auto(const struct train_flags *f)
{
	return f->batch_size == 0;
}

/* Of the run in the folder that is to be resumed; 0: there is none, or it cannot be read, which
 * whoever resumes will say. */
static size_t recorded_batch(const struct train_flags *f)
{
	AUTO(run_record) struct run_record record = {0};
	struct err ignored = {0};
	char folder[PATH_MAX];
	const char *value;
	int64_t n;

	if (!f->resume)
		return 0;
	snprintf(folder, sizeof(folder), "%s%s", f->output_dir != NULL ? f->output_dir : f->logdir,
	         f->output_dir != NULL ? "" : "/checkpoints");
	if (run_record_read(folder, &record, &ignored) != 0)
		return 0;
	value = run_record_get(&record, "batch_size");
	if (value == NULL || !text_int64(value, strlen(value), &n) || n < 1 || n > 65536)
		return 0;
	return (size_t)n;
}

/* On the device of that name, with so many bytes free; a CPU's row has no rehearsal. */
static void fit(const struct train_flags *f, const struct model_config *c, struct train_options o,
                const char *device, size_t room, struct batch_found *ret)
{
	const struct device_row *row = device_row_of(device);
	bool own = row != NULL && row->rehearse != NULL;
	char text[TEXT_BYTES_MAX];

	o.batch_size = own ? DEVICE_CLIPS : CPU_CLIPS;
	ret->n = own ? session_fit_device(row, room, f, c, &o) : session_fit_here(f, c, &o);
	snprintf(ret->why, sizeof(ret->why), "%s%s%s", own ? text_bytes((int64_t)room, text) : "",
	         own ? " free on " : "the default, or what fits, on ", device);
	/* What checks the memory next says what one clip lacks. */
	if (ret->n == 0)
		ret->n = 1;
}

static void keep(size_t n, struct batch_found *ret)
{
	ret->n = n;
	snprintf(ret->why, sizeof(ret->why), "as in the run that is resumed");
}

static int least_of_all(struct comm *comm, size_t *n, struct err *err)
{
	double least = -(double)*n;

	if (comm_max(comm, &least, 1, err) != 0)
		return -1;
	*n = (size_t)-least;
	return 0;
}

/* Of what each rank has found, or of the run that is resumed. */
static int settle(struct session *s, struct train_flags *flags, struct batch_found *chosen,
                  struct err *err)
{
	size_t recorded = s->rank == 0 ? recorded_batch(flags) : 0;
	bool said = is_auto(flags);

	if (comm_broadcast(s->comm, &recorded, sizeof(recorded), err) != 0 ||
	    least_of_all(s->comm, &chosen->n, err) != 0)
		return -1;
	if (recorded > 0)
		keep(recorded, chosen);
	if (!said && chosen->n == (size_t)flags->batch_size)
		return 0;
	train_flags_settle_batch(flags, (int64_t)chosen->n, chosen->why);
	s->options.batch_size = chosen->n;
	if (s->rank == 0)
		fprintf(s->remarks_out, "--batch_size %sis %zu (%s)\n", said ? "auto " : "",
		        chosen->n, chosen->why);
	return 0;
}

int session_settle_batch(struct session *s, struct train_flags *flags, struct err *err)
{
	const struct device_row *row = device_row_of(s->device);
	struct batch_found chosen;

	if (!is_auto(flags))
		return 0;
	fit(flags, &s->config, s->options, s->device,
	    row != NULL && row->room != NULL ? row->room(&s->ops) : 0, &chosen);
	return settle(s, flags, &chosen, err);
}

int session_settle_modules(struct session *s, struct train_flags *flags, const char *target,
                           struct neuron_run *run, struct err *err)
{
	const struct neuron_target *row;
	struct batch_found chosen;

	if (run->step.batch > 0)
		return 0;
	if (neuron_target_find(target, &row, err) != 0 ||
	    neuron_fit(run, neuron_chip_of(row), err) != 0)
		return -1;
	chosen.n = run->step.batch;
	snprintf(chosen.why, sizeof(chosen.why), "by the memory of a core of %s", target);
	if (settle(s, flags, &chosen, err) != 0)
		return -1;
	run->step.batch = chosen.n;
	return 0;
}

/* The device that a run would have, as far as it is here. */
static int room_of(const struct train_flags *f, char device[DEVICE_NAME_MAX], size_t *ret,
                   struct err *err)
{
	struct ops_options options = {0};
	struct device_choice choice = {f->device, 0};
	const struct device_row *row;
	struct ops ops;

	if (device_open(&choice, &options, &ops, device, err) != 0)
		return -1;
	row = device_row_of(device);
	*ret = row != NULL && row->room != NULL ? row->room(&ops) : 0;
	ops_done(&ops);
	return 0;
}

int session_settle_alone(struct train_flags *flags, struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	size_t recorded = recorded_batch(flags), room;
	char device[DEVICE_NAME_MAX];
	struct batch_found chosen;
	struct model_config config;
	struct train_options o;

	if (!is_auto(flags))
		return 0;
	if (train_flags_options(flags, &o, err) != 0 ||
	    session_load_config(flags, &config, &remarks, err) != 0 ||
	    room_of(flags, device, &room, err) != 0)
		return -1;
	if (recorded > 0)
		keep(recorded, &chosen);
	else
		fit(flags, &config, o, device, room, &chosen);
	train_flags_settle_batch(flags, (int64_t)chosen.n, chosen.why);
	return 0;
}
