/* Time zones and locales, from folders and from a package. */
#include "base/text.h"
#include "builder/layer/source/source_data.h"
#include "tests/source_make.h"
#include "tests/tar_make.h"

/* ---- time zones ---- */

static void make_zones(struct source_fixture *f)
{
	put(f, "usr/share/zoneinfo/Europe/Berlin", "TZif Berlin");
	put(f, "usr/share/zoneinfo/Europe/Rome", "TZif Rome");
	put(f, "usr/share/zoneinfo/Etc/UTC", "TZif UTC");
	put(f, "usr/share/zoneinfo/tzdata.zi", "# table");
	put(f, "usr/share/zoneinfo/right/UTC", "TZif right");
	put(f, "usr/share/zoneinfo/posix/UTC", "TZif posix");
	put_link(f, "usr/share/zoneinfo/UTC", "Etc/UTC");
	put_link(f, "usr/share/zoneinfo/Europe/Vatican", "Rome");
	put_link(f, "usr/share/zoneinfo/Europe/Gone", "Nowhere");
	put_link(f, "usr/share/zoneinfo/localtime", "/etc/localtime");
}

static void add_zones(struct source_fixture *f, const char *zone, const char **globs, size_t n)
{
	f->layer.timezone = zone;
	f->layer.timezone_at = here;
	f->layer.zones.from = f->dir;
	if (globs != NULL)
		f->layer.zones = (struct layer_zones){
			.at = here, .enabled = true, .from = f->dir, .zones = {globs, n}};
	CHECK_OK(source_zones_add(&f->tree, &f->layer, &f->platform, &f->diags, &f->err), &f->err);
}

static void a_zone_alone_is_one_file(void)
{
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, "Europe/Vatican", NULL, 0);
	CHECK_STR(listing(&f),
	          "etc/localtime>/usr/share/zoneinfo/Europe/Vatican|etc/timezone=Europe/Vatican\n|"
	          "usr/share/zoneinfo/Europe/Vatican=TZif Rome");
	CHECK_INT(f.diags.n, 0);
}

static void all_zones_keep_their_links(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *globs[] = {""};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, "UTC", globs, 0);
	CHECK_STR(listing(&f),
	          "etc/localtime>/usr/share/zoneinfo/UTC|etc/timezone=UTC\n|"
	          "usr/share/zoneinfo/Etc/UTC=TZif UTC|"
	          "usr/share/zoneinfo/Europe/Berlin=TZif Berlin|"
	          "usr/share/zoneinfo/Europe/Rome=TZif Rome|"
	          "usr/share/zoneinfo/Europe/Vatican>Rome|"
	          "usr/share/zoneinfo/UTC>Etc/UTC|usr/share/zoneinfo/tzdata.zi=# table");
	CHECK_INT(f.diags.n, 0);
}

static void globs_choose_zones(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *globs[] = {"Europe/V*", "UTC"};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, NULL, globs, 2);
	/* "UTC" without '/' is a name at any depth. */
	CHECK_STR(listing(&f), "usr/share/zoneinfo/Etc/UTC=TZif UTC|"
	                       "usr/share/zoneinfo/Europe/Vatican=TZif Rome|"
	                       "usr/share/zoneinfo/UTC>Etc/UTC");
	CHECK_INT(f.diags.n, 0);
}

static void unknown_zones_are_problems(void)
{
	static const struct {
		const char *zone, *hint;
	} rows[] = {{"Europe/Berlim", "did you mean 'Europe/Berlin'?"},
	            {"tzdata.zi", NULL},
	            {"Europe/Gone", NULL},
	            {"Europe", NULL}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct source_fixture f;

		fixture_init(&f);
		make_zones(&f);
		add_zones(&f, rows[i].zone, NULL, 0);
		CHECK_STR(problem(&f),
		          arena_printf(
				  &f.arena,
				  "layer 'data': time zone '%s' is not in the tz database of '%s'",
				  rows[i].zone, f.dir));
		if (rows[i].hint != NULL && f.diags.n > 0)
			CHECK_STR(f.diags.at[0].hint, rows[i].hint);
	}
}

static void a_glob_without_a_match_is_a_problem(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *globs[] = {"Africa/*"};

	fixture_init(&f);
	make_zones(&f);
	add_zones(&f, NULL, globs, 1);
	CHECK(strstr(problem(&f), "matches 'Africa/*'") != NULL);
}

static void a_missing_database_names_the_package(void)
{
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	add_zones(&f, "UTC", NULL, 0);
	CHECK(strstr(problem(&f), "has no tz database") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "apt-get install tzdata") != NULL);
}

