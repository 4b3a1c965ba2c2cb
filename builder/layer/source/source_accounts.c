/* See source_accounts.h: the texts as files, and home folders. */
#include "builder/layer/source/source_accounts.h"

#include <string.h>

#include "builder/layer/source/source_origin.h"

enum { ACCOUNTS_TEXT_MAX = 1 << 20 };

/* ---- the new texts, and homes ---- */

/* Folders that are named so that there is none, or are not the user's. */
static bool has_folder(const char *home)
{
	return strspn(home, "/") != strlen(home) && strcmp(home, "/nonexistent") != 0;
}

static int add_home(struct tree *t, const struct layer_user *u, struct err *err)
{
	struct entry e = {.path = accounts_home(u, t->arena),
	                  .type = ENTRY_DIR,
	                  .mode = (uint32_t)u->home_mode,
	                  .uid = (uint32_t)u->uid,
	                  .gid = (uint32_t)(u->gid >= 0 ? u->gid : u->uid),
	                  .mtime = t->epoch,
	                  .at = u->at};

	return has_folder(e.path) ? tree_add(t, &e, err) : 0;
}

static int add_text(struct tree *t, const char *path, const char *text,
                    const struct layer_accounts *want, struct err *err)
{
	return data_file_add(t, path, text, strlen(text), want->at, err);
}

int source_accounts_add(struct tree *t, const struct layer_accounts *want,
                        const struct accounts_text *base, struct diags *d, struct err *err)
{
	struct accounts_text text;
	int rc;

	accounts_write(want, base, t->label, t->arena, d, &text);
	rc = add_text(t, "etc/passwd", text.passwd, want, err);
	if (rc == 0)
		rc = add_text(t, "etc/group", text.group, want, err);
	if (rc == 0 && (base == NULL || base->nsswitch == NULL))
		rc = add_text(t, "etc/nsswitch.conf", text.nsswitch, want, err);
	for (size_t i = 0; rc == 0 && i < want->n_users; i++)
		rc = add_home(t, &want->users[i], err);
	return rc == 0 ? 0 : err_wrap(err, "layer '%s': accounts", t->label);
}

/* ---- the base's texts ---- */

static int unusable(const char *path, struct err *err)
{
	err_wrap(err, "'%s' of the base", path);
	return err_hint(err, "Nothing can be merged into it: use another base image.");
}

/* NULL when the base has no such file. */
static int read_text(struct base_files *base, const char *path, struct arena *a,
                     const char **ret_text, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(ACCOUNTS_TEXT_MAX + 1);
	struct err why = {0};

	*ret_text = NULL;
	if (base_text(base, path, ACCOUNTS_TEXT_MAX, &text, &why) != 0) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return why.code == ERR_LIMIT ? unusable(path, err) : -1;
	}
	if (memchr(strbuf_str(&text), '\0', text.len) != NULL) {
		err_set(err, ERR_FORMAT, "it holds a NUL byte");
		return unusable(path, err);
	}
	*ret_text = arena_strdup(a, strbuf_str(&text));
	return 0;
}

int accounts_on_base(struct tree *t, const struct layer_accounts *want, struct base_files *base,
                     struct diags *d, struct err *err)
{
	struct accounts_text text = {0};

	if (base != NULL &&
	    (read_text(base, "/etc/passwd", t->arena, &text.passwd, err) != 0 ||
	     read_text(base, "/etc/group", t->arena, &text.group, err) != 0 ||
	     read_text(base, "/etc/nsswitch.conf", t->arena, &text.nsswitch, err) != 0))
		return err_wrap(err, "layer '%s': accounts", t->label);
	return source_accounts_add(t, want, &text, d, err);
}
