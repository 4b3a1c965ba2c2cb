/*
 * Any text as an AWS configuration file, of both kinds.
 */
#include <stdint.h>
#include <string.h>

#include "builder/aws/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sections(const struct aws_files *files)
{
	AUTO(arena) struct arena a = {0};

	for (size_t i = 0; i < files->sections.n; i++) {
		const struct aws_section *s = &files->sections.at[i];

		if (aws_files_find(files, s->kind, s->name) != s)
			BUG("two sections '%s'", s->name);
		for (size_t k = 0;
		     s->in[AWS_CONFIG_FILE] != NULL && k < s->in[AWS_CONFIG_FILE]->values.n; k++)
			if (aws_section_get(s, s->in[AWS_CONFIG_FILE]->values.at[k].key) == NULL)
				BUG("'%s' is lost", s->in[AWS_CONFIG_FILE]->values.at[k].key);
		(void)aws_section_nested(s, "ecr", "endpoint_url", &a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(aws_files) struct aws_files files = {0};
	struct err err = {0};
	size_t half = size / 2;

	if (aws_files_parse(&files, AWS_CONFIG_FILE, "config", (const char *)data, half, &err) ==
	            0 &&
	    aws_files_parse(&files, AWS_CREDENTIALS_FILE, "credentials", (const char *)data + half,
	                    size - half, &err) == 0)
		check_sections(&files);
	return 0;
}
