/*
 * YAML in block style from a JSON tree. Own writer, because remarks behind values are half of what
 * a reader wants and libyaml's emitter has none.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "k8s/object/emit.h"

struct yaml_writer {
	struct strbuf *sb;
	const struct k8s_note *notes;
	size_t n_notes;
};

static void indent(struct yaml_writer *w, int depth)
{
	for (int i = 0; i < depth; i++)
		strbuf_adds(w->sb, "  ");
}

/* What some YAML reader takes for a null, a truth value or a merge key. */
static bool is_keyword(const char *text)
{
	static const char *const words[] = {"null", "true", "false", "yes", "no", "on",
	                                    "off",  "y",    "n",     "nan", "inf"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* A text that no reader can take for anything but itself: starts with a letter or '/', and holds
 * only bytes without meaning in YAML (a ':' only inside a word). */
static bool is_plain(const char *text)
{
	size_t len = strlen(text);
	const char *safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@+=:";
	char first = text[0];

	if (len == 0 || strspn(text, safe) != len || text[len - 1] == ':' || is_keyword(text))
		return false;
	return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/';
}

/* What YAML does not take as it is, or takes for the end of a line: C1 controls, the separators of
 * lines and paragraphs, the byte order mark. Returns its bytes, 0 = none, and its code point. */
static size_t special(const unsigned char *p, unsigned *ret_code)
{
	if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
		*ret_code = p[1];
		return 2;
	}
	if (p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)) {
		*ret_code = 0x2000U + (p[2] & 0x3fU);
		return 3;
	}
	if (p[0] == 0xef && ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe))) {
		*ret_code = p[1] == 0xbb ? 0xfeff : 0xffc0U + (p[2] & 0x3fU);
		return 3;
	}
	return 0;
}

static void scalar_text(struct yaml_writer *w, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	if (is_plain(text)) {
		strbuf_adds(w->sb, text);
		return;
	}
	strbuf_addc(w->sb, '"');
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		unsigned code;
		size_t len = special((const unsigned char *)p, &code);

		if (len > 0) {
			strbuf_addf(w->sb, "\\u%04x", code);
			p += len - 1;
			continue;
		}
		if (c == '"' || c == '\\')
			strbuf_addc(w->sb, '\\');
		if (c == '\n')
			strbuf_adds(w->sb, "\\n");
		else if (c < 0x20 || c == 0x7f)
			strbuf_addf(w->sb, "\\x%c%c", hex[c >> 4], hex[c & 15]);
		else
			strbuf_addc(w->sb, *p);
	}
	strbuf_addc(w->sb, '"');
}

/* A text fit for a literal block: several lines, no control bytes, no white space where a block
 * would lose or misread it. */
static bool is_block(const char *text)
{
	size_t len = strlen(text);

	if (len < 2 || strchr(text, '\n') == NULL || text[len - 1] != '\n' || text[0] == ' ' ||
	    text[0] == '\n' || text[len - 2] == '\n')
		return false;
	for (const char *p = text; *p != '\0'; p++)
		if (((unsigned char)*p < 0x20 && *p != '\n') || (unsigned char)*p >= 0x7f ||
		    (*p == ' ' && p[1] == '\n'))
			return false;
	return true;
}

static void block_text(struct yaml_writer *w, const char *text, int depth)
{
	strbuf_adds(w->sb, "|\n");
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (len > 0)
			indent(w, depth);
		strbuf_add(w->sb, text, len);
		strbuf_addc(w->sb, '\n');
		text += len + (text[len] == '\n');
	}
}

static void note(struct yaml_writer *w, const cJSON *item)
{
	for (size_t i = 0; i < w->n_notes; i++)
		if (w->notes[i].item == item) {
			strbuf_adds(w->sb, "  # ");
			/* A file may have any name: it must not end the comment. */
			for (const char *p = w->notes[i].text; *p != '\0'; p++)
				strbuf_addc(w->sb,
				            (unsigned char)*p < 0x20 || *p == 0x7f ? '?' : *p);
			return;
		}
}

static void value(struct yaml_writer *w, const cJSON *item, int depth, bool in_sequence);

static void mapping(struct yaml_writer *w, const cJSON *object, int depth, bool in_sequence)
{
	for (const cJSON *item = object->child; item != NULL; item = item->next) {
		if (!in_sequence || item != object->child)
			indent(w, depth);
		scalar_text(w, item->string);
		strbuf_addc(w->sb, ':');
		value(w, item, depth, false);
	}
}

static void sequence(struct yaml_writer *w, const cJSON *array, int depth)
{
	for (const cJSON *item = array->child; item != NULL; item = item->next) {
		indent(w, depth);
		strbuf_addc(w->sb, '-');
		value(w, item, depth, true);
	}
}

static void scalar(struct yaml_writer *w, const cJSON *item)
{
	if (cJSON_IsString(item))
		scalar_text(w, item->valuestring);
	else
		json_print(item, w->sb);
}

/* What stands behind "key:" or "-", with the space before and the line end after it. */
static void value(struct yaml_writer *w, const cJSON *item, int depth, bool in_sequence)
{
	bool nested = cJSON_IsObject(item) || cJSON_IsArray(item);

	if (nested && item->child == NULL) {
		strbuf_adds(w->sb, cJSON_IsObject(item) ? " {}" : " []");
	} else if (cJSON_IsObject(item) && in_sequence) {
		strbuf_addc(w->sb, ' ');
		mapping(w, item, depth + 1, true);
		return;
	} else if (nested) {
		note(w, item);
		strbuf_addc(w->sb, '\n');
		if (cJSON_IsObject(item))
			mapping(w, item, depth + 1, false);
		else
			sequence(w, item, depth + (in_sequence ? 1 : 0));
		return;
	} else if (cJSON_IsString(item) && is_block(item->valuestring)) {
		strbuf_addc(w->sb, ' ');
		block_text(w, item->valuestring, depth + 1);
		return;
	} else {
		strbuf_addc(w->sb, ' ');
		scalar(w, item);
	}
	note(w, item);
	strbuf_addc(w->sb, '\n');
}

void k8s_yaml(const cJSON *doc, const struct k8s_note *notes, size_t n_notes, struct strbuf *sb)
{
	struct yaml_writer w = {.sb = sb, .notes = notes, .n_notes = n_notes};

	mapping(&w, doc, 0, false);
}
