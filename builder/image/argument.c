/*
 * What a user named: a path, or an image in a registry.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/text.h"
#include "builder/image/image.h"
#include "builder/oci/archive.h"

/* A text cut into PATH[:TAG][@DIGEST]. */
struct named_path {
	char *path;
	const char *tag;
	bool has_digest;
	struct digest digest;
	bool folder;
};

static bool stat_path(struct named_path *p)
{
	struct stat st;

	if (stat(p->path, &st) != 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	p->folder = S_ISDIR(st.st_mode);
	return true;
}

/* PATH is tried whole, then without what may be its tag. */
static bool find_path(const char *text, struct arena *a, struct named_path *p)
{
	struct err ignored = {0};

	p->path = arena_strdup(a, text);
	if (stat_path(p))
		return true;
	char *at = strstr(p->path, "@sha256:");

	if (at != NULL) {
		*at = '\0';
		if (digest_parse(at + 1, &p->digest, &ignored) != 0)
			return false;
		p->has_digest = true;
		if (stat_path(p))
			return true;
	}
	char *slash = strrchr(p->path, '/'), *colon = strrchr(p->path, ':');

	if (colon == NULL || (slash != NULL && colon < slash) || !ref_tag_valid(colon + 1))
		return false;
	*colon = '\0';
	p->tag = colon + 1;
	return stat_path(p);
}

static bool is_layout(const char *path)
{
	char file[PATH_MAX];
	struct err ignored = {0};

	return fs_join(file, path, "oci-layout", &ignored) == 0 && fs_exists(file);
}

/* "registry.example.com/app" is a registry's although a folder of that name lies here. */
static bool names_registry(const char *text, const struct named_path *p, struct arena *a)
{
	struct ref ref;
	struct err ignored = {0};

	return p->folder && ref_parse(text, a, &ref, &ignored) == 0 && ref.kind == REF_REGISTRY &&
	       !ref.host_implied && !is_layout(p->path);
}

static int use_path(const struct named_path *p, struct ref *ret_ref, struct err *err)
{
	struct ref ref = {.kind = REF_LAYOUT,
	                  .path = p->path,
	                  .tag = p->tag,
	                  .has_digest = p->has_digest,
	                  .digest = p->digest};
	enum archive_form form;

	if (!p->folder) {
		if (archive_form(p->path, &form, err) != 0)
			return -1;
		ref.kind = form == ARCHIVE_OCI ? REF_OCI_ARCHIVE : REF_DOCKER_ARCHIVE;
	} else if (!is_layout(p->path)) {
		err_set(err, ERR_FORMAT, "the folder '%s' is not an image layout", p->path);
		return err_hint(err, "`slipway build -o DIR` makes one; an image of that name on "
		                     "Docker Hub is docker.io/NAME");
	}
	*ret_ref = ref;
	return 0;
}

static bool has_transport(const char *text)
{
	return text_has_prefix(text, "oci:") || text_has_prefix(text, "oci-archive:") ||
	       text_has_prefix(text, "docker-archive:");
}

/* What no registry can have: a path from a folder, or the name of an archive. */
static bool only_a_path(const char *text)
{
	static const char *const starts[] = {"/", "./", "../", "~/"};
	static const char *const ends[] = {"/", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz"};

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (text_has_prefix(text, starts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (text_has_suffix(text, ends[i]))
			return true;
	return strcmp(text, ".") == 0 || strcmp(text, "..") == 0;
}

int image_argument(const char *text, struct arena *a, struct ref *ret_ref, struct err *err)
{
	struct named_path p = {0};

	if (has_transport(text))
		return ref_parse(text, a, ret_ref, err);
	if (find_path(text, a, &p) && !names_registry(text, &p, a))
		return use_path(&p, ret_ref, err);
	if (only_a_path(text)) {
		err_set(err, ERR_NOT_FOUND, "there is no file or folder '%.300s'", text);
		return err_hint(err, "check the path: it is relative to the folder slipway runs "
		                     "in, and `slipway build` writes build/image");
	}
	if (ref_parse(text, a, ret_ref, err) == 0)
		return 0;
	return err_wrap(err, "no file or folder '%.200s'", text);
}