static void a_link_out_of_the_folder_is_not_followed(void)
{
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	put(&f, "secret", "TZif secret");
	put(&f, "root/usr/share/zoneinfo/UTC", "TZif UTC");
	put_link(&f, "root/usr/share/zoneinfo/Out", "../../../../secret");
	f.layer.timezone = "Out";
	f.layer.timezone_at = here;
	f.layer.zones.from = in_dir(&f, "root");
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(strstr(problem(&f), "time zone 'Out' is not in the tz database") != NULL);
	CHECK(strstr(listing(&f), "secret") == NULL);
}

/* ---- locales ---- */

static void add_locales(struct source_fixture *f, const char *const *names, size_t n)
{
	f->layer.locales = arena_calloc(&f->arena, n, sizeof(*f->layer.locales));
	f->layer.n_locales = n;
	for (size_t i = 0; i < n; i++)
		f->layer.locales[i] =
			(struct layer_locale){.at = here, .name = names[i], .from = f->dir};
	CHECK_OK(source_locales_add(&f->tree, &f->layer, &f->platform, &f->diags, &f->err),
	         &f->err);
}

static void a_locale_is_its_folder_with_links_resolved(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *const names[] = {"de_DE.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_TIME", "time");
	put(&f, "usr/lib/locale/de_AT.utf8/LC_CTYPE", "types");
	put_link(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "../de_AT.utf8/LC_CTYPE");
	put(&f, "usr/lib/locale/de_DE.utf8/LC_MESSAGES/SYS_LC_MESSAGES", "yes");
	add_locales(&f, names, 1);
	CHECK_STR(listing(&f), "usr/lib/locale/de_DE.utf8/LC_CTYPE=types|"
	                       "usr/lib/locale/de_DE.utf8/LC_MESSAGES/SYS_LC_MESSAGES=yes|"
	                       "usr/lib/locale/de_DE.utf8/LC_TIME=time");
	CHECK_INT(f.diags.n, 0);
}

static void locales_are_found_as_glibc_names_them(void)
{
	static const struct {
		const char *name, *folder;
	} rows[] = {{"de_DE.UTF-8@euro", "de_DE.utf8@euro"},  {"de_DE", "de_DE"},
	            {"de_DE.8859-1", "de_DE.iso88591"},       {"de_DE@euro", "de_DE@euro"},
	            {"de_DE.ISO-8859-15", "de_DE.iso885915"}, {"de_DE.UTF-8", "de_DE.UTF-8"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct source_fixture f;

		fixture_init(&f);
		put(&f, arena_printf(&f.arena, "usr/lib/locale/%s/LC_CTYPE", rows[i].folder), "x");
		add_locales(&f, &rows[i].name, 1);
		CHECK_STR(listing(&f),
		          arena_printf(&f.arena, "usr/lib/locale/%s/LC_CTYPE=x", rows[i].folder));
	}
}

static void a_locale_is_listed_once(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "x");
	add_locales(&f, names, 2);
	CHECK_STR(problem(&f),
	          "layer 'data': locale 'de_DE.utf8' is listed twice (first in line 5)");
}

static void a_missing_locale_names_the_package(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *const names[] = {"fr_FR.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/locale-archive", "x");
	add_locales(&f, names, 1);
	CHECK(strstr(problem(&f), "locale 'fr_FR.UTF-8' is not in /usr/lib/locale of") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "locale-archive") != NULL);
}

static void c_utf8_is_of_another_package(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *const names[] = {"C.UTF-8"};

	fixture_init(&f);
	add_locales(&f, names, 1);
	CHECK(strstr(problem(&f), "locale 'C.UTF-8' is not in") != NULL);
	CHECK(f.diags.n == 1 && strstr(f.diags.at[0].hint, "libc-bin") != NULL);
}

static void a_locale_that_leads_nowhere_is_a_problem(void)
{
	AUTO(fixture) struct source_fixture f;
	const char *const names[] = {"de_DE.UTF-8"};

	fixture_init(&f);
	put(&f, "usr/lib/locale/de_DE.utf8/LC_CTYPE", "x");
	put_link(&f, "usr/lib/locale/de_DE.utf8/LC_TIME", "../de_AT.utf8/LC_TIME");
	add_locales(&f, names, 1);
	CHECK(strstr(problem(&f), "leads to no file") != NULL);
}

/* ---- packages ---- */

