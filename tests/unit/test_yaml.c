/* Strict YAML: positions, refusals, ${...} in flow lists, --set. */
#include "tests/harness.h"

#include "base/doc/yaml.h"
#include "base/text.h"

struct doc {
	struct arena arena;
	struct diags diags;
	struct yaml_node *root;
	struct err err;
};

static void doc_done(struct doc *d)
{
	arena_done(&d->arena);
	diags_done(&d->diags);
}

static int parse(struct doc *d, const char *text)
{
	*d = (struct doc){0};
	return yaml_parse("f.yaml", text, strlen(text), &d->arena, &d->root, &d->diags, &d->err);
}

/* The text must be refused, at line:column, with these words. */
static void refused(const char *text, unsigned line, unsigned column, const char *words)
{
	AUTO(doc) struct doc d;

	CHECK(parse(&d, text) != 0);
	CHECK_INT(d.err.code, ERR_SPEC);
	CHECK(d.diags.n > 0);
	if (d.diags.n == 0)
		return;
	if (strstr(d.diags.at[0].message, words) == NULL || d.diags.at[0].at.line != line ||
	    d.diags.at[0].at.column != column) {
		CHECK(!"the right problem");
		printf("#   of:   %s\n#   got:  %u:%u: %s\n#   want: %u:%u: %s\n", text,
		       d.diags.at[0].at.line, d.diags.at[0].at.column, d.diags.at[0].message, line,
		       column, words);
	}
}

static void nodes_and_positions(void)
{
	AUTO(doc) struct doc d;
	const struct yaml_node *n;

	CHECK_INT(parse(&d, "a: x\nb:\n  - one\n  - \"two\"\n\xc3\xa9\xe2\x82\xac: [v, {k: w}]\n"),
	          0);
	CHECK_INT(d.root->kind, YAML_MAPPING);
	CHECK_INT(d.root->n_pairs, 3);
	n = yaml_get(d.root, "b");
	CHECK(n->kind == YAML_SEQUENCE && n->n_items == 2 && !n->items[0]->quoted &&
	      n->items[1]->quoted);
	CHECK_INT(n->items[1]->at.line, 4);
	CHECK_INT(n->items[1]->at.column, 5);
	CHECK_INT(n->items[1]->at.span, 5);
	CHECK_STR(n->items[1]->at.file, "f.yaml");
	/* columns are in bytes: the key has 5 */
	n = yaml_get(d.root, "\xc3\xa9\xe2\x82\xac");
	CHECK(n != NULL && n->at.line == 5 && n->at.column == 8);
	CHECK_INT(d.root->pairs[2].key->at.span, 5);
	CHECK_STR(yaml_get(n->items[1], "k")->text, "w");
	CHECK_INT(yaml_get(n->items[1], "k")->at.column, 16);
	CHECK(yaml_get(d.root, "A") == NULL);
}

static void refusals(void)
{
	refused("a: 1\nb: 2\na: 3\n", 3, 1, "key 'a' appears twice (first in line 1)");
	refused("x: {k: 1, 'k': 2}", 1, 11, "appears twice");
	refused("a: &x 1\n", 1, 4, "anchors");
	refused("a: &x [1]\n", 1, 4, "anchors");
	refused("a: &x {b: 1}\n", 1, 4, "anchors");
	refused("a: *x\n", 1, 4, "aliases");
	refused("*x : 1\n", 1, 1, "aliases");
	refused("<<: *x\n", 1, 5, "aliases");
	refused("a: !!str 1\n", 1, 4, "tags");
	refused("a: !custom {b: 1}\n", 1, 4, "tags");
	refused("? [a]\n: b\n", 1, 3, "a key must be a plain string");
	refused("", 1, 1, "empty");
	refused("# nothing\n", 2, 1, "empty");
	refused("a: 1\n---\nb: 2\n", 2, 1, "only one document");
	refused("a: \"\\0\"\n", 1, 4, "NUL");
	refused("a: [1, 2\n", 2, 1, "did not find");
	refused("a: b: c\n", 1, 5, "mapping values are not allowed");
	refused("a:\n\tb: 1\n", 2, 1, "a tab character where spaces must be");
	refused("a: \xff\n", 1, 1, "not UTF-8");
}

static void depth_and_size_are_capped(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4 << 20);
	AUTO(doc) struct doc d;

	for (int i = 0; i <= YAML_DEPTH_MAX; i++)
		strbuf_addc(&sb, '[');
	for (int i = 0; i <= YAML_DEPTH_MAX; i++)
		strbuf_addc(&sb, ']');
	CHECK_INT(parse(&d, strbuf_str(&sb)), 0);
	doc_done(&d);
	strbuf_reset(&sb);
	for (int i = 0; i < 5000; i++)
		strbuf_addc(&sb, '[');
	refused(strbuf_str(&sb), 1, YAML_DEPTH_MAX + 2, "too deeply");
	strbuf_reset(&sb);
	for (int i = 0; i < YAML_NODES_MAX + 10; i++)
		strbuf_adds(&sb, "- a\n");
	refused(strbuf_str(&sb), YAML_NODES_MAX, 3, "too large");
	for (int i = 0; i < YAML_NODES_MAX; i++)
		strbuf_adds(&sb, "#aa\n");
	CHECK(parse(&d, strbuf_str(&sb)) != 0);
	CHECK_INT(d.err.code, ERR_LIMIT);
}

