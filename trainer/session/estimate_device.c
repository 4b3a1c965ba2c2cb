/*
 * What memory a run needs of a device that has its own: the run's own code is gone through on ops
 * that compute nothing and count.
 */
#include "base/text.h"
#include "trainer/model/input.h"
#include "trainer/session/setup.h"

/* Of what is free, for the driver's own, such as the kernels: none of it is asked for by us. */
#define USABLE    0.97
/* What a batch that nobody has chosen takes: evaluations and libraries are to fit as well. */
#define AUTO_USES 0.9

/* The shape of the batches that a run has: what is not NULL is not looked at. */
static struct batch shape_of(const struct train_flags *f, const struct train_options *o)
{
	static const uint64_t something;
	const void *there = &something;
	bool bytes = session_sends_bytes(f);

	return (struct batch){.n = o->batch_size,
	                      .image = bytes ? NULL : there,
	                      .audio = bytes ? NULL : there,
	                      .video = bytes ? there : NULL,
	                      .sound = bytes ? there : NULL,
	                      .label = there,
	                      .mask_audio = o->audio_mask_prob > 0 ? there : NULL,
	                      .mask_image = o->image_mask_prob > 0 ? there : NULL,
	                      .mask_label = o->label_mask_prob > 0 ? there : NULL,
	                      .out_image = there,
	                      .out_audio = there,
	                      .n_out_image = o->image_points,
	                      .n_out_audio = o->audio_points,
	                      .decode_label = true,
	                      .dropout_seed = o->seed,
	                      .dropout_sample = there};
}

static void rehearse(const struct device_row *row, const struct train_flags *f,
                     const struct model_config *c, struct train_options o, struct tally *ret)
{
	struct ops_options options = {.precision = o.precision};
	bool evaluates = f->eval_every > 0 || f->do_eval;
	struct learner *l;
	struct batch b;
	struct ops ops;

	session_fit_points(c, &o);
	b = shape_of(f, &o);
	row->rehearse(&options, ret, &ops);
	l = learner_new(c, &ops, o.recompute);
	learner_prepare(l, &o.optimizer);
	learner_rehearse(l, &b);
	if (evaluates)
		model_reserve(learner_model(l), (size_t)f->test_batch_size,
		              o.image_points + o.audio_points + 1);
	learner_free(l);
	ops_done(&ops);
}

static size_t needs(const struct device_row *row, const struct train_flags *f,
                    const struct model_config *c, const struct train_options *o)
{
	struct tally t = {.now = 0};
	size_t most;

	rehearse(row, f, c, *o, &t);
	most = t.most;
	tally_done(&t);
	return most;
}

/* The largest --batch_size that fits, with evaluations of no larger one; 0: none does. */
static size_t fitting_batch(const struct device_row *row, const struct train_flags *f,
                            const struct model_config *c, const struct train_options *o,
                            double room)
{
	size_t low = 0, high = o->batch_size;

	while (low < high) {
		struct train_options try = *o;
		struct train_flags fewer = *f;

		try.batch_size = low + (high - low + 1) / 2;
		if ((size_t)fewer.test_batch_size > try.batch_size)
			fewer.test_batch_size = (int64_t)try.batch_size;
		if ((double)needs(row, &fewer, c, &try) <= room)
			low = try.batch_size;
		else
			high = try.batch_size - 1;
	}
	return low;
}

size_t session_fit_device(const struct device_row *row, size_t free_bytes,
                          const struct train_flags *f, const struct model_config *c,
                          const struct train_options *o)
{
	return fitting_batch(row, f, c, o, AUTO_USES * (double)free_bytes);
}

static void add_advice(const struct device_row *row, const struct train_flags *f,
                       const struct model_config *c, const struct train_options *o, double room,
                       struct strbuf *sb)
{
	struct train_options try = *o;
	size_t fits = fitting_batch(row, f, c, o, room);

	try.recompute = (struct recompute){true, 1};
	if ((double)needs(row, f, c, &try) <= room)
		strbuf_adds(sb, "--activation_checkpointing full fits, with the same results. ");
	if (fits > 0)
		strbuf_addf(sb, "--batch_size %zu fits; --accumulate keeps the clips of a step.",
		            fits);
	else
		strbuf_adds(sb, "Not even one clip fits as it is: lower --image_points, or take a "
		                "GPU with more memory.");
}

static char *size(double bytes, char out[TEXT_BYTES_MAX])
{
	return text_bytes(bytes < 9e18 ? (int64_t)bytes : INT64_MAX, out);
}

int session_check_device(const struct device_row *row, size_t free_bytes,
                         const struct train_flags *f, const struct model_config *c,
                         const struct train_options *o, struct err *err)
{
	AUTO(strbuf) struct strbuf advice = STRBUF_INIT(ERR_HINT_MAX);
	char need[TEXT_BYTES_MAX], have[TEXT_BYTES_MAX];
	double room = USABLE * (double)free_bytes;
	size_t most;

	/* eval holds neither optimizer nor gradients; its batches are small. */
	if (f->checkpoint != NULL)
		return 0;
	most = needs(row, f, c, o);
	if ((double)most <= room)
		return 0;
	add_advice(row, f, c, o, room, &advice);
	err_set(err, ERR_MEMORY, "the run needs %s of the %s's memory, which has %s free",
	        size((double)most, need), row->what, size((double)free_bytes, have));
	return err_hint(err, "%s --estimate shows the parts.", strbuf_str(&advice));
}

/* 0: there is none here, and the estimate is for another machine. */
static size_t room_here(const struct device_row *row, const struct train_flags *f)
{
	struct device_choice choice = {f->device, 0};
	char name[DEVICE_NAME_MAX];
	struct ops_options options = {0};
	struct err absent = {0};
	struct ops ops;
	size_t room;

	if (device_open(&choice, &options, &ops, name, &absent) != 0)
		return 0;
	room = row->room(&ops);
	ops_done(&ops);
	return room;
}

int session_estimate_device(const struct device_row *row, const struct train_flags *f,
                            const struct model_config *c, const struct train_options *o,
                            struct strbuf *sb)
{
	struct tally t = {.now = 0};
	char text[TEXT_BYTES_MAX];
	size_t room = room_here(row, f);

	rehearse(row, f, c, *o, &t);
	for (size_t i = 0; i < t.parts.n; i++)
		strbuf_addf(sb, "%-32s %10s\n", t.parts.at[i].what,
		            size((double)t.parts.at[i].most, text));
	strbuf_addf(sb, "all, on each %-19s %10s\n", row->what, size((double)t.most, text));
	if (room > 0)
		strbuf_addf(sb, "free here %22s %10s\n", "", size((double)room, text));
	if (room > 0 && (double)t.most > USABLE * (double)room) {
		add_advice(row, f, c, o, USABLE * (double)room, sb);
		strbuf_addc(sb, '\n');
	}
	tally_done(&t);
	return 0;
}
