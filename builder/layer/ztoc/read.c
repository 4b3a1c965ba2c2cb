/* See read.h. */
#include "builder/layer/ztoc/read.h"

#include "base/interrupt.h"
#include "builder/layer/ztoc/spans.h"
#include "builder/layer/ztoc/toc.h"

enum { DRAIN_BYTES = 64 << 10 };

/* What follows the tar's end: padding to whole records, mostly. */
static int drain(struct source *s, struct err *err)
{
	AUTO_FREE unsigned char *buf = mem_calloc(1, DRAIN_BYTES);
	size_t n = 1;

	while (n > 0)
		if (source_read(s, buf, DRAIN_BYTES, &n, err) != 0)
			return -1;
	return 0;
}

/* What a reader of members never asks: whether somebody wants to stop. */
struct stoppable {
	struct source source;
	struct source *in;
};

static int stoppable_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	if (interrupt_check(err) != 0)
		return -1;
	return source_read(((struct stoppable *)s)->in, buf, cap, ret_n, err);
}

int ztoc_read(struct source *packed, struct ztoc *z, struct err *err)
{
	struct stoppable stoppable = {{.read = stoppable_read}, packed};
	struct source *tar = spans_reader(&stoppable.source, z);
	int rc = toc_of_tar(tar, z, err);

	if (rc == 0)
		rc = drain(tar, err);
	source_close(tar);
	return rc;
}
