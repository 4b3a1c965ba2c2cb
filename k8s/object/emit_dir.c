/*
 * A folder of manifests: a subfolder per concern, a kustomization in each, and a list of what is
 * ours, so that a stranger's file is never replaced and never removed.
 */
#include <string.h>

#include "base/fs_below.h"
#include "base/mem.h"
#include "base/text.h"
#include "k8s/object/emit.h"

#define OWNED_LIST ".slipway-files"
#define OWNED_HEAD "# Written by slipway render: files it may replace and remove. Do not edit.\n"

enum { OWNED_MAX = 1 << 20, FILE_MODE = 0644 };

/* A file to be written, relative to the folder. */
struct planned {
	const char *path;
	const char *text;
	size_t len;
};

struct plan_dir {
	struct arena *arena;
	struct fs_below dir;
	const struct k8s_output *out;
	VEC(struct planned) files;
	struct strbuf owned; /* of the run before; one path a line */
};

static void plan_dir_done(struct plan_dir *p)
{
	fs_below_done(&p->dir);
	vec_done(&p->files);
	strbuf_done(&p->owned);
}

static void plan_file(struct plan_dir *p, const char *path, const struct strbuf *text)
{
	struct planned file = {.path = path,
	                       .text = arena_strndup(p->arena, strbuf_str(text), text->len),
	                       .len = text->len};

	vec_push(&p->files, file);
}

/* "trn1.yaml" as "trn1.json" for the JSON forms. */
static const char *file_name(const struct plan_dir *p, const char *name, enum k8s_format format)
{
	const char *dot = strrchr(name, '.');

	if (format == K8S_YAML || dot == NULL)
		return name;
	return arena_printf(p->arena, "%.*s.json", (int)(dot - name), name);
}

/* Named in the folder's kustomization. */
static bool applied(const struct k8s_output *out, const struct k8s_output_file *file)
{
	if (file->choice != NULL && strcmp(file->choice, out->fleet->targets[0].name) != 0)
		return false;
	for (size_t k = 0; k < file->n; k++)
		if (!file->at[k].foreign)
			return true;
	return false;
}

static void plan_manifests(struct plan_dir *p, const struct k8s_output *out, enum k8s_format format)
{
	for (size_t i = 0; i < out->n; i++) {
		const struct k8s_output_file *file = &out->files[i];
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		k8s_file_text(out, file, format, true, &text);
		plan_file(p,
		          arena_printf(p->arena, "%s/%s", file->folder,
		                       file_name(p, file->name, format)),
		          &text);
	}
}

static void kustomization(struct plan_dir *p, const char *path, const struct strbuf *resources)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	strbuf_addf(&text,
	            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
	            "resources:%s\n%s",
	            resources->len == 0 ? " []" : "", strbuf_str(resources));
	plan_file(p, path, &text);
}

/* One per folder with what kubectl applies, and one above them in order. */
static void plan_kustomizations(struct plan_dir *p, const struct k8s_output *out,
                                enum k8s_format format)
{
	AUTO(strbuf) struct strbuf folders = STRBUF_INIT(0);

	for (size_t i = 0; i < out->n;) {
		const char *folder = out->files[i].folder;
		AUTO(strbuf) struct strbuf resources = STRBUF_INIT(0);

		for (; i < out->n && out->files[i].folder == folder; i++)
			if (applied(out, &out->files[i]))
				strbuf_addf(&resources, "  - %s\n",
				            file_name(p, out->files[i].name, format));
		if (resources.len == 0)
			continue;
		kustomization(p, arena_printf(p->arena, "%s/kustomization.yaml", folder),
		              &resources);
		strbuf_addf(&folders, "  - %s\n", folder);
	}
	if (!out->partial)
		kustomization(p, "kustomization.yaml", &folders);
}

/* ---- what is there already ---- */

static int read_owned(struct plan_dir *p, struct err *err)
{
	if (fs_below_read(&p->dir, OWNED_LIST, OWNED_MAX, &p->owned, err) == 0)
		return 0;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	*err = (struct err){0};
	return 0;
}

/* A path of the list: relative, and without a way out of the folder. */
static bool sound_path(const char *path, size_t len)
{
	return len > 0 && len < 512 && path[0] != '/' && path[0] != '#' &&
	       memmem(path, len, "..", 2) == NULL;
}