static void ar_add(struct strbuf *ar, const char *name, const struct strbuf *part)
{
	strbuf_addf(ar, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", part->len);
	strbuf_add(ar, part->ptr, part->len);
	if (part->len % 2 == 1)
		strbuf_addc(ar, '\n');
}

/* A package of locales: a link, a hard link, and a file of somewhere else. */
static const char *make_deb(struct source_fixture *f)
{
	AUTO(strbuf) struct strbuf control = STRBUF_INIT(MAX), data = STRBUF_INIT(MAX);
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX), version = STRBUF_INIT(MAX);

	strbuf_adds(&version, "2.0\n");
	tar_make_file(&control, "./control",
	              "Package: locales-all\nVersion: 1\nArchitecture: all\n");
	tar_make_end(&control);
	tar_make_file(&data, "./usr/share/doc/x", "doc");
	/* Its mode and owner must not show. */
	tar_make_add(&data, &(struct tar_make){.name = "./usr/lib/locale/aa_DJ.utf8/LC_CTYPE",
	                                       .type = '0',
	                                       .mode = 04751,
	                                       .uid = 7,
	                                       .content = "types",
	                                       .len = 5});
	tar_make_add(&data, &(struct tar_make){.name = "./usr/lib/locale/de_DE.utf8/LC_CTYPE",
	                                       .type = '2',
	                                       .link = "../aa_DJ.utf8/LC_CTYPE"});
	tar_make_add(&data, &(struct tar_make){.name = "./usr/lib/locale/de_DE.utf8/LC_TIME",
	                                       .type = '1',
	                                       .link = "./usr/lib/locale/aa_DJ.utf8/LC_CTYPE"});
	tar_make_end(&data);
	strbuf_adds(&deb, "!<arch>\n");
	ar_add(&deb, "debian-binary", &version);
	ar_add(&deb, "control.tar", &control);
	ar_add(&deb, "data.tar", &data);
	CHECK_OK(fs_write_file(in_dir(f, "x.deb"), deb.ptr, deb.len, 0644, &f->err), &f->err);
	return in_dir(f, "x.deb");
}

static void a_package_is_read_like_a_folder(void)
{
	AUTO(fixture) struct source_fixture f;
	struct layer_locale locale = {.at = here, .name = "de_DE.UTF-8"};

	fixture_init(&f);
	locale.from = make_deb(&f);
	f.layer.locales = &locale;
	f.layer.n_locales = 1;
	CHECK_OK(source_locales_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK_STR(listing(&f), "usr/lib/locale/de_DE.utf8/LC_CTYPE=types|"
	                       "usr/lib/locale/de_DE.utf8/LC_TIME=types");
	CHECK_INT(f.diags.n, 0);
}

static void a_package_without_the_data_is_a_problem(void)
{
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	f.layer.timezone = "UTC";
	f.layer.timezone_at = here;
	f.layer.zones.from = make_deb(&f);
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(strstr(problem(&f), "x.deb' has no tz database") != NULL);
}

static void an_origin_that_is_not_there_is_a_problem(void)
{
	AUTO(fixture) struct source_fixture f;

	fixture_init(&f);
	f.layer.timezone = "UTC";
	f.layer.timezone_at = here;
	f.layer.zones.from = in_dir(&f, "nowhere");
	CHECK_OK(source_zones_add(&f.tree, &f.layer, &f.platform, &f.diags, &f.err), &f.err);
	CHECK(text_has_suffix(problem(&f), "nowhere' does not exist"));
}

int main(void)
{
	TEST("data: a time zone alone is one file, also where it is a link",
	     a_zone_alone_is_one_file);
	TEST("data: all zones keep their links; posix, right and localtime stay out",
	     all_zones_keep_their_links);
	TEST("data: globs choose zones, and a link to what is not chosen becomes a file",
	     globs_choose_zones);
	TEST("data: an unknown time zone is a problem, and a near one is named",
	     unknown_zones_are_problems);
	TEST("data: a glob without a match is a problem", a_glob_without_a_match_is_a_problem);
	TEST("data: a missing tz database names the package", a_missing_database_names_the_package);
	TEST("data: a link out of the folder is not followed",
	     a_link_out_of_the_folder_is_not_followed);
	TEST("data: a locale is its folder, links to other locales resolved",
	     a_locale_is_its_folder_with_links_resolved);
	TEST("data: locales are found as glibc names their folders",
	     locales_are_found_as_glibc_names_them);
	TEST("data: two names of one locale are a problem", a_locale_is_listed_once);
	TEST("data: a missing locale names the package, and says what locale-archive is",
	     a_missing_locale_names_the_package);
	TEST("data: C.UTF-8 is of the package libc-bin", c_utf8_is_of_another_package);
	TEST("data: a locale with a link to nothing is a problem",
	     a_locale_that_leads_nowhere_is_a_problem);
	TEST("data: a package is read like a folder", a_package_is_read_like_a_folder);
	TEST("data: a package without the data is a problem",
	     a_package_without_the_data_is_a_problem);
	TEST("data: an origin that is not there is a problem",
	     an_origin_that_is_not_there_is_a_problem);
	return test_done();
}
