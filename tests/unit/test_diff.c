#include "tests/harness.h"

#include "base/fs.h"
#include "builder/check/diff.h"
#include "tests/image_make.h"

struct scene {
	char dir[4096];
	struct arena arena;
	struct layout *layout;
	struct store *store;
	cJSON *doc;
	struct strbuf text;
	bool bytes; /* find them */
};

static void begin(struct scene *s)
{
	struct err err = {0};

	*s = (struct scene){0};
	test_tmpdir(s->dir);
	CHECK_OK(layout_open(s->dir, LAYOUT_WRITE, &s->layout, &err), &err);
	s->store = layout_store(s->layout);
}

static void end(struct scene *s)
{
	struct err err = {0};

	cJSON_Delete(s->doc);
	strbuf_done(&s->text);
	store_close(s->store);
	layout_close(s->layout);
	arena_done(&s->arena);
	CHECK_OK(fs_remove_tree(s->dir, &err), &err);
}

/* Layer 1 is the same on both sides; layer 2 is what a test fills. */
static void base(struct image_make *m)
{
	*m = (struct image_make){
		.architecture = "arm64", .n_layers = 2, .config = "\"User\":\"1\""};
	m->layers[0].name = "base";
	m->layers[1].name = "app";
	tar_text(&m->layers[0].tar, "etc/base", "same");
	tar_text(&m->layers[0].tar, "etc/hidden", "same");
	tar_text(&m->layers[1].tar, "app/same", "same");
}

static void compare(struct scene *s, struct image_make *x, struct image_make *y)
{
	struct descriptor a = image_make(x, s->layout, &s->arena),
			  b = image_make(y, s->layout, &s->arena);
	const struct diff_side left = {s->store, &a, "old"}, right = {s->store, &b, "new"};
	struct budget budget = {0};
	struct err err = {0};

	CHECK_OK(diff_images(&left, &right, &(struct diff_opts){&budget, s->bytes}, &s->doc, &err),
	         &err);
	diff_text(s->doc, &s->text);
}

static const cJSON *files(const struct scene *s)
{
	return json_get(cJSON_GetArrayItem(json_get(s->doc, "platforms"), 0), "files");
}

static const cJSON *file(const struct scene *s, const char *path)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, files(s))
		if (strcmp(json_string(item, "path"), path) == 0)
			return item;
	return NULL;
}

static bool has_what(const cJSON *item, const char *what)
{
	const cJSON *w;

	cJSON_ArrayForEach (w, json_get(item, "what"))
		if (strcmp(w->valuestring, what) == 0)
			return true;
	return false;
}

static void says_equal(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	base(&x);
	base(&y);
	compare(&s, &x, &y);
	CHECK(cJSON_IsTrue(json_get(s.doc, "equal")));
	CHECK_STR(strbuf_str(&s.text), "old and new are equal\n");
	end(&s);
}

static void names_changed_files(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	base(&x);
	base(&y);
	tar_text(&x.layers[1].tar, "app/content", "1");
	tar_text(&y.layers[1].tar, "app/content", "22");
	tar_file(&x.layers[1].tar, "app/mode", 0644, "x", 1);
	tar_file(&y.layers[1].tar, "app/mode", 0755, "x", 1);
	tar_symlink(&x.layers[1].tar, "app/link", "a");
	tar_symlink(&y.layers[1].tar, "app/link", "b");
	tar_text(&x.layers[1].tar, "app/type", "t");
	tar_symlink(&y.layers[1].tar, "app/type", "t");
	compare(&s, &x, &y);
	CHECK_INT(cJSON_GetArraySize(files(&s)), 4);
	CHECK(has_what(file(&s, "/app/content"), "content"));
	CHECK(has_what(file(&s, "/app/mode"), "mode") &&
	      !has_what(file(&s, "/app/mode"), "content"));
	CHECK(has_what(file(&s, "/app/link"), "link"));
	CHECK(has_what(file(&s, "/app/type"), "type"));
	CHECK_STR(json_string(json_get(file(&s, "/app/mode"), "b"), "layerName"), "app");
	CHECK(strstr(strbuf_str(&s.text),
	             "~ /app/content  (layer 2 'app')\n      content: 1 bytes -> 2 bytes\n") !=
	      NULL);
	CHECK(strstr(strbuf_str(&s.text), "mode: 0644 -> 0755") != NULL);
	end(&s);
}

static void names_added_and_removed(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	base(&x);
	base(&y);
	tar_text(&x.layers[1].tar, "app/old", "1");
	tar_text(&y.layers[1].tar, "app/new", "1");
	/* In the shared layer too: changed, not added. */
	tar_text(&y.layers[1].tar, "etc/base", "other");
	tar_text(&y.layers[1].tar, "etc/.wh.hidden", "");
	compare(&s, &x, &y);
	CHECK_STR(json_string(file(&s, "/app/old"), "change"), "removed");
	CHECK_STR(json_string(file(&s, "/app/new"), "change"), "added");
	CHECK_STR(json_string(file(&s, "/etc/base"), "change"), "changed");
	CHECK_STR(json_string(file(&s, "/etc/hidden"), "change"), "removed");
	CHECK_INT(cJSON_GetArraySize(files(&s)), 4);
	CHECK(strstr(strbuf_str(&s.text), "  + /app/new") != NULL);
	CHECK(strstr(strbuf_str(&s.text), "  - /app/old") != NULL);
	end(&s);
}

