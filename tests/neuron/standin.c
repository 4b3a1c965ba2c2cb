#include "tests/neuron/standin.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/neuron/module_run.h"
#include "trainer/neuron/nrt.h"

enum { OK, FAILURE, INVALID, INVALID_HANDLE, RESOURCE, UNSUPPORTED_NEFF = 10, UNINITIALIZED = 13 };
enum { MODEL = 0x6d6f6465, TENSOR = 0x74656e73, SET = 0x73657473, GONE = 0x676f6e65 };
enum { HEAD = 1024, TAR_BLOCK = 512, CORES = 2 };

struct tensor {
	uint32_t kind;
	int core;
	size_t bytes;
	char *data;
	unsigned read, written; /* executions under way that do so */
};

struct entry {
	char name[256];
	struct tensor *tensor;
};

struct set {
	uint32_t kind;
	struct entry *at;
	size_t n;
};

struct ranks {
	pthread_barrier_t barrier;
	float values[]; /* of rank after rank */
};

struct model {
	uint32_t kind;
	int core;
	char *bytes;
	struct read_module module;
	const struct read_node **inputs, **results;
	size_t n_inputs, n_results, largest;
	uint32_t rank, n_ranks;
	struct ranks *ranks;
	char names[2][160]; /* of the memory that ranks share, to be forgotten */
};

static struct {
	pthread_mutex_t lock;
	struct standin_nrt_state state;
	size_t fail_at, fail_execution;
	int status;
	bool initialised, asked;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (all.state.complaint[0] == '\0')
		vsnprintf(all.state.complaint, sizeof(all.state.complaint), fmt, args);
	va_end(args);
	return INVALID;
}

static void read_environment(void)
{
	const char *fail = getenv("STANDIN_NRT_FAIL");
	unsigned long at;
	int status;

	if (!all.asked && fail != NULL && sscanf(fail, "execution %lu:%d", &at, &status) == 2) {
		all.fail_execution = at;
		all.status = status;
	}
	if (!all.asked && fail != NULL && sscanf(fail, "%lu:%d", &at, &status) == 2) {
		all.fail_at = at;
		all.status = status;
	}
	all.asked = true;
}

/* What a call gives before it does anything: OK to go on. */
static int enter(const char *call, bool before_init)
{
	read_environment();
	all.state.calls++;
	if (all.fail_at != 0 && all.state.calls == all.fail_at)
		return all.status;
	if (!all.initialised && !before_init) {
		complain("%s before nrt_init or after nrt_close", call);
		return UNINITIALIZED;
	}
	return OK;
}

