#include "builder/image/base_memo.h"

#include <string.h>

#include "base/doc/json.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/elf/elf.h"

enum {
	MEMO_VERSION = 1,
	TEXT_MAX = 256 << 10,     /* a longer text is asked for again */
	KEPT_MAX = 8 << 20,       /* bytes of paths in memory; what comes later is asked again */
	QUESTION_COST = 64,       /* bytes that a question counts beside its path */
	QUESTIONS_MAX = 64 << 20, /* cost of all: the names in a base's ELF files ask without end */
};

struct memo_entry {
	const char *path;
	struct base_entry entry;
};

struct memo_names {
	const char *path;
	struct strlist names;
};

struct memo_text {
	const char *path;
	const char *text; /* NULL: there is no such file */
};

struct base_memo {
	struct base_files files, *inner;
	struct layer_cache *cache;
	struct digest key;
	struct arena arena;
	VEC(struct memo_entry) entries;
	uint32_t *slots; /* hash table: index into entries plus 1, 0 = free */
	size_t n_slots;  /* a power of two, at least twice the entries */
	size_t kept, asked;
	VEC(struct memo_names) names;
	VEC(struct memo_text) texts;
	bool learnt; /* since the cache was read */
};

/* ---- entries by path ---- */

static uint32_t *slot_of(const struct base_memo *m, const char *path)
{
	uint64_t h = 14695981039346656037u; /* FNV-1a */

	for (const char *s = path; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	for (size_t i = (h ^ h >> 32) & (m->n_slots - 1);; i = (i + 1) & (m->n_slots - 1))
		if (m->slots[i] == 0 || strcmp(m->entries.at[m->slots[i] - 1].path, path) == 0)
			return &m->slots[i];
}

static void grow_slots(struct base_memo *m)
{
	free(m->slots);
	m->n_slots = m->n_slots == 0 ? 256 : m->n_slots * 2;
	m->slots = mem_calloc(m->n_slots, sizeof(*m->slots));
	for (size_t i = 0; i < m->entries.n; i++)
		*slot_of(m, m->entries.at[i].path) = (uint32_t)(i + 1);
}

static const struct memo_entry *find_entry(const struct base_memo *m, const char *path)
{
	uint32_t at = m->n_slots > 0 ? *slot_of(m, path) : 0;

	return at > 0 ? &m->entries.at[at - 1] : NULL;
}

/* Entries of one path are one; those beyond KEPT_MAX are not kept. */
static void keep_entry(struct base_memo *m, const struct memo_entry *e)
{
	if (m->kept > KEPT_MAX || find_entry(m, e->path) != NULL)
		return;
	m->kept += strlen(e->path) + sizeof(*e);
	vec_push(&m->entries, *e);
	if (m->entries.n * 2 > m->n_slots)
		grow_slots(m);
	else
		*slot_of(m, e->path) = (uint32_t)m->entries.n;
}

/* ---- the record: JSON, one line ---- */

static const char *const kind_names[] = {
	[BASE_NOTHING] = "nothing", [BASE_FILE] = "file",   [BASE_FOLDER] = "folder",
	[BASE_LINK] = "link",       [BASE_OTHER] = "other",
};

/* The texts and lists of texts of an ELF file that are kept. */
static const struct {
	const char *key;
	size_t offset;
} elf_texts[] = {{"interpreter", offsetof(struct elf_info, interpreter)},
                 {"soname", offsetof(struct elf_info, soname)},
                 {"rpath", offsetof(struct elf_info, rpath)},
                 {"runpath", offsetof(struct elf_info, runpath)}},
  elf_lists[] = {{"needed", offsetof(struct elf_info, needed)},
                 {"defined", offsetof(struct elf_info, defined)}},
  elf_flags[] = {{"executable", offsetof(struct elf_info, executable)},
                 {"no_default_dirs", offsetof(struct elf_info, no_default_dirs)}};

static void put_list(cJSON *obj, const char *key, const struct strlist *list)
{
	cJSON *array = json_add_array(obj, key);

	for (size_t i = 0; i < list->n; i++)
		json_push_string(array, list->at[i]);
}

static void put_elf(cJSON *obj, const struct elf_info *elf)
{
	const char *base = (const char *)elf;

	json_add_int(obj, "machine", elf->machine);
	json_add_int(obj, "bits", elf->bits);
	for (size_t i = 0; i < ARRAY_LEN(elf_texts); i++)
		json_add_string(obj, elf_texts[i].key,
		                *(const char *const *)(base + elf_texts[i].offset));
	for (size_t i = 0; i < ARRAY_LEN(elf_lists); i++)
		put_list(obj, elf_lists[i].key,
		         (const struct strlist *)(base + elf_lists[i].offset));
	for (size_t i = 0; i < ARRAY_LEN(elf_flags); i++)
		json_add_bool(obj, elf_flags[i].key, *(const bool *)(base + elf_flags[i].offset));
}

static void put_entry(cJSON *array, const struct memo_entry *e)
{
	cJSON *obj = cJSON_CreateObject();

	json_add_string(obj, "path", e->path);
	json_add_string(obj, "kind", kind_names[e->entry.kind]);
	json_add_string(obj, "link", e->entry.link);
	if (e->entry.elf != NULL)
		put_elf(json_add_object(obj, "elf"), e->entry.elf);
	if (e->entry.loader_dirs.n > 0)
		put_list(obj, "loader_dirs", &e->entry.loader_dirs);
	json_push(array, obj);
}

static void print_memo(const struct base_memo *m, struct strbuf *sb)
{
	AUTO(json) cJSON *doc = cJSON_CreateObject();
	cJSON *entries = json_add_array(doc, "entries"), *names = json_add_array(doc, "names");
	cJSON *texts = json_add_array(doc, "texts");

	for (size_t i = 0; i < m->entries.n; i++)
		put_entry(entries, &m->entries.at[i]);
	for (size_t i = 0; i < m->names.n; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "path", m->names.at[i].path);
		put_list(obj, "names", &m->names.at[i].names);
		json_push(names, obj);
	}
	for (size_t i = 0; i < m->texts.n; i++) {
		cJSON *obj = cJSON_CreateObject();

		json_add_string(obj, "path", m->texts.at[i].path);
		json_add_string(obj, "text", m->texts.at[i].text);
		json_push(texts, obj);
	}
	json_print(doc, sb);
}

