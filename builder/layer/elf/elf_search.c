#include "builder/layer/elf/elf_search.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"

enum { PATH_TEXT_MAX = 16384 };

void elf_search_add(struct strlist *list, const char *name, struct arena *a)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i], name) == 0)
			return;
	if (list->n >= ELF_SEARCH_DIRS_MAX)
		return;
	if (list->at == NULL)
		list->at = arena_calloc(a, ELF_SEARCH_DIRS_MAX, sizeof(*list->at));
	list->at[list->n++] = arena_strdup(a, name);
}

char *elf_search_normalise(const char *path, struct arena *a)
{
	char *out = arena_alloc(a, strlen(path) + 2);
	size_t len = 0;

	while (*path != '\0') {
		size_t seg = strcspn(path, "/");

		if (seg == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (seg > 0 && !(seg == 1 && path[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, path, seg);
			len += seg;
		}
		path += seg + (path[seg] == '/');
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

/* Length of the token at `text` ("$NAME" or "${NAME}") if it is `name`, else 0. */
static size_t token_length(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len >= n + 3 && text[1] == '{' && memcmp(text + 2, name, n) == 0 && text[2 + n] == '}')
		return n + 3;
	if (len >= n + 1 && memcmp(text + 1, name, n) == 0)
		return n + 1;
	return 0;
}

bool elf_search_has_origin(const char *text)
{
	for (const char *p = strchr(text, '$'); p != NULL; p = strchr(p + 1, '$'))
		if (token_length(p, strlen(p), "ORIGIN") > 0)
			return true;
	return false;
}

const char *elf_search_expand(const char *text, size_t len, const struct elf_tokens *tokens,
                              struct arena *a)
{
	const struct {
		const char *name, *value;
	} table[] = {
		{"ORIGIN", tokens->origin}, {"LIB", tokens->lib}, {"PLATFORM", tokens->platform}};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(PATH_TEXT_MAX);
	size_t i = 0;

	while (i < len) {
		size_t used = 0;

		for (size_t k = 0; text[i] == '$' && used == 0 && k < ARRAY_LEN(table); k++) {
			used = token_length(text + i, len - i, table[k].name);
			if (used > 0 && table[k].value == NULL)
				return NULL;
			if (used > 0)
				strbuf_adds(&sb, table[k].value);
		}
		if (used == 0)
			strbuf_addc(&sb, text[i]);
		i += used > 0 ? used : 1;
	}
	return sb.overflow ? NULL : arena_strdup(a, strbuf_str(&sb));
}

struct strlist elf_search_path(const char *text, const struct elf_tokens *tokens, struct arena *a)
{
	struct strlist dirs = {0};

	while (text != NULL) {
		size_t len = strcspn(text, ":");
		const char *dir = elf_search_expand(text, len, tokens, a);

		if (dir != NULL && dir[0] == '/')
			elf_search_add(&dirs, elf_search_normalise(dir, a), a);
		text = text[len] == ':' ? text + len + 1 : NULL;
	}
	return dirs;
}

/* True when "DIR/" stands among the bytes as a whole string, NUL before and after. */
static bool has_string(const char *bytes, size_t len, const char *dir, struct arena *a)
{
	const char *text = arena_printf(a, "%s/", dir), *end = bytes + len;
	const size_t n = strlen(text) + 1;
	const char *p = memmem(bytes, len, text, n);

	while (p != NULL && p > bytes && p[-1] != '\0')
		p = memmem(p + 1, (size_t)(end - p) - 1, text, n);
	return p != NULL;
}

struct strlist elf_search_usual(const struct platform_arch *arch, struct arena *a)
{
	struct strlist dirs = {0};

	elf_search_add(&dirs, arena_printf(a, "/lib/%s", arch->multiarch), a);
	elf_search_add(&dirs, arena_printf(a, "/usr/lib/%s", arch->multiarch), a);
	elf_search_add(&dirs, "/lib64", a);
	elf_search_add(&dirs, "/usr/lib64", a);
	elf_search_add(&dirs, "/lib", a);
	elf_search_add(&dirs, "/usr/lib", a);
	return dirs;
}

struct strlist elf_search_builtin(const void *bytes, size_t len, const struct platform_arch *arch,
                                  struct arena *a)
{
	static const char musl[] = "/lib:/usr/local/lib:/usr/lib";
	struct strlist dirs = {0}, usual = elf_search_usual(arch, a);

	for (size_t i = 0; i < usual.n; i++)
		if (has_string(bytes, len, usual.at[i], a))
			elf_search_add(&dirs, usual.at[i], a);
	if (dirs.n == 0 && memmem(bytes, len, musl, sizeof(musl)) != NULL)
		dirs = elf_search_path(musl, &(struct elf_tokens){0}, a);
	return dirs;
}

void elf_search_conf(const char *text, size_t len, struct strlist *dirs, struct strlist *includes,
                     struct arena *a)
{
	const char *end = text + len;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((eol != NULL ? eol : end) - text);
		char *line = arena_strndup(a, text, n);

		line[strcspn(line, "#")] = '\0';
		for (char *word = strtok_r(line, " \t\r,:=", &line); word != NULL;
		     word = strtok_r(NULL, " \t\r,:=", &line)) {
			if (strcmp(word, "hwcap") == 0)
				break;
			if (strcmp(word, "include") == 0) {
				while ((word = strtok_r(NULL, " \t\r", &line)) != NULL)
					elf_search_add(includes, word, a);
				break;
			}
			if (word[0] == '/')
				elf_search_add(dirs, elf_search_normalise(word, a), a);
		}
		text = eol != NULL ? eol + 1 : end;
	}
}

bool elf_search_provided(const struct strlist *provided, const char *soname)
{
	for (size_t i = 0; i < provided->n; i++)
		if (strcmp(provided->at[i], soname) == 0 || text_glob(provided->at[i], soname))
			return true;
	return false;
}

/* The names that musl's loader takes for itself (musl, ldso/dynlink.c, load_library). */
static bool musl_name(const char *needed)
{
	static const char *const names[] = {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};

	if (!text_has_prefix(needed, "lib"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_has_prefix(needed + 3, names[i]))
			return true;
	return false;
}

bool elf_search_is_loader(const char *interpreter, const char *needed)
{
	const char *base;

	if (interpreter == NULL)
		return text_has_prefix(needed, "ld-") || text_has_prefix(needed, "ld64.");
	base = strrchr(interpreter, '/');
	base = base != NULL ? base + 1 : interpreter;
	return strcmp(base, needed) == 0 ||
	       (text_has_prefix(base, "ld-musl-") && musl_name(needed));
}
