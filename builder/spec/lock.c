#include "builder/spec/lock.h"

#include <string.h>

#include "base/doc/json.h"
#include "base/fs.h"
#include "base/text.h"

char *lock_path(const char *spec_file, struct arena *a)
{
	static const char *const endings[] = {".yaml", ".yml"};
	size_t len = strlen(spec_file);

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (text_has_suffix(spec_file, endings[i])) {
			len -= strlen(endings[i]);
			break;
		}
	return arena_printf(a, "%.*s.lock", (int)len, spec_file);
}

static int read_bases(struct lock *l, const cJSON *doc, struct arena *a, struct err *err)
{
	const cJSON *base = NULL;
	int64_t version = 0;

	if (json_size(doc, "version", &version, err) != 0)
		return -1;
	if (version != LOCK_VERSION)
		return err_set(err, ERR_UNSUPPORTED,
		               "unsupported lock version %lld: this slipway reads %d",
		               (long long)version, LOCK_VERSION);
	cJSON_ArrayForEach (base, json_get(doc, "bases")) {
		struct digest digest;

		if (!cJSON_IsString(base))
			return err_set(err, ERR_FORMAT, "bases: '%s' has no digest", base->string);
		if (digest_parse(base->valuestring, &digest, err) != 0)
			return err_wrap(err, "bases: '%s'", base->string);
		strmap_set(&l->bases, a, base->string, base->valuestring);
	}
	return 0;
}

int lock_load(const char *path, struct arena *a, struct lock *ret_lock, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(LOCK_BYTES_MAX);
	AUTO(json) cJSON *doc = NULL;
	struct lock lock = {.path = arena_strdup(a, path)};

	if (!fs_exists(path)) {
		lock.fresh = true;
		*ret_lock = lock;
		return 0;
	}
	if (fs_read_file(path, LOCK_BYTES_MAX, &text, err) != 0 ||
	    json_parse(path, text.ptr, text.len, &doc, err) != 0 ||
	    read_bases(&lock, doc, a, err) != 0) {
		err_wrap(err, "lock file '%s'", path);
		return err_hint(err, "delete it and build once without --locked to make a new one");
	}
	*ret_lock = lock;
	return 0;
}

bool lock_find(const struct lock *l, const char *reference, struct digest *ret_digest)
{
	const char *text = strmap_get(&l->bases, reference);
	struct err ignored = {0};

	return text != NULL && digest_parse(text, ret_digest, &ignored) == 0;
}

void lock_set(struct lock *l, struct arena *a, const char *reference, const struct digest *digest)
{
	char text[DIGEST_TEXT_MAX];
	const char *have = strmap_get(&l->bases, reference);

	digest_text(digest, text);
	if (have != NULL && strcmp(have, text) == 0)
		return;
	strmap_set(&l->bases, a, reference, text);
	l->changed = true;
}

int lock_save(struct lock *l, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(LOCK_BYTES_MAX);
	AUTO(json) cJSON *doc = cJSON_CreateObject();

	if (!l->changed)
		return 0;
	strmap_sort(&l->bases);
	json_add_string(doc, "comment", LOCK_COMMENT);
	json_add_int(doc, "version", LOCK_VERSION);
	cJSON *bases = json_add_object(doc, "bases");

	for (size_t i = 0; i < l->bases.n; i++)
		json_add_string(bases, l->bases.at[i].key, l->bases.at[i].value);
	json_print_pretty(doc, &text);
	if (fs_write_file(l->path, text.ptr, text.len, 0644, err) != 0)
		return err_wrap(err, "write lock file '%s'", l->path);
	l->changed = false;
	return 0;
}
