#include "builder/check/user.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { FIELDS_MAX = 4, ID_MAX = INT32_MAX };

/* One line of passwd or group, cut at its colons. */
struct db_line {
	const char *at[FIELDS_MAX];
	size_t len[FIELDS_MAX];
};

/* Takes the line at *text apart; false at the end. */
static bool next_line(const char **text, struct db_line *ret_line)
{
	const char *p = *text;
	size_t end = strcspn(p, "\n");

	if (*p == '\0')
		return false;
	*ret_line = (struct db_line){0};
	*text = p + end + (p[end] == '\n');
	for (size_t i = 0; i < FIELDS_MAX; i++) {
		size_t len = strcspn(p, ":\n");

		ret_line->at[i] = p;
		ret_line->len[i] = len;
		p += len + (p[len] == ':');
	}
	return true;
}

static bool field_is(const struct db_line *line, size_t i, const char *word, size_t len)
{
	return line->len[i] == len && memcmp(line->at[i], word, len) == 0;
}

static bool read_id(const char *text, size_t len, uint32_t *ret_id)
{
	int64_t id;

	if (!text_int64(text, len, &id) || id < 0 || id > ID_MAX)
		return false;
	*ret_id = (uint32_t)id;
	return true;
}

static bool is_number(const char *text, size_t len)
{
	return len > 0 && strspn(text, "0123456789") >= len;
}

/* The first line that has the word as its name or its number, which is the third field. */
static bool find_line(const char *file, const char *word, size_t len, struct db_line *ret_line)
{
	uint32_t wanted, id;
	bool number = read_id(word, len, &wanted);

	while (next_line(&file, ret_line))
		if (field_is(ret_line, 0, word, len) ||
		    (number && read_id(ret_line->at[2], ret_line->len[2], &id) && id == wanted))
			return true;
	return false;
}

static bool is_member(const struct db_line *line, const char *name, size_t len)
{
	const char *p = line->at[3], *end = p + line->len[3];

	while (p < end) {
		size_t n = strcspn(p, ",:\n");

		if (n == len && memcmp(p, name, len) == 0)
			return true;
		p += n + 1;
	}
	return false;
}

static int id_order(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void add_groups(const char *group, const struct db_line *who, struct arena *a,
                       struct image_user *user)
{
	VEC(uint32_t) ids = {0};
	struct db_line line;
	uint32_t id;

	while (next_line(&group, &line))
		if (is_member(&line, who->at[0], who->len[0]) &&
		    read_id(line.at[2], line.len[2], &id))
			vec_push(&ids, id);
	if (ids.n > 0)
		qsort(ids.at, ids.n, sizeof(*ids.at), id_order);
	user->groups = arena_memdup(a, ids.at, ids.n * sizeof(*ids.at));
	user->n_groups = ids.n;
	vec_done(&ids);
}

static enum user_fault find_user(const char *name, size_t len, const char *passwd,
                                 struct db_line *ret_line, struct image_user *user)
{
	bool known = find_line(passwd, name, len, ret_line);

	if (known && read_id(ret_line->at[2], ret_line->len[2], &user->uid) &&
	    read_id(ret_line->at[3], ret_line->len[3], &user->gid))
		return USER_FOUND;
	*ret_line = (struct db_line){0};
	if (!is_number(name, len))
		return USER_UNKNOWN;
	return read_id(name, len, &user->uid) ? USER_FOUND : USER_TOO_LARGE;
}

static enum user_fault find_group(const char *name, const char *group, struct image_user *user)
{
	size_t len = strlen(name);
	struct db_line line;

	if (find_line(group, name, len, &line) && read_id(line.at[2], line.len[2], &user->gid))
		return USER_FOUND;
	if (!is_number(name, len))
		return USER_NO_GROUP;
	return read_id(name, len, &user->gid) ? USER_FOUND : USER_TOO_LARGE;
}

enum user_fault user_resolve(const char *user, const char *passwd, const char *group,
                             struct arena *a, struct image_user *ret_user)
{
	struct image_user found = {.text = user[0] != '\0' ? user : "root"};
	size_t len = strcspn(user, ":");
	struct db_line line = {0};
	enum user_fault fault = USER_FOUND;

	/* No name is user 0, who needs to be in no file. */
	if (len > 0)
		fault = find_user(user, len, passwd, &line, &found);
	else
		find_line(passwd, "0", 1, &line);
	if (fault == USER_FOUND && user[len] == ':' && user[len + 1] != '\0')
		fault = find_group(user + len + 1, group, &found);
	else if (fault == USER_FOUND && line.len[0] > 0)
		add_groups(group, &line, a, &found);
	*ret_user = found;
	return fault;
}

struct strlist user_names(const char *file, struct arena *a)
{
	VEC(const char *) names = {0};
	struct strlist list;
	struct db_line line;

	while (next_line(&file, &line))
		vec_push(&names, arena_strndup(a, line.at[0], line.len[0]));
	list = (struct strlist){arena_memdup(a, names.at, names.n * sizeof(*names.at)), names.n};
	vec_done(&names);
	return list;
}

static bool in_group(const struct image_user *user, uint32_t gid)
{
	return user->gid == gid ||
	       (user->n_groups > 0 && bsearch(&gid, user->groups, user->n_groups,
	                                      sizeof(*user->groups), id_order) != NULL);
}

bool user_may(const struct image_user *user, const struct scan_member *m, enum user_right right)
{
	unsigned shift = 0;

	if (m == NULL)
		return true;
	if (user->uid == 0)
		return m->type == MEMBER_DIR || right == USER_READ || (m->mode & 0111) != 0;
	if (m->uid == user->uid)
		shift = 6;
	else if (in_group(user, m->gid))
		shift = 3;
	return (m->mode >> shift & (unsigned)right) != 0;
}
