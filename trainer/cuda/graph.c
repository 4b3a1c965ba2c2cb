/* Recordings: CUDA graphs, captured from the stream. */
#include <stdlib.h>

#include "base/mem.h"
#include "trainer/cuda/driver_internal.h"

struct cuda_graph {
	void *exec;
	uint64_t given_back; /* the device's, when it was recorded */
};

/* Of this thread alone: others of the process may use the driver meanwhile. */
bool cuda_record(struct cuda_device *d)
{
	d->spoiled = false;
	d->recording = DO(d, capture_begin, (d->stream, CAPTURE_THREAD_LOCAL));
	return d->recording;
}

static struct cuda_graph *instantiate(struct cuda_device *d, void *graph)
{
	struct cuda_graph *g = mem_zalloc(sizeof(*g));

	g->given_back = d->given_back;
	if (DO(d, graph_new, (&g->exec, graph, 0)))
		return g;
	free(g);
	return NULL;
}

/* Whatever failed: the stream must not be left recording. */
struct cuda_graph *cuda_record_end(struct cuda_device *d)
{
	struct cuda_graph *g = NULL;
	void *graph = NULL;

	d->recording = false;
	(void)cuda_done(d, d->library.call.capture_end(d->stream, &graph),
	                cuda_call_names.capture_end);
	if (!d->failed && !d->spoiled && graph != NULL)
		g = instantiate(d, graph);
	if (graph != NULL)
		(void)cuda_done(d, d->library.call.graph_free(graph), cuda_call_names.graph_free);
	return g;
}

bool cuda_replay(struct cuda_device *d, struct cuda_graph *g)
{
	if (g->given_back != d->given_back)
		return false;
	(void)DO(d, graph_launch, (g->exec, d->stream));
	return true;
}

void cuda_forget(struct cuda_device *d, struct cuda_graph *g)
{
	if (g == NULL)
		return;
	(void)cuda_done(d, d->library.call.exec_free(g->exec), cuda_call_names.exec_free);
	free(g);
}
