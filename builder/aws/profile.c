#include "builder/aws/profile.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/text.h"

struct parser {
	struct aws_files *files;
	enum aws_file_kind kind;
	const char *file;
	unsigned line;
	bool in_section;             /* a header was seen */
	size_t section;              /* index; SIZE_MAX = one that is passed over */
	const char *key;             /* of the property that a continuation goes on, NULL if none */
	bool passed_over, is_nested; /* that property has an invalid name; has an empty value */
	size_t n_sections;
};

static void wipe_values(struct strmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		OPENSSL_cleanse((char *)map->at[i].value, strlen(map->at[i].value));
}

void aws_files_done(struct aws_files *files)
{
	for (size_t i = 0; i < files->sections.n; i++) {
		wipe_values(&files->sections.at[i].config);
		wipe_values(&files->sections.at[i].credentials);
	}
	vec_done(&files->sections);
	arena_done(&files->arena);
}

static int profile_error(const struct parser *p, const char *message, struct err *err)
{
	/* In the text: the position's file name would not outlive the files that failed. */
	return err_set(err, ERR_FORMAT, "%s:%u: %s", p->file, p->line, message);
}

/* ---- small text helpers over [at, at+len) ---- */

struct slice {
	const char *at;
	size_t len;
};

static bool is_white(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim_white(struct slice s)
{
	while (s.len > 0 && is_white(s.at[0]))
		s = (struct slice){s.at + 1, s.len - 1};
	while (s.len > 0 && is_white(s.at[s.len - 1]))
		s.len--;
	return s;
}

static bool is_comment(char c)
{
	return c == '#' || c == ';';
}

static bool is_name(struct slice s)
{
	static const char more[] = "-_/.%@:+";

	for (size_t i = 0; i < s.len; i++) {
		char c = s.at[i];
		bool alnum =
			(c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!alnum && (c == '\0' || strchr(more, c) == NULL))
			return false;
	}
	return s.len > 0;
}

/* ---- headers ---- */

/* A name in quotes may hold spaces. */
static bool unquote(struct slice *s)
{
	bool quoted = s->len >= 2 && (s->at[0] == '"' || s->at[0] == '\'') &&
	              s->at[s->len - 1] == s->at[0];

	if (quoted)
		*s = (struct slice){s->at + 1, s->len - 2};
	return quoted;
}

/* "WORD name": moves *s to the name. */
static bool take_word(struct slice *s, const char *word)
{
	size_t len = strlen(word);

	if (s->len <= len || strncmp(s->at, word, len) != 0 || !is_white(s->at[len]))
		return false;
	*s = trim_white((struct slice){s->at + len, s->len - len});
	return true;
}

static size_t section_index(struct aws_files *files, enum aws_section_kind kind, const char *name)
{
	for (size_t i = 0; i < files->sections.n; i++)
		if (files->sections.at[i].kind == kind &&
		    strcmp(files->sections.at[i].name, name) == 0)
			return i;
	vec_push(&files->sections, ((struct aws_section){.kind = kind, .name = name}));
	return files->sections.n - 1;
}

/* "[profile default]" hides what "[default]" has, in whatever order they come. */
static size_t default_index(struct parser *p, bool prefixed)
{
	size_t i = section_index(p->files, AWS_PROFILE, "default");
	struct aws_section *s = &p->files->sections.at[i];

	if (p->kind == AWS_CREDENTIALS_FILE)
		return i;
	if (prefixed && !s->prefixed) {
		wipe_values(&s->config);
		s->config = (struct strmap){0};
	}
	if (!prefixed && s->prefixed)
		return SIZE_MAX;
	s->prefixed = prefixed;
	return i;
}

static size_t find_section(struct parser *p, struct slice s)
{
	static const struct {
		const char *word;
		enum aws_section_kind kind;
	} words[] = {{"profile", AWS_PROFILE},
	             {"sso-session", AWS_SSO_SESSION},
	             {"services", AWS_SERVICES_SECTION}};
	enum aws_section_kind kind = AWS_PROFILE;
	bool prefixed = false;

	for (size_t i = 0; i < ARRAY_LEN(words) && !prefixed && p->kind == AWS_CONFIG_FILE; i++)
		if (take_word(&s, words[i].word)) {
			kind = words[i].kind;
			prefixed = true;
		}
	if (!unquote(&s) && !is_name(s))
		return SIZE_MAX;
	const char *name = arena_strndup(&p->files->arena, s.at, s.len);

	if (kind == AWS_PROFILE && strcmp(name, "default") == 0)
		return default_index(p, prefixed);
	if (!prefixed && p->kind == AWS_CONFIG_FILE)
		return SIZE_MAX;
	return section_index(p->files, kind, name);
}

static int parse_header(struct parser *p, struct slice s, struct err *err)
{
	size_t len = 0;

	while (len < s.len && !is_comment(s.at[len]))
		len++;
	s = trim_white((struct slice){s.at, len});
	if (s.at[s.len - 1] != ']')
		return profile_error(p, "profile definition must end with ']'", err);
	if (++p->n_sections > AWS_SECTIONS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d sections", p->file,
		               (int)AWS_SECTIONS_MAX);
	p->section = find_section(p, trim_white((struct slice){s.at + 1, s.len - 2}));
	p->in_section = true;
	p->key = NULL;
	return 0;
}

/* ---- properties ---- */

static struct strmap *values(struct parser *p)
{
	struct aws_section *s = &p->files->sections.at[p->section];

	return p->kind == AWS_CONFIG_FILE ? &s->config : &s->credentials;
}

/* A comment behind a value has white space before it. */
static struct slice strip_comment(struct slice s)
{
	for (size_t i = 1; i < s.len; i++)
		if (is_comment(s.at[i]) && is_white(s.at[i - 1]))
			s.len = i;
	return s;
}

static int parse_property(struct parser *p, struct slice s, struct err *err)
{
	if (!p->in_section)
		return profile_error(p, "expected a profile definition", err);
	s = strip_comment(s);
	const char *equals = memchr(s.at, '=', s.len);

	if (equals == NULL)
		return profile_error(p, "expected an '=' sign defining a property", err);
	struct slice key = trim_white((struct slice){s.at, (size_t)(equals - s.at)});
	struct slice value =
		trim_white((struct slice){equals + 1, s.len - (size_t)(equals + 1 - s.at)});

	if (key.len == 0)
		return profile_error(p, "property did not have a name", err);
	p->key = arena_lower(&p->files->arena, key.at, key.len);
	p->passed_over = p->section == SIZE_MAX || !is_name(key);
	p->is_nested = value.len == 0;
	if (!p->passed_over)
		strmap_set(values(p), &p->files->arena, p->key,
		           arena_strndup(&p->files->arena, value.at, value.len));
	return 0;
}

static int check_nested(const struct parser *p, struct slice s, struct err *err)
{
	const char *equals = memchr(s.at, '=', s.len);

	if (equals == NULL)
		return profile_error(p, "expected an '=' sign defining a sub-property", err);
	if (equals == s.at)
		return profile_error(p, "sub-property did not have a name", err);
	return 0;
}

static int parse_continuation(struct parser *p, struct slice s, struct err *err)
{
	s = trim_white(s);
	if (is_comment(s.at[0]))
		return 0;
	if (!p->in_section)
		return profile_error(p, "expected a profile definition", err);
	if (p->key == NULL)
		return profile_error(p, "expected a property definition, found continuation", err);
	if (p->is_nested && check_nested(p, s, err) != 0)
		return -1;
	if (p->passed_over)
		return 0;
	const char *so_far = strmap_get(values(p), p->key);

	if (strlen(so_far) + s.len > AWS_FILE_BYTES_MAX / 64)
		return profile_error(p, "the value is too long", err);
	strmap_set(values(p), &p->files->arena, p->key,
	           arena_printf(&p->files->arena, "%s\n%.*s", so_far, (int)s.len, s.at));
	return 0;
}

static int parse_line(struct parser *p, struct slice s, struct err *err)
{
	if (trim_white(s).len == 0 || is_comment(s.at[0]))
		return 0;
	if (s.at[0] == '[')
		return parse_header(p, trim_white(s), err);
	if (is_white(s.at[0]))
		return parse_continuation(p, s, err);
	return parse_property(p, s, err);
}

int aws_files_parse(struct aws_files *files, enum aws_file_kind kind, const char *file,
                    const char *text, size_t len, struct err *err)
{
	struct parser p = {.files = files,
	                   .kind = kind,
	                   .file = arena_strdup(&files->arena, file),
	                   .section = SIZE_MAX};

	if (len > AWS_FILE_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%s is larger than %d bytes", file,
		               (int)AWS_FILE_BYTES_MAX);
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;

		p.line++;
		if (memchr(text, '\0', n) != NULL)
			return profile_error(&p, "a NUL byte", err);
		if (parse_line(&p, (struct slice){text, n}, err) != 0)
			return -1;
		n += end != NULL;
		text += n;
		len -= n;
	}
	return 0;
}

/* ---- lookup ---- */

const struct aws_section *aws_files_find(const struct aws_files *files, enum aws_section_kind kind,
                                         const char *name)
{
	for (size_t i = 0; i < files->sections.n; i++)
		if (files->sections.at[i].kind == kind &&
		    strcmp(files->sections.at[i].name, name) == 0)
			return &files->sections.at[i];
	return NULL;
}

const char *aws_section_get(const struct aws_section *section, const char *key)
{
	if (section == NULL)
		return NULL;
	const char *value = strmap_get(&section->credentials, key);

	return value != NULL ? value : strmap_get(&section->config, key);
}

const char *aws_section_nested(const struct aws_section *section, const char *block,
                               const char *key, struct arena *a)
{
	const char *text = aws_section_get(section, block);

	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, "\n");
		const char *equals = memchr(text, '=', len);

		if (equals != NULL) {
			struct slice k = trim_white((struct slice){text, (size_t)(equals - text)});
			struct slice v = trim_white(
				(struct slice){equals + 1, len - (size_t)(equals + 1 - text)});

			if (strcmp(arena_lower(a, k.at, k.len), key) == 0)
				return arena_strndup(a, v.at, v.len);
		}
		text += len + (text[len] == '\n');
	}
	return NULL;
}
