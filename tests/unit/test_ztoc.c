#include <fcntl.h>

#include "base/doc/json.h"
#include "base/fs.h"
#include "builder/layer/ztoc/read.h"
#include "tests/harness.h"

static int print_of(const char *path, int64_t span, const char *tool, struct strbuf *ret,
                    struct err *err)
{
	AUTO(ztoc) struct ztoc z = {0};
	struct source *in = source_from_fd(open(path, O_RDONLY | O_CLOEXEC));
	int rc;

	ztoc_init(&z, span);
	rc = ztoc_read(in, &z, err);
	source_close(in);
	return rc == 0 ? ztoc_print(&z, tool, ret, err) : -1;
}

static const char golden[] = "tests/golden/ztoc";

/* "NAME SPAN DIGEST", as tests/golden/ztoc/make wrote it. */
static void check_row(const char *row)
{
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0);
	char name[64], want[DIGEST_TEXT_MAX], path[128], text[DIGEST_TEXT_MAX];
	struct err err = {0};
	struct digest digest;
	long long span;

	CHECK(sscanf(row, "%63s %lld %71s", name, &span, want) == 3);
	snprintf(path, sizeof(path), "%s/%s.tar.gz", golden, name);
	if (print_of(path, span, "slipway", &got, &err) != 0) {
		printf("# %s: %s\n", name, err.msg);
		CHECK(!"a zTOC");
		return;
	}
	digest = digest_of(got.ptr, got.len);
	CHECK_STR(digest_text(&digest, text), want);
}

static void equals_golden(void)
{
	char row[256], path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/expect", golden);
	f = fopen(path, "re");
	CHECK(f != NULL);
	while (f != NULL && fgets(row, sizeof(row), f) != NULL) {
		check_row(row);
		n++;
	}
	CHECK(n >= 8);
	if (f != NULL)
		fclose(f);
}

/* Of a folder with manifest.json: [{"name": , "input": , "span": }], and NAME.ztoc. */
static void check_vector(const char *dir, const cJSON *row)
{
	AUTO(strbuf) struct strbuf want = STRBUF_INIT(0), got = STRBUF_INIT(0);
	const char *name = json_string(row, "name"), *input = json_string(row, "input");
	struct err err = {0};
	char path[PATH_MAX];
	const cJSON *span = json_get(row, "span");

	snprintf(path, sizeof(path), "%s/%s.ztoc", dir, name);
	CHECK(fs_read_file(path, 8 << 20, &want, &err) == 0);
	snprintf(path, sizeof(path), "%s/%s", dir, input);
	CHECK(print_of(path, (int64_t)span->valuedouble, "soci-oracle", &got, &err) == 0);
	CHECK(got.len == want.len && memcmp(got.ptr, want.ptr, got.len) == 0);
	if (!test_state.ok)
		printf("# %s %s\n", name, err.msg);
}

static void equals_vectors(void)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(json) cJSON *rows = NULL;
	const char *dir = getenv("SLIPWAY_SOCI_VECTORS");
	struct err err = {0};
	char path[PATH_MAX];
	const cJSON *row;

	if (dir == NULL)
		SKIP("set SLIPWAY_SOCI_VECTORS to a folder of SOCI's test vectors");
	snprintf(path, sizeof(path), "%s/manifest.json", dir);
	CHECK(fs_read_file(path, 1 << 20, &text, &err) == 0);
	CHECK(json_parse(path, text.ptr, text.len, &rows, &err) == 0);
	CHECK(cJSON_GetArraySize(rows) > 0);
	cJSON_ArrayForEach (row, rows)
		check_vector(dir, row);
}

/* Cut anywhere, a layer is refused and nothing else happens. */
static void refuses_cut_layers(void)
{
	AUTO(strbuf) struct strbuf whole = STRBUF_INIT(0);
	struct err err = {0};
	char path[64];

	snprintf(path, sizeof(path), "%s/kinds.tar.gz", golden);
	CHECK(fs_read_file(path, 1 << 20, &whole, &err) == 0);
	for (size_t len = 0; len < whole.len; len++) {
		AUTO(ztoc) struct ztoc z = {0};
		struct source *in = source_from_bytes(whole.ptr, len);

		err = (struct err){0};
		ztoc_init(&z, 4096);
		CHECK(ztoc_read(in, &z, &err) != 0);
		CHECK(err.code == ERR_FORMAT);
		source_close(in);
	}
}

int main(void)
{
	TEST("ztoc: equal, byte for byte, to those of SOCI's own builder", equals_golden);
	TEST("ztoc: equal to SOCI's test vectors", equals_vectors);
	TEST("ztoc: a layer cut anywhere is refused", refuses_cut_layers);
	return test_done();
}
