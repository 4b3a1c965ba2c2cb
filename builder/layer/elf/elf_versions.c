/*
 * GNU symbol versioning (LSB Core, "Symbol Versioning"): two chained tables of fixed-size records
 * whose links are byte offsets from the record itself. The records of both ELF classes are the
 * same.
 */
#include <elf.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

/* The two kinds of names are gathered here before they move to the arena. */
struct version_names {
	VEC(const char *) list;
	VEC(struct elf_version) by_index;
	size_t total; /* over all libraries, against ELF_VERSIONS_MAX */
};

/* Called for every record, so that chains of records without a name of interest end too. */
static int names_count(struct version_names *n, struct err *err)
{
	if (++n->total > ELF_VERSIONS_MAX)
		return err_set(err, ERR_FORMAT, "ELF has more than %d symbol versions",
		               ELF_VERSIONS_MAX);
	return 0;
}

static struct strlist names_take(struct version_names *n, struct arena *a)
{
	struct strlist out = {.n = n->list.n};

	if (n->list.n > 0)
		out.at = arena_memdup(a, n->list.at, n->list.n * sizeof(*n->list.at));
	n->list.n = 0;
	return out;
}

/* The record at an address, which the loader reads from memory: so the address must be mapped. */
static int record(struct elf_file *f, uint64_t addr, void *buf, size_t len, const char *what,
                  struct err *err)
{
	uint64_t offset;

	if (elf_offset_of(f, addr, len, what, &offset, err) != 0)
		return -1;
	return elf_bytes(f, offset, buf, len, what, err);
}

static void keep_version(struct elf_file *f, struct version_names *names, uint64_t index,
                         const char *name, const char *library)
{
	const struct elf_version v = {(uint16_t)(index & 0x7fff), name, library};

	if (f->room != NULL)
		vec_push(&names->by_index, v);
}

static int version_order(const void *a, const void *b)
{
	return (int)((const struct elf_version *)a)->index -
	       (int)((const struct elf_version *)b)->index;
}

static void take_versions(struct elf_file *f, struct version_names *names, struct elf_info *info)
{
	size_t n = names->by_index.n;

	if (n == 0)
		return;
	qsort(names->by_index.at, n, sizeof(*names->by_index.at), version_order);
	info->versions = arena_memdup(f->arena, names->by_index.at, n * sizeof(*info->versions));
	info->n_versions = n;
}

#define FIELD(f, buf, type, member)                                                                \
	elf_number((f), (buf) + offsetof(type, member), sizeof(((type *)NULL)->member))

/* The names one library must define; weak ones are not demanded by the loader. */
static int need_names(struct elf_file *f, uint64_t addr, uint64_t n, const char *library,
                      struct version_names *names, struct err *err)
{
	unsigned char aux[sizeof(Elf64_Vernaux)];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t next;
		const char *name;

		if (names_count(names, err) != 0 ||
		    record(f, addr, aux, sizeof(aux), "version need", err) != 0 ||
		    elf_dynstr(f, FIELD(f, aux, Elf64_Vernaux, vna_name), "version name", &name,
		               err) != 0)
			return -1;
		keep_version(f, names, FIELD(f, aux, Elf64_Vernaux, vna_other), name, library);
		if ((FIELD(f, aux, Elf64_Vernaux, vna_flags) & VER_FLG_WEAK) == 0)
			vec_push(&names->list, name);
		next = FIELD(f, aux, Elf64_Vernaux, vna_next);
		if (next == 0)
			break;
		addr += next;
	}
	return 0;
}

static int read_needs(struct elf_file *f, uint64_t addr, uint64_t n, struct version_names *names,
                      struct elf_info *info, struct err *err)
{
	unsigned char rec[sizeof(Elf64_Verneed)];

	if (n > ELF_NEEDED_MAX)
		return err_set(err, ERR_FORMAT, "ELF version needs name more than %d libraries",
		               ELF_NEEDED_MAX);
	info->need = arena_calloc(f->arena, (size_t)n, sizeof(*info->need));
	for (uint64_t i = 0; i < n; i++) {
		struct elf_need_versions *need = &info->need[info->n_need];
		uint64_t next;

		if (record(f, addr, rec, sizeof(rec), "version needs", err) != 0 ||
		    elf_dynstr(f, FIELD(f, rec, Elf64_Verneed, vn_file), "library of version needs",
		               &need->library, err) != 0 ||
		    need_names(f, addr + FIELD(f, rec, Elf64_Verneed, vn_aux),
		               FIELD(f, rec, Elf64_Verneed, vn_cnt), need->library, names,
		               err) != 0)
			return -1;
		need->versions = names_take(names, f->arena);
		info->n_need++;
		next = FIELD(f, rec, Elf64_Verneed, vn_next);
		if (next == 0)
			break;
		addr += next;
	}
	return 0;
}

static int read_definitions(struct elf_file *f, uint64_t addr, uint64_t n,
                            struct version_names *names, struct err *err)
{
	unsigned char rec[sizeof(Elf64_Verdef)], aux[sizeof(Elf64_Verdaux)];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t next;
		const char *name;

		if (names_count(names, err) != 0 ||
		    record(f, addr, rec, sizeof(rec), "version definitions", err) != 0)
			return -1;
		/* Only the first auxiliary record names the version, the others its parents. The
		 * base definition is the file's own name, no version. */
		if ((FIELD(f, rec, Elf64_Verdef, vd_flags) & VER_FLG_BASE) == 0) {
			if (record(f, addr + FIELD(f, rec, Elf64_Verdef, vd_aux), aux, sizeof(aux),
			           "version definition", err) != 0 ||
			    elf_dynstr(f, FIELD(f, aux, Elf64_Verdaux, vda_name), "version name",
			               &name, err) != 0)
				return -1;
			vec_push(&names->list, name);
			keep_version(f, names, FIELD(f, rec, Elf64_Verdef, vd_ndx), name, NULL);
		}
		next = FIELD(f, rec, Elf64_Verdef, vd_next);
		if (next == 0)
			break;
		addr += next;
	}
	return 0;
}

int elf_read_versions(struct elf_file *f, const struct elf_version_tables *t, struct elf_info *info,
                      struct err *err)
{
	struct version_names names = {0};
	int rc = 0;

	if (t->verneed != 0 && t->n_verneed != 0)
		rc = read_needs(f, t->verneed, t->n_verneed, &names, info, err);
	names.list.n = 0;
	if (rc == 0 && t->verdef != 0 && t->n_verdef != 0)
		rc = read_definitions(f, t->verdef, t->n_verdef, &names, err);
	if (rc == 0)
		info->defined = names_take(&names, f->arena);
	if (rc == 0)
		take_versions(f, &names, info);
	vec_done(&names.list);
	vec_done(&names.by_index);
	return rc;
}