static bool owns(const struct plan_dir *p, const char *path)
{
	size_t len = strlen(path);

	for (const char *line = strbuf_str(&p->owned); *line != '\0';) {
		size_t n = strcspn(line, "\n");

		if (n == len && strncmp(line, path, len) == 0)
			return true;
		line += n + (line[n] == '\n');
	}
	return false;
}

static bool planned(const struct plan_dir *p, const char *path, size_t len)
{
	for (size_t i = 0; i < p->files.n; i++)
		if (strlen(p->files.at[i].path) == len &&
		    strncmp(p->files.at[i].path, path, len) == 0)
			return true;
	return false;
}

/* A line of the list that this run has nothing to say about: of a concern it did not render. */
static bool elsewhere(const struct plan_dir *p, const char *path, size_t len)
{
	if (!p->out->partial)
		return false;
	for (size_t i = 0; i < p->out->n; i++) {
		const char *folder = p->out->files[i].folder;
		size_t n = strlen(folder);

		if (n < len && strncmp(path, folder, n) == 0 && path[n] == '/')
			return false;
	}
	return true;
}

/* Nothing that is not ours may stand where we write. */
static int check_strangers(const struct plan_dir *p, struct err *err)
{
	for (size_t i = 0; i < p->files.n; i++) {
		const char *name = p->files.at[i].path;
		enum fs_below_kind kind;

		if (fs_below_kind(&p->dir, name, &kind, err) != 0)
			return -1;
		if (kind == FS_BELOW_NOTHING || (kind == FS_BELOW_FILE && owns(p, name)))
			continue;
		err_set(err, ERR_CONFLICT, "'%s/%s' exists and was not written by slipway",
		        p->dir.path, name);
		return err_hint(err, "Move it away, or name another folder.");
	}
	return 0;
}

/* ---- writing ---- */

/* The list grows before the files do, so that a run cut short leaves nothing that looks foreign. */
static int write_owned(const struct plan_dir *p, bool keep_old, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	VEC(const char *) paths = {0};

	for (size_t i = 0; i < p->files.n; i++)
		vec_push(&paths, p->files.at[i].path);
	for (const char *line = strbuf_str(&p->owned); *line != '\0';) {
		size_t n = strcspn(line, "\n");

		if (sound_path(line, n) && !planned(p, line, n) &&
		    (keep_old || elsewhere(p, line, n)))
			vec_push(&paths, arena_strndup(p->arena, line, n));
		line += n + (line[n] == '\n');
	}
	if (paths.n > 1)
		qsort(paths.at, paths.n, sizeof(*paths.at), text_compare);
	strbuf_adds(&text, OWNED_HEAD);
	for (size_t i = 0; i < paths.n; i++)
		strbuf_addf(&text, "%s\n", paths.at[i]);
	vec_done(&paths);
	return fs_below_write(&p->dir, OWNED_LIST, text.ptr, text.len, FILE_MODE, err);
}

/* Removes what an earlier run wrote and this one does not, and folders that this empties. */
static int remove_old(const struct plan_dir *p, struct err *err)
{
	for (const char *line = strbuf_str(&p->owned); *line != '\0';) {
		size_t n = strcspn(line, "\n");

		if (sound_path(line, n) && !planned(p, line, n) && !elsewhere(p, line, n) &&
		    fs_below_remove(&p->dir, arena_strndup(p->arena, line, n), err) != 0)
			return -1;
		line += n + (line[n] == '\n');
	}
	return 0;
}

int k8s_write_dir(const struct k8s_output *out, enum k8s_format format, const char *dir,
                  struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(plan_dir)
	struct plan_dir p = {
		.arena = &a, .dir = FS_BELOW_INIT, .out = out, .owned = STRBUF_INIT(OWNED_MAX)};

	plan_manifests(&p, out, format);
	plan_kustomizations(&p, out, format);
	if (fs_below_open(dir, &p.dir, err) != 0 || read_owned(&p, err) != 0 ||
	    check_strangers(&p, err) != 0 || write_owned(&p, true, err) != 0)
		return -1;
	for (size_t i = 0; i < p.files.n; i++)
		if (fs_below_write(&p.dir, p.files.at[i].path, p.files.at[i].text,
		                   p.files.at[i].len, FILE_MODE, err) != 0)
			return -1;
	if (remove_old(&p, err) != 0)
		return -1;
	return write_owned(&p, false, err);
}
