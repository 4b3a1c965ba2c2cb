/* Several images in a spec, options over it, durations, and what an argument names. */
#include "tests/harness.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "builder/image/image.h"
#include "builder/spec/spec.h"
#include "builder/spec/spec_internal.h"

#define HEAD   "apiVersion: slipway/v1\nname: sample\n"
#define LAYERS "layers: [{files: [{directory: /x}]}]"

struct load {
	struct arena arena;
	struct diags diags;
	struct err err;
	struct spec *spec;
};

static void load_done(struct load *l)
{
	diags_done(&l->diags);
	arena_done(&l->arena);
}

static int load_over(struct load *l, const char *text, const struct spec_over *over)
{
	char dir[4096], path[4200];
	struct err err = {0};

	*l = (struct load){0};
	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.yaml", dir);
	CHECK_OK(fs_write_file(path, text, strlen(text), 0644, &err), &err);
	int status = spec_load_over(path, NULL, 0, over, &l->arena, &l->spec, &l->diags, &l->err);

	CHECK_OK(fs_remove_tree(dir, &err), &err);
	return status;
}

#define TWO                                                                                        \
	HEAD "images:\n  train: {repository: r.example.com/train, tags: [t1], " LAYERS             \
	     "}\n  serve: {repository: r.example.com/serve, tags: [s1], " LAYERS "}\n"

static void chooses_the_image(void)
{
	AUTO(load) struct load l;
	struct err err = {0};

	CHECK_OK(load_over(&l, TWO, NULL), &l.err);
	if (l.spec == NULL)
		return;
	CHECK(!l.spec->image_known);
	CHECK_STR(l.spec->image.name, "train");
	CHECK_OK(spec_select(l.spec, "serve", &err), &err);
	CHECK_STR(l.spec->image.tags.at[0], "s1");
	CHECK_STR(spec_image_dir(&l.spec->image, "out", &l.arena), "out/serve");
	CHECK(spec_select(l.spec, "serv", &err) != 0);
	CHECK_INT(err.code, ERR_USAGE);
	CHECK_STR(err.hint, "write train or serve");
}

static void an_image_alone_has_no_name(void)
{
	AUTO(load) struct load l;
	struct err err = {0};

	CHECK_OK(load_over(&l, HEAD "image: {" LAYERS "}\n", NULL), &l.err);
	if (l.spec == NULL)
		return;
	CHECK(l.spec->image_known);
	CHECK_STR(spec_image_dir(&l.spec->image, "out", &l.arena), "out");
	CHECK(spec_select(l.spec, ".", &err) != 0);
	CHECK(strstr(err.hint, "leave '.' out") != NULL);
}

static struct strlist list(const char **texts)
{
	struct strlist l = {texts, 0};

	while (texts[l.n] != NULL)
		l.n++;
	return l;
}

static void options_write_over(void)
{
	AUTO(load) struct load l;
	const struct spec_over over = {
		.images = list((const char *[]){"serve", NULL}),
		.tags = list((const char *[]){"localhost:5000/a/b:v2", "v3", NULL}),
		.labels = list((const char *[]){"a.b=c=d", NULL}),
		.env = list((const char *[]){"EMPTY=", "YES=yes", NULL})};
	struct err err = {0};

	CHECK_OK(load_over(&l, TWO, &over), &l.err);
	if (l.spec == NULL)
		return;
	CHECK_STR(l.spec->image.tags.at[0], "t1");
	CHECK_INT(l.spec->image.labels.n, 0);
	CHECK_OK(spec_select(l.spec, "serve", &err), &err);
	CHECK_STR(l.spec->image.repository, "localhost:5000/a/b");
	CHECK_INT(l.spec->image.tags.n, 2);
	CHECK_STR(l.spec->image.tags.at[0], "v2");
	CHECK_STR(l.spec->image.tags.at[1], "v3");
	CHECK_STR(strmap_get(&l.spec->image.labels, "a.b"), "c=d");
	CHECK_STR(strmap_get(&l.spec->image.env, "EMPTY"), "");
	CHECK_STR(strmap_get(&l.spec->image.env, "YES"), "yes");
}

