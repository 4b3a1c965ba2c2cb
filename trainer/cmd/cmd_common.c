#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/cmd/cmd.h"

static void print_help(const char *command, const char *purpose, const struct cmd_option *options,
                       size_t n)
{
	printf("Usage: slipway-trainer %s [OPTIONS]\n\n%s\n\nOptions:\n", command, purpose);
	for (size_t i = 0; i < n; i++)
		printf("  --%s%s\n      %s\n", options[i].name,
		       options[i].flag != NULL ? "" : " VALUE", options[i].help);
}

static const struct cmd_option *find(const struct cmd_option *options, size_t n, const char *word,
                                     const char **ret_value)
{
	const char *equals = strchr(word, '=');
	size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < n; i++) {
		if (strlen(options[i].name) != len || strncmp(options[i].name, word, len) != 0)
			continue;
		*ret_value = equals != NULL ? equals + 1 : NULL;
		return &options[i];
	}
	return NULL;
}

/* One option at argv[*i]; false after a complaint. */
static bool take(const char *command, const struct cmd_option *o, const char *value, int argc,
                 char **argv, int *i)
{
	if (o->flag != NULL && value == NULL) {
		*o->flag = true;
		return true;
	}
	if (o->flag != NULL) {
		fprintf(stderr, "slipway-trainer %s: error: --%s takes no value\n", command,
		        o->name);
		return false;
	}
	if (value == NULL && *i + 1 < argc)
		value = argv[++*i];
	if (value == NULL) {
		fprintf(stderr, "slipway-trainer %s: error: --%s needs a value\n", command,
		        o->name);
		return false;
	}
	*o->value = value;
	return true;
}

int cmd_parse(const char *command, const char *purpose, const struct cmd_option *options, size_t n,
              int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const struct cmd_option *o = NULL;
		const char *value = NULL;

		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			print_help(command, purpose, options, n);
			return 1;
		}
		if (strncmp(argv[i], "--", 2) == 0)
			o = find(options, n, argv[i] + 2, &value);
		if (o == NULL) {
			fprintf(stderr,
			        "slipway-trainer %s: error: unknown argument '%s'\n"
			        "slipway-trainer %s --help shows its options.\n",
			        command, argv[i], command);
			return -1;
		}
		if (!take(command, o, value, argc, argv, &i))
			return -1;
	}
	return 0;
}

int cmd_fail(const struct err *err)
{
	fprintf(stderr, "slipway-trainer: error: %s\n", err->msg);
	if (err->hint[0] != '\0')
		fprintf(stderr, "  %s\n", err->hint);
	return err->code == ERR_USAGE ? TRAINER_USAGE : TRAINER_FAILED;
}

int cmd_precision(const char *text, enum op_precision *ret, struct err *err)
{
	if (strcmp(text, "f32") != 0 && strcmp(text, "bf16") != 0)
		return err_set(err, ERR_USAGE, "--precision is '%.60s', expected f32 or bf16",
		               text);
	*ret = strcmp(text, "bf16") == 0 ? PRECISION_BF16 : PRECISION_F32;
	return 0;
}

int cmd_number(const char *option, const char *text, unsigned long long max,
               unsigned long long *ret, struct err *err)
{
	char *end = NULL;
	unsigned long long value = 0;

	if (text[0] >= '0' && text[0] <= '9' && strlen(text) < 19)
		value = strtoull(text, &end, 10);
	if (end == NULL || *end != '\0' || value > max)
		return err_set(err, ERR_USAGE,
		               "--%s is '%.60s', expected a whole number up to %llu", option, text,
		               max);
	*ret = value;
	return 0;
}

/* Beside this program, else wherever PATH says. */
void cmd_become_prepare(char **words, struct err *err)
{
	char path[PATH_MAX + sizeof("slipway-prepare")];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		memcpy(slash + 1, "slipway-prepare", sizeof("slipway-prepare"));
		execv(path, words);
	}
	execvp("slipway-prepare", words);
	err_set(err, ERR_NOT_FOUND, "cannot run slipway-prepare: %s", strerror(errno));
	err_hint(err, "It needs FFmpeg's libraries and is not in the training image: build it with "
	              "`make all` and run it where the videos are.");
}
