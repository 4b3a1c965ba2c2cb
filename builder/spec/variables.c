/*
 * ${...} in texts of the spec.
 */
#include <string.h>

#include "base/text.h"
#include "builder/spec/spec_internal.h"

enum platform_variable {
	VARIABLE_ARCH,
	VARIABLE_GNU_ARCH,
	VARIABLE_OS,
	VARIABLE_PLATFORM,
	VARIABLE_TRIPLET
};

static const char *const platform_variables[] = {
	[VARIABLE_ARCH] = "arch",         [VARIABLE_GNU_ARCH] = "gnu_arch", [VARIABLE_OS] = "os",
	[VARIABLE_PLATFORM] = "platform", [VARIABLE_TRIPLET] = "triplet",
};

/* The variable of that name, -1 for none. */
static int find_platform_variable(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(platform_variables); i++)
		if (strlen(platform_variables[i]) == len &&
		    memcmp(platform_variables[i], name, len) == 0)
			return (int)i;
	return -1;
}

/* A position inside a plain scalar: its own, moved to the variable. */
static struct yaml_node at_offset(const struct yaml_node *node, size_t offset, size_t len)
{
	struct yaml_node moved = *node;

	if (!node->quoted) {
		moved.at.column += (unsigned)offset;
		moved.at.span = (unsigned)len;
	}
	return moved;
}

/* What the environment says is text: a "${" in it is not a variable. */
static void add_value(const char *value, struct strbuf *sb)
{
	for (; *value != '\0'; value++) {
		if (value[0] == '$' && value[1] == '{')
			strbuf_addc(sb, '$');
		strbuf_addc(sb, *value);
	}
}

/* ${env:NAME} or ${env:NAME:-default} (where NAME is unset or empty) */
static bool add_environment(struct fields_context *c, const struct yaml_node *where,
                            const char *name, size_t len, struct strbuf *sb)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	const char *fallback = memmem(name, len, ":-", 2);
	size_t name_len = fallback != NULL ? (size_t)(fallback - name) : len;
	const char *variable = arena_strndup(c->arena, name, name_len);
	const char *value = getenv(variable);

	if (name_len == 0 || strspn(variable, letters) != name_len) {
		diags_error(c->diags, where->at, "write ${env:NAME}, of letters, digits and '_'",
		            "'%s' is not the name of an environment variable", variable);
		return false;
	}
	if (c->expand_state != NULL)
		strmap_set(&((struct spec_outside *)c->expand_state)->environment, c->arena,
		           variable, "");
	if (value != NULL && !text_is_utf8(value, strlen(value))) {
		diags_error(c->diags, where->at, "set it to text in UTF-8",
		            "environment variable %s is not UTF-8", variable);
		return false;
	}
	if (value != NULL && (value[0] != '\0' || fallback == NULL)) {
		add_value(value, sb);
		return true;
	}
	if (fallback != NULL) {
		strbuf_add(sb, fallback + 2, len - name_len - 2);
		return true;
	}
	struct diag *d = fields_problem(c, where, "environment variable %s is not set", variable);

	diag_hint(c->diags, d, "set it, or give a default: ${env:%s:-value}", variable);
	return false;
}

/* ${git:describe}, ${git:commit} */
static void add_git(struct fields_context *c, const struct yaml_node *where, const char *name,
                    struct strbuf *sb)
{
	struct spec_outside *outside = c->expand_state;
	struct err err = {0};
	const char *value = NULL;
	int status = outside != NULL ? git_value(&outside->git, name, c->arena, &value, &err)
	                             : err_set(&err, ERR_NOT_FOUND, "there is no repository");

	if (status == 0) {
		strbuf_adds(sb, value);
		return;
	}
	struct diag *d = fields_problem(c, where, "${%s}: %s", name, err.msg);

	if (err.hint[0] != '\0')
		diag_hint(c->diags, d, "%s", err.hint);
}

