/* Diagnostics: text with carets, hints, order, JSON. */
#include "base/doc/diag_json.h"
#include "tests/harness.h"

#include "base/diag.h"

#define AT(line_, column_, span_)                                                                  \
	(struct srcpos)                                                                            \
	{                                                                                          \
		"f.yaml", (line_), (column_), (span_)                                              \
	}

/* The text of one error at a place of `source`. */
static void shows(const char *source, struct srcpos at, const char *want)
{
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	diags_add_source(&d, "f.yaml", source, strlen(source));
	diags_add(&d, DIAG_ERROR, at, "bad");
	diags_text(&d, false, &sb);
	CHECK_STR(strbuf_str(&sb), want);
}

static void carets_stand_below_the_fault(void)
{
	shows("a: b\nkey: value\n", AT(2, 6, 5),
	      "f.yaml:2:6: error: bad\n    key: value\n         ^~~~~\n");
	shows("a: b", AT(1, 1, 1), "f.yaml:1:1: error: bad\n    a: b\n    ^\n");
	shows("a: b\r\nc", AT(1, 4, 1), "f.yaml:1:4: error: bad\n    a: b\n       ^\n");
	/* an underline ends with its line */
	shows("a: bc\n", AT(1, 4, 90), "f.yaml:1:4: error: bad\n    a: bc\n       ^~\n");
	/* the end of a line, and the end of the text */
	shows("ab\n", AT(1, 3, 1), "f.yaml:1:3: error: bad\n    ab\n      ^\n");
	shows("ab\n", AT(2, 1, 1), "f.yaml:2:1: error: bad\n    \n    ^\n");
	shows("ab\n", AT(9, 1, 1), "f.yaml:9:1: error: bad\n");
}

static void tabs_and_utf8_keep_columns(void)
{
	shows("\tk:\tv\n", AT(1, 5, 1), "f.yaml:1:5: error: bad\n    \tk:\tv\n    \t  \t^\n");
	/* bytes 1-2 are one character, so the caret is one to the left of its byte column */
	shows("\xc3\xa9: x\n", AT(1, 5, 1), "f.yaml:1:5: error: bad\n    \xc3\xa9: x\n       ^\n");
	/* an underline is as wide as the characters */
	shows("k: \xe2\x82\xac\xe2\x82\xac!\n", AT(1, 4, 7),
	      "f.yaml:1:4: error: bad\n    k: \xe2\x82\xac\xe2\x82\xac!\n       ^~~\n");
}

static void control_bytes_are_replaced(void)
{
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	struct diag *diag;

	diags_add_source(&d, "f.yaml", "a\033[31mb", 7);
	diag = diags_add(&d, DIAG_ERROR, AT(1, 1, 1), "evil \033[2J\n%s", "\x7f\x01");
	diag_hint(&d, diag, "x\ry");
	diags_text(&d, false, &sb);
	CHECK_STR(strbuf_str(&sb),
	          "f.yaml:1:1: error: evil ?[2J???\n    a?[31mb\n    ^\n  hint: x?y\n");
}

static void hints_rules_and_severities(void)
{
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	struct diag *diag;

	diag = diags_add(&d, DIAG_WARNING, (struct srcpos){0}, "no %s", "place");
	diag_hint(&d, diag, "do %d", 7);
	diag_rule(&d, diag, "secret");
	diags_add(&d, DIAG_NOTE, AT(3, 1, 1), "unknown source");
	diags_text(&d, false, &sb);
	CHECK_STR(strbuf_str(&sb),
	          "warning: no place [secret]\n  hint: do 7\nf.yaml:3:1: note: unknown source\n");
	CHECK_INT(d.n_errors, 0);
	CHECK_INT(d.n, 2);
}

static void the_same_problem_is_told_once(void)
{
	AUTO(diags) struct diags d = {0};

	diags_add(&d, DIAG_ERROR, AT(1, 1, 1), "x");
	diags_add(&d, DIAG_ERROR, AT(1, 1, 1), "x");
	CHECK_INT(d.n, 1);
	CHECK_INT(d.n_errors, 1);
	diags_add(&d, DIAG_ERROR, AT(1, 2, 1), "x");
	diags_add(&d, DIAG_ERROR, AT(1, 1, 1), "y");
	diags_add(&d, DIAG_ERROR, (struct srcpos){0}, "x");
	diags_add(&d, DIAG_WARNING, AT(1, 1, 1), "x");
	CHECK_INT(d.n, 5);
	CHECK_INT(d.n_errors, 4);
}

static void sorted_by_place_and_stable(void)
{
	AUTO(diags) struct diags d = {0};
	static const char *const want[] = {"nowhere", "a", "b1", "b2", "c", "d"};

	diags_add(&d, DIAG_ERROR, AT(3, 1, 1), "d");
	diags_add(&d, DIAG_ERROR, AT(2, 5, 1), "b1");
	diags_add(&d, DIAG_ERROR, AT(2, 9, 1), "c");
	diags_add(&d, DIAG_ERROR, AT(2, 5, 1), "b2");
	diags_add(&d, DIAG_ERROR, (struct srcpos){"a.yaml", 9, 9, 1}, "a");
	diags_add(&d, DIAG_ERROR, (struct srcpos){0}, "nowhere");
	diags_sort(&d);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_STR(d.at[i].message, want[i]);
}

static void colours_only_on_request(void)
{
	AUTO(diags) struct diags d = {0};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);

	diags_add_source(&d, "f.yaml", "ab", 2);
	diags_add(&d, DIAG_ERROR, AT(1, 1, 2), "m");
	diags_text(&d, true, &sb);
	CHECK_STR(strbuf_str(&sb),
	          "f.yaml:1:1: \033[1;31merror:\033[0m m\n    ab\n    \033[1;32m^~\033[0m\n");
}

static void json_form(void)
{
	AUTO(diags) struct diags d = {0};
	AUTO(json) cJSON *array = cJSON_CreateArray();
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	struct diag *diag;

	diag = diags_add(&d, DIAG_ERROR, AT(2, 3, 4), "bad");
	diag_hint(&d, diag, "better");
	diag = diags_add(&d, DIAG_WARNING, (struct srcpos){0}, "odd");
	diag_rule(&d, diag, "setuid");
	diags_json(&d, array);
	json_print(array, &sb);
	CHECK_STR(strbuf_str(&sb), "[{\"severity\":\"error\",\"file\":\"f.yaml\",\"line\":2,"
	                           "\"column\":3,\"message\":\"bad\","
	                           "\"hint\":\"better\"},{\"severity\":\"warning\",\"rule\":"
	                           "\"setuid\",\"message\":\"odd\"}]");
}

int main(void)
{
	TEST("diag: the caret stands below the fault", carets_stand_below_the_fault);
	TEST("diag: tabs and UTF-8 keep the columns", tabs_and_utf8_keep_columns);
	TEST("diag: control bytes are replaced", control_bytes_are_replaced);
	TEST("diag: hints, rules, severities", hints_rules_and_severities);
	TEST("diag: the same problem is told once", the_same_problem_is_told_once);
	TEST("diag: sorted by place, stable", sorted_by_place_and_stable);
	TEST("diag: colours on request", colours_only_on_request);
	TEST("diag: JSON", json_form);
	return test_done();
}
