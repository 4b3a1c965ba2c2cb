/* rpm's database: headers, and SQLite files that are none of rpm's. */
#include <sqlite3.h>

#include "builder/sbom/rpm.h"
#include "builder/sbom/rpm_header.h"
#include "tests/harness.h"

/* ---- headers made by hand ---- */

struct header {
	uint8_t tags[16 * 16], store[512], bytes[1024];
	size_t n_tags, len, n_bytes;
};

static void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void add(struct header *h, uint32_t tag, uint32_t type, uint32_t count, const void *value,
                size_t len)
{
	uint8_t *t = h->tags + 16 * h->n_tags++;

	put32(t, tag);
	put32(t + 4, type);
	put32(t + 8, (uint32_t)h->len);
	put32(t + 12, count);
	memcpy(h->store + h->len, value, len);
	h->len += len;
}

static void add_text(struct header *h, uint32_t tag, const char *text)
{
	add(h, tag, 6, 1, text, strlen(text) + 1);
}

static void finish(struct header *h)
{
	put32(h->bytes, (uint32_t)h->n_tags);
	put32(h->bytes + 4, (uint32_t)h->len);
	memcpy(h->bytes + 8, h->tags, 16 * h->n_tags);
	memcpy(h->bytes + 8 + 16 * h->n_tags, h->store, h->len);
	h->n_bytes = 8 + 16 * h->n_tags + h->len;
}

/* bash, epoch 1, with /usr/bin/bash and /etc/bashrc. */
static void make_bash(struct header *h)
{
	uint8_t numbers[8];

	*h = (struct header){0};
	add_text(h, RPM_NAME, "bash");
	add_text(h, RPM_VERSION, "5.2");
	add_text(h, RPM_RELEASE, "1.amzn2023");
	add_text(h, RPM_ARCH, "x86_64");
	add_text(h, RPM_SOURCERPM, "bash-5.2-1.amzn2023.src.rpm");
	put32(numbers, 1);
	add(h, RPM_EPOCH, 4, 1, numbers, 4);
	put32(numbers, 1);
	put32(numbers + 4, 0);
	add(h, RPM_DIRINDEXES, 4, 2, numbers, 8);
	add(h, RPM_BASENAMES, 8, 2, "bash\0bashrc", 12);
	add(h, RPM_DIRNAMES, 8, 2, "/etc/\0/usr/bin/", 16);
	finish(h);
}

/* ---- reading ---- */

struct reading {
	struct arena arena;
	struct inventory inv;
	struct strbuf paths;
	struct database_reader to;
};

static void reading_done(struct reading *r)
{
	inventory_done(&r->inv);
	strbuf_done(&r->paths);
	arena_done(&r->arena);
}

static void owned(void *ctx, const struct sbom_package *p, const char *path, size_t len)
{
	struct reading *r = ctx;

	strbuf_addf(&r->paths, "%s:%.*s ", p->name, (int)len, path);
}

static void begin(struct reading *r)
{
	*r = (struct reading){.paths = STRBUF_INIT(0)};
	r->inv.arena = &r->arena;
	r->to = (struct database_reader){
		.inv = &r->inv, .path = "/var/lib/rpm/rpmdb.sqlite", .owns = owned, .ctx = r};
}

static void reads_a_header(void)
{
	AUTO(reading) struct reading r;
	struct header h;

	begin(&r);
	make_bash(&h);
	CHECK(rpm_read_header(&r.to, h.bytes, h.n_bytes));
	CHECK_INT(r.inv.packages.n, 1);
	const struct sbom_package *p = r.inv.packages.at[0];

	CHECK_STR(p->name, "bash");
	CHECK_STR(p->version, "1:5.2-1.amzn2023");
	CHECK_STR(p->architecture, "x86_64");
	CHECK_STR(p->source, "bash-5.2-1.amzn2023.src.rpm");
	CHECK_STR(strbuf_str(&r.paths), "bash:usr/bin/bash bash:etc/bashrc ");
}

static void keys_are_no_packages(void)
{
	AUTO(reading) struct reading r;
	struct header h = {0};

	begin(&r);
	add_text(&h, RPM_NAME, "gpg-pubkey");
	add_text(&h, RPM_VERSION, "1");
	add_text(&h, RPM_RELEASE, "2");
	finish(&h);
	CHECK(rpm_read_header(&r.to, h.bytes, h.n_bytes));
	CHECK_INT(r.inv.packages.n, 0);
}

/* Every header that is cut off, and every byte of its tags set to the greatest. */
static void a_broken_header_reads_nothing_behind_it(void)
{
	struct header h;

	make_bash(&h);
	for (size_t n = 0; n < h.n_bytes; n++) {
		AUTO(reading) struct reading r;
		AUTO_FREE uint8_t *cut = mem_zalloc(n);

		begin(&r);
		memcpy(cut, h.bytes, n);
		CHECK(!rpm_read_header(&r.to, cut, n));
	}
	for (size_t i = 0; i < 8 + 16 * h.n_tags; i++) {
		AUTO(reading) struct reading r;
		AUTO_FREE uint8_t *changed = mem_zalloc(h.n_bytes);

		begin(&r);
		memcpy(changed, h.bytes, h.n_bytes);
		changed[i] = 0xff;
		if (rpm_read_header(&r.to, changed, h.n_bytes))
			CHECK_STR(r.inv.packages.at[0]->name, "bash");
	}
}

/* ---- SQLite ---- */

/* A database that these statements make, read. */
static void read_sql(struct reading *r, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_int64 n = 0;

	CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	unsigned char *bytes = sqlite3_serialize(db, "main", &n, 0);

	begin(r);
	rpm_read_sqlite(&r->to, (const char *)bytes, (size_t)n);
	sqlite3_free(bytes);
	sqlite3_close(db);
}

static void what_is_no_database_of_rpm_is_a_gap(void)
{
	static const char *const wrong[] = {
		"CREATE TABLE other (x)",
		"CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, other)",
		"CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB);"
		"INSERT INTO Packages VALUES (1, x'00')",
		"CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB);"
		"INSERT INTO Packages VALUES (1, NULL)",
		/* A view that never ends. */
		"CREATE VIEW Packages AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
		"FROM c) SELECT n AS hnum, x'00' AS blob FROM c",
	};
	static const char junk[] = "SQLite format 3\0 and nothing that follows from it";

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		AUTO(reading) struct reading r;

		read_sql(&r, wrong[i]);
		CHECK_INT(r.inv.packages.n, 0);
		CHECK_INT(r.inv.gaps.n, 1);
	}
	for (size_t n = 0; n < sizeof(junk); n++) {
		AUTO(reading) struct reading r;

		begin(&r);
		rpm_read_sqlite(&r.to, junk, n);
		CHECK_INT(r.inv.gaps.n, 1);
	}
}

int main(void)
{
	TEST("rpm: a header is a package with its files", reads_a_header);
	TEST("rpm: keys that rpm trusts are not packages", keys_are_no_packages);
	TEST("rpm: a broken header reads nothing behind it",
	     a_broken_header_reads_nothing_behind_it);
	TEST("rpm: a file that is not rpm's database is a gap",
	     what_is_no_database_of_rpm_is_a_gap);
	return test_done();
}
