/* The picture of a fleet: texts are escaped and cut, and the same fleet gives the same bytes. */
#include "tests/fleet_make.h"

#include "k8s/view/diagram.h"
#include "k8s/view/svg.h"

static const struct svg_font font = {.size = 10, .colour = "#000"};

static void escapes(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	svg_text(&sb, 1, 2, 1000, &font, "a<b>&c\x01\n");
	CHECK(strstr(strbuf_str(&sb), ">a&lt;b&gt;&amp;c  </text>") != NULL);
}

static void cuts(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	/* 55 pixels at size 10: ten letters of which the last is the ellipsis. */
	svg_text(&sb, 1, 2, 55, &font, "0123456789");
	CHECK(strstr(strbuf_str(&sb), ">0123456789<") != NULL);
	svg_text(&sb, 1, 2, 55, &font, "0123456789a");
	CHECK(strstr(strbuf_str(&sb), ">012345678\xe2\x80\xa6<") != NULL);
	/* Letters are counted, not bytes: none is cut in two. */
	strbuf_reset(&sb);
	svg_text(&sb, 1, 2, 11, &font, "\xc3\xa4\xc3\xb6\xc3\xbc");
	CHECK(strstr(strbuf_str(&sb), ">\xc3\xa4\xe2\x80\xa6<") != NULL);
}

static void draw(const char *path, struct strbuf *sb)
{
	AUTO(fleet_run) struct fleet_run f;

	CHECK_INT(fleet_run(&f, path), 0);
	diagram_svg(&f.spec->fleet, sb);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (text = strstr(text, what); text != NULL; text = strstr(text + 1, what))
		n++;
	return n;
}

static void draws_fleet(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	draw("tests/golden/fleet/all.yaml", &sb);
	CHECK(strstr(strbuf_str(&sb), "1. trn1") != NULL);
	CHECK(strstr(strbuf_str(&sb), "4. g5g") != NULL);
	CHECK(strstr(strbuf_str(&sb), "FSx for Lustre") != NULL);
	/* Three steps between four targets. */
	CHECK_INT(count(strbuf_str(&sb), "no capacity in time"), 3);
}

static void draws_part_of_node(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	draw("tests/golden/fleet/neuron-part.yaml", &sb);
	/* 4 of 16 devices: squares of 15 pixels, filled or empty. */
	CHECK_INT(count(strbuf_str(&sb), "width=\"15\" height=\"15\" rx=\"3\" fill=\"#ffffff\""),
	          12);
	CHECK_INT(count(strbuf_str(&sb), "width=\"15\" height=\"15\" rx=\"3\" fill=\"#c2570c\""),
	          4);
	CHECK(strstr(strbuf_str(&sb), "Neuron scheduler") != NULL);
}

static void is_stable(void)
{
	AUTO(strbuf) struct strbuf one = STRBUF_INIT(1 << 20);
	AUTO(strbuf) struct strbuf two = STRBUF_INIT(1 << 20);

	draw("tests/golden/fleet/dra.yaml", &one);
	draw("tests/golden/fleet/dra.yaml", &two);
	CHECK_STR(strbuf_str(&one), strbuf_str(&two));
}

int main(void)
{
	TEST("svg: what XML would take for markup is escaped", escapes);
	TEST("svg: a text that is too wide ends with an ellipsis, between letters", cuts);
	TEST("diagram: every target, the order, the storage", draws_fleet);
	TEST("diagram: devices that a pod takes are told from those that stay free",
	     draws_part_of_node);
	TEST("diagram: the same fleet gives the same bytes", is_stable);
	return test_done();
}
