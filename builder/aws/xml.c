#include "builder/aws/xml.h"

#include <expat.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"

/* Expat 2.9 deprecates the name that older ones have. */
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
#define XML_LINE_NUMBER XML_GetCurrentLineNumber64
#else
#define XML_LINE_NUMBER XML_GetCurrentLineNumber
#endif

struct xml_reading {
	XML_Parser parser;
	struct arena *arena;
	struct strmap *map;
	struct strbuf path, text;
	size_t lengths[XML_DEPTH_MAX]; /* of the path before each open element */
	int depth;
	unsigned n_elements;
	bool too_much, refused;
};

static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon != NULL ? colon + 1 : name;
}

static void on_start(void *ctx, const char *name, const char **attributes UNUSED)
{
	struct xml_reading *r = ctx;

	if (r->depth == XML_DEPTH_MAX || ++r->n_elements > XML_ELEMENTS_MAX) {
		r->too_much = true;
		XML_StopParser(r->parser, XML_FALSE);
		return;
	}
	r->lengths[r->depth] = r->path.len;
	if (r->depth > 0)
		strbuf_addf(&r->path, "%s%s", r->path.len > 0 ? "/" : "", local_name(name));
	r->depth++;
	strbuf_reset(&r->text);
}

static const char *trimmed_text(struct xml_reading *r)
{
	const char *text = strbuf_str(&r->text);
	size_t start = strspn(text, " \t\r\n"), len = r->text.len;

	while (len > start && strchr(" \t\r\n", text[len - 1]) != NULL)
		len--;
	return arena_strndup(r->arena, text + start, len - start);
}

static void on_end(void *ctx, const char *name UNUSED)
{
	struct xml_reading *r = ctx;

	if (r->depth > 1 && strmap_get(r->map, strbuf_str(&r->path)) == NULL)
		strmap_set(r->map, r->arena, strbuf_str(&r->path), trimmed_text(r));
	r->path.len = r->lengths[--r->depth];
	if (r->path.ptr != NULL)
		r->path.ptr[r->path.len] = '\0';
	strbuf_reset(&r->text);
}

static void on_text(void *ctx, const char *text, int len)
{
	strbuf_add(&((struct xml_reading *)ctx)->text, text, (size_t)len);
}

static void on_doctype(void *ctx, const char *name UNUSED, const char *system_id UNUSED,
                       const char *public_id UNUSED, int has_subset UNUSED)
{
	struct xml_reading *r = ctx;

	r->refused = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static int parse_text(struct xml_reading *r, const char *text, size_t len, struct err *err)
{
	enum XML_Status status;

	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	status = XML_Parse(r->parser, text, (int)len, 1);
	if (r->too_much || r->text.overflow || r->path.overflow)
		return err_set(err, ERR_LIMIT, "the XML reply is too large");
	if (r->refused)
		return err_set(err, ERR_FORMAT, "the XML reply has a document type");
	if (status != XML_STATUS_OK)
		return err_set(err, ERR_FORMAT, "the reply is not XML (line %lu)",
		               (unsigned long)XML_LINE_NUMBER(r->parser));
	return 0;
}

int xml_flatten(const char *text, size_t len, struct arena *a, struct strmap *ret_map,
                struct err *err)
{
	struct strmap map = {0};
	struct xml_reading r = {.parser = XML_ParserCreate(NULL),
	                        .arena = a,
	                        .map = &map,
	                        .path = STRBUF_INIT(4096),
	                        .text = STRBUF_INIT(64 << 10)};

	if (r.parser == NULL)
		mem_exhausted("expat");
	int status = len > 1 << 20 ? err_set(err, ERR_LIMIT, "the XML reply is too large")
	                           : parse_text(&r, text, len, err);

	XML_ParserFree(r.parser);
	if (r.text.ptr != NULL)
		explicit_bzero(r.text.ptr, r.text.cap);
	strbuf_done(&r.path);
	strbuf_done(&r.text);
	if (status == 0)
		*ret_map = map;
	return status;
}