static struct strlist get_list(const cJSON *array, struct arena *a)
{
	struct strlist out = {arena_calloc(a, (size_t)cJSON_GetArraySize(array), sizeof(*out.at)),
	                      0};
	const cJSON *item;

	cJSON_ArrayForEach (item, array) {
		if (cJSON_IsString(item))
			out.at[out.n++] = arena_strdup(a, item->valuestring);
	}
	return out;
}

static const struct elf_info *get_elf(const cJSON *obj, struct arena *a)
{
	struct elf_info *elf = arena_alloc(a, sizeof(*elf));
	char *base = (char *)elf;
	int64_t machine = 0, bits = 0;
	struct err ignored = {0};

	if (json_size(obj, "machine", &machine, &ignored) != 0 ||
	    json_size(obj, "bits", &bits, &ignored) != 0 || machine > UINT16_MAX || bits > 64)
		return NULL;
	elf->machine = (uint16_t)machine;
	elf->bits = (unsigned)bits;
	elf->dynamic = true;
	for (size_t i = 0; i < ARRAY_LEN(elf_texts); i++)
		*(const char **)(base + elf_texts[i].offset) =
			arena_strdup(a, json_string(obj, elf_texts[i].key));
	for (size_t i = 0; i < ARRAY_LEN(elf_lists); i++)
		*(struct strlist *)(base + elf_lists[i].offset) =
			get_list(json_get(obj, elf_lists[i].key), a);
	for (size_t i = 0; i < ARRAY_LEN(elf_flags); i++)
		*(bool *)(base + elf_flags[i].offset) =
			cJSON_IsTrue(json_get(obj, elf_flags[i].key));
	return elf;
}

/* What does not read as an answer is left out: it is asked for again. */
static void get_entry(struct base_memo *m, const cJSON *obj)
{
	const char *path = json_string(obj, "path"), *kind = json_string(obj, "kind");
	const cJSON *elf = json_get(obj, "elf");
	struct memo_entry e = {.path = arena_strdup(&m->arena, path)};
	size_t i = 0;

	while (kind != NULL && i < ARRAY_LEN(kind_names) && strcmp(kind_names[i], kind) != 0)
		i++;
	if (path == NULL || kind == NULL || i == ARRAY_LEN(kind_names))
		return;
	e.entry.kind = (enum base_kind)i;
	e.entry.link = arena_strdup(&m->arena, json_string(obj, "link"));
	e.entry.elf = elf != NULL ? get_elf(elf, &m->arena) : NULL;
	e.entry.loader_dirs = get_list(json_get(obj, "loader_dirs"), &m->arena);
	if ((e.entry.kind == BASE_LINK) == (e.entry.link != NULL) &&
	    (elf == NULL || e.entry.elf != NULL))
		keep_entry(m, &e);
}

static void read_memo(struct base_memo *m)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CACHE_FACTS_MAX);
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};
	const cJSON *item;

	if (m->cache == NULL || !cache_find_facts(m->cache, &m->key, &text) ||
	    json_parse("facts of a base image", strbuf_str(&text), text.len, &doc, &ignored) != 0)
		return;
	cJSON_ArrayForEach (item, json_get(doc, "entries"))
		get_entry(m, item);
	cJSON_ArrayForEach (item, json_get(doc, "names")) {
		const char *path = arena_strdup(&m->arena, json_string(item, "path"));
		struct memo_names n = {path, get_list(json_get(item, "names"), &m->arena)};

		if (path != NULL)
			vec_push(&m->names, n);
	}
	cJSON_ArrayForEach (item, json_get(doc, "texts")) {
		const char *path = arena_strdup(&m->arena, json_string(item, "path"));
		struct memo_text t = {path, arena_strdup(&m->arena, json_string(item, "text"))};

		if (path != NULL)
			vec_push(&m->texts, t);
	}
}

/* ---- questions ---- */

