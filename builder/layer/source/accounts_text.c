/* See source_accounts.h. In order: lines, names and numbers, users and groups, the texts. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/source/source_accounts.h"

enum { TEXT_MAX = 64 << 20 };

/* One line of passwd or group. */
struct account_line {
	const char *name; /* NULL for what is no account: comments, "+" of NIS, damage */
	int64_t id;
	const char *text; /* the whole line, without its end */
	struct srcpos at; /* in the spec; no file = of the base, or made up */
};

struct account_table {
	const char *what, *number; /* "user", "uid" */
	size_t colons;             /* of a line: passwd(5), group(5) */
	VEC(struct account_line) lines;
};

struct accounts_job {
	const char *label;
	struct arena *arena;
	struct diags *diags;
	struct account_table users, groups;
};

/* ---- lines ---- */

static size_t count_colons(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == ':';
	return n;
}

/* "name:password:number:..." */
static struct account_line read_line(const struct account_table *table, const char *text,
                                     size_t len, struct arena *a)
{
	struct account_line line = {.text = arena_strndup(a, text, len), .id = -1};
	const char *password = strchr(line.text, ':');
	const char *number = password != NULL ? strchr(password + 1, ':') : NULL;

	if (count_colons(line.text) != table->colons || password == line.text ||
	    strchr("#+-", line.text[0]) != NULL || number == NULL ||
	    !text_int64(number + 1, strcspn(number + 1, ":"), &line.id))
		return line;
	line.name = arena_strndup(a, line.text, (size_t)(password - line.text));
	return line;
}

static void read_lines(struct account_table *table, const char *text, struct arena *a)
{
	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, "\n");

		vec_push(&table->lines, read_line(table, text, len, a));
		text += len + (text[len] == '\n');
	}
}

static const char *write_lines(const struct account_table *table, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < table->lines.n; i++)
		strbuf_addf(&text, "%s\n", table->lines.at[i].text);
	return arena_strdup(a, strbuf_str(&text));
}

/* ---- names and numbers ---- */

static struct account_line *by_name(const struct account_table *table, const char *name)
{
	for (size_t i = 0; i < table->lines.n; i++)
		if (table->lines.at[i].name != NULL && strcmp(table->lines.at[i].name, name) == 0)
			return &table->lines.at[i];
	return NULL;
}

static struct account_line *by_id(const struct account_table *table, int64_t id)
{
	for (size_t i = 0; i < table->lines.n; i++)
		if (table->lines.at[i].name != NULL && table->lines.at[i].id == id)
			return &table->lines.at[i];
	return NULL;
}

/* Where an account comes from, in words: " in line 12", " in the base". */
static const char *origin_words(const struct accounts_job *j, const struct account_line *line)
{
	return line->at.file != NULL ? arena_printf(j->arena, " in line %u", line->at.line)
	                             : " in the base";
}

static void taken(struct accounts_job *j, const struct account_table *table,
                  const struct account_line *mine, const struct account_line *other)
{
	bool same_name = strcmp(mine->name, other->name) == 0;

	if (same_name && mine->id == other->id)
		diags_error(j->diags, mine->at, "leave one of them out",
		            "layer '%s': %s '%s' is listed twice (first%s)", j->label, table->what,
		            mine->name, origin_words(j, other));
	else if (same_name)
		diags_error(j->diags, mine->at, "use that number, or another name",
		            "layer '%s': %s '%s' has %s %lld%s, not %lld", j->label, table->what,
		            mine->name, table->number, (long long)other->id, origin_words(j, other),
		            (long long)mine->id);
	else
		diags_error(j->diags, mine->at, "use another number, or that name",
		            "layer '%s': %s '%s': %s %lld is that of '%s'%s", j->label, table->what,
		            mine->name, table->number, (long long)mine->id, other->name,
		            origin_words(j, other));
}

/*
 * Gives a name its number. *ret_line is the new line, the base's that it stands for, or NULL after
 * a problem.
 */
static struct account_line *claim(struct accounts_job *j, struct account_table *table,
                                  const struct account_line *mine)
{
	struct account_line *name = by_name(table, mine->name), *id = by_id(table, mine->id);
	struct account_line *other = name != NULL ? name : id;

	if (other == NULL) {
		vec_push(&table->lines, *mine);
		return &table->lines.at[table->lines.n - 1];
	}
	if (other != name || name->id != mine->id || name->at.file != NULL) {
		taken(j, table, mine, other);
		return NULL;
	}
	name->at = mine->at;
	return name;
}

/* ---- users and groups ---- */

static struct account_line group_line(struct accounts_job *j, const char *name, int64_t gid,
                                      struct srcpos at)
{
	return (struct account_line){
		.name = name,
		.id = gid,
		.text = arena_printf(j->arena, "%s:x:%lld:", name, (long long)gid),
		.at = at};
}

static struct account_line user_line(struct accounts_job *j, const struct layer_user *u)
{
	int64_t gid = u->gid >= 0 ? u->gid : u->uid;

	return (struct account_line){.name = u->name,
	                             .id = u->uid,
	                             .text = arena_printf(j->arena, "%s:x:%lld:%lld:%s:%s:%s",
	                                                  u->name, (long long)u->uid,
	                                                  (long long)gid,
	                                                  u->comment != NULL ? u->comment : "",
	                                                  accounts_home(u, j->arena), u->shell),
	                             .at = u->at};
}

