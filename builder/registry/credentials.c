#include "builder/registry/credentials.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/mem.h"

static void wipe(char **text)
{
	if (*text != NULL)
		OPENSSL_cleanse(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

void credential_done(struct credential *c)
{
	wipe(&c->username);
	wipe(&c->secret);
	wipe(&c->identity_token);
	wipe(&c->registry_token);
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

	f->provider = (struct credential_provider){fixed_get, fixed_close};
	f->credential.username = mem_strdup(username);
	f->credential.secret = mem_strdup(secret);
	return &f->provider;
}
