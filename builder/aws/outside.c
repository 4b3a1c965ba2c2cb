#include "builder/aws/outside.h"

#include <pwd.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/slurp.h"

static const char *real_env(const struct aws_outside *s UNUSED, const char *name)
{
	return getenv(name);
}

static int real_read(const struct aws_outside *s UNUSED, const char *path, size_t max,
                     struct strbuf *sb, struct err *err)
{
	/* Tokens may come through /proc or a pipe, whose size is not known. */
	return slurp_file(path, max, sb, err);
}

static int real_write(const struct aws_outside *s UNUSED, const char *path, const void *bytes,
                      size_t len, struct err *err)
{
	return fs_write_file(path, bytes, len, 0600, err);
}

static int real_run(const struct aws_outside *s UNUSED, const char *const argv[], int timeout_ms,
                    struct proc_result *r, struct err *err)
{
	return proc_run(argv, NULL, timeout_ms, r, err);
}

/* As the AWS CLI: without HOME the user's entry in the password file. */
static const char *real_home(const struct aws_outside *s UNUSED, struct arena *a)
{
	struct passwd entry, *found = NULL;
	char buf[4096];

	if (getpwuid_r(geteuid(), &entry, buf, sizeof(buf), &found) != 0 || found == NULL)
		return NULL;
	return arena_strdup(a, entry.pw_dir);
}

struct aws_outside aws_outside_real(void)
{
	return (struct aws_outside){.env = real_env,
	                            .home = real_home,
	                            .read_file = real_read,
	                            .write_file = real_write,
	                            .run = real_run,
	                            .clock = clock_system()};
}

const char *aws_env(const struct aws_outside *s, const char *name)
{
	const char *value = s->env(s, name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

bool aws_is_true(const char *text)
{
	return text != NULL && strcasecmp(text, "true") == 0;
}

static bool is_variable_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* "$NAME" or "${NAME}" at text: its value, and how long it was. An unknown one stays as it is. */
static const char *variable(const struct aws_outside *s, const char *text, size_t *ret_len,
                            struct arena *a)
{
	size_t open = text[1] == '{' ? 2 : 1, len = 0;

	while (is_variable_char(text[open + len]))
		len++;
	*ret_len = open + len + (open == 2);
	if (len == 0 || (open == 2 && text[open + len] != '}'))
		return NULL;
	return s->env(s, arena_strndup(a, text + open, len));
}

const char *aws_expand_path(const struct aws_outside *s, const char *path, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(8192);

	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0')) {
		const char *home = aws_env(s, "HOME");

		if (home == NULL && s->home != NULL)
			home = s->home(s, a);
		/* A folder that is named "~" in a stranger's tree is nobody's home. */
		strbuf_adds(&sb, home != NULL ? home : "/nonexistent");
		path++;
	}
	while (*path != '\0') {
		size_t len = 1;
		const char *value = *path == '$' ? variable(s, path, &len, a) : NULL;

		if (value != NULL) {
			strbuf_adds(&sb, value);
			path += len;
		} else {
			strbuf_addc(&sb, *path++);
		}
	}
	return arena_strdup(a, strbuf_str(&sb));
}
