/* See xattr.h. */
#include "builder/layer/tree/xattr.h"

#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/mem.h"
#include "base/text.h"

/* linux/capability.h: magic_etc is revision and flags, then two pairs of 32 bits, then (v3) a root
 * id. */
enum { CAP_V2_BYTES = 20, CAP_V3_BYTES = 24, CAP_EFFECTIVE = 0x01 };

bool xattr_wanted(const struct strlist *globs, const char *name)
{
	for (size_t i = 0; i < globs->n; i++)
		if (text_glob(globs->at[i], name))
			return true;
	return false;
}

/* Checks a capability value and rewrites it in place. */
static int normalise_capability(unsigned char *value, size_t *len, struct err *err)
{
	unsigned revision = *len > 3 ? value[3] : 0;

	if (!(revision == 2 && *len == CAP_V2_BYTES) && !(revision == 3 && *len == CAP_V3_BYTES)) {
		err_set(err, ERR_FORMAT,
		        "security.capability is not a file capability of version 2 or 3");
		return err_hint(err, "Set it again with setcap, or do not keep it.");
	}
	if ((value[0] & ~CAP_EFFECTIVE) != 0 || value[1] != 0 || value[2] != 0)
		return err_set(err, ERR_FORMAT, "security.capability has unknown flags");
	value[3] = 2;
	*len = CAP_V2_BYTES;
	return 0;
}

/* Index of the first attribute whose name does not sort before `name`. */
static size_t place_of(const struct entry *e, const char *name)
{
	size_t i = 0;

	while (i < e->n_xattrs && strcmp(e->xattrs[i].name, name) < 0)
		i++;
	return i;
}

/* The array is made anew for each one more: files with more than one or two attributes are rare. */
static struct entry_xattr *make_room(struct entry *e, struct arena *a, size_t i)
{
	struct entry_xattr *list = arena_calloc(a, e->n_xattrs + 1, sizeof(*list));

	if (i > 0)
		memcpy(list, e->xattrs, i * sizeof(*list));
	if (e->n_xattrs > i)
		memcpy(list + i + 1, e->xattrs + i, (e->n_xattrs - i) * sizeof(*list));
	e->xattrs = list;
	e->n_xattrs++;
	return &list[i];
}

int xattr_add(struct entry *e, struct arena *a, const char *name, const void *value, size_t len,
              struct err *err)
{
	size_t i = place_of(e, name);
	bool known = i < e->n_xattrs && strcmp(e->xattrs[i].name, name) == 0;

	if (name[0] == '\0' || strlen(name) > XATTR_NAME_BYTES || strchr(name, '=') != NULL)
		return err_set(err, ERR_FORMAT, "extended attribute '%.64s' has no usable name",
		               name);
	if (len > XATTR_VALUE_BYTES || e->n_xattrs >= XATTR_COUNT_MAX)
		return err_set(err, ERR_FORMAT,
		               "extended attribute '%s' is beyond the kernel's limits", name);
	unsigned char *copy = arena_memdup(a, value, len);

	if (strcmp(name, "security.capability") == 0 && normalise_capability(copy, &len, err) != 0)
		return -1;
	struct entry_xattr *x = known ? &e->xattrs[i] : make_room(e, a, i);

	*x = (struct entry_xattr){.name = arena_strdup(a, name), .value = copy, .len = len};
	return 0;
}

static int read_one(struct entry *e, struct arena *a, const char *path, const char *name,
                    unsigned char *buf, struct err *err)
{
	ssize_t len = lgetxattr(path, name, buf, XATTR_VALUE_BYTES);

	if (len < 0 && errno == ENODATA)
		return 0; /* removed since it was listed */
	if (len < 0)
		return err_set(err, ERR_IO, "read extended attribute '%s'", name);
	return xattr_add(e, a, name, buf, (size_t)len, err);
}

int xattr_read(struct entry *e, struct arena *a, const char *path, const struct strlist *globs,
               struct err *err)
{
	char names[XATTR_VALUE_BYTES]; /* XATTR_LIST_MAX of the kernel is the same 64 KiB */
	ssize_t len = llistxattr(path, names, sizeof(names));

	if (len == 0 || (len < 0 && errno == ENOTSUP))
		return 0;
	if (len < 0)
		return err_set(err, ERR_IO, "list extended attributes");
	AUTO_FREE unsigned char *buf = mem_zalloc(XATTR_VALUE_BYTES);

	for (const char *name = names; name < names + len; name += strlen(name) + 1)
		if (xattr_wanted(globs, name) && read_one(e, a, path, name, buf, err) != 0)
			return -1;
	return 0;
}
