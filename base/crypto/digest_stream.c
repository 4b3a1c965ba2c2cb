#include "base/crypto/digest_stream.h"

#include "base/mem.h"

static int digest_sink_write(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	struct digest_sink *d = (struct digest_sink *)s;

	hasher_update(&d->hasher, bytes, len);
	d->bytes += (int64_t)len;
	return d->next != NULL ? sink_write(d->next, bytes, len, err) : 0;
}

void digest_sink_init(struct digest_sink *s, struct sink *next)
{
	*s = (struct digest_sink){.sink.write = digest_sink_write, .next = next};
	hasher_init(&s->hasher);
}

struct digest digest_sink_final(struct digest_sink *s)
{
	return hasher_final(&s->hasher);
}

void digest_sink_done(struct digest_sink *s)
{
	hasher_done(&s->hasher);
}

struct verified_source {
	struct source source;
	struct source *inner;
	struct hasher hasher;
	struct digest want;
	int64_t size, seen;
	struct digest got; /* set once ended: a hasher ends once, a reader may ask again */
	bool ended;
};

static int verify_end(struct verified_source *v, struct err *err)
{
	char want[DIGEST_TEXT_MAX], got[DIGEST_TEXT_MAX];

	digest_text(&v->want, want);
	if (v->seen != v->size)
		return err_set(err, ERR_DIGEST, "%s: %lld bytes instead of %lld", want,
		               (long long)v->seen, (long long)v->size);
	if (!v->ended)
		v->got = hasher_final(&v->hasher);
	v->ended = true;
	if (!digest_equal(&v->got, &v->want))
		return err_set(err, ERR_DIGEST, "%s: the content's digest is %s", want,
		               digest_text(&v->got, got));
	return 0;
}

static int verified_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct verified_source *v = (struct verified_source *)s;
	char want[DIGEST_TEXT_MAX];

	if (source_read(v->inner, buf, cap, ret_n, err) != 0)
		return -1;
	if (*ret_n == 0)
		return verify_end(v, err);
	v->seen += (int64_t)*ret_n;
	if (v->seen > v->size)
		return err_set(err, ERR_DIGEST, "%s: more than %lld bytes",
		               digest_text(&v->want, want), (long long)v->size);
	hasher_update(&v->hasher, buf, *ret_n);
	return 0;
}

static void verified_close(struct source *s)
{
	struct verified_source *v = (struct verified_source *)s;

	source_close(v->inner);
	hasher_done(&v->hasher);
	free(v);
}

struct source *source_verified(struct source *inner, const struct digest *digest, int64_t size)
{
	struct verified_source *v = mem_zalloc(sizeof(*v));

	v->source = (struct source){verified_read, verified_close};
	v->inner = inner;
	v->want = *digest;
	v->size = size;
	hasher_init(&v->hasher);
	return &v->source;
}
