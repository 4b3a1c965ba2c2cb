/* What `slipway init` writes: parts, what a folder shows, files for every request, all or none. */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "builder/init/compose.h"
#include "builder/init/look.h"
#include "builder/init/parts.h"
#include "builder/init/write.h"

static char dir[PATH_MAX];

static const char *in_dir(const char *name)
{
	static char path[PATH_MAX];
	struct err err = {0};

	if (fs_join(path, dir, name, &err) != 0)
		abort();
	return path;
}

static void put(const char *name, const char *text)
{
	struct err err = {0};
	char parent[PATH_MAX];

	fs_parent(in_dir(name), parent);
	if (fs_mkdirs(parent, &err) != 0 ||
	    fs_write_file(in_dir(name), text, strlen(text), 0644, &err) != 0)
		abort();
}

static bool holds(const char *name, const char *text)
{
	AUTO(strbuf) struct strbuf have = STRBUF_INIT(1 << 20);
	struct err err = {0};

	return fs_read_file(in_dir(name), 1 << 20, &have, &err) == 0 &&
	       strcmp(strbuf_str(&have), text) == 0;
}

static void empty_dir(void)
{
	struct err err = {0};

	if (dir[0] != '\0' && fs_remove_tree(dir, &err) != 0)
		abort();
	snprintf(dir, sizeof(dir), "%s", "/tmp/test-init-XXXXXX");
	if (mkdtemp(dir) == NULL)
		abort();
}

static void fills_and_drops(void)
{
	static const struct init_value rows[] = {{"a", "1"}, {"b", NULL}, {"c", "x\ny"}};
	const struct init_values values = {rows, ARRAY_LEN(rows)};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1024);

	init_fill("k: @a@@a@\nno: @b@\n@c@\nme@host $X@$(cat y)@\nlast @a@", &values, &sb);
	CHECK(strcmp(strbuf_str(&sb), "k: 11\nx\ny\nme@host $X@$(cat y)@\nlast 1") == 0);
}

static void check_seen(const char *kind, const char *want_kind, const char *marker,
                       const char *program)
{
	AUTO(arena) struct arena a = {0};
	struct init_seen seen = {0};
	struct err err = {0};

	CHECK(init_look(dir, kind, &a, &seen, &err) == 0);
	if (want_kind == NULL) {
		CHECK(seen.project == NULL);
		return;
	}
	CHECK(seen.project != NULL && strcmp(seen.project->kind, want_kind) == 0);
	CHECK((seen.project->marker == NULL) == (marker == NULL) &&
	      (marker == NULL || strcmp(seen.project->marker, marker) == 0));
	CHECK(program == NULL || strcmp(seen.program, program) == 0);
}

static void tells_kinds(void)
{
	empty_dir();
	check_seen(NULL, NULL, NULL, NULL);
	check_seen("rust", "rust", NULL, NULL);
	put("a.py", "");
	check_seen(NULL, "python", NULL, "a.py");
	empty_dir();
	put("a.c", "");
	check_seen(NULL, "c", NULL, strrchr(dir, '/') + 1);
	put("CMakeLists.txt", "project(x)\nadd_executable(tool a.c)\n");
	check_seen(NULL, "c", "CMakeLists.txt", "tool");
	put("src/b.cpp", "");
	check_seen(NULL, "c++", "CMakeLists.txt", "tool");
	put("train.py", "");
	check_seen(NULL, "c++", "CMakeLists.txt", "tool");
	check_seen("pytorch", "pytorch", NULL, "train.py");
	put("requirements.txt", "numpy\n");
	check_seen(NULL, "python", "requirements.txt", "train.py");
	put("requirements.txt", "torch==2.6\n");
	check_seen(NULL, "pytorch", "requirements.txt", "train.py");
	check_seen("python", "python", "requirements.txt", "train.py");
	put("src/main.rs", "");
	put("Cargo.toml", "[package]\nname = \"my_tool\"\n");
	check_seen(NULL, "rust", "Cargo.toml", "my_tool");
	put("main.go", "");
	put("go.mod", "module example.com/team/server/v3\n");
	check_seen(NULL, "go", "go.mod", "server");
	put("go.mod", "module \"../../$(x)\"\n");
	check_seen(NULL, "go", "go.mod", strrchr(dir, '/') + 1);
}

static void check_source(const char *config, const char *want)
{
	AUTO(arena) struct arena a = {0};
	struct init_seen seen = {0};
	struct err err = {0};

	put(".git/config", config);
	CHECK(init_look(dir, "c", &a, &seen, &err) == 0);
	CHECK((seen.source == NULL) == (want == NULL) &&
	      (want == NULL || strcmp(seen.source, want) == 0));
}

static void reads_remote(void)
{
	empty_dir();
	check_source("[remote \"origin\"]\n\turl = git@github.com:team/app.git\n", "team/app");
	check_source("\turl = https://me:password@github.com/team/app\n", "team/app");
	check_source("\turl = https://me:password@github.com\n", NULL);
	check_source("[core]\n", NULL);
}

static struct init_request request(const struct init_project *project)
{
	return (struct init_request){.project = project,
	                             .name = "app",
	                             .program = strcmp(project->part, "python") == 0 ? "main.py"
	                                                                             : "app",
	                             .repository = "registry.example.com/team/app",
	                             .tag = "v1",
	                             .region = "us-west-2",
	                             .host_arch = "amd64",
	                             .version = "1.0",
	                             .schema = "{}\n"};
}

/* A word between two '@' that was not filled. */
static bool has_hole(const char *text)
{
	for (; (text = strchr(text, '@')) != NULL; text++) {
		size_t len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");

		if (len > 0 && text[len + 1] == '@')
			return true;
	}
	return false;
}

