#include "trainer/checkpoint/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/sha256.h"
#include "base/slurp.h"

static const char manifest_name[] = "manifest.json", format_name[] = "slipway-checkpoint/v1";

enum { MANIFEST_BYTES_MAX = 1 << 20 };

/* Until here the bytes may be in the page cache only. */
static int sync_file(const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		return err_set(err, ERR_IO, "sync '%s'", path);
	return 0;
}

static int add_file(const char *folder, const char *name, struct jsonw *w, struct err *err)
{
	char path[PATH_MAX], hex[SHA256_HEX_MAX];
	uint64_t size;

	if (fs_join(path, folder, name, err) != 0 || sync_file(path, err) != 0 ||
	    sha256_file(path, hex, &size, err) != 0)
		return -1;
	jsonw_key(w, name);
	jsonw_begin_object(w);
	jsonw_key(w, "size");
	jsonw_int(w, (int64_t)size);
	jsonw_key(w, "sha256");
	jsonw_string(w, hex);
	jsonw_end_object(w);
	return 0;
}

static int add_files(const char *folder, struct jsonw *w, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int rc = 0;

	if (dir == NULL)
		return err_set(err, ERR_IO, "open '%s'", folder);
	while (rc == 0 && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = add_file(folder, e->d_name, w, err);
	closedir(dir);
	return rc;
}

int manifest_write(const char *folder, const char *run, uint64_t step, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char path[PATH_MAX];
	struct jsonw w;

	jsonw_init(&w, &text, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "format");
	jsonw_string(&w, format_name);
	jsonw_key(&w, "run");
	jsonw_string(&w, run);
	jsonw_key(&w, "step");
	jsonw_int(&w, (int64_t)step);
	jsonw_key(&w, "files");
	jsonw_begin_object(&w);
	if (add_files(folder, &w, err) != 0)
		return -1;
	jsonw_end_object(&w);
	jsonw_end_object(&w);
	if (fs_join(path, folder, manifest_name, err) != 0)
		return -1;
	return fs_write_file(path, strbuf_str(&text), text.len, 0644, err);
}

/* One entry of "files". */
static int read_file(const struct jsonr *doc, const struct jsonr_node *node,
                     struct manifest_file *ret, struct err *err)
{
	const struct jsonr_node *sha = jsonr_get(doc, node, "sha256");
	const struct jsonr_node *size = jsonr_get(doc, node, "size");

	if (strchr(node->key, '/') != NULL || sha == NULL || sha->type != JSONR_STRING ||
	    strlen(sha->string) >= sizeof(ret->sha256) || size == NULL ||
	    !jsonr_whole(size, &ret->size))
		return err_set(err, ERR_FORMAT, "the entry for '%s' is malformed", node->key);
	snprintf(ret->sha256, sizeof(ret->sha256), "%s", sha->string);
	ret->name = mem_strdup(node->key);
	return 0;
}

static int verify_file(const char *folder, const struct manifest_file *file, struct err *err)
{
	char path[PATH_MAX], hex[SHA256_HEX_MAX];
	struct stat st;
	uint64_t size;

	if (fs_join(path, folder, file->name, err) != 0)
		return -1;
	if (stat(path, &st) != 0 ? errno == ENOENT : !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT,
		               "'%s' is in the manifest, but there is no such file", path);
	if (sha256_file(path, hex, &size, err) != 0)
		return -1;
	if (size != file->size || strcmp(hex, file->sha256) != 0)
		return err_set(err, ERR_DIGEST,
		               "'%s' does not match its size and SHA-256 in the manifest", path);
	return 0;
}

static int parse_manifest(const char *folder, char path[PATH_MAX], struct jsonr *doc,
                          struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (fs_join(path, folder, manifest_name, err) != 0 ||
	    slurp_file(path, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	return jsonr_parse(path, strbuf_str(&text), text.len, doc, err);
}

int manifest_run(const char *folder, char ret_run[MANIFEST_RUN_MAX], struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	const struct jsonr_node *run;
	char path[PATH_MAX];

	if (parse_manifest(folder, path, &doc, err) != 0)
		return -1;
	run = jsonr_get(&doc, doc.nodes, "run");
	if (run != NULL && (run->type != JSONR_STRING || strlen(run->string) >= MANIFEST_RUN_MAX))
		return err_set(err, ERR_FORMAT, "'%s': 'run' is not a run's identity", path);
	snprintf(ret_run, MANIFEST_RUN_MAX, "%s", run != NULL ? run->string : "");
	return 0;
}

void manifest_done(struct checkpoint_manifest *m)
{
	for (size_t i = 0; i < m->files.n; i++)
		free(m->files.at[i].name);
	vec_done(&m->files);
}

static int read_files(const char *path, const struct jsonr *doc, struct checkpoint_manifest *m,
                      struct err *err)
{
	const struct jsonr_node *files = jsonr_get(doc, doc->nodes, "files"), *node;
	const struct jsonr_node *format = jsonr_get(doc, doc->nodes, "format");
	const struct jsonr_node *step = jsonr_get(doc, doc->nodes, "step");

	if (format == NULL || format->type != JSONR_STRING ||
	    strcmp(format->string, format_name) != 0 || files == NULL ||
	    files->type != JSONR_OBJECT || files->n == 0)
		return err_set(err, ERR_FORMAT, "'%s' is not a checkpoint manifest", path);
	if (step == NULL || !jsonr_whole(step, &m->step))
		m->step = 0;
	node = jsonr_first(doc, files);
	for (size_t i = 0; i < files->n; i++, node = jsonr_next(doc, node)) {
		struct manifest_file file = {0};

		if (read_file(doc, node, &file, err) != 0)
			return -1;
		vec_push(&m->files, file);
	}
	return 0;
}

int manifest_read(const char *folder, struct checkpoint_manifest *ret, struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct checkpoint_manifest m = {0};
	char path[PATH_MAX];

	if (parse_manifest(folder, path, &doc, err) != 0)
		return -1;
	if (read_files(path, &doc, &m, err) != 0 || manifest_run(folder, m.run, err) != 0) {
		manifest_done(&m);
		return -1;
	}
	*ret = m;
	return 0;
}

int manifest_verify(const char *folder, struct err *err)
{
	AUTO(manifest) struct checkpoint_manifest m = {0};

	if (manifest_read(folder, &m, err) != 0)
		return -1;
	for (size_t i = 0; i < m.files.n; i++)
		if (verify_file(folder, &m.files.at[i], err) != 0)
			return -1;
	return 0;
}
