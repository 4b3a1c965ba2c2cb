#include "builder/oci/weighed.h"

#include "base/mem.h"

struct weighed {
	struct source source;
	struct source *in;
	struct budget *budget;
};

static int weighed_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct weighed *w = (struct weighed *)s;

	if (source_read(w->in, buf, cap, ret_n, err) != 0)
		return -1;
	budget_earn(w->budget, (int64_t)*ret_n);
	return 0;
}

static void weighed_close(struct source *s)
{
	source_close(((struct weighed *)s)->in);
	free(s);
}

struct source *source_weighed(struct source *in, struct budget *budget)
{
	struct weighed *w = mem_zalloc(sizeof(*w));

	*w = (struct weighed){{weighed_read, weighed_close}, in, budget};
	return &w->source;
}
