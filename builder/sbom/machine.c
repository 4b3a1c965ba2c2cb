/* See machine.h. Sections: wanted paths, lists, status, packages for cross compilers. */
#include "builder/sbom/machine.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "builder/sbom/database.h"

enum { LIST_BYTES_MAX = 32 << 20, STATUS_BYTES_MAX = 64 << 20, OS_RELEASE_BYTES_MAX = 64 << 10 };

#define INFO "var/lib/dpkg/info"

struct owning {
	struct inventory *inv;
	const char *root;
	struct machine_file *files;
	size_t n;
	uint32_t *slots; /* hash table: index into files plus 1, 0 = free */
	size_t n_slots;
	const char **owner;   /* of each file: "NAME" or "NAME:ARCH", as its list is called */
	const char *list;     /* being read */
	struct inventory all; /* every package of the status */
	const struct sbom_distro *distro;
};

/* ---- wanted paths ---- */

/* Merged /usr: bin, sbin and lib* are the same above and below usr. */
static void same_for_both(const char **path, size_t *len)
{
	const char *p = *path;

	while (*len > 0 && *p == '/') {
		p++;
		--*len;
	}
	if (*len > 4 && strncmp(p, "usr/", 4) == 0 &&
	    (strncmp(p + 4, "lib", 3) == 0 || strncmp(p + 4, "bin/", 4) == 0 ||
	     strncmp(p + 4, "sbin/", 5) == 0)) {
		p += 4;
		*len -= 4;
	}
	*path = p;
}

static bool same_path(const char *file, const char *path, size_t len)
{
	size_t n = strlen(file);

	same_for_both(&file, &n);
	return n == len && memcmp(file, path, len) == 0;
}

/* The slot of a path that went through same_for_both. */
static uint32_t *slot_of(const struct owning *o, const char *path, size_t len)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)path[i]) * 1099511628211u;
	for (size_t i = (h ^ h >> 32) & (o->n_slots - 1);; i = (i + 1) & (o->n_slots - 1))
		if (o->slots[i] == 0 || same_path(o->files[o->slots[i] - 1].path, path, len))
			return &o->slots[i];
}

/* Files of one path share a slot: the later ones are found through the first. */
static void index_files(struct owning *o)
{
	o->n_slots = 64;
	while (o->n_slots < 2 * o->n)
		o->n_slots *= 2;
	o->slots = mem_calloc(o->n_slots, sizeof(*o->slots));
	for (size_t i = 0; i < o->n; i++) {
		const char *path = o->files[i].path;
		size_t len = strlen(path);

		same_for_both(&path, &len);
		uint32_t *slot = slot_of(o, path, len);

		if (*slot == 0)
			*slot = (uint32_t)(i + 1);
	}
}

static uint32_t find_file(const struct owning *o, const char *path, size_t len)
{
	same_for_both(&path, &len);
	return *slot_of(o, path, len);
}

/* ---- lists ---- */

static void take_path(void *ctx, const char *path, size_t len)
{
	struct owning *o = ctx;
	uint32_t at = find_file(o, path, len);

	if (at > 0 && o->owner[at - 1] == NULL)
		o->owner[at - 1] = o->list;
}

static int read_list(struct owning *o, const char *dir, const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(LIST_BYTES_MAX);
	char file[PATH_MAX];
	struct err why = {0};

	if (fs_join(file, dir, name, err) != 0)
		return -1;
	if (fs_read_file(file, LIST_BYTES_MAX, &text, &why) != 0) {
		inventory_gap(o->inv, "%s", why.msg);
		return interrupt_check(err);
	}
	o->list = arena_strndup(o->inv->arena, name, strlen(name) - strlen(".list"));
	dpkg_read_list(strbuf_str(&text), text.len, take_path, o);
	return interrupt_check(err);
}

