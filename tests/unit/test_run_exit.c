/* How runs end: the table, and the page that explains it. */
#include "base/fs.h"
#include "base/run_exit.h"
#include "tests/harness.h"

static void rows(void)
{
	int before = -1;

	for (unsigned i = 0; run_exit_at(i) != NULL; i++) {
		CHECK(run_exit_at(i)->status > before);
		before = run_exit_at(i)->status;
		CHECK(run_exit_find(before) == run_exit_at(i));
	}
	CHECK_INT(before, RUN_EXIT_BAD_INPUT);
	CHECK(run_exit_find(3) == NULL);
	CHECK(run_exit_find(RUN_EXIT_MEMORY)->hopeless);
	CHECK(!run_exit_find(RUN_EXIT_STOPPED)->hopeless);
}

static void documented(void)
{
	AUTO(strbuf) struct strbuf page = STRBUF_INIT(0);
	struct err err = {0};

	CHECK_OK(fs_read_file("docs/TRAINING.md", 1 << 20, &page, &err), &err);
	for (unsigned i = 0; run_exit_at(i) != NULL; i++) {
		const struct run_exit_row *row = run_exit_at(i);
		char line[256];

		snprintf(line, sizeof(line), "| %d | %s | %s|\n", row->status, row->meaning,
		         row->status == 0 ? ""
		         : row->hopeless  ? "no "
		                          : "yes ");
		CHECK(strstr(strbuf_str(&page), line) != NULL);
	}
}

int main(void)
{
	TEST("run exits: ascending, each found by its status", rows);
	TEST("run exits: docs/TRAINING.md has every row as the table says", documented);
	return test_done();
}
