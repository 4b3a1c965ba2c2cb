/* The names of symbols that are needed, and the hash that stands for those that are defined. */
#include <string.h>

#include "base/mem.h"
#include "builder/layer/elf/elf_internal.h"

static uint64_t hash_bytes(const char *name, size_t len)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 1099511628211u;
	return (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
}

uint64_t elf_symbol_hash(const char *name, size_t len)
{
	return hash_bytes(name, len) & ~(uint64_t)0xffff;
}

void elf_room_done(struct elf_room *room)
{
	free(room->names);
	*room = (struct elf_room){0};
}

/* Where a name is, or its place among the free ones. */
static size_t name_slot(const struct elf_room *room, const char *name, size_t len)
{
	size_t i = hash_bytes(name, len) >> 16 & (room->n_table - 1);

	while (room->names[i] != NULL &&
	       (strncmp(room->names[i], name, len) != 0 || room->names[i][len] != '\0'))
		i = (i + 1) & (room->n_table - 1);
	return i;
}

static void grow_names(struct elf_room *room)
{
	const char **old = room->names;
	size_t n_old = room->n_table;

	room->n_table = n_old == 0 ? 1024 : n_old * 2;
	room->names = mem_calloc(room->n_table, sizeof(*room->names));
	for (size_t i = 0; i < n_old; i++)
		if (old[i] != NULL)
			room->names[name_slot(room, old[i], strlen(old[i]))] = old[i];
	free(old);
}

const char *elf_room_name(struct elf_room *room, const char *name, size_t len, struct arena *a)
{
	size_t slot;

	if (room->n_names * 2 >= room->n_table)
		grow_names(room);
	slot = name_slot(room, name, len);
	if (room->names[slot] == NULL) {
		room->name_bytes += len + 1;
		if (room->name_bytes > ELF_ROOM_NAME_BYTES_MAX)
			return NULL;
		room->n_names++;
		room->names[slot] = arena_strndup(a, name, len);
	}
	return room->names[slot];
}
