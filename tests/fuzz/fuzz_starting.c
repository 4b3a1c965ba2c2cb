/*
 * Any texts as what a container's start reads: the head of a script, the image's users and groups
 * and who is asked for, a duration of Docker's, the words of a command in AWS's configuration.
 */
#include "base/mem.h"
#include "builder/aws/words.h"
#include "builder/check/script.h"
#include "builder/check/user.h"
#include "builder/spec/spec_internal.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_script(struct part head, struct arena *a)
{
	size_t len = head.len < SCRIPT_HEAD_MAX ? head.len : SCRIPT_HEAD_MAX;
	struct script_line line, again;

	script_looks_like(head.text, len);
	if (script_head_kept(head.text, len) > len)
		BUG("more is kept than there is");
	if (script_read(head.text, len, a, &line) != SCRIPT_READ)
		return;
	if (line.interpreter[0] == '\0' || strpbrk(line.interpreter, " \t\n") != NULL)
		BUG("'%s' as an interpreter", line.interpreter);
	/* What is kept of it reads the same. */
	if (script_read(head.text, script_head_kept(head.text, len), a, &again) != SCRIPT_READ ||
	    strcmp(line.interpreter, again.interpreter) != 0)
		BUG("the kept head reads otherwise");
	if (line.argument != NULL)
		script_env_command(line.argument, a);
}

/* A text that is NUL-terminated, as files are once they are read. */
static const char *text_of(struct part part, struct arena *a)
{
	return arena_strndup(a, part.text, part.len);
}

static void resolve(const char *user, const char *passwd, const char *group, struct arena *a)
{
	struct scan_member m = {.type = MEMBER_FILE, .mode = 0040, .uid = UINT32_MAX};
	struct image_user found;

	user_names(passwd, a);
	if (user_resolve(user, passwd, group, a, &found) != USER_FOUND)
		return;
	if (found.uid > INT32_MAX || found.gid > INT32_MAX)
		BUG("a number beyond those of runtimes");
	for (size_t i = 0; i < found.n_groups; i++) {
		m.gid = found.groups[i];
		if (!user_may(&found, &m, USER_READ) && found.uid != 0)
			BUG("group %u does not count", m.gid);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct parts parts = {(const char *)data, size};
	struct word_list words;
	struct err err = {0};
	int64_t ns;

	read_script(parts_next(&parts), &a);
	const char *user = text_of(parts_next(&parts), &a);
	const char *passwd = text_of(parts_next(&parts), &a);
	const char *group = text_of(parts_next(&parts), &a);

	resolve(user, passwd, group, &a);
	if (spec_duration(user, &ns) && ns < 0)
		BUG("a negative duration");
	(void)words_split(passwd, &a, &words, &err);
	return 0;
}