static void wrong_options_are_named(void)
{
	static const struct {
		const char *tag, *env;
		enum err_code code;
		const char *want; /* of the message, or of the first problem */
	} rows[] = {
		{"UPPER:tag", NULL, ERR_USAGE, "--tag UPPER:tag: "},
		{"-x", NULL, ERR_USAGE, "--tag -x: "},
		{"a/b@sha256:00", NULL, ERR_USAGE, "--tag a/b@sha256:00: "},
		{"oci:dir:v1", NULL, ERR_USAGE, "--tag oci:dir:v1: "},
		{"a/b:v1", NULL, ERR_USAGE, "2 images cannot have one repository"},
		{NULL, "A", ERR_USAGE, "--env A has no value"},
		{NULL, "A=\xff", ERR_USAGE, "--env A is not UTF-8"},
		{NULL, "1A=b", ERR_SPEC, "'1A' is not the name of an environment variable"},
		{NULL, "A=${nonsense}", ERR_SPEC, "unknown variable ${nonsense}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(load) struct load l;
		const struct spec_over over = {.tags = {(const char *[]){rows[i].tag}, rows[i].tag != NULL},
		                               .env = {(const char *[]){rows[i].env}, rows[i].env != NULL}};

		CHECK(load_over(&l, TWO, &over) != 0);
		CHECK_INT(l.err.code, rows[i].code);
		const char *got = l.diags.n > 0 ? l.diags.at[0].message : l.err.msg;

		if (strstr(got, rows[i].want) == NULL)
			CHECK_STR(got, rows[i].want);
		CHECK(rows[i].code != ERR_SPEC || strncmp(l.diags.at[0].at.file, "--env ", 6) == 0);
	}
}

static void one_image_has_one_repository(void)
{
	AUTO(load) struct load l;
	const struct spec_over over = {.tags = list((const char *[]){"a/b:v1", "a/c:v1", NULL})};

	CHECK(load_over(&l, HEAD "image: {" LAYERS "}\n", &over) != 0);
	CHECK(strstr(l.err.msg, "a second repository beside 'a/b'") != NULL);
}

static void the_job_names_its_image(void)
{
	AUTO(load) struct load l;

	/* The fleet is missing, so the spec as a whole is wrong; the image was chosen before. */
	CHECK(load_over(&l, TWO "job: {image: serve}\n", NULL) != 0 || l.spec->image_known);
	for (size_t i = 0; i < l.diags.n; i++)
		CHECK(strstr(l.diags.at[i].message, "job.image") == NULL);
}

static void durations(void)
{
	static const struct {
		const char *text;
		int64_t ns; /* -1 = refused */
	} rows[] = {{"30s", 30000000000},  {"1m30s", 90000000000}, {"500ms", 500000000},
	            {"2h", 7200000000000}, {"1us", 1000},          {"0s", 0},
	            {"", -1},              {"30", -1},             {"s", -1},
	            {"-1s", -1},           {"1.5s", -1},           {"30 s", -1},
	            {"9999999999h", -1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t ns = -1;

		CHECK(spec_duration(rows[i].text, &ns) == (rows[i].ns >= 0));
		CHECK_INT(ns, rows[i].ns);
	}
}

/* ---- arguments ---- */

static void touch(const char *path, const char *text)
{
	struct err err = {0};

	CHECK_OK(fs_write_file(path, text, strlen(text), 0644, &err), &err);
}

static void a_path_comes_first(void)
{
	static const struct {
		const char *text;
		enum err_code code; /* ERR_NONE = understood, as: */
		const char *want;   /* or what the message says */
	} rows[] = {
		{"build/image", ERR_NONE, "oci:build/image"},
		{"build/image:v1", ERR_NONE, "oci:build/image:v1"},
		{"oci:build/image:v1", ERR_NONE, "oci:build/image:v1"},
		{"./build/image", ERR_NONE, "oci:./build/image"},
		{"r.example.com/layout", ERR_NONE, "oci:r.example.com/layout"},
		{"r.example.com/plain", ERR_NONE, "r.example.com/plain"},
		{"r.example.com/plain:v1", ERR_NONE, "r.example.com/plain:v1"},
		{"debian", ERR_FORMAT, "the folder 'debian' is not an image layout"},
		{"debian:12", ERR_FORMAT, "the folder 'debian' is not an image layout"},
		{"alpine:3", ERR_NONE, "docker.io/library/alpine:3"},
		{"text", ERR_FORMAT, "'text' is not a readable tar file"},
		{"build/none/", ERR_NOT_FOUND, "there is no file or folder 'build/none/'"},
		{"./none", ERR_NOT_FOUND, "there is no file or folder './none'"},
		{"image.tar", ERR_NOT_FOUND, "there is no file or folder 'image.tar'"},
		{"Nobody/x", ERR_FORMAT, "no file or folder 'Nobody/x'"},
	};
	char dir[4096], *here = getcwd(NULL, 0);
	struct err err = {0};

	test_tmpdir(dir);
	CHECK_INT(chdir(dir), 0);
	CHECK(mkdir("build", 0755) == 0 && mkdir("build/image", 0755) == 0 && mkdir("debian", 0755) == 0 &&
	      mkdir("r.example.com", 0755) == 0 && mkdir("r.example.com/layout", 0755) == 0 &&
	      mkdir("r.example.com/plain", 0755) == 0);
	touch("build/image/oci-layout", "{}");
	touch("r.example.com/layout/oci-layout", "{}");
	touch("text", "no tar\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena) struct arena a = {0};
		struct ref ref = {0};

		err = (struct err){0};
		int status = image_argument(rows[i].text, &a, &ref, &err);

		CHECK_INT(err.code, rows[i].code);
		if (status == 0)
			CHECK_STR(ref_text(&ref, &a), rows[i].want);
		else if (strstr(err.msg, rows[i].want) == NULL)
			CHECK_STR(err.msg, rows[i].want);
	}
	CHECK_INT(chdir(here), 0);
	free(here);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("images: a name selects one, another is answered with the names", chooses_the_image);
	TEST("images: an image alone takes no name", an_image_alone_has_no_name);
	TEST("images: the job's word chooses", the_job_names_its_image);
	TEST("options: tags, labels and variables go over those of the named image", options_write_over);
	TEST("options: a wrong one is named", wrong_options_are_named);
	TEST("options: two repositories are refused", one_image_has_one_repository);
	TEST("healthcheck: durations as Docker writes them", durations);
	TEST("argument: a path that exists comes before a registry", a_path_comes_first);
	return test_done();
}
