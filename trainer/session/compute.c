#include "trainer/session/compute.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/session/begin.h"
#include "trainer/session/setup.h"

/* For whoever looks for an error, or at single launches in a profiler. */
static bool is_unrecorded(void)
{
	const char *graph = getenv("SLIPWAY_CUDA_GRAPH");

	return graph != NULL && strcmp(graph, "0") == 0;
}

/* Before anything is allocated. */
static int check_memory(const struct session *s, const struct device_row *row, struct err *err)
{
	if (row->rehearse == NULL)
		return session_check_memory(s->flags, &s->config, &s->options, err);
	return session_check_device(row, row->room(&s->ops), s->flags, &s->config, &s->options,
	                            err);
}

static int ops_learner(struct session *s, struct train_flags *flags, const struct ops_options *o,
                       const struct device_found *found, struct err *err)
{
	if (found->row->open(found->index, o, &s->ops, err) != 0)
		return -1;
	s->ops_open = true;
	if (session_settle_batch(s, flags, err) != 0 || check_memory(s, found->row, err) != 0 ||
	    ops_check_machine(&s->ops, err) != 0)
		return -1;
	s->learner = learner_new(&s->config, &s->ops, s->options.recompute);
	learner_init(s->learner, s->options.seed);
	return ops_sync(&s->ops, err);
}

int session_make_learner(struct session *s, enum session_use use, struct train_flags *flags,
                         struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct ops_options o = {.reference = s->flags->reference,
	                        .isa = s->flags->isa,
	                        .precision = s->options.precision,
	                        .gemm = s->options.gemm,
	                        .unrecorded = is_unrecorded(),
	                        .n_threads = session_threads(s)};
	struct device_choice choice = {s->flags->device, s->local_rank};
	struct device_found found;

	if (session_load_config(s->flags, &s->config, &remarks, err) != 0)
		return -1;
	session_remark(s, strbuf_str(&remarks));
	if (device_choose(&choice, &o, &found, err) != 0)
		return -1;
	memcpy(s->device, found.name, sizeof(s->device));
	return found.row->open != NULL ? ops_learner(s, flags, &o, &found, err)
	                               : session_module_learner(s, use, flags, found.index, err);
}