static void unlock(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

static pthread_mutex_t *lock(void)
{
	pthread_mutex_lock(&all.lock);
	return &all.lock;
}

/* One call at a time, but for what an execution computes; until the caller returns. */
#define HOLD() pthread_mutex_t *held __attribute__((cleanup(unlock))) = lock()

#define ENTER(before_init)                                                                         \
	HOLD();                                                                                    \
	int entered = enter(__func__, before_init);                                                \
	if (entered != OK)                                                                         \
	return entered

void standin_nrt_reset(size_t fail_at, int status)
{
	all.state = (struct standin_nrt_state){0};
	all.fail_at = fail_at;
	all.status = status;
	all.initialised = false;
	all.asked = true;
}

struct standin_nrt_state standin_nrt_state(void)
{
	return all.state;
}

int nrt_init(int framework, const char *version, const char *fal)
{
	ENTER(true);
	if (framework != 1 || version == NULL || fal == NULL)
		return complain("nrt_init: framework %d", framework);
	all.initialised = true;
	return OK;
}

void nrt_close(void)
{
	const char *report = getenv("STANDIN_NRT_REPORT");
	FILE *f = report != NULL ? fopen(report, "a") : NULL;

	if (f != NULL) {
		fprintf(f,
		        "calls %zu executions %zu models %zu tensors %zu sets %zu complaint '%s'\n",
		        all.state.calls, all.state.executions, all.state.models, all.state.tensors,
		        all.state.sets, all.state.complaint);
		fclose(f);
	}
	all.initialised = false;
}

int nrt_get_visible_vnc_count(uint32_t *n)
{
	const char *cores = getenv("STANDIN_NRT_CORES");
	const char *shown = getenv("NEURON_RT_VISIBLE_CORES");

	ENTER(true);
	*n = cores != NULL ? (uint32_t)strtoul(cores, NULL, 10) : CORES;
	if (shown != NULL && strpbrk(shown, "-,") == NULL)
		*n = 1;
	return OK;
}

int nrt_get_instance_info(struct nrt_instance_info *info, size_t n)
{
	const char *family = getenv("STANDIN_NRT_FAMILY");

	ENTER(false);
	if (n != sizeof(*info))
		return complain("nrt_get_instance_info: %zu bytes", n);
	*info = (struct nrt_instance_info){
		.family = family != NULL ? (uint32_t)strtoul(family, NULL, 10) : 2,
		.arch_name = "stand-in"};
	return OK;
}

const char *nrt_get_status_as_str(int status)
{
	return status == OK ? "NRT_SUCCESS" : "NRT_STAND_IN";
}

/* ---- models ---- */

static uint64_t get64(const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The module in the archive's first entry. */
static bool find_module(const unsigned char *neff, size_t n, const unsigned char **ret,
                        size_t *ret_n)
{
	const unsigned char *tar = neff + HEAD;

	if (n < HEAD + 2 * TAR_BLOCK || get64(neff + 8) != HEAD || get64(neff + 16) != n - HEAD ||
	    memcmp(tar + 257, "ustar", 5) != 0)
		return false;
	*ret_n = strtoul((const char *)tar + 124, NULL, 8);
	*ret = tar + TAR_BLOCK;
	return *ret_n <= n - HEAD - TAR_BLOCK;
}

static void list_values(struct model *m)
{
	const struct read_computation *c = m->module.entry;
	const struct read_node *root = &c->nodes[c->n - 1];

	m->inputs = calloc(c->n_parameters + 1, sizeof(*m->inputs));
	m->results = calloc(root->n + 1, sizeof(*m->results));
	for (size_t i = 0; i < c->n; i++) {
		size_t elements = read_elements(&c->nodes[i].shape);

		if (c->nodes[i].op == READ_PARAMETER)
			m->inputs[m->n_inputs++] = &c->nodes[i];
		if (c->nodes[i].op == READ_ALL_REDUCE && elements > m->largest)
			m->largest = elements;
	}
	for (unsigned i = 0; i < root->n; i++)
		m->results[m->n_results++] = &c->nodes[root->operand[i]];
}

static void free_model(struct model *m)
{
	for (int i = 0; i < 2 && m->names[i][0] != '\0'; i++)
		(void)shm_unlink(m->names[i]);
	read_module_done(&m->module);
	free(m->bytes);
	free(m->inputs);
	free(m->results);
	m->kind = GONE;
	free(m);
}

static int load(const void *neff, size_t n, int32_t core, struct model **ret)
{
	const unsigned char *module = NULL;
	size_t size = 0;
	struct model *m;

	if (core < 0 || core >= CORES)
		return complain("nrt_load on core %d", core);
	if (!find_module(neff, n, &module, &size))
		return UNSUPPORTED_NEFF;
	m = calloc(1, sizeof(*m));
	m->kind = MODEL;
	m->core = core;
	m->n_ranks = 1;
	if (!read_module(module, size, &m->module)) {
		complain("nrt_load: %.200s", m->module.why);
		free_model(m);
		return UNSUPPORTED_NEFF;
	}
	list_values(m);
	all.state.models++;
	*ret = m;
	return OK;
}

int nrt_load(const void *neff, size_t n, int32_t core, int32_t cores, void **model)
{
	struct model *m;
	int status;

	ENTER(false);
	status = load(neff, n, core, &m);
	if (status != OK)
		return status;
	if (m->largest > 0)
		complain("nrt_load of a module that sums over replicas");
	(void)cores;
	*model = m;
	return OK;
}

/* Memory that all ranks have, by the name that they agree on; the first makes it. */
static struct ranks *meet(struct model *m)
{
	const char *id = getenv("NEURON_RT_ROOT_COMM_ID");
	size_t bytes = sizeof(struct ranks) + m->n_ranks * m->largest * sizeof(float);
	pthread_barrierattr_t shared;
	struct ranks *r;
	char *name = m->names[0], *ready = m->names[1];
	int fd;

	if (id == NULL)
		return NULL;
	snprintf(name, sizeof(m->names[0]) - 8, "/standin-nrt-%s-%zu", id, m->largest);
	for (char *c = name + 1; *c != '\0'; c++)
		*c = *c == '/' || *c == ':' ? '-' : *c;
	snprintf(ready, sizeof(m->names[1]), "%.150s.ready", name);
	fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd >= 0) {
		if (ftruncate(fd, (off_t)bytes) != 0)
			return NULL;
		r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		pthread_barrierattr_init(&shared);
		pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
		pthread_barrier_init(&r->barrier, &shared, m->n_ranks);
		close(fd);
		/* now it is whole: under its name */
		fd = shm_open(ready, O_RDWR | O_CREAT, 0600);
		close(fd);
		return r;
	}
	fd = shm_open(name, O_RDWR, 0600);
	for (int i = 0; i < 500; i++) {
		int seen = shm_open(ready, O_RDWR, 0600);

		if (seen >= 0) {
			close(seen);
			break;
		}
		usleep(10 * 1000);
	}
	r = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return r;
}

int nrt_load_collectives(const void *neff, size_t n, int32_t core, int32_t cores, uint32_t rank,
                         uint32_t ranks, void **model)
{
	struct model *m;
	int status;

	ENTER(false);
	status = load(neff, n, core, &m);
	if (status != OK)
		return status;
	(void)cores;
	m->rank = rank;
	m->n_ranks = ranks;
	m->ranks = rank < ranks ? meet(m) : NULL;
	if (m->ranks == NULL) {
		all.state.models--;
		free_model(m);
		return complain("nrt_load_collectives: rank %u of %u, or no root", rank, ranks);
	}
	*model = m;
	return OK;
}

static bool is_model(const void *p)
{
	return p != NULL && ((const struct model *)p)->kind == MODEL;
}

int nrt_unload(void *model)
{
	ENTER(false);
	if (!is_model(model))
		return complain("nrt_unload of what is no model");
	all.state.models--;
	free_model(model);
	return OK;
}

static void describe(struct nrt_tensor_info *to, const struct read_node *node, int usage, size_t i)
{
	snprintf(to->name, sizeof(to->name), "%s%zu", usage == 0 ? "input" : "output", i);
	to->usage = usage;
	to->size = 4 * read_elements(&node->shape);
	to->dtype = node->shape.type == READ_F32 ? 0xA : 9;
}

/* Results first, then inputs from the last to the first: a caller must not count on any order. */
int nrt_get_model_tensor_info(void *model, struct nrt_tensor_info_array **info)
{
	struct model *m = model;
	struct nrt_tensor_info *at;

	ENTER(false);
	if (!is_model(model))
		return INVALID_HANDLE;
	*info = calloc(1, sizeof(**info) + (m->n_inputs + m->n_results) * sizeof(*at));
	at = (*info)->at;
	for (size_t i = 0; i < m->n_results; i++)
		describe(at++, m->results[i], 1, i);
	for (size_t i = m->n_inputs; i-- > 0;)
		describe(at++, m->inputs[i], 0, i);
	(*info)->n = m->n_inputs + m->n_results;
	return OK;
}

int nrt_free_model_tensor_info(struct nrt_tensor_info_array *info)
{
	HOLD();
	all.state.calls++;
	free(info);
	return OK;
}

/* ---- tensors ---- */

int nrt_tensor_allocate(int place, int core, size_t bytes, const char *name, void **tensor)
{
	struct tensor *t;

	ENTER(false);
	if (place != 0 || core < 0 || core >= CORES || bytes == 0 || name == NULL)
		return complain("nrt_tensor_allocate: place %d, core %d, %zu bytes", place, core,
		                bytes);
	t = calloc(1, sizeof(*t));
	*t = (struct tensor){.kind = TENSOR, .core = core, .bytes = bytes, .data = malloc(bytes)};
	memset(t->data, 0xa5, bytes);
	all.state.tensors++;
	*tensor = t;
	return OK;
}

static bool is_tensor(const void *p)
{
	return p != NULL && ((const struct tensor *)p)->kind == TENSOR;
}

void nrt_tensor_free(void **tensor)
{
	struct tensor *t = *tensor;

	HOLD();
	all.state.calls++;
	if (!is_tensor(t) || t->read + t->written > 0) {
		complain("nrt_tensor_free of what is no tensor, or in use");
		return;
	}
	all.state.tensors--;
	t->kind = GONE;
	free(t->data);
	free(t);
	*tensor = NULL;
}

static int check_range(const char *call, const void *tensor, size_t at, size_t n, bool writes)
{
	const struct tensor *t = tensor;

	if (!is_tensor(tensor))
		return complain("%s of what is no tensor", call);
	if (t->written > 0 || (writes && t->read > 0))
		return complain("%s of a tensor that an execution %s", call,
		                t->written > 0 ? "writes" : "reads");
	if (n > t->bytes || at > t->bytes - n)
		return complain("%s: %zu bytes at %zu of %zu", call, n, at, t->bytes);
	return OK;
}

int nrt_tensor_write(void *tensor, const void *from, size_t at, size_t n)
{
	ENTER(false);
	if (check_range(__func__, tensor, at, n, true) != OK)
		return INVALID;
	memcpy(((struct tensor *)tensor)->data + at, from, n);
	return OK;
}

int nrt_tensor_read(const void *tensor, void *to, size_t at, size_t n)
{
	ENTER(false);
	if (check_range(__func__, tensor, at, n, false) != OK)
		return INVALID;
	memcpy(to, ((const struct tensor *)tensor)->data + at, n);
	return OK;
}

int nrt_tensor_copy(const void *from, size_t from_at, void *to, size_t to_at, size_t n)
{
	ENTER(false);
	if (check_range(__func__, from, from_at, n, false) != OK ||
	    check_range(__func__, to, to_at, n, true) != OK)
		return INVALID;
	if (from == to || ((const struct tensor *)from)->core != ((struct tensor *)to)->core)
		return complain("nrt_tensor_copy from one core to another, or to itself");
	memcpy(((struct tensor *)to)->data + to_at, ((const struct tensor *)from)->data + from_at,
	       n);
	return OK;
}

/* ---- sets ---- */

static bool is_set(const void *p)
{
	return p != NULL && ((const struct set *)p)->kind == SET;
}

int nrt_allocate_tensor_set(void **set)
{
	struct set *s;

	ENTER(false);
	s = calloc(1, sizeof(*s));
	s->kind = SET;
	all.state.sets++;
	*set = s;
	return OK;
}

void nrt_destroy_tensor_set(void **set)
{
	struct set *s = *set;

	HOLD();
	all.state.calls++;
	if (!is_set(s)) {
		complain("nrt_destroy_tensor_set of what is no set");
		return;
	}
	all.state.sets--;
	s->kind = GONE;
	free(s->at);
	free(s);
	*set = NULL;
}

int nrt_add_tensor_to_tensor_set(void *set, const char *name, void *tensor)
{
	struct set *s = set;

	ENTER(false);
	if (!is_set(set) || !is_tensor(tensor) || strlen(name) >= sizeof(s->at->name))
		return complain("nrt_add_tensor_to_tensor_set: %s", name);
	s->at = realloc(s->at, (s->n + 1) * sizeof(s->at[0]));
	snprintf(s->at[s->n].name, sizeof(s->at[0].name), "%s", name);
	s->at[s->n++].tensor = tensor;
	return OK;
}

static struct tensor *find(const struct set *s, const char *side, size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%zu", side, number);
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->at[i].name, name) == 0)
			return s->at[i].tensor;
	return NULL;
}