static void variables_in_flow_lists(void)
{
	AUTO(doc) struct doc d;
	const struct yaml_node *n;

	CHECK_INT(parse(&d, "l: [build/${arch}/app, ${env:X:-y}, '${os}']\nm: {k: ${arch}}\np: a "
	                    "${arch} {b}\n"),
	          0);
	n = yaml_get(d.root, "l");
	CHECK_STR(n->items[0]->text, "build/${arch}/app");
	CHECK_STR(n->items[1]->text, "${env:X:-y}");
	CHECK_STR(n->items[2]->text, "${os}");
	CHECK_INT(n->items[1]->at.column, 24);
	CHECK_INT(n->items[1]->at.span, 11);
	CHECK_STR(yaml_get(yaml_get(d.root, "m"), "k")->text, "${arch}");
	CHECK_STR(yaml_get(d.root, "p")->text, "a ${arch} {b}");
}

static void plain_words(void)
{
	AUTO(doc) struct doc d;
	const struct yaml_node *n;
	bool value = false;

	CHECK_INT(parse(&d, "[null, ~, , NULL, 'null', true, false, yes, Off, 'yes', n, x]"), -1);
	doc_done(&d);
	CHECK_INT(parse(&d, "[null, ~, 'null', true, false, yes, Off, 'yes', True, x]"), 0);
	n = d.root;
	CHECK(yaml_is_null(n->items[0]) && yaml_is_null(n->items[1]) && !yaml_is_null(n->items[2]));
	CHECK(yaml_is_bool(n->items[3], &value) && value);
	CHECK(yaml_is_bool(n->items[4], &value) && !value);
	CHECK(!yaml_is_bool(n->items[5], &value) && yaml_is_bool_like(n->items[5]));
	CHECK(yaml_is_bool_like(n->items[6]) && !yaml_is_bool_like(n->items[7]));
	CHECK(!yaml_is_bool(n->items[8], &value) && yaml_is_bool_like(n->items[8]));
	CHECK(!yaml_is_bool_like(n->items[9]));
}

static int set(struct doc *d, const char *assignment)
{
	return yaml_set(d->root, assignment, &d->arena, &d->diags, &d->err);
}

static void set_replaces_and_makes(void)
{
	AUTO(doc) struct doc d;
	const struct yaml_node *n;

	CHECK_INT(parse(&d, "image:\n  tags: [v1]\n  layers: [{name: a}, {name: b}]\n  env:\n"), 0);
	CHECK_OK(set(&d, "image.tags=[v2, v3]"), &d.err);
	CHECK_OK(set(&d, "image.layers[1].name=c"), &d.err);
	CHECK_OK(set(&d, "image.layers[0].split=64MiB"), &d.err);
	CHECK_OK(set(&d, "image.env.A=\"x=y\""), &d.err);
	CHECK_OK(set(&d, "image.labels.\"a.b\"=v"), &d.err);
	CHECK_OK(set(&d, "new.deep.key={a: 1}"), &d.err);
	n = yaml_get(d.root, "image");
	CHECK_INT(yaml_get(n, "tags")->n_items, 2);
	CHECK_STR(yaml_get(n, "tags")->items[1]->text, "v3");
	CHECK_STR(yaml_get(n, "tags")->items[1]->at.file, "--set image.tags");
	CHECK_STR(yaml_get(yaml_get(n, "layers")->items[1], "name")->text, "c");
	CHECK_STR(yaml_get(yaml_get(n, "layers")->items[0], "split")->text, "64MiB");
	CHECK_STR(yaml_get(yaml_get(n, "layers")->items[0], "name")->text, "a");
	CHECK_STR(yaml_get(yaml_get(n, "env"), "A")->text, "x=y");
	CHECK_STR(yaml_get(yaml_get(n, "labels"), "a.b")->text, "v");
	CHECK_STR(yaml_get(yaml_get(yaml_get(yaml_get(d.root, "new"), "deep"), "key"), "a")->text,
	          "1");
}

static void set_refuses(void)
{
	static const struct {
		const char *assignment;
		enum err_code code;
	} rows[] = {
		{"novalue", ERR_USAGE},
		{"=x", ERR_USAGE},
		{"a.b=1", ERR_SPEC},
		{"l[1]=1", ERR_SPEC},
		{"l[-1]=1", ERR_SPEC},
		{"l[x]=1", ERR_SPEC},
		{"l[0=1", ERR_SPEC},
		{"l.k=1", ERR_SPEC},
		{"a..b=1", ERR_SPEC},
		{"m[0]=1", ERR_SPEC},
		{"m.k=[1", ERR_SPEC},
		{"m.k=", ERR_SPEC},
		{"l[99999999999999999999]=1", ERR_SPEC},
	};
	AUTO(doc) struct doc d;

	CHECK_INT(parse(&d, "a: text\nl: [1]\nm: {k: v}\n"), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		d.err = (struct err){0};
		if (set(&d, rows[i].assignment) == 0 || d.err.code != rows[i].code) {
			CHECK(!"refused");
			printf("#   %s: %s\n", rows[i].assignment, d.err.msg);
		}
	}
	CHECK_STR(yaml_get(d.root, "a")->text, "text");
	CHECK_STR(yaml_get(yaml_get(d.root, "m"), "k")->text, "v");
}

int main(void)
{
	TEST("yaml: nodes and their positions in bytes", nodes_and_positions);
	TEST("yaml: what is refused, and where", refusals);
	TEST("yaml: depth and size are capped", depth_and_size_are_capped);
	TEST("yaml: ${...} stands unquoted in flow lists", variables_in_flow_lists);
	TEST("yaml: null-like and truth-like words", plain_words);
	TEST("yaml: --set replaces and makes", set_replaces_and_makes);
	TEST("yaml: --set refuses paths that lead nowhere", set_refuses);
	return test_done();
}
