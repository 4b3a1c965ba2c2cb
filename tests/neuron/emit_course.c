#include "tests/neuron/emit_course.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/checkpoint/safetensors.h"

enum { NAME_MAX_VALUE = 32 };

void emit_file(const char *dir, const char *name, const char *end, const void *bytes, size_t n)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, end);
	f = fopen(path, "wb");
	if (f == NULL || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

static void list(struct strbuf *to, const struct neuron_net *n, const char *key,
                 const struct neuron_value *values, size_t count)
{
	strbuf_addf(to, ", \"%s\": [", key);
	for (size_t i = 0; i < count; i++) {
		bool tensor = values[i].kind <= NEURON_AVERAGE;

		strbuf_addf(to, "%s[%d, %zu, \"%s\"]", i > 0 ? ", " : "", (int)values[i].kind,
		            values[i].index, tensor ? n->table.at[values[i].index].name : "");
	}
	strbuf_addc(to, ']');
}

void emit_order(const struct neuron_net *n, unsigned replicas, struct strbuf *to)
{
	strbuf_addf(to, "{\"replicas\": %u", replicas);
	list(to, n, "inputs", n->inputs.at, n->inputs.n);
	list(to, n, "results", n->results.at, n->results.n);
	strbuf_adds(to, "}\n");
}

/* What goes into one file. */
struct record {
	struct st_item *items;
	char (*names)[NAME_MAX_VALUE];
	size_t n;
};

static void add(struct record *r, const char *what, unsigned replica, size_t i,
                const struct hlo_shape *s, const void *data)
{
	struct st_item *item = &r->items[r->n];

	snprintf(r->names[r->n], NAME_MAX_VALUE, "%s.%u.%zu", what, replica, i);
	*item = (struct st_item){.name = r->names[r->n++],
	                         .dtype = s->type == HLO_F32 ? ST_F32 : ST_I32,
	                         .ndim = (int)s->rank,
	                         .data = data};
	for (unsigned d = 0; d < s->rank; d++)
		item->shape[d] = (size_t)s->dim[d];
}

static void add_all(struct record *r, const char *what, const struct execution *e, unsigned replica)
{
	bool given = strcmp(what, "in") == 0;
	const struct neuron_value *at = given ? e->net.inputs.at : e->net.results.at;
	size_t n = given ? e->net.inputs.n : e->net.results.n;
	void *const *values = given ? e->inputs[replica] : e->results[replica];

	for (size_t i = 0; i < n; i++)
		add(r, what, replica, i, hlo_shape_of(&e->net.graph, at[i].value), values[i]);
}

static void add_expected(struct record *r, const struct execution *e)
{
	for (size_t i = 0; i < e->net.results.n; i++) {
		struct hlo_shape flat = {.type = HLO_F32, .rank = 1};

		flat.dim[0] = (int64_t)execution_values(e, i);
		if (e->expected[i] != NULL)
			add(r, "cpu", 0, i, &flat, e->expected[i]);
	}
}

static void emit_values(const char *path, const struct execution *e)
{
	size_t most = (e->net.inputs.n + 2 * e->net.results.n) * e->replicas;
	struct record r = {.items = mem_calloc(most, sizeof(*r.items)),
	                   .names = mem_calloc(most, NAME_MAX_VALUE)};
	struct err err = {0};

	for (unsigned i = 0; i < e->replicas; i++) {
		add_all(&r, "in", e, i);
		add_all(&r, "out", e, i);
	}
	add_expected(&r, e);
	if (st_write(path, r.items, r.n, &err) != 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	free(r.items);
	free(r.names);
}

void emit_course(const char *dir, const struct course *c)
{
	emit_file(dir, "what", "", c->what, strlen(c->what));
	for (size_t i = 0; i < c->n; i++) {
		const struct execution *e = &c->of[i];
		struct strbuf order = {0};
		char name[32], path[PATH_MAX];

		snprintf(name, sizeof(name), "%zu", i);
		snprintf(path, sizeof(path), "%s/%s.safetensors", dir, name);
		emit_order(&e->net, e->replicas, &order);
		emit_file(dir, name, ".hlo.pb", e->bytes.ptr, e->bytes.len);
		emit_file(dir, name, ".hlo.txt", e->text.ptr, e->text.len);
		emit_file(dir, name, ".json", order.ptr, order.len);
		emit_values(path, e);
		strbuf_done(&order);
	}
}
