/* What the image's environment names and programs look for: a time zone, a locale, a character
 * set. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "builder/check/rule_data.h"

/* ---- time zone ---- */

/* What is UTC with or without a file. */
static bool is_utc(const char *name)
{
	static const char *const names[] = {
		"UTC", "UCT",     "GMT",     "Zulu",     "Universal",     "Greenwich",    "Etc/UTC",
		"",    "Etc/UCT", "Etc/GMT", "Etc/Zulu", "Etc/Universal", "Etc/Greenwich"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A rule in itself (POSIX, "Environment Variables", TZ): CET-1CEST,M3.5.0,M10.5.0/3 or <+03>-3. */
static bool is_rule(const char *tz)
{
	size_t n = 0;

	if (tz[0] == '<') {
		const char *end = strchr(tz, '>');

		n = end != NULL ? (size_t)(end - tz) + 1 : 0;
	} else {
		while (isalpha((unsigned char)tz[n]))
			n++;
		n = n >= 3 ? n : 0;
	}
	n += n > 0 && (tz[n] == '+' || tz[n] == '-');
	return n > 0 && isdigit((unsigned char)tz[n]);
}

/* glibc looks into TZDIR or the first of these; musl into all. */
static bool zone_exists(const struct check_image *image, const char *name)
{
	static const char *const dirs[] = {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
	                                   "/share/zoneinfo", "/etc/zoneinfo"};
	const char *tzdir = rule_env(image, "TZDIR");
	struct arena *a = image->run->arena;

	if (name[0] == '/')
		return view_find(&image->view, name, true) != NULL;
	if (tzdir != NULL &&
	    view_find(&image->view, arena_printf(a, "%s/%s", tzdir, name), true) != NULL)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (view_find(&image->view, arena_printf(a, "%s/%s", dirs[i], name), true) != NULL)
			return true;
	return false;
}

#define TIMEZONE_HINT                                                                              \
	"add `timezone: Europe/Berlin` (the image's own zone) or `tzdata: true` (all of them) to " \
	"a layer"

static void check_tz(struct check_image *image)
{
	const char *tz = rule_env(image, "TZ");

	if (tz == NULL)
		return;
	tz += tz[0] == ':';
	if (is_utc(tz) || is_rule(tz) || zone_exists(image, tz))
		return;
	rule_hint(
		image,
		rule_report(image, RULE_TIMEZONE, NO_PLACE,
	                    "TZ names the time zone '%s', whose file is not in the image: programs "
	                    "take UTC without a word",
	                    tz),
		TIMEZONE_HINT);
}

/* A link to nothing, unless what it stands for is UTC anyway. */
static void check_localtime(struct check_image *image)
{
	const struct view_node *n = view_find(&image->view, "/etc/localtime", false);
	const char *target, *zone;

	if (n == NULL || n->member == NULL || n->member->type != MEMBER_SYMLINK ||
	    view_find(&image->view, "/etc/localtime", true) != NULL)
		return;
	target = n->member->link != NULL ? n->member->link : "";
	zone = strstr(target, "zoneinfo/");
	if (zone != NULL && is_utc(zone + strlen("zoneinfo/")))
		return;
	rule_hint(image,
	          rule_report(image, RULE_TIMEZONE, rule_place_of(image, n),
	                      "leads to %s, which is not in the image: programs take UTC without a "
	                      "word",
	                      target),
	          TIMEZONE_HINT);
}

void rule_check_timezone(struct check_image *image)
{
	check_tz(image);
	check_localtime(image);
}

/* ---- locale ---- */

/* "de_DE.UTF-8@euro" in its parts; sizes as POSIX systems have them. */
struct locale_name {
	char language[32]; /* with the territory */
	char charset[32];  /* empty: none */
	char modifier[32]; /* with '@'; empty: none */
};

static bool split_locale(const char *text, struct locale_name *name)
{
	size_t base = strcspn(text, ".@"), charset = 0;
	const char *rest = text + base;

	*name = (struct locale_name){0};
	if (rest[0] == '.')
		charset = strcspn(rest + 1, "@");
	if (base == 0 || base >= sizeof(name->language) || charset >= sizeof(name->charset))
		return false;
	memcpy(name->language, text, base);
	if (rest[0] == '.') {
		memcpy(name->charset, rest + 1, charset);
		rest += 1 + charset;
	}
	if (strlen(rest) >= sizeof(name->modifier) || strchr(text, '/') != NULL)
		return false;
	snprintf(name->modifier, sizeof(name->modifier), "%s", rest);
	return true;
}

/* Letters and digits alone, small: UTF-8 is utf8 (glibc, intl/l10nflist.c). */
static void normalise(const char *charset, char out[32])
{
	size_t n = 0;
	bool digits = true;

	for (const char *p = charset; *p != '\0' && n + 5 < 32; p++)
		if (isalnum((unsigned char)*p)) {
			out[n++] = (char)tolower((unsigned char)*p);
			digits &= isdigit((unsigned char)*p) != 0;
		}
	out[n] = '\0';
	if (digits && n > 0) {
		memmove(out + 3, out, n + 1);
		memcpy(out, "iso", 3);
	}
}

/* In order of likeness; glibc takes the first that is there. */
static bool has_locale(struct check_image *image, const char *dir, const struct locale_name *name)
{
	char plain[32], language[32];
	const char *charsets[] = {name->charset, plain, ""};
	const char *languages[] = {name->language, language};
	const char *modifiers[] = {name->modifier, ""};

	normalise(name->charset, plain);
	snprintf(language, sizeof(language), "%.*s", (int)strcspn(name->language, "_"),
	         name->language);
	for (size_t i = 0; i < 12; i++) {
		const char *charset = charsets[i / 4];
		const char *path = arena_printf(image->run->arena, "%s/%s%s%s%s/LC_CTYPE", dir,
		                                languages[i / 2 % 2], charset[0] != '\0' ? "." : "",
		                                charset, modifiers[i % 2]);

		if (view_find(&image->view, path, true) != NULL)
			return true;
	}
	return false;
}

static bool is_built_in(const struct check_image *image, const char *text)
{
	return strcmp(text, "C") == 0 || strcmp(text, "POSIX") == 0 ||
	       ((strcasecmp(text, "C.UTF-8") == 0 || strcasecmp(text, "C.utf8") == 0) &&
	        (image->data->glibc_minor == 0 || image->data->glibc_minor >= 35));
}

/* Archives of locales are not read: what is in them is not known. */
static bool may_have(struct check_image *image, const char *text)
{
	const char *locpath = rule_env(image, "LOCPATH");
	struct locale_name name;

	if (is_built_in(image, text))
		return true;
	if (!split_locale(text, &name))
		return view_find(&image->view, text, true) != NULL;
	return view_find(&image->view, "/usr/lib/locale/locale-archive", true) != NULL ||
	       view_find(&image->view, "/usr/share/locale/locale.alias", true) != NULL ||
	       has_locale(image, "/usr/lib/locale", &name) ||
	       has_locale(image, "/usr/lib64/locale", &name) ||
	       (locpath != NULL && has_locale(image, locpath, &name));
}

/* What the C library converts without a module (glibc, iconv/gconv_builtin.h). */
static bool needs_module(const char *charset)
{
	static const char *const built_in[] = {"",     "utf8", "ascii", "usascii", "ansix341968",
	                                       "ucs4", "ucs2"};
	char plain[32];

	normalise(charset, plain);
	for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
		if (strcmp(plain, built_in[i]) == 0)
			return false;
	return true;
}

static void check_charset(struct check_image *image, const char *variable, const char *text)
{
	struct locale_name name;

	if (image->run->off[RULE_GCONV] || !split_locale(text, &name) ||
	    !needs_module(name.charset) || data_variable_holds(image, "GCONV_PATH") ||
	    data_exists(image, image->view.root, "/usr/lib/**/gconv/gconv-modules*") ||
	    data_exists(image, image->view.root, "/usr/lib64/gconv/gconv-modules*"))
		return;
	rule_hint(image,
	          rule_report(image, RULE_GCONV, NO_PLACE,
	                      "%s names the character set %s, and the image has no conversions "
	                      "(gconv/gconv-modules): text of it cannot be read or written as "
	                      "characters",
	                      variable, name.charset),
	          "use a locale of UTF-8, or add the folder gconv of the C library");
}

static void check_variable(struct check_image *image, const char *variable)
{
	const char *text = rule_env(image, variable);

	if (text == NULL || text[0] == '\0')
		return;
	check_charset(image, variable, text);
	if (image->run->off[RULE_LOCALE] || may_have(image, text))
		return;
	rule_hint(
		image,
		rule_report(image, RULE_LOCALE, NO_PLACE,
	                    "%s names the locale '%s', which is not in the image: setlocale fails, "
	                    "and programs go on in C, without any character beyond ASCII",
	                    variable, text),
		arena_printf(image->run->arena,
	                     "add `locale: [%s]` to a layer, or set %s to C.UTF-8, which glibc has "
	                     "built in from 2.35 on",
	                     text, variable));
}

/* LC_ALL takes the place of all others (POSIX, "Internationalization Variables"). musl knows no
 * compiled locales. */
void rule_check_locale(struct check_image *image)
{
	static const char *const variables[] = {"LANG",        "LC_CTYPE", "LC_COLLATE",
	                                        "LC_MESSAGES", "LC_TIME",  "LC_NUMERIC",
	                                        "LC_MONETARY"};
	const char *all = rule_env(image, "LC_ALL");

	if (image->data == NULL || !image->data->has_glibc)
		return;
	if (all != NULL && all[0] != '\0') {
		check_variable(image, "LC_ALL");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		check_variable(image, variables[i]);
}
