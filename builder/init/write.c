#include "builder/init/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"

enum { IGNORE_MAX = 1 << 20, FILE_MAX = 4 << 20 };

/* As the user names it: no "./" before what is here. */
static int place(char path[PATH_MAX], const char *dir, const char *name, struct err *err)
{
	if (strcmp(dir, ".") != 0)
		return fs_join(path, dir, name, err);
	snprintf(path, PATH_MAX, "%s", name);
	return 0;
}

static int conflict(const char *path, struct err *err)
{
	err_set(err, ERR_CONFLICT, "'%s' is there already, and init replaces nothing", path);
	return err_hint(err, "move it away, see what init would write with --dry-run, or choose "
	                     "another folder with --dir");
}

/* Is the folder of builds ignored, however that is spelled? */
static bool has_line(const char *text)
{
	static const char *const spellings[] = {"/build/", "/build", "build/", "build"};

	while (*text != '\0') {
		size_t len = strcspn(text, "\r\n");

		for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
			if (strlen(spellings[i]) == len && memcmp(text, spellings[i], len) == 0)
				return true;
		text += len + strspn(text + len, "\r\n");
	}
	return false;
}

/* Is the file there, and may it be? */
static int compare(const char *path, struct init_file *file, struct err *err)
{
	AUTO(strbuf) struct strbuf have = STRBUF_INIT(FILE_MAX);
	struct err ignored = {0};
	struct stat st;

	if (lstat(path, &st) != 0)
		return errno == ENOENT || errno == ENOTDIR
		               ? 0
		               : err_set(err, ERR_IO, "cannot look at '%s'", path);
	file->there =
		file->way == INIT_KEEP || (file->way == INIT_SAME && S_ISREG(st.st_mode) &&
	                                   fs_read_file(path, FILE_MAX, &have, &ignored) == 0 &&
	                                   strcmp(strbuf_str(&have), file->text) == 0);
	return file->there ? 0 : conflict(path, err);
}

/* .gitignore: a line may be added to it, whatever else it says. */
static int look_for_line(const char *path, struct init_file *file, struct strbuf *ret_text,
                         struct err *err)
{
	struct err missing = {0};
	struct stat st;

	/* A link to nothing would be replaced, and a pipe waited for. */
	if (lstat(path, &st) == 0 && (stat(path, &st) != 0 || !S_ISREG(st.st_mode))) {
		err_set(err, ERR_CONFLICT, "'%s' is there already, and is no file", path);
		return err_hint(err, "remove it, or choose another folder with --dir");
	}
	if (fs_read_file(path, IGNORE_MAX, ret_text, &missing) != 0 &&
	    missing.code != ERR_NOT_FOUND) {
		*err = missing;
		return -1;
	}
	file->there = has_line(strbuf_str(ret_text));
	return 0;
}

static int check_file(const char *dir, struct init_file *file, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(IGNORE_MAX);
	char path[PATH_MAX];

	if (place(path, dir, file->path, err) != 0)
		return -1;
	return file->way == INIT_LINE ? look_for_line(path, file, &text, err)
	                              : compare(path, file, err);
}

int init_check(const char *dir, struct init_plan *plan, struct err *err)
{
	for (size_t i = 0; i < plan->n_files; i++)
		if (check_file(dir, &plan->files[i], err) != 0)
			return -1;
	return 0;
}

static int add_line(const char *path, struct init_file *file, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(IGNORE_MAX + 1024);
	struct stat st;

	if (look_for_line(path, file, &text, err) != 0 || file->there)
		return file->there ? 0 : -1;
	if (text.len > 0 && text.ptr[text.len - 1] != '\n')
		strbuf_addc(&text, '\n');
	strbuf_addf(&text, "%s\n", file->text);
	/* A link stays one: what it leads to gets the line. */
	AUTO_FREE char *real = realpath(path, NULL);
	const char *target = real != NULL ? real : path;
	mode_t mode = stat(target, &st) == 0 ? st.st_mode & 07777 : 0644;

	return fs_write_file(target, text.ptr, text.len, mode, err);
}

/* A whole file beside `path`, which gets that name only where nobody has it. */
static int create(const char *path, const struct init_file *file, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	char dir[PATH_MAX];

	fs_parent(path, dir);
	if (fs_mkdirs(dir, err) != 0 || fs_temp_open(&temp, dir, err) != 0 ||
	    fs_write_all(temp.fd, file->text, strlen(file->text), err) != 0)
		return -1;
	if (fchmod(temp.fd, 0644) != 0 || fsync(temp.fd) != 0)
		return err_set(err, ERR_IO, "cannot write '%s'", path);
	if (link(temp.path, path) == 0)
		return 0;
	/* Not every file system has links. */
	if ((errno == EPERM || errno == EOPNOTSUPP) &&
	    renameat2(AT_FDCWD, temp.path, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EEXIST ? conflict(path, err)
	                       : err_set(err, ERR_IO, "cannot create '%s'", path);
}

static int write_file(const char *dir, struct init_file *file, struct err *err)
{
	char path[PATH_MAX];

	if (place(path, dir, file->path, err) != 0)
		return -1;
	if (file->way == INIT_LINE)
		return add_line(path, file, err);
	return file->there ? 0 : create(path, file, err);
}

/* What this run has made goes again; a line in .gitignore harms nobody. */
static void take_back(const char *dir, const struct init_plan *plan, size_t n)
{
	char path[PATH_MAX];
	struct err ignored = {0};

	for (size_t i = 0; i < n; i++)
		if (plan->files[i].way != INIT_LINE && !plan->files[i].there &&
		    place(path, dir, plan->files[i].path, &ignored) == 0)
			unlink(path);
}

int init_write(const char *dir, struct init_plan *plan, struct err *err)
{
	if (init_check(dir, plan, err) != 0)
		return -1;
	for (size_t i = 0; i < plan->n_files; i++)
		if (write_file(dir, &plan->files[i], err) != 0) {
			take_back(dir, plan, i);
			return err_wrap(err, "init");
		}
	return 0;
}
