/*
 * image.healthcheck, in the words of Docker's configuration.
 */
#include <string.h>

#include "base/text.h"
#include "builder/spec/spec_internal.h"

bool spec_duration(const char *text, int64_t *ret_ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"ns", 1},          {"us", 1000},     {"ms", 1000000}, {"h", 3600000000000},
	             {"m", 60000000000}, {"s", 1000000000}};
	int64_t total = 0;

	if (*text == '\0')
		return false;
	while (*text != '\0') {
		size_t len = strspn(text, "0123456789"), i = 0;
		int64_t count, ns;

		while (i < ARRAY_LEN(units) && !text_has_prefix(text + len, units[i].name))
			i++;
		if (i == ARRAY_LEN(units) || !text_int64(text, len, &count) ||
		    __builtin_mul_overflow(count, units[i].ns, &ns) ||
		    __builtin_add_overflow(total, ns, &total))
			return false;
		text += len + strlen(units[i].name);
	}
	*ret_ns = total;
	return true;
}

/* Docker takes no duration between 0 and a millisecond. */
static void decode_duration(struct fields_context *c, const struct yaml_node *node, void *member)
{
	const char *text = fields_text(c, node, "healthcheck");
	int64_t ns;

	if (text == NULL)
		return;
	if (spec_duration(text, &ns) && ns >= 1000000) {
		*(int64_t *)member = ns;
		return;
	}
	struct diag *d = fields_problem(c, node, "healthcheck: '%s' is not a duration", node->text);

	diag_hint(c->diags, d, "write a number with a unit, at least 1ms, as in 30s or 1m30s");
}

/* A line alone is for the image's shell, as in a Compose file. */
static void shell_test(struct fields_context *c, const struct yaml_node *node, struct strlist *test)
{
	const char *line = fields_text(c, node, "healthcheck.test");

	if (line == NULL)
		return;
	test->at = arena_calloc(c->arena, 2, sizeof(*test->at));
	test->at[test->n++] = "CMD-SHELL";
	test->at[test->n++] = line;
}

static void list_test(struct fields_context *c, const struct yaml_node *node, struct strlist *test)
{
	test->at = arena_calloc(c->arena, node->n_items + 1, sizeof(*test->at));
	for (size_t i = 0; i < node->n_items; i++) {
		const char *word = fields_text(c, node->items[i], "healthcheck.test");

		if (word != NULL)
			test->at[test->n++] = word;
	}
}

/* How many words follow the first one; max 0 = as many as you like. */
static bool test_sound(const struct strlist *test)
{
	static const struct {
		const char *kind;
		size_t min, max;
	} kinds[] = {{"NONE", 1, 1}, {"CMD", 2, SIZE_MAX}, {"CMD-SHELL", 2, 2}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (test->n > 0 && strcmp(test->at[0], kinds[i].kind) == 0)
			return test->n >= kinds[i].min && test->n <= kinds[i].max;
	return false;
}

static void decode_test(struct fields_context *c, const struct yaml_node *node, void *member)
{
	struct strlist *test = member;
	size_t before = c->diags->n_errors;

	if (node->kind == YAML_SEQUENCE)
		list_test(c, node, test);
	else
		shell_test(c, node, test);
	if (c->diags->n_errors > before || test_sound(test))
		return;
	struct diag *d = fields_problem(c, node, "healthcheck.test is not a test of Docker's");

	diag_hint(c->diags, d,
	          "write [CMD, PROGRAM, ARGUMENT...], [CMD-SHELL, LINE], or [NONE] to drop the "
	          "base's");
}

static void warn(struct fields_context *c, const struct yaml_node *node, void *object UNUSED)
{
	struct diag *d = diags_add(c->diags, DIAG_WARNING, node->at,
	                           "healthcheck: Docker runs it, Kubernetes ignores it");

	diag_hint(c->diags, d, "in a cluster, give the job's pods probes of their own");
}

#define DURATION(member_, key_, doc_, fallback_)                                                   \
	FIELD_CUSTOM(struct healthcheck, member_, decode_duration,                                 \
	             "{\"type\":\"string\",\"pattern\":\"^([0-9]+(ns|us|ms|s|m|h))+$\"}", key_,    \
	             doc_, .type_doc = "duration", .fallback_doc = (fallback_))

static const struct field rows[] = {
	FIELD_CUSTOM(struct healthcheck, test, decode_test,
                     "{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"minItems\":1,"
                     "\"items\":{\"type\":[\"string\",\"number\"]}}]}",
                     "test",
                     "[CMD, PROGRAM, ARGUMENT...], [CMD-SHELL, LINE], or [NONE] to drop the "
                     "base's; a line alone is for the image's shell.",
                     .flags = FIELD_REQUIRED, .type_doc = "list of strings, or a line"),
	DURATION(interval, "interval", "Time between two tests.", "Docker's 30s"),
	DURATION(timeout, "timeout", "Time that one test may take.", "Docker's 30s"),
	DURATION(start_period, "start_period", "Time in which failures do not count.",
                 "Docker's 0s"),
	DURATION(start_interval, "start_interval", "Time between two tests in the start period.",
                 "Docker's 5s"),
	FIELD_INT(struct healthcheck, retries, "retries",
                  "Failures in a row that make the container unhealthy.", .min = 1, .max = 1000000,
                  .fallback_doc = "Docker's 3"),
};

static const struct field_habit habits[] = {
	{"",
         "write `{test: [CMD, PROGRAM, ARGUMENT]}`; [CMD-SHELL, LINE] needs a shell in the image"},
	{"start-period", "write `start_period:`"},
	{"command", "write `test: [CMD, PROGRAM, ARGUMENT]`"},
	{NULL, NULL},
};

const struct field_table healthcheck_fields =
	FIELD_TABLE(struct healthcheck, "healthcheck", rows,
                    "Docker's test whether the program in a container works. Durations are as in "
                    "30s, 1m30s or 500ms.",
                    .has_pos = true, .habits = habits,
                    .pos_offset = offsetof(struct healthcheck, at), .check = warn);
