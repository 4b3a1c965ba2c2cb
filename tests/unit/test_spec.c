/* slipway.yaml: golden texts of every complaint, defaults, --set, the plan. BLESS=1 rewrites the
 * texts. */
#include "tests/harness.h"

#include <glob.h>

#include "base/fs.h"
#include "builder/spec/spec.h"

struct load {
	struct arena arena;
	struct diags diags;
	struct spec *spec;
	struct err err;
};

static void load_done(struct load *l)
{
	arena_done(&l->arena);
	diags_done(&l->diags);
}

static int load(struct load *l, const char *path, const struct spec_set *sets, size_t n_sets)
{
	*l = (struct load){0};
	return spec_load(path, sets, n_sets, &l->arena, &l->spec, &l->diags, &l->err);
}

/* Loads a text through a file of its own folder. */
static int load_text(struct load *l, const char *text, const struct spec_set *sets, size_t n_sets)
{
	char dir[4096], path[4200];
	struct err err = {0};
	int status;

	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.yaml", dir);
	CHECK_OK(fs_write_file(path, text, strlen(text), 0644, &err), &err);
	status = load(l, path, sets, n_sets);
	if (status != 0 && l->diags.n > 0)
		printf("# %s\n", l->diags.at[0].message);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
	return status;
}

static void golden(const char *yaml)
{
	AUTO(load) struct load l;
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(1 << 20), want = STRBUF_INIT(1 << 20);
	char expect[512];
	struct err err = {0};

	snprintf(expect, sizeof(expect), "%.*s.expect", (int)(strlen(yaml) - 5), yaml);
	if (load(&l, yaml, NULL, 0) == 0) {
		printf("# %s was accepted\n", yaml);
		CHECK(!"refused");
		return;
	}
	CHECK_INT(l.err.code, ERR_SPEC);
	diags_text(&l.diags, false, &got);
	if (getenv("BLESS") != NULL)
		CHECK_OK(fs_write_file(expect, got.ptr, got.len, 0644, &err), &err);
	CHECK_OK(fs_read_file(expect, 1 << 20, &want, &err), &err);
	if (strcmp(strbuf_str(&got), strbuf_str(&want)) != 0)
		printf("# %s:\n", yaml);
	CHECK_STR(strbuf_str(&got), strbuf_str(&want));
}

static void bad_specs(void)
{
	glob_t found;
	char *here = getcwd(NULL, 0);

	unsetenv("SLIPWAY_TEST_UNSET");
	CHECK_INT(chdir("tests/golden/spec"), 0);
	CHECK_INT(glob("*.yaml", 0, NULL, &found), 0);
	CHECK(found.gl_pathc >= 25);
	for (size_t i = 0; i < found.gl_pathc; i++)
		golden(found.gl_pathv[i]);
	globfree(&found);
	CHECK_INT(chdir(here), 0);
	free(here);
}

#define HEAD "apiVersion: slipway/v1\nname: job\nimage:\n"

static void defaults(void)
{
	AUTO(load) struct load l;
	char text[PLATFORM_TEXT_MAX];

	CHECK_INT(load_text(&l,
	                    HEAD
	                    "  layers:\n    - {files: [{from: a, to: /a}]}\n    - tar: [x.tar]\n",
	                    NULL, 0),
	          0);
	if (l.spec == NULL)
		return;
	const struct spec_image *image = &l.spec->image;

	CHECK_INT(image->n_platforms, 2);
	CHECK_STR(platform_text(&image->platforms[0], text), "linux/amd64");
	CHECK_STR(platform_text(&image->platforms[1], text), "linux/arm64");
	CHECK_INT(image->compression, COMPRESSION_ZSTD);
	CHECK_INT(image->level, 0);
	CHECK(image->n_bases == 0 && image->repository == NULL && !image->has_entrypoint &&
	      !image->has_cmd);
	CHECK_STR(image->layers[1].name, "layer-2");
	CHECK(image->layers[0].share && image->layers[0].split == 0);
	CHECK_INT(image->layers[0].files[0].mode, -1);
	CHECK_INT(image->layers[0].files[0].owner.uid, 0);
	CHECK_STR(image->layers[1].tars[0].from, "x.tar");
	CHECK_STR(image->layers[1].tars[0].to, "/");
	CHECK_INT(image->layers[1].tars[0].at.line, 6);
}

