/*
 * What memory a run needs, and what there is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/cpus.h"
#include "base/slurp.h"
#include "base/text.h"
#include "trainer/model/memory.h"
#include "trainer/session/setup.h"

enum { MEMINFO_MAX = 64 << 10 };

/* MemTotal of /proc/meminfo, or the control group's limit where that is less; 0: not known. */
static double memory_here(const char **ret_what)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct cgroup_limits limits = cgroup_limits_at("");
	struct err ignored = {0};
	const char *line = NULL;
	double total = 0;

	*ret_what = "this machine";
	if (slurp_file("/proc/meminfo", MEMINFO_MAX, &text, &ignored) == 0)
		line = strstr(strbuf_str(&text), "MemTotal:");
	if (line != NULL)
		total = 1024.0 * (double)strtoll(line + strlen("MemTotal:"), NULL, 10);
	if (limits.memory == 0 || (total > 0 && (double)limits.memory >= total))
		return total;
	*ret_what = "the control group of this process";
	return (double)limits.memory;
}

static struct model_memory measure(const struct train_flags *f, const struct model_config *c,
                                   struct train_options o)
{
	unsigned cpus = cpus_usable(), asked = (unsigned)f->threads;
	bool for_training = f->checkpoint == NULL;
	bool evaluates = for_training && (f->eval_every > 0 || f->do_eval);
	size_t moments = o.optimizer.kind == OPTIMIZER_ADAMW ? 2 : 1;
	size_t batch = for_training ? o.batch_size : (size_t)f->test_batch_size;
	struct memory_use use = {.batch = batch,
	                         .ahead = session_ahead(batch) + 1,
	                         .moments = moments + (o.optimizer.ema_decay > 0 ? 1 : 0),
	                         .eval_batch = evaluates ? (size_t)f->test_batch_size : 0,
	                         .recompute = o.recompute,
	                         .threads = asked > 0 && asked < cpus ? asked : cpus};

	session_fit_points(c, &o);
	use.points = o.image_points + o.audio_points + 1;
	return model_memory(c, &use);
}

static char *size(double bytes, char out[TEXT_BYTES_MAX])
{
	return text_bytes(bytes < 9e18 ? (int64_t)bytes : INT64_MAX, out);
}

/* The largest --batch_size that fits, with evaluations of no larger one; 0: none does. */
static size_t fitting_batch(const struct train_flags *f, const struct model_config *c,
                            const struct train_options *o, double room)
{
	size_t low = 0, high = o->batch_size;

	while (low < high) {
		struct train_options try = *o;
		struct train_flags fewer = *f;

		try.batch_size = low + (high - low + 1) / 2;
		if ((size_t)fewer.test_batch_size > try.batch_size)
			fewer.test_batch_size = (int64_t)try.batch_size;
		if (measure(&fewer, c, try).total <= room)
			low = try.batch_size;
		else
			high = try.batch_size - 1;
	}
	return low;
}

size_t session_fit_here(const struct train_flags *f, const struct model_config *c,
                        const struct train_options *o)
{
	const char *what;
	double room = memory_here(&what);

	return room > 0 ? fitting_batch(f, c, o, room / 2) : o->batch_size;
}

/* What can be computed again, in the order of the time that it takes. */
static const struct recompute dearer[] = {{true, 0}, {true, 4}, {true, 2}, {true, 1}};

/* The cheapest of them with which the batch fits; NULL: none. */
static const struct recompute *fitting_recompute(const struct train_flags *f,
                                                 const struct model_config *c,
                                                 const struct train_options *o, double room)
{
	struct train_options try = *o;

	for (size_t i = 0; i < ARRAY_LEN(dearer); i++) {
		try.recompute = dearer[i];
		if (measure(f, c, try).total <= room)
			return &dearer[i];
	}
	return NULL;
}

