#include "trainer/comm/pmi_store.h"

#include <string.h>

#include "base/mem.h"

/* MPICH's own launcher has the first three. */
enum { KVSNAME_MAX = 256, KEY_MAX = 64, VALUE_MAX = 1024, PAIRS_PER_RANK = 64 };

struct pmi_entry {
	char *key, *value;
};

struct pmi_store {
	unsigned n_ranks;
	struct pmi_entry *pairs;
	size_t n, cap, max;
};

struct pmi_store *pmi_store_new(unsigned n_ranks)
{
	struct pmi_store *s = mem_zalloc(sizeof(*s));

	s->n_ranks = n_ranks;
	s->max = (size_t)n_ranks * PAIRS_PER_RANK;
	return s;
}

void pmi_store_free(struct pmi_store *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->pairs[i].key);
		free(s->pairs[i].value);
	}
	free(s->pairs);
	free(s);
}

/* The word after " NAME=", or NULL; its length in *ret_len. The value of a put goes to the end. */
static const char *word(const char *line, const char *name, bool to_end, size_t *ret_len)
{
	const char *at = strstr(line, name);

	if (at == NULL)
		return NULL;
	at += strlen(name);
	*ret_len = to_end ? strlen(at) : strcspn(at, " ");
	return at;
}

static const struct pmi_entry *find_entry(const struct pmi_store *s, const char *key, size_t len)
{
	for (size_t i = 0; i < s->n; i++)
		if (strlen(s->pairs[i].key) == len && memcmp(s->pairs[i].key, key, len) == 0)
			return &s->pairs[i];
	return NULL;
}

static bool put(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	size_t key_len = 0, value_len = 0;
	const char *key = word(line, " key=", false, &key_len);
	const char *value = word(line, " value=", true, &value_len);

	if (key == NULL || value == NULL || key_len > KEY_MAX || value_len > VALUE_MAX ||
	    s->n == s->max)
		return false;
	if (find_entry(s, key, key_len) != NULL) {
		strbuf_addf(reply, "cmd=put_result rc=-1 msg=duplicate_key\n");
		return true;
	}
	if (s->n == s->cap) {
		s->cap = s->cap > 0 ? 2 * s->cap : 64;
		s->pairs = mem_realloc(s->pairs, s->cap, sizeof(*s->pairs));
	}
	s->pairs[s->n++] = (struct pmi_entry){mem_strndup(key, key_len), mem_strdup(value)};
	strbuf_addf(reply, "cmd=put_result rc=0 msg=success\n");
	return true;
}

static bool get(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	size_t len = 0;
	const char *key = word(line, " key=", false, &len);
	const struct pmi_entry *pair = key != NULL ? find_entry(s, key, len) : NULL;

	if (key == NULL)
		return false;
	if (pair == NULL)
		strbuf_addf(reply, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
	else
		strbuf_addf(reply, "cmd=get_result rc=0 msg=success value=%s\n", pair->value);
	return true;
}

static bool say_version(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	strbuf_addf(reply, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	return true;
}

static bool say_limits(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	strbuf_addf(reply, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d\n", KVSNAME_MAX,
	            KEY_MAX, VALUE_MAX);
	return true;
}

static bool say_number(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	strbuf_addf(reply, "cmd=appnum appnum=0\n");
	return true;
}

static bool say_name(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	strbuf_addf(reply, "cmd=my_kvsname kvsname=slipway\n");
	return true;
}

static bool say_size(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)line;
	strbuf_addf(reply, "cmd=universe_size size=%u\n", s->n_ranks);
	return true;
}

static bool let_go(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	strbuf_addf(reply, "cmd=finalize_ack\n");
	return true;
}

/* No answer: the caller gives it when all ranks are in. */
static bool hold(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	(void)s;
	(void)line;
	(void)reply;
	return true;
}

static const struct pmi_command {
	const char *name;
	bool (*answer)(struct pmi_store *s, const char *line, struct strbuf *reply);
} commands[] = {
	{"init", say_version},
	{"get_maxes", say_limits},
	{"get_appnum", say_number},
	{"get_my_kvsname", say_name},
	{"get_universe_size", say_size},
	{"put", put},
	{"get", get},
	{"barrier_in", hold},
	{"finalize", let_go},
};

bool pmi_answer(struct pmi_store *s, const char *line, struct strbuf *reply)
{
	size_t len = 0;
	const char *name = word(line, "cmd=", false, &len);

	if (name != line + strlen("cmd="))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strlen(commands[i].name) == len && memcmp(commands[i].name, name, len) == 0)
			return commands[i].answer(s, line, reply);
	return false;
}
