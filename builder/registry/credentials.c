#include "builder/registry/credentials.h"

#include "base/mem.h"

void credential_done(struct credential *c)
{
	mem_free_secret(&c->username);
	mem_free_secret(&c->secret);
	mem_free_secret(&c->identity_token);
	mem_free_secret(&c->registry_token);
}

struct fixed {
	struct credential_provider provider;
	struct credential credential;
};

static int fixed_get(struct credential_provider *p, const char *host UNUSED, bool renew UNUSED,
                     struct credential *ret, struct err *err UNUSED)
{
	const struct credential *have = &((struct fixed *)p)->credential;

	*ret = (struct credential){.username = mem_strdup(have->username),
	                           .secret = mem_strdup(have->secret)};
	return 0;
}

static void fixed_close(struct credential_provider *p)
{
	credential_done(&((struct fixed *)p)->credential);
	free(p);
}

struct credential_provider *credentials_fixed(const char *username, const char *secret)
{
	struct fixed *f = mem_zalloc(sizeof(*f));

	f->provider = (struct credential_provider){.get = fixed_get, .close = fixed_close};
	f->credential.username = mem_strdup(username);
	f->credential.secret = mem_strdup(secret);
	return &f->provider;
}

struct for_host {
	struct credential_provider provider;
	char *host;
	struct credential_provider *own, *others;
};

static int for_host_get(struct credential_provider *p, const char *host, bool renew,
                        struct credential *ret, struct err *err)
{
	const struct for_host *f = (const struct for_host *)p;
	struct credential_provider *chosen = strcmp(host, f->host) == 0 ? f->own : f->others;

	if (chosen != NULL)
		return chosen->get(chosen, host, renew, ret, err);
	*ret = (struct credential){0};
	return 0;
}

static bool for_host_is_plain(struct credential_provider *p, const char *host)
{
	const struct for_host *f = (const struct for_host *)p;
	struct credential_provider *chosen = strcmp(host, f->host) == 0 ? f->own : f->others;

	return chosen != NULL && chosen->is_plain != NULL && chosen->is_plain(chosen, host);
}

static void close_one(struct credential_provider *p)
{
	if (p != NULL && p->close != NULL)
		p->close(p);
}

static void for_host_close(struct credential_provider *p)
{
	struct for_host *f = (struct for_host *)p;

	close_one(f->own);
	close_one(f->others);
	free(f->host);
	free(f);
}

struct credential_provider *credentials_for_host(const char *host, struct credential_provider *own,
                                                 struct credential_provider *others)
{
	struct for_host *f = mem_zalloc(sizeof(*f));

	f->provider = (struct credential_provider){
		.get = for_host_get, .close = for_host_close, .is_plain = for_host_is_plain};
	f->host = mem_strdup(host);
	f->own = own;
	f->others = others;
	return &f->provider;
}