static void composes_everything(void)
{
	for (size_t i = 0; i < n_init_projects; i++)
		for (size_t k = 0;; k++) {
			AUTO(arena) struct arena a = {0};
			struct init_request r = request(&init_projects[i]);
			struct init_plan plan;
			struct err err = {0};

			r.ci = init_ci_names[k] != NULL ? init_ci_find(init_ci_names[k]) : NULL;
			CHECK(init_arches(&r, &a, &err) == 0 && r.arches.n > 0);
			init_compose(&r, &a, &plan);
			CHECK(strcmp(plan.files[plan.n_files - 1].path, "slipway.yaml") == 0);
			for (size_t f = 0; f < plan.n_files; f++)
				CHECK(!has_hole(plan.files[f].text));
			for (size_t s = 0; s < plan.n_steps; s++)
				CHECK(!has_hole(plan.steps[s].command));
			if (init_ci_names[k] == NULL)
				break;
		}
}

static void check_arches(const char *kind, const char *target, const char *ci, const char *want)
{
	AUTO(arena) struct arena a = {0};
	struct init_request r = {0};
	struct err err = {0};

	for (size_t i = 0; i < n_init_projects; i++)
		if (strcmp(init_projects[i].kind, kind) == 0)
			r = request(&init_projects[i]);
	r.targets = (struct strlist){&target, target != NULL ? 1 : 0};
	r.ci = ci != NULL ? init_ci_find(ci) : NULL;
	CHECK(init_arches(&r, &a, &err) == (want == NULL ? -1 : 0));
	if (want != NULL)
		CHECK(strstr(want, r.arches.at[0]) == want &&
		      (r.arches.n == 2) == (strchr(want, ' ') != NULL));
}

static void chooses_platforms(void)
{
	check_arches("c", NULL, NULL, "amd64");
	check_arches("c", NULL, "gitlab", "amd64 arm64");
	check_arches("go", NULL, NULL, "amd64 arm64");
	check_arches("go", "g5g", NULL, "arm64");
	check_arches("pytorch", NULL, "gitlab", "amd64");
	check_arches("pytorch", "trn1", NULL, "amd64");
	check_arches("pytorch", "g5g", NULL, NULL);
}

static struct init_plan small_plan(void)
{
	return (struct init_plan){.files = {{".gitignore", "/build/", INIT_LINE, false},
	                                    {"build/x.json", "{}\n", INIT_KEEP, false},
	                                    {"ci/file", "ci\n", INIT_SAME, false},
	                                    {"slipway.yaml", "spec\n", INIT_CREATE, false}},
	                          .n_files = 4};
}

static void writes_once(void)
{
	struct init_plan plan = small_plan();
	struct err err = {0};

	empty_dir();
	put(".gitignore", "*.o");
	CHECK(init_write(dir, &plan, &err) == 0);
	CHECK(holds(".gitignore", "*.o\n/build/\n") && holds("build/x.json", "{}\n") &&
	      holds("ci/file", "ci\n") && holds("slipway.yaml", "spec\n"));
	plan = small_plan();
	CHECK(init_write(dir, &plan, &err) == -1 && err.code == ERR_CONFLICT);
	CHECK(holds(".gitignore", "*.o\n/build/\n"));
}

static void takes_up_its_own(void)
{
	struct init_plan plan = small_plan();
	struct err err = {0};

	empty_dir();
	put("build/x.json", "older");
	put("ci/file", "ci\n");
	put(".gitignore", "build\n");
	CHECK(init_write(dir, &plan, &err) == 0);
	CHECK(holds("build/x.json", "older") && holds("slipway.yaml", "spec\n") &&
	      holds(".gitignore", "build\n"));
}

static void leaves_foreign_files(void)
{
	struct init_plan plan = small_plan();
	struct err err = {0};

	empty_dir();
	put("ci/file", "mine\n");
	CHECK(init_write(dir, &plan, &err) == -1 && err.code == ERR_CONFLICT);
	CHECK(holds("ci/file", "mine\n") && !fs_exists(in_dir("slipway.yaml")) &&
	      !fs_exists(in_dir("build/x.json")) && !fs_exists(in_dir(".gitignore")));
	/* A link that leads nowhere is a file of somebody's, too. */
	empty_dir();
	CHECK(symlink("nowhere", in_dir("slipway.yaml")) == 0);
	plan = small_plan();
	err = (struct err){0};
	CHECK(init_write(dir, &plan, &err) == -1 && !fs_exists(in_dir("ci/file")));
}

static void takes_back(void)
{
	struct init_plan plan = small_plan();
	struct err err = {0};

	empty_dir();
	plan.files[3].path = "ci/file/slipway.yaml"; /* below what has become a file */
	CHECK(init_write(dir, &plan, &err) == -1);
	CHECK(!fs_exists(in_dir("ci/file")) && !fs_exists(in_dir("build/x.json")));
}

int main(void)
{
	struct err err = {0};

	TEST("init: a part gets its values, and a line without one is left out", fills_and_drops);
	TEST("init: a folder tells what is in it and what it is called", tells_kinds);
	TEST("init: git's remote is read without the password in it", reads_remote);
	TEST("init: no kind and no CI leaves a hole in its files", composes_everything);
	TEST("init: platforms are those of the machines", chooses_platforms);
	TEST("init: files are written once, and the line is added once", writes_once);
	TEST("init: what a killed run left is taken up", takes_up_its_own);
	TEST("init: a file that somebody has is not replaced, and then there are no others",
	     leaves_foreign_files);
	TEST("init: what was written before a failure goes again", takes_back);
	return fs_remove_tree(dir, &err) != 0 || test_done();
}