static void unknown_variable(struct fields_context *c, const struct yaml_node *where,
                             const char *name, size_t len)
{
	struct diag *d = fields_problem(c, where, "unknown variable ${%.*s}", (int)len, name);
	size_t word = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (name[0] == '{') {
		diag_hint(c->diags, d,
		          "${{ }} is GitHub's: give the value as a variable of the environment, "
		          "and write ${env:GITHUB_SHA}");
		return;
	}
	/* As a shell or a compose file has them. */
	if (word > 0 && word <= len && (word == len || name[word] == ':')) {
		diag_hint(c->diags, d, "write ${env:%.*s}", (int)len, name);
		return;
	}
	const char *near = text_nearest(arena_strndup(c->arena, name, len), platform_variables,
	                                ARRAY_LEN(platform_variables));

	if (near != NULL)
		diag_hint(c->diags, d, "did you mean ${%s}?", near);
	else
		diag_hint(c->diags, d,
		          "known variables are ${arch}, ${os}, ${platform}, ${triplet}, "
		          "${gnu_arch}, ${env:NAME}, ${git:describe} and ${git:commit}; write $${ "
		          "for a plain ${");
}

/* Handles the variable at text[i]; returns how many bytes it had. */
static size_t load_variable(struct fields_context *c, const struct yaml_node *node, size_t i,
                            struct strbuf *sb)
{
	const char *text = node->text + i;
	const char *end = strchr(text, '}');
	size_t len = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
	struct yaml_node where = at_offset(node, i, len);

	if (end == NULL) {
		diags_error(c->diags, where.at, "close it, as in ${arch}; $${ stands for ${ itself",
		            "'${' without '}'");
	} else if (strncmp(text, "${env:", 6) == 0) {
		add_environment(c, &where, text + 6, len - 7, sb);
	} else if (find_platform_variable(text + 2, len - 3) >= 0) {
		strbuf_add(sb, text, len);
	} else if (git_variable(arena_strndup(c->arena, text + 2, len - 3))) {
		add_git(c, &where, arena_strndup(c->arena, text + 2, len - 3), sb);
	} else {
		unknown_variable(c, &where, text + 2, len - 3);
	}
	return len;
}

const char *variables_load(struct fields_context *c, const struct yaml_node *node)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(YAML_BYTES_MAX);
	const char *text = node->text;
	size_t before = c->diags->n_errors;

	if (strstr(text, "${") == NULL)
		return text;
	for (size_t i = 0; text[i] != '\0';) {
		if (strncmp(text + i, "$${", 3) == 0) {
			strbuf_add(&sb, text + i, 3);
			i += 3;
		} else if (strncmp(text + i, "${", 2) == 0) {
			i += load_variable(c, node, i, &sb);
		} else {
			strbuf_addc(&sb, text[i++]);
		}
	}
	return c->diags->n_errors == before ? arena_strdup(c->arena, strbuf_str(&sb)) : NULL;
}

/* An architecture that we have no facts of keeps its own name. */
static const char *value_of(int variable, const struct platform *p,
                            char platform[PLATFORM_TEXT_MAX])
{
	const struct platform_arch *arch = platform_arch_find(p->architecture);

	switch ((enum platform_variable)variable) {
	case VARIABLE_ARCH:
		return p->architecture;
	case VARIABLE_GNU_ARCH:
		return arch != NULL ? arch->gnu_name : p->architecture;
	case VARIABLE_OS:
		return p->os;
	case VARIABLE_PLATFORM:
		break;
	case VARIABLE_TRIPLET:
		return arch != NULL ? arch->multiarch : p->architecture;
	}
	return platform_text(p, platform);
}

const char *variables_expand(const char *text, const struct platform *platform, struct arena *a)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(YAML_BYTES_MAX);
	char buf[PLATFORM_TEXT_MAX];

	if (text == NULL || strstr(text, "${") == NULL)
		return text;
	for (size_t i = 0; text[i] != '\0';) {
		const char *end = strncmp(text + i, "${", 2) == 0 ? strchr(text + i, '}') : NULL;
		size_t len = end != NULL ? (size_t)(end - text) - i - 2 : 0;
		int variable = end != NULL ? find_platform_variable(text + i + 2, len) : -1;

		if (strncmp(text + i, "$${", 3) == 0) {
			strbuf_adds(&sb, "${");
			i += 3;
		} else if (variable >= 0) {
			strbuf_adds(&sb, value_of(variable, platform, buf));
			i += len + 3;
		} else {
			strbuf_addc(&sb, text[i++]);
		}
	}
	return arena_strdup(a, strbuf_str(&sb));
}