/* The shared layer's blob is damaged, which nobody notices as long as it is not read. */
static void leaves_equal_layers_unread(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	base(&x);
	base(&y);
	x.layers[0].corrupt = y.layers[0].corrupt = true;
	tar_text(&x.layers[1].tar, "app/content", "1");
	tar_text(&y.layers[1].tar, "app/content", "2");
	compare(&s, &x, &y);
	CHECK_INT(cJSON_GetArraySize(files(&s)), 1);
	end(&s);
}

static void names_configuration(void)
{
	struct scene s;
	struct image_make x, y;
	const cJSON *config;

	begin(&s);
	base(&x);
	base(&y);
	y.config = "\"User\":\"2\"";
	compare(&s, &x, &y);
	config = json_get(cJSON_GetArrayItem(json_get(s.doc, "platforms"), 0), "config");
	CHECK_INT(cJSON_GetArraySize(config), 1);
	CHECK_STR(json_string(cJSON_GetArrayItem(config, 0), "member"), "config.User");
	CHECK(strstr(strbuf_str(&s.text), "configuration config.User: \"1\" -> \"2\"") != NULL);
	CHECK(strstr(strbuf_str(&s.text), "no file differs") != NULL);
	end(&s);
}

static void names_platforms_of_one_side(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	base(&x);
	base(&y);
	y.architecture = "amd64";
	compare(&s, &x, &y);
	CHECK_INT(cJSON_GetArraySize(json_get(s.doc, "platforms")), 2);
	CHECK(strstr(strbuf_str(&s.text), "linux/arm64:\n  only in old\n") != NULL);
	CHECK(strstr(strbuf_str(&s.text), "linux/amd64:\n  only in new\n") != NULL);
	end(&s);
}

static void refuses_what_is_broken(void)
{
	struct scene s;
	struct image_make x, y;
	struct descriptor a, b;
	struct err err = {0};
	cJSON *doc = NULL;

	begin(&s);
	base(&x);
	base(&y);
	tar_text(&y.layers[1].tar, "app/new", "1");
	y.layers[1].corrupt = true;
	a = image_make(&x, s.layout, &s.arena);
	b = image_make(&y, s.layout, &s.arena);
	CHECK(diff_images(&(struct diff_side){s.store, &a, "old"},
	                  &(struct diff_side){s.store, &b, "new"},
	                  &(struct diff_opts){&(struct budget){0}, true}, &doc, &err) == -1);
	CHECK_INT(err.code, ERR_DIGEST);
	CHECK(doc == NULL);
	end(&s);
}

static const cJSON *first_of(const struct scene *s, size_t layer)
{
	const cJSON *platform = cJSON_GetArrayItem(json_get(s->doc, "platforms"), 0);

	return json_get(cJSON_GetArrayItem(json_get(platform, "layers"), (int)layer), "first");
}

static void finds(const char *in, const char *path, int64_t offset, const struct scene *s)
{
	const cJSON *first = first_of(s, 0);
	struct err err = {0};
	int64_t at = -1;

	CHECK_STR(json_string(first, "in"), in);
	CHECK((path == NULL) == (json_string(first, "path") == NULL));
	if (path != NULL && json_string(first, "path") != NULL)
		CHECK_STR(json_string(first, "path"), path);
	CHECK_OK(json_size(first, "offset", &at, &err), &err);
	CHECK_INT(at, offset);
}

static void names_the_first_byte(void)
{
	static const struct {
		const char *x, *y, *in;
		int64_t offset;
		unsigned mode;
	} rows[] = {
		{"same text", "same test", "content", 7, 0644},
		/* The size stands in the header before the content: 124 of a header, octal. */
		{"short", "longer text", "header", 133, 0644},
		{"same", "same", "header", 104, 0755},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct scene s;
		struct image_make x, y;

		begin(&s);
		s.bytes = true;
		base(&x);
		base(&y);
		tar_file(&x.layers[1].tar, "app/file", 0644, rows[i].x, strlen(rows[i].x));
		tar_file(&y.layers[1].tar, "app/file", rows[i].mode, rows[i].y, strlen(rows[i].y));
		compare(&s, &x, &y);
		finds(rows[i].in, "app/file", rows[i].offset, &s);
		/* Index or manifest, and the configuration: their first bytes, too. */
		CHECK(cJSON_GetArraySize(json_get(s.doc, "documents")) >= 2);
		CHECK(strstr(strbuf_str(&s.text), "first at byte") != NULL);
		end(&s);
	}
}

static void finds_what_is_behind_the_files(void)
{
	struct scene s;
	struct image_make x, y;

	begin(&s);
	s.bytes = true;
	base(&x);
	base(&y);
	tar_text(&y.layers[1].tar, "app/z", "more");
	compare(&s, &x, &y);
	finds("header", "app/z", 0, &s);
	CHECK(json_get(first_of(&s, 0), "tar_offset") != NULL);
	end(&s);
}

int main(void)
{
	TEST("diff: an image is equal to itself", says_equal);
	TEST("diff: changed files are named with what changed and the layer", names_changed_files);
	TEST("diff: added, removed and hidden files are named", names_added_and_removed);
	TEST("diff: layers that both have are not read without need", leaves_equal_layers_unread);
	TEST("diff: configuration members are compared", names_configuration);
	TEST("diff: platforms of one side are named", names_platforms_of_one_side);
	TEST("diff: a damaged layer is an error", refuses_what_is_broken);
	TEST("diff: the first byte that differs has its file", names_the_first_byte);
	TEST("diff: a file more is named by its header", finds_what_is_behind_the_files);
	return test_done();
}
