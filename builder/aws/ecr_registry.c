#include "builder/aws/ecr_registry.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "builder/aws/ecr_registry_internal.h"

enum { HALF_LIFE = 2 };

struct ecr_registry *ecr_registry_new(const struct ecr_registry_opts *opts)
{
	struct ecr_registry *e = mem_zalloc(sizeof(*e));

	e->opts = *opts;
	ecr_registry_wire(e);
	pthread_mutex_init(&e->lock, NULL);
	return e;
}

void ecr_registry_free(struct ecr_registry *e)
{
	if (e == NULL)
		return;
	for (size_t i = 0; i < e->tokens.n; i++) {
		ecr_token_done(&e->tokens.at[i].token);
		free(e->tokens.at[i].region);
	}
	vec_done(&e->tokens);
	if (e->opts.others != NULL && e->opts.others->close != NULL)
		e->opts.others->close(e->opts.others);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

bool ecr_registry_host(const struct ecr_registry *e, const char *host, struct arena *a,
                       struct ecr_host *ret_host)
{
	if (e->opts.alias_host != NULL && strcmp(e->opts.alias_host, host) == 0) {
		*ret_host = (struct ecr_host){.region = e->opts.alias_region};
		return true;
	}
	return ecr_host_parse(host, a, ret_host);
}

/* Quotas of 2026: 52,000 and 10,000 MiB a layer, 4 MiB a manifest. */
const struct push_limits *ecr_registry_limits(const struct ecr_registry *e, const char *host)
{
	static const struct push_limits own = {.registry = "ECR",
	                                       .layer_max = 52000LL << 20,
	                                       .manifest_max = 4 << 20,
	                                       .plain_types = true};
	static const struct push_limits public = {.registry = "ECR Public",
	                                          .layer_max = 10000LL << 20,
	                                          .manifest_max = 4 << 20,
	                                          .plain_types = true,
	                                          .no_mount = true};
	AUTO(arena) struct arena a = {0};
	struct ecr_host h;

	if (!ecr_registry_host(e, host, &a, &h))
		return NULL;
	return h.is_public ? &public : &own;
}

/* ---- credentials ---- */

static struct kept_token *find_kept(struct ecr_registry *e, const struct ecr_host *host)
{
	for (size_t i = 0; i < e->tokens.n; i++) {
		struct kept_token *k = &e->tokens.at[i];

		if (strcmp(k->region, host->region) == 0 && k->is_public == host->is_public &&
		    k->fips == host->fips)
			return k;
	}
	vec_push(&e->tokens, ((struct kept_token){.region = mem_strdup(host->region),
	                                          .is_public = host->is_public,
	                                          .fips = host->fips}));
	return &e->tokens.at[e->tokens.n - 1];
}

/* Tokens are renewed when half of their life is over, so that none ends in a long upload. */
static int fresh_token(struct ecr_registry *e, const struct ecr_host *host, bool renew,
                       struct kept_token **ret_kept, struct err *err)
{
	struct kept_token *k = find_kept(e, host);
	int64_t now = aws_client_now_ms(aws_session_client(e->opts.session));
	struct ecr_token fresh = {0};

	*ret_kept = k;
	if (k->token.password != NULL && !renew && now < k->renew_ms)
		return 0;
	if (ecr_get_token(e->opts.session, host, &fresh, err) != 0)
		return -1;
	ecr_token_done(&k->token);
	k->token = fresh;
	k->renew_ms = now + (fresh.expires_ms - now) / HALF_LIFE;
	return 0;
}

static int from_others(struct ecr_registry *e, const char *host, bool renew, struct credential *ret,
                       struct err *err)
{
	*ret = (struct credential){0};
	if (e->opts.others == NULL)
		return 0;
	return e->opts.others->get(e->opts.others, host, renew, ret, err);
}

/* The token for a host of ECR, or why there is none. */
static int own_token(struct ecr_registry *e, const struct ecr_host *h, bool renew,
                     struct credential *ret, struct err *err)
{
	struct kept_token *k;

	if (e->opts.session == NULL) {
		*err = *e->opts.session_err;
		return -1;
	}
	pthread_mutex_lock(&e->lock);
	int status = fresh_token(e, h, renew, &k, err);

	if (status == 0)
		*ret = (struct credential){.username = mem_strdup(k->token.username),
		                           .secret = mem_strdup(k->token.password),
		                           .renew_ms = k->renew_ms};
	e->bought = e->bought || status == 0;
	pthread_mutex_unlock(&e->lock);
	return status;
}

/* Where AWS credentials are not configured at all, `docker login` may have left a token. A chain
 * that is configured and broken is not passed over. */
static int strict_token(struct ecr_registry *e, const struct ecr_host *h, const char *host,
                        bool renew, struct credential *ret, struct err *err)
{
	struct err why = {0};

	*ret = (struct credential){0};
	if (own_token(e, h, renew, ret, &why) == 0)
		return 0;
	if (e->opts.session != NULL && aws_session_has_nothing(e->opts.session)) {
		if (from_others(e, host, renew, ret, err) != 0)
			return -1;
		if (ret->username != NULL || ret->identity_token != NULL)
			return 0;
	}
	*err = why;
	return -1;
}

/* What is in ECR Public anybody may read: whatever is wrong with our credentials, there is a way
 * without. */
static int read_public(struct ecr_registry *e, const char *host, bool renew, const struct err *why,
                       struct credential *ret, struct err *err)
{
	pthread_mutex_lock(&e->lock);
	bool note = !e->noted && why->code != ERR_INTERRUPTED &&
	            (e->opts.session == NULL || !aws_session_has_nothing(e->opts.session));

	e->noted = e->noted || note;
	pthread_mutex_unlock(&e->lock);
	if (why->code == ERR_INTERRUPTED) {
		*err = *why;
		return -1;
	}
	if (note)
		progress_note(e->opts.progress, "%s is read without credentials: %s", host,
		              why->msg);
	return from_others(e, host, renew, ret, err);
}

int ecr_registry_get(struct ecr_registry *e, const char *host, bool renew, struct credential *ret,
                     struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct ecr_host h;
	struct err why = {0};

	if (!ecr_registry_host(e, host, &a, &h))
		return from_others(e, host, renew, ret, err);
	if (strict_token(e, &h, host, renew, ret, &why) == 0)
		return 0;
	if (h.is_public)
		return read_public(e, host, renew, &why, ret, err);
	*err = why;
	return -1;
}

/* ---- before a push ---- */

static const char *short_digest(const struct digest *d, char out[DIGEST_TEXT_MAX])
{
	digest_text(d, out);
	out[7 + 12] = '\0';
	return out;
}

/* Creates what is missing. Who may not look may still create, and who may do neither is left to the
 * registry's own answer: the repository may be there. */
static int make_repository(struct ecr_registry *e, const struct ecr_preflight *p,
                           const struct ecr_host *host, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *name = registry_repository(p->registry);
	struct ecr_repository there;
	struct err look = {0}, make = {0};
	bool created = false;

	if (ecr_describe_repository(e->opts.session, host, name, &a, &there, &look) == 0)
		return 0;
	if (ecr_create_repository(e->opts.session, host, name, p->settings, &created, &make) != 0) {
		if (look.code == ERR_DENIED && make.code == ERR_DENIED && !created)
			return 0;
		*err = make;
		return -1;
	}
	if (created)
		progress_note(p->progress, "created repository '%s' in region %s", name,
		              host->region);
	return 0;
}

static int refuse_overwrite(const struct ecr_preflight *p, const char *tag,
                            const struct digest *there, struct err *err)
{
	char old[DIGEST_TEXT_MAX], new[DIGEST_TEXT_MAX];

	err_set(err, ERR_CONFLICT,
	        "the tag '%s' of '%s' names %s and cannot be moved to %s: the repository's tags "
	        "are "
	        "immutable",
	        tag, registry_repository(p->registry), short_digest(there, old),
	        short_digest(p->digest, new));
	return err_hint(err, "push under a new tag (--tag), or change the repository's tag "
	                     "mutability");
}

/* Whether a tag names another image already. */
static bool is_taken(const struct ecr_preflight *p, const char *tag, struct digest *ret_there)
{
	AUTO(arena) struct arena a = {0};
	struct descriptor there;
	struct err ignored = {0};

	if (registry_head_manifest(p->registry, tag, &a, &there, &ignored) != 0 ||
	    digest_equal(&there.digest, p->digest))
		return false;
	*ret_there = there.digest;
	return true;
}

int ecr_registry_preflight(struct ecr_registry *e, const struct ecr_preflight *p, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(credential) struct credential token = {0};
	struct ecr_host host;
	struct ecr_repository repository;
	bool known = false;

	if (!ecr_registry_host(e, registry_host(p->registry), &a, &host))
		return 0;
	/* Without credentials nothing goes: better said now than of some blob. */
	if (p->needs_token &&
	    strict_token(e, &host, registry_host(p->registry), false, &token, err) != 0)
		return -1;
	if (e->opts.session == NULL)
		return 0;
	if (p->settings != NULL && make_repository(e, p, &host, err) != 0)
		return -1;
	for (size_t i = 0; i < p->tags->n; i++) {
		struct digest there;
		struct err ignored = {0};

		if (!is_taken(p, p->tags->at[i], &there))
			continue;
		if (!known && ecr_describe_repository(e->opts.session, &host,
		                                      registry_repository(p->registry), &a,
		                                      &repository, &ignored) != 0)
			return 0;
		known = true;
		if (ecr_tag_is_immutable(&repository, p->tags->at[i]))
			return refuse_overwrite(p, p->tags->at[i], &there, err);
	}
	return 0;
}