/* Counts a question. */
static int ask(struct base_memo *m, const char *path, struct err *err)
{
	m->asked += strlen(path) + QUESTION_COST;
	if (m->asked > QUESTIONS_MAX)
		return err_set(err, ERR_LIMIT,
		               "base image '%s': its files ask for more than %d "
		               "bytes of paths",
		               m->files.name, QUESTIONS_MAX);
	return interrupt_check(err);
}

/* What the inner reader answers lives as long as it does, which is longer than this one. */
static int memo_look(struct base_files *files, const char *path, struct base_entry *ret_entry,
                     struct err *err)
{
	struct base_memo *m = (struct base_memo *)files;
	const struct memo_entry *found;
	struct memo_entry e;

	if (ask(m, path, err) != 0)
		return -1;
	found = find_entry(m, path);
	if (found != NULL) {
		*ret_entry = found->entry;
		return 0;
	}
	if (m->inner->look(m->inner, path, &e.entry, err) != 0)
		return -1;
	*ret_entry = e.entry;
	if (m->kept > KEPT_MAX)
		return 0;
	e.path = arena_strdup(&m->arena, path);
	keep_entry(m, &e);
	m->learnt = true;
	return 0;
}

static int memo_names(struct base_files *files, const char *path, struct strlist *ret_names,
                      struct err *err)
{
	struct base_memo *m = (struct base_memo *)files;
	struct memo_names n;

	for (size_t i = 0; i < m->names.n; i++)
		if (strcmp(m->names.at[i].path, path) == 0) {
			*ret_names = m->names.at[i].names;
			return 0;
		}
	if (m->inner->names(m->inner, path, &n.names, err) != 0)
		return -1;
	n.path = arena_strdup(&m->arena, path);
	vec_push(&m->names, n);
	m->learnt = true;
	*ret_names = n.names;
	return 0;
}

static int answer_text(const struct base_memo *m, const struct memo_text *t, size_t max_bytes,
                       struct strbuf *sb, struct err *err)
{
	strbuf_reset(sb);
	if (t->text == NULL)
		return err_set(err, ERR_NOT_FOUND, "base image '%s' has no file '%s'",
		               m->files.name, t->path);
	strbuf_adds(sb, t->text);
	if (sb->len > max_bytes || sb->overflow)
		return err_set(err, ERR_LIMIT, "base image '%s': '%s' has more than %zu bytes",
		               m->files.name, t->path, max_bytes);
	return 0;
}

static int memo_read(struct base_files *files, const char *path, size_t max_bytes,
                     struct strbuf *sb, struct err *err)
{
	struct base_memo *m = (struct base_memo *)files;
	struct memo_text t = {.path = path};
	int rc;

	for (size_t i = 0; i < m->texts.n; i++)
		if (strcmp(m->texts.at[i].path, path) == 0)
			return answer_text(m, &m->texts.at[i], max_bytes, sb, err);
	rc = m->inner->read(m->inner, path, max_bytes, sb, err);
	if ((rc != 0 && err->code != ERR_NOT_FOUND) || sb->len > TEXT_MAX)
		return rc;
	/* JSON is UTF-8 without NUL; anything else is asked for again. */
	if (rc == 0 &&
	    (strlen(strbuf_str(sb)) != sb->len || !text_is_utf8(strbuf_str(sb), sb->len)))
		return rc;
	t.path = arena_strdup(&m->arena, path);
	t.text = rc == 0 ? arena_strdup(&m->arena, strbuf_str(sb)) : NULL;
	vec_push(&m->texts, t);
	m->learnt = true;
	return rc;
}

/* ---- life ---- */

static struct digest memo_key(const struct digest *manifest, const struct platform *platform)
{
	AUTO(hasher) struct hasher h = {0};
	const int64_t version = MEMO_VERSION;

	hasher_init(&h);
	hasher_update(&h, &version, sizeof(version));
	hasher_update(&h, manifest->bytes, sizeof(manifest->bytes));
	hasher_update(&h, platform->architecture, strlen(platform->architecture) + 1);
	return hasher_final(&h);
}

struct base_files *base_memo_open(struct base_files *inner, struct layer_cache *cache,
                                  const struct digest *manifest, const struct platform *platform)
{
	struct base_memo *m = mem_zalloc(sizeof(*m));

	m->files = (struct base_files){inner->name, memo_look, memo_names, memo_read};
	m->inner = inner;
	m->cache = cache;
	m->key = memo_key(manifest, platform);
	read_memo(m);
	return &m->files;
}

void base_memo_close(struct base_files *files)
{
	struct base_memo *m = (struct base_memo *)files;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CACHE_FACTS_MAX);

	if (m == NULL)
		return;
	if (m->cache != NULL && m->learnt) {
		print_memo(m, &text);
		/* Names of the base that are not UTF-8 do not fit into JSON. */
		if (!text.overflow && text_is_utf8(strbuf_str(&text), text.len))
			cache_put_facts(m->cache, &m->key, strbuf_str(&text));
	}
	free(m->slots);
	vec_done(&m->entries);
	vec_done(&m->names);
	vec_done(&m->texts);
	arena_done(&m->arena);
	free(m);
}
