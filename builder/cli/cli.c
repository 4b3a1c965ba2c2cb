#include <string.h>

#include "base/text.h"
#include "builder/cli/command.h"

bool cli_json(const struct cli *cli)
{
	return cli->common.output != NULL && strcmp(cli->common.output, "json") == 0;
}

/*
 * A reader of the document is owed the very characters, a terminal is not to obey them: those that
 * JSON allows to stand bare are escaped (RFC 8259, section 7). All are of the basic plane.
 */
static void print_escaped(const char *text, size_t len, FILE *to)
{
	for (size_t i = 0; i < len;) {
		size_t n = text_utf8_length(text + i, len - i);

		n = n != 0 ? n : 1;
		if (text[i] != '\n' && text_utf8_length(text + i, n) != 0 &&
		    text_is_control(text + i, n))
			fprintf(to, "\\u%04x", text_code_point(text + i, n));
		else
			fwrite(text + i, 1, n, to);
		i += n;
	}
}

void cli_print_json(struct cli *cli, const cJSON *doc)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print_pretty(doc, &text);
	print_escaped(strbuf_str(&text), text.len, cli->out);
	cli->json_printed = true;
}
