#include "builder/oci/store.h"

int store_resolve(struct store *s, const char *tag, struct arena *a, struct descriptor *ret_desc,
                  struct err *err)
{
	return s->resolve(s, tag, a, ret_desc, err);
}

int store_open(struct store *s, const struct descriptor *desc, struct source **ret_source,
               struct err *err)
{
	return s->open(s, desc, ret_source, err);
}

int store_check_size(const struct descriptor *desc, int64_t size, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	if (size == desc->size)
		return 0;
	return err_set(err, ERR_DIGEST, "%s: %lld bytes instead of %lld",
	               digest_text(&desc->digest, digest), (long long)size, (long long)desc->size);
}

void store_close(struct store *s)
{
	if (s != NULL)
		s->close(s);
}

void store_closep(struct store **s)
{
	store_close(*s);
	*s = NULL;
}

int store_read(struct store *s, const struct descriptor *desc, size_t max_bytes, struct strbuf *sb,
               struct err *err)
{
	struct source *source = NULL;
	char digest[DIGEST_TEXT_MAX];
	int result;

	strbuf_reset(sb);
	if (desc->size < 0 || (uint64_t)desc->size > max_bytes)
		return err_set(err, ERR_LIMIT, "%s has %lld bytes, at most %zu are read",
		               digest_text(&desc->digest, digest), (long long)desc->size,
		               max_bytes);
	if (sb->max < max_bytes)
		sb->max = max_bytes;
	if (store_open(s, desc, &source, err) != 0)
		return -1;
	result = stream_read_all(source, sb, err);
	source_close(source);
	return result;
}