static void overrides(void)
{
	static const struct spec_set sets[] = {{"image.tags=[v2]"},
	                                       {"image.compression=gzip:9"},
	                                       {"image.cmd=[]"},
	                                       {"image.layers[0].split=64MiB"},
	                                       {"image.platforms=[linux/riscv64]"}};
	static const struct spec_set wrong[] = {{"image.tagz=[v2]"}};
	AUTO(load) struct load l;

	CHECK_INT(load_text(&l, HEAD "  tags: [v1]\n  layers: [{files: [{from: a, to: /a}]}]\n",
	                    sets, ARRAY_LEN(sets)),
	          0);
	if (l.spec == NULL)
		return;
	CHECK_INT(l.spec->image.tags.n, 1);
	CHECK_STR(l.spec->image.tags.at[0], "v2");
	CHECK_INT(l.spec->image.compression, COMPRESSION_GZIP);
	CHECK_INT(l.spec->image.level, 9);
	CHECK(l.spec->image.has_cmd && l.spec->image.cmd.n == 0);
	CHECK_INT(l.spec->image.layers[0].split, 64 << 20);
	CHECK_INT(l.spec->image.n_platforms, 1);
	load_done(&l);
	CHECK_INT(load_text(&l, HEAD "  layers: [{files: [{from: a, to: /a}]}]\n", wrong, 1), -1);
	CHECK(l.diags.n == 1 && l.diags.at[0].hint != NULL &&
	      strstr(l.diags.at[0].hint, "tags") != NULL);
}

static void the_plan(void)
{
	static const char text[] =
		HEAD "  platforms: [linux/amd64, linux/arm64]\n"
		     "  base: {linux/amd64: scratch, linux/arm64: oci:base}\n"
		     "  env: {B: ${env:SLIPWAY_TEST_UNSET:-dflt}, A: \"${platform} $${arch}\", C: "
	             "'${env:SLIPWAY_TEST_SET}'}\n"
		     "  layers:\n"
		     "    - {files: [{from: build/${arch}/app, to: '/opt/${os}-${arch}', exclude: "
	             "['${arch}.o']}]}\n"
		     "    - {platforms: [linux/arm64], closure: [/abs/${arch}, "
		     "'/${triplet}/${gnu_arch}']}\n";
	AUTO(load) struct load l;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	struct plan *plan = NULL;
	char want[4300];

	unsetenv("SLIPWAY_TEST_UNSET");
	setenv("SLIPWAY_TEST_SET", "given", 1);
	CHECK_INT(load_text(&l, text, NULL, 0), 0);
	if (l.spec == NULL)
		return;
	CHECK_OK(plan_make(l.spec, NULL, 0, &l.arena, &plan, &l.diags, &l.err), &l.err);
	CHECK_INT(plan->n_images, 2);
	CHECK_STR(plan->images[0].base, "scratch");
	snprintf(want, sizeof(want), "oci:%s/base", l.spec->dir);
	CHECK_STR(plan->images[1].base, want);
	snprintf(want, sizeof(want), "%s/build/arm64/app", l.spec->dir);
	CHECK_STR(plan->images[1].layers[0].files[0].from, want);
	CHECK_STR(plan->images[0].layers[0].files[0].to, "/opt/linux-amd64");
	CHECK_STR(plan->images[0].layers[0].files[0].exclude.at[0], "amd64.o");
	CHECK_INT(plan->images[0].n_layers, 1);
	CHECK_INT(plan->images[1].n_layers, 2);
	CHECK_STR(plan->images[1].layers[1].closure[0].path, "/abs/arm64");
	CHECK_STR(plan->images[1].layers[1].closure[1].path, "/aarch64-linux-gnu/aarch64");
	CHECK_STR(plan->images[0].env.at[0].value, "linux/amd64 ${arch}");
	CHECK_STR(strmap_get(&plan->images[0].env, "B"), "dflt");
	CHECK_STR(strmap_get(&plan->images[0].env, "C"), "given");
	plan_text(plan, &sb);
	CHECK(strstr(strbuf_str(&sb), "image linux/arm64 from oci:") != NULL);
	CHECK(strstr(strbuf_str(&sb), "index of 2 platforms, layers zstd\n") != NULL);
	AUTO(json) cJSON *doc = plan_json(plan);

	CHECK_STR(json_string(doc, "name"), "job");
	CHECK_INT(cJSON_GetArraySize(json_get(doc, "images")), 2);
	const struct platform other = {"linux", "s390x", ""};

	CHECK(plan_make(l.spec, &other, 1, &l.arena, &plan, &l.diags, &l.err) != 0);
	CHECK_INT(l.err.code, ERR_USAGE);
}

static void missing_file(void)
{
	AUTO(load) struct load l;

	CHECK(load(&l, "/nonexistent/slipway.yaml", NULL, 0) != 0);
	CHECK_INT(l.err.code, ERR_NOT_FOUND);
}

int main(void)
{
	TEST("spec: every complaint, word by word", bad_specs);
	TEST("spec: defaults", defaults);
	TEST("spec: --set", overrides);
	TEST("spec: the plan expands variables per platform", the_plan);
	TEST("spec: a missing file", missing_file);
	return test_done();
}