/* Whether the last field of a group's line, "a,b,c", has the name. */
static bool has_member(const struct account_line *group, const char *name)
{
	const char *member = strrchr(group->text, ':') + 1;

	while (*member != '\0') {
		size_t len = strcspn(member, ",");

		if (len == strlen(name) && strncmp(member, name, len) == 0)
			return true;
		member += len + (member[len] == ',');
	}
	return false;
}

static void no_such_group(struct accounts_job *j, const struct layer_user *u, const char *name)
{
	const char **names = arena_calloc(j->arena, j->groups.lines.n, sizeof(*names));
	struct diag *diag =
		diags_add(j->diags, DIAG_ERROR, u->at,
	                  "layer '%s': user '%s': group '%s' is not among the groups, nor in the "
	                  "base",
	                  j->label, u->name, name);
	size_t n = 0;

	for (size_t i = 0; i < j->groups.lines.n; i++)
		if (j->groups.lines.at[i].name != NULL)
			names[n++] = j->groups.lines.at[i].name;
	const char *near = text_nearest(name, names, n);

	if (near != NULL)
		diag_hint(j->diags, diag, "did you mean '%s'?", near);
	else
		diag_hint(j->diags, diag, "add it to accounts.groups: {name: %s, gid: NUMBER}",
		          name);
}

static void join_group(struct accounts_job *j, const struct layer_user *u, const char *name)
{
	struct account_line *group = by_name(&j->groups, name);

	if (group == NULL)
		no_such_group(j, u, name);
	else if (!has_member(group, u->name))
		group->text = arena_printf(j->arena, "%s%s%s", group->text,
		                           group->text[strlen(group->text) - 1] == ':' ? "" : ",",
		                           u->name);
}

static void add_user(struct accounts_job *j, const struct layer_user *u)
{
	const struct account_line mine = user_line(j, u);
	struct account_line *line = claim(j, &j->users, &mine);
	int64_t gid = u->gid >= 0 ? u->gid : u->uid;

	if (line != NULL)
		line->text = mine.text;
	if (by_id(&j->groups, gid) == NULL) {
		const struct account_line own = group_line(j, u->name, gid, u->at);

		claim(j, &j->groups, &own);
	}
}

static void add_root(struct accounts_job *j, const struct layer_accounts *want)
{
	const struct layer_user root = {.name = "root", .gid = 0, .shell = "/sbin/nologin"};
	bool user = by_name(&j->users, "root") == NULL && by_id(&j->users, 0) == NULL;
	bool group = by_name(&j->groups, "root") == NULL && by_id(&j->groups, 0) == NULL;

	for (size_t i = 0; i < want->n_users; i++)
		user = user && want->users[i].uid != 0 && strcmp(want->users[i].name, "root") != 0;
	for (size_t i = 0; i < want->n_groups; i++)
		group = group && want->groups[i].gid != 0 &&
		        strcmp(want->groups[i].name, "root") != 0;
	if (user)
		vec_push(&j->users.lines, user_line(j, &root));
	if (group)
		vec_push(&j->groups.lines, group_line(j, "root", 0, root.at));
}

/* ---- the texts ---- */

/* nsswitch.conf(5); without it glibc asks the network before files for hosts in some versions. */
static const char nsswitch[] = "passwd:    files\n"
			       "group:     files\n"
			       "shadow:    files\n"
			       "hosts:     files dns\n"
			       "networks:  files\n"
			       "protocols: files\n"
			       "services:  files\n";

const char *accounts_home(const struct layer_user *u, struct arena *a)
{
	if (u->home != NULL)
		return u->home;
	return u->uid == 0 && strcmp(u->name, "root") == 0 ? "/root"
	                                                   : arena_printf(a, "/home/%s", u->name);
}

void accounts_write(const struct layer_accounts *want, const struct accounts_text *base,
                    const char *label, struct arena *a, struct diags *d,
                    struct accounts_text *ret_text)
{
	struct accounts_job j = {.label = label,
	                         .arena = a,
	                         .diags = d,
	                         .users = {.what = "user", .number = "uid", .colons = 6},
	                         .groups = {.what = "group", .number = "gid", .colons = 3}};

	read_lines(&j.users, base != NULL ? base->passwd : NULL, a);
	read_lines(&j.groups, base != NULL ? base->group : NULL, a);
	add_root(&j, want);
	for (size_t i = 0; i < want->n_groups; i++) {
		const struct layer_group *g = &want->groups[i];
		const struct account_line mine = group_line(&j, g->name, g->gid, g->at);

		claim(&j, &j.groups, &mine);
	}
	for (size_t i = 0; i < want->n_users; i++)
		add_user(&j, &want->users[i]);
	for (size_t i = 0; i < want->n_users; i++)
		for (size_t k = 0; k < want->users[i].groups.n; k++)
			join_group(&j, &want->users[i], want->users[i].groups.at[k]);
	ret_text->passwd = write_lines(&j.users, a);
	ret_text->group = write_lines(&j.groups, a);
	ret_text->nsswitch = base != NULL && base->nsswitch != NULL ? base->nsswitch : nsswitch;
	vec_done(&j.users.lines);
	vec_done(&j.groups.lines);
}