/* The memory of each of the values of one side. */
static int gather(const struct model *m, const struct set *s, const char *side,
                  const struct read_node *const *nodes, size_t n, void **ret)
{
	if (s->n != n)
		return complain("nrt_execute: %zu %ss for a model of %zu", s->n, side, n);
	for (size_t i = 0; i < n; i++) {
		struct tensor *t = find(s, side, i);

		if (t == NULL || !is_tensor(t) || t->core != m->core)
			return complain("nrt_execute: no %s%zu on core %d", side, i, m->core);
		if (t->bytes != 4 * read_elements(&nodes[i]->shape))
			return complain("nrt_execute: %s%zu has %zu bytes", side, i, t->bytes);
		ret[i] = t->data;
	}
	return OK;
}

static int check_apart(void *const *inputs, size_t n, void *const *results, size_t n_results)
{
	for (size_t i = 0; i < n_results; i++) {
		for (size_t k = 0; k < n; k++)
			if (inputs[k] == results[i])
				return complain("nrt_execute: output%zu is input%zu", i, k);
		for (size_t k = 0; k < i; k++)
			if (results[k] == results[i])
				return complain("nrt_execute: output%zu is output%zu", i, k);
	}
	return OK;
}

/* The sum over all ranks, in their order. */
static void sum(void *ctx, float *values, size_t n)
{
	const struct model *m = ctx;
	float *mine = m->ranks->values + m->rank * m->largest;

	memcpy(mine, values, n * sizeof(*values));
	pthread_barrier_wait(&m->ranks->barrier);
	for (size_t i = 0; i < n; i++) {
		float total = 0;

		for (uint32_t r = 0; r < m->n_ranks; r++)
			total += m->ranks->values[r * m->largest + i];
		values[i] = total;
	}
	pthread_barrier_wait(&m->ranks->barrier);
}