static int read_lists(struct owning *o, struct err *err)
{
	const char *dir = arena_printf(o->inv->arena, "%s/" INFO, o->root);
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort), rc = 0;

	if (n < 0)
		return 0;
	for (int i = 0; i < n; i++) {
		if (rc == 0 && text_has_suffix(names[i]->d_name, ".list"))
			rc = read_list(o, dir, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	return rc;
}

/* ---- packages for cross compilers ---- */

/* "libc6" of "libc6-arm64-cross" (dpkg-cross(1)); NULL for any other name. */
static const char *native_name(const char *name, struct arena *a)
{
	size_t len = strlen(name);
	static const char ending[] = "-cross";

	if (!text_has_suffix(name, ending))
		return NULL;
	len -= strlen(ending);
	while (len > 0 && name[len - 1] != '-')
		len--;
	return len > 1 ? arena_strndup(a, name, len - 1) : NULL;
}

static const struct sbom_package *find_package(const struct inventory *all, const char *name,
                                               size_t len, const char *architecture)
{
	for (size_t i = 0; i < all->packages.n; i++) {
		const struct sbom_package *p = all->packages.at[i];

		if (strncmp(p->name, name, len) == 0 && p->name[len] == '\0' &&
		    (architecture == NULL || p->architecture == NULL ||
		     strcmp(p->architecture, architecture) == 0))
			return p;
	}
	return NULL;
}

/* The native twin's source, and its version: "2.36-8cross1" was made of 2.36-8. */
static void set_upstream(struct sbom_package *p, const struct owning *o)
{
	const char *native = native_name(p->name, o->inv->arena);
	const char *cross = strstr(p->version, "cross");
	const struct sbom_package *twin;

	if (native == NULL)
		return;
	twin = find_package(&o->all, native, strlen(native), NULL);
	/* Without the twin: the one whose name and source differ in every release. */
	if (twin != NULL)
		p->source = twin->source != NULL ? twin->source : twin->name;
	else
		p->source = strcmp(native, "libc6") == 0 ? "glibc" : native;
	p->source_version =
		cross != NULL && cross > p->version
			? arena_strndup(o->inv->arena, p->version, (size_t)(cross - p->version))
			: NULL;
}

/* ---- status ---- */

static int read_status(struct owning *o, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(STATUS_BYTES_MAX);
	const char *path = arena_printf(o->inv->arena, "%s/var/lib/dpkg/status", o->root);
	const struct database_reader to = {.inv = &o->all};
	struct err why = {0};

	if (fs_read_file(path, STATUS_BYTES_MAX, &text, &why) != 0) {
		inventory_gap(o->inv, "%s", why.msg);
		return interrupt_check(err);
	}
	dpkg_read_status(&to, strbuf_str(&text), text.len);
	return 0;
}

/* The package of a list, added to the inventory when it is first met. */
static const struct sbom_package *take_package(struct owning *o, const char *list)
{
	const char *colon = strchr(list, ':');
	const struct sbom_package *found =
		find_package(&o->all, list, colon != NULL ? (size_t)(colon - list) : strlen(list),
	                     colon != NULL ? colon + 1 : NULL);
	struct sbom_package *p;

	if (found == NULL)
		return NULL;
	p = inventory_add(o->inv);
	*p = *found;
	p->distro = o->distro;
	p->from = "dpkg's lists where the image was built";
	set_upstream(p, o);
	return p;
}

struct named_owner {
	const char *list;
	const struct sbom_package *package;
};

static void set_packages(struct owning *o)
{
	VEC(struct named_owner) known = {0};

	for (size_t i = 0; i < o->n; i++) {
		size_t at = find_file(o, o->files[i].path, strlen(o->files[i].path)) - 1, k = 0;

		if (o->owner[at] == NULL)
			continue;
		/* Each list's name has one copy: equal pointers, equal names. */
		while (k < known.n && known.at[k].list != o->owner[at])
			k++;
		if (k == known.n)
			vec_push(&known, ((struct named_owner){o->owner[at],
			                                       take_package(o, o->owner[at])}));
		o->files[i].package = known.at[k].package;
	}
	vec_done(&known);
}

int machine_owners(struct inventory *inv, const char *root, struct machine_file *files, size_t n,
                   struct err *err)
{
	struct owning o = {.inv = inv, .root = root, .files = files, .n = n};
	bool any = false;
	int rc;

	if (n == 0 || !fs_exists(arena_printf(inv->arena, "%s/" INFO, root)))
		return 0;
	o.all.arena = inv->arena;
	o.distro = machine_distro(root, inv->arena);
	o.owner = mem_calloc(n, sizeof(*o.owner));
	index_files(&o);
	rc = read_lists(&o, err);
	for (size_t i = 0; i < n; i++)
		any |= o.owner[i] != NULL;
	if (rc == 0 && any)
		rc = read_status(&o, err);
	if (rc == 0 && any)
		set_packages(&o);
	inventory_done(&o.all);
	free(o.owner);
	free(o.slots);
	return rc;
}

const struct sbom_distro *machine_distro(const char *root, struct arena *a)
{
	static const char *const paths[] = {"etc/os-release", "usr/lib/os-release"};
	struct sbom_distro *d = arena_alloc(a, sizeof(*d));

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(OS_RELEASE_BYTES_MAX);
		struct err ignored = {0};

		if (fs_read_file(arena_printf(a, "%s/%s", root, paths[i]), OS_RELEASE_BYTES_MAX,
		                 &text, &ignored) != 0)
			continue;
		distro_read(d, strbuf_str(&text), text.len, a);
		return d;
	}
	return NULL;
}
