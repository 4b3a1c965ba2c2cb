#include "builder/init/parts.h"

#include <string.h>

#include "base/err.h"

/* Each part's name, and its file below builder/init/parts. */
#define PARTS(ROW)                                                                                 \
	ROW(head, "head.yaml")                                                                     \
	ROW(native, "native.yaml")                                                                 \
	ROW(go, "go.yaml")                                                                         \
	ROW(python, "python.yaml")                                                                 \
	ROW(fleet, "fleet.yaml")                                                                   \
	ROW(torch_job, "torch-job.yaml")                                                           \
	ROW(pipeline, "pipeline.yaml")                                                             \
	ROW(gitlab, "gitlab.yml")                                                                  \
	ROW(buildkite, "buildkite.yml")                                                            \
	ROW(jenkins, "jenkins.groovy")

#define PART_TEXT(name, file)                                                                      \
	__asm__(".section .rodata.init_part_" #name ",\"a\"\n"                                     \
	        ".globl init_part_" #name "\n"                                                     \
	        "init_part_" #name ":\n"                                                           \
	        ".incbin \"builder/init/parts/" file "\"\n"                                        \
	        ".byte 0\n"                                                                        \
	        ".previous\n");                                                                    \
	extern const char init_part_##name[] __attribute__((visibility("hidden")));
PARTS(PART_TEXT)

#define PART_ROW(name, file) {#name, init_part_##name},
static const struct init_value parts[] = {PARTS(PART_ROW)};

const char *init_part(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strcmp(parts[i].key, name) == 0)
			return parts[i].text;
	BUG("no part '%s'", name);
}

/* Length of the word between two '@' that begins at `text`, 0 = there is none. */
static size_t word_length(const char *text)
{
	size_t len = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return text[0] == '@' && text[1 + len] == '@' ? len : 0;
}

static const char *value_of(const struct init_values *values, const char *word, size_t len)
{
	for (size_t i = 0; i < values->n; i++)
		if (strlen(values->at[i].key) == len && memcmp(values->at[i].key, word, len) == 0)
			return values->at[i].text;
	BUG("no value '%.*s'", (int)len, word);
}

/* Appends a line; false where a value is not there. */
static bool fill_line(const char *line, const char *end, const struct init_values *values,
                      struct strbuf *sb)
{
	while (line < end) {
		size_t len = word_length(line);

		if (len == 0) {
			strbuf_addc(sb, *line++);
			continue;
		}
		const char *value = value_of(values, line + 1, len);

		if (value == NULL)
			return false;
		strbuf_adds(sb, value);
		line += len + 2;
	}
	return true;
}

void init_fill(const char *text, const struct init_values *values, struct strbuf *sb)
{
	while (*text != '\0') {
		AUTO(strbuf) struct strbuf line = STRBUF_INIT(0);
		const char *end = strchr(text, '\n');

		end = end != NULL ? end + 1 : text + strlen(text);
		if (fill_line(text, end, values, &line))
			strbuf_adds(sb, strbuf_str(&line));
		text = end;
	}
}