/* From now on, or no longer, an execution has the tensors of both sides. */
static void mark(const struct set *in, const struct set *out, unsigned change)
{
	for (size_t i = 0; i < in->n; i++)
		in->at[i].tensor->read += change;
	for (size_t i = 0; i < out->n; i++)
		out->at[i].tensor->written += change;
}

static bool is_free(const struct set *in, const struct set *out)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->at[i].tensor->written > 0)
			return false;
	for (size_t i = 0; i < out->n; i++)
		if (out->at[i].tensor->written + out->at[i].tensor->read > 0)
			return false;
	return true;
}

/* While it computes, other calls go on. */
static int compute(struct model *m, const struct set *in, const struct set *out, void **inputs,
                   void **results)
{
	struct run_replicas replicas = {m->ranks != NULL ? sum : NULL, m};
	bool ran;

	if (!is_free(in, out))
		return complain("nrt_execute on tensors that another execution has");
	mark(in, out, 1);
	pthread_mutex_unlock(&all.lock);
	ran = run_module(&m->module, (const void *const *)inputs, results, &replicas);
	pthread_mutex_lock(&all.lock);
	mark(in, out, -1U);
	return ran ? OK : complain("nrt_execute: %.200s", m->module.why);
}

static int execute(struct model *m, const struct set *in, const struct set *out)
{
	void **inputs = calloc(m->n_inputs + 1, sizeof(*inputs));
	void **results = calloc(m->n_results + 1, sizeof(*results));
	int status = gather(m, in, "input", m->inputs, m->n_inputs, inputs);

	if (status == OK)
		status = gather(m, out, "output", m->results, m->n_results, results);
	if (status == OK)
		status = check_apart(inputs, m->n_inputs, results, m->n_results);
	if (status == OK)
		status = compute(m, in, out, inputs, results);
	free(inputs);
	free(results);
	return status;
}

/* As a device that computes one sum wrongly. */
static void spoil(const struct set *out)
{
	for (size_t i = 0; i < out->n; i++) {
		float *value = (float *)(void *)out->at[i].tensor->data;

		*value = *value * 1.5F + 0.1F;
	}
}

int nrt_execute(void *model, const void *inputs, void *outputs)
{
	ENTER(false);
	if (!is_model(model) || !is_set(inputs) || !is_set(outputs))
		return complain("nrt_execute of what is no model or no set");
	all.state.executions++;
	entered = execute(model, inputs, outputs);
	if (entered == OK && getenv("STANDIN_NRT_WRONG") != NULL)
		spoil(outputs);
	return entered == OK && all.state.executions == all.fail_execution ? all.status : entered;
}