static void add_batch_advice(const struct train_flags *f, const struct model_config *c,
                             const struct train_options *o, double room, struct strbuf *sb)
{
	size_t fits = fitting_batch(f, c, o, room);
	struct train_options least = *o;
	bool evaluates = f->eval_every > 0 || f->do_eval;

	least.recompute = dearer[ARRAY_LEN(dearer) - 1];
	if (fits == 0 && (fits = fitting_batch(f, c, &least, room)) > 0)
		strbuf_adds(sb, "With --activation_checkpointing full, ");
	if (fits > 0 && evaluates && (size_t)f->test_batch_size > fits)
		strbuf_addf(sb,
		            "--batch_size %zu --test_batch_size %zu fits; --accumulate keeps "
		            "the clips of a step.",
		            fits, fits);
	else if (fits > 0)
		strbuf_addf(sb, "--batch_size %zu fits; --accumulate keeps the clips of a step.",
		            fits);
	else
		strbuf_adds(sb, "Not even one clip fits: lower --image_points, or take a model "
		                "with fewer latents, layers or frames.");
}

static void add_advice(const struct train_flags *f, const struct model_config *c,
                       const struct train_options *o, double room, struct strbuf *sb)
{
	const struct recompute *again = fitting_recompute(f, c, o, room);
	char text[RECOMPUTE_TEXT_MAX];

	if (again != NULL)
		strbuf_addf(sb, "--activation_checkpointing %s fits, with the same results. ",
		            recompute_text(*again, text));
	if (again == NULL || o->batch_size > 1)
		add_batch_advice(f, c, o, room, sb);
}

int session_check_memory(const struct train_flags *f, const struct model_config *c,
                         const struct train_options *o, struct err *err)
{
	AUTO(strbuf) struct strbuf advice = STRBUF_INIT(ERR_HINT_MAX);
	char need[TEXT_BYTES_MAX], have[TEXT_BYTES_MAX];
	struct model_memory m;
	const char *what;
	double room = memory_here(&what);

	/* eval holds neither optimizer nor gradients; its batches are small. */
	if (f->checkpoint != NULL || room <= 0)
		return 0;
	m = measure(f, c, *o);
	if (m.total <= room)
		return 0;
	add_advice(f, c, o, room, &advice);
	err_set(err, ERR_MEMORY, "the run needs about %s of memory, %s has %s", size(m.total, need),
	        what, size(room, have));
	return err_hint(err, "%s --estimate shows the parts.", strbuf_str(&advice));
}

int session_estimate(const struct train_flags *flags, struct strbuf *sb, struct err *err)
{
	static const char *const names[] = {
		[MEMORY_WEIGHTS] = "weights and gradients",
		[MEMORY_OPTIMIZER] = "optimizer, averaged weights",
		[MEMORY_COPIES] = "checkpoint and last good state",
		[MEMORY_ENCODER] = "encoder, per batch",
		[MEMORY_DECODER] = "decoder, per batch",
		[MEMORY_CROSS] = "cross attention, per batch",
		[MEMORY_CLIPS] = "clips read ahead, per batch",
		[MEMORY_SCRATCH] = "scratch of the threads",
		[MEMORY_PROGRAM] = "the program itself",
	};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	char text[TEXT_BYTES_MAX];
	struct model_config config;
	struct train_options o;
	struct model_memory m;
	const char *what;
	const struct device_row *row;
	char device[DEVICE_NAME_MAX];
	double room = memory_here(&what);

	_Static_assert(ARRAY_LEN(names) == MEMORY_PARTS, "a part without a name");
	if (train_flags_options(flags, &o, err) != 0 ||
	    session_load_config(flags, &config, &remarks, err) != 0)
		return -1;
	snprintf(device, sizeof(device), "%s", flags->device);
	if (strcmp(device, "auto") == 0)
		device_auto(device);
	row = device_row_of(device);
	if (row != NULL && row->open == NULL) {
		err_set(err, ERR_UNSUPPORTED,
		        "the memory of a run on a %s is the compiler's to say", row->what);
		return err_hint(
			err,
			"slipway-trainer compile --report lists what the modules hold; --device "
			"cpu estimates the same run there.");
	}
	if (row != NULL && row->rehearse != NULL)
		return session_estimate_device(row, flags, &config, &o, sb);
	m = measure(flags, &config, o);
	for (size_t i = 0; i < MEMORY_PARTS; i++)
		strbuf_addf(sb, "%-32s %10s\n", names[i], size(m.bytes[i], text));
	strbuf_addf(sb, "%-32s %10s\n", "all, per rank", size(m.total, text));
	strbuf_addf(sb, "%-32s %10s\n", what, size(room, text));
	if (room > 0 && m.total > room) {
		add_advice(flags, &config, &o, room, sb);
		strbuf_addc(sb, '\n');
	}
	return 0;
}
