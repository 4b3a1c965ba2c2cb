/*
 * docker's configuration file and its credential helpers (docker-credential-helpers protocol: host
 * on standard input, {"ServerURL","Username","Secret"} on standard output; user "<token>" means an
 * identity token).
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "builder/registry/credentials.h"
#include "builder/registry/helper_env.h"

enum {
	CONFIGS_MAX = 3,
	DOCKER_CONFIG_MAX = 1 << 20,
	HELPER_OUTPUT_MAX = 64 << 10,
	HELPER_TIMEOUT_MS = 30000
};

/* Docker Hub's key in configuration files. */
static const char hub_key[] = "https://index.docker.io/v1/";

struct config {
	cJSON *doc;
	char path[PATH_MAX];
};

/* Several files may know hosts: the first that knows one wins. */
struct docker {
	struct credential_provider provider;
	pthread_mutex_t lock; /* of the documents: a renewal reads them again */
	struct config configs[CONFIGS_MAX];
	size_t n;
};

static char *copy_if_set(const char *text)
{
	return text != NULL && text[0] != '\0' ? mem_strdup(text) : NULL;
}

/* "auth": base64 of user:password. */
static int decode_auth(const struct config *d, const char *text, struct credential *c,
                       struct err *err)
{
	size_t len = strlen(text);
	AUTO_FREE unsigned char *plain = mem_zalloc(len + 4);
	int n = len % 4 == 0 && len > 0
	                ? EVP_DecodeBlock(plain, (const unsigned char *)text, (int)len)
	                : -1;
	char *colon = n > 0 ? strchr((char *)plain, ':') : NULL;

	if (colon != NULL) {
		*colon = '\0';
		c->username = copy_if_set((char *)plain);
		c->secret = copy_if_set(colon + 1);
	}
	OPENSSL_cleanse(plain, len);
	if (colon == NULL)
		return err_set(err, ERR_FORMAT,
		               "'%s': an `auth` entry is not base64 of user:password", d->path);
	return 0;
}

static int from_entry(const struct config *d, const cJSON *entry, struct credential *c,
                      struct err *err)
{
	const char *auth = json_string(entry, "auth");

	c->identity_token = copy_if_set(json_string(entry, "identitytoken"));
	c->registry_token = copy_if_set(json_string(entry, "registrytoken"));
	if (auth != NULL && auth[0] != '\0')
		return decode_auth(d, auth, c, err);
	c->username = copy_if_set(json_string(entry, "username"));
	c->secret = copy_if_set(json_string(entry, "password"));
	return 0;
}

/* "https://host/v1/" and "host" are the same key. */
static bool same_host(const char *key, const char *host)
{
	const char *start = strstr(key, "://") != NULL ? strstr(key, "://") + 3 : key;
	size_t len = strcspn(start, "/");

	return strlen(host) == len && strncmp(start, host, len) == 0;
}

static const cJSON *find_entry(const struct config *d, const char *host)
{
	const cJSON *auths = json_get(d->doc, "auths"), *entry = NULL;
	bool hub = strcmp(host, "docker.io") == 0;

	if (json_get(auths, hub ? hub_key : host) != NULL)
		return json_get(auths, hub ? hub_key : host);
	cJSON_ArrayForEach (entry, auths) {
		if (same_host(entry->string, host) ||
		    (hub && same_host(entry->string, "index.docker.io")))
			return entry;
	}
	return NULL;
}

static int read_helper(const char *program, const struct proc_result *r, struct credential *c,
                       struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};

	if (r->out.len == 0 || json_parse(program, r->out.ptr, r->out.len, &doc, &ignored) != 0)
		return err_set(err, ERR_FORMAT,
		               "credential helper '%s' did not print a JSON document", program);
	const char *username = json_string(doc, "Username"), *secret = json_string(doc, "Secret");

	if (username != NULL && strcmp(username, "<token>") == 0) {
		c->identity_token = copy_if_set(secret);
	} else {
		c->username = copy_if_set(username);
		c->secret = copy_if_set(secret);
	}
	cJSON *value = (cJSON *)json_get(doc, "Secret");

	if (cJSON_IsString(value))
		OPENSSL_cleanse(value->valuestring, strlen(value->valuestring));
	return 0;
}

static int ask_helper(const char *name, const char *host, struct credential *c, struct err *err)
{
	struct proc_result r = {.out.max = HELPER_OUTPUT_MAX, .err_text.max = HELPER_OUTPUT_MAX};
	AUTO(arena) struct arena a = {0};
	char program[256];
	const char *const argv[] = {program, "get", NULL};
	int status;

	if (strchr(name, '/') != NULL || strlen(name) > 200)
		return err_set(err, ERR_FORMAT, "'%.60s' is not the name of a credential helper",
		               name);
	snprintf(program, sizeof(program), "docker-credential-%s", name);
	status = proc_run_env(argv, helper_environment(name, environ, &a),
	                      strcmp(host, "docker.io") == 0 ? hub_key : host, HELPER_TIMEOUT_MS,
	                      &r, err);
	if (status == 0 && r.exit_status != 0) {
		/* The protocol's words for "I have none", which is not a failure. */
		if (strstr(strbuf_str(&r.out), "credentials not found") == NULL &&
		    strstr(strbuf_str(&r.err_text), "credentials not found") == NULL)
			status = err_set(err, ERR_DENIED,
			                 "credential helper '%s' failed with status %d", program,
			                 r.exit_status);
	} else if (status == 0) {
		status = read_helper(program, &r, c, err);
	}
	if (r.out.ptr != NULL)
		OPENSSL_cleanse(r.out.ptr, r.out.len);
	proc_result_done(&r);
	return status;
}

static bool is_empty(const struct credential *c)
{
	return c->secret == NULL && c->identity_token == NULL && c->registry_token == NULL;
}

/* credHelpers[host], else credsStore, else auths[host]. */
static int look_up(const struct config *d, const char *host, struct credential *c, struct err *err)
{
	const char *helper = json_string(json_get(d->doc, "credHelpers"), host);
	const char *store = json_string(d->doc, "credsStore");
	const cJSON *entry = find_entry(d, host);

	if (helper != NULL)
		return ask_helper(helper, host, c, err);
	if (store != NULL && store[0] != '\0' && ask_helper(store, host, c, err) != 0)
		return -1;
	return is_empty(c) && entry != NULL ? from_entry(d, entry, c, err) : 0;
}

/* The secrets that cJSON keeps. */
static void wipe_document(const cJSON *item, int depth)
{
	for (; item != NULL && depth < JSON_DEPTH_MAX; item = item->next) {
		if (cJSON_IsString(item))
			OPENSSL_cleanse(item->valuestring, strlen(item->valuestring));
		wipe_document(item->child, depth + 1);
	}
}

static void forget_files(struct docker *d)
{
	for (size_t i = 0; i < d->n; i++) {
		wipe_document(d->configs[i].doc, 0);
		cJSON_Delete(d->configs[i].doc);
	}
	d->n = 0;
}

static int read_file(struct docker *d, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(DOCKER_CONFIG_MAX);
	struct config *c = &d->configs[d->n];
	int status;

	if (d->n == CONFIGS_MAX || !fs_exists(path))
		return 0;
	c->doc = NULL;
	snprintf(c->path, sizeof(c->path), "%s", path);
	status = fs_read_file(path, DOCKER_CONFIG_MAX, &text, err);
	if (status == 0)
		status = json_parse(path, text.ptr, text.len, &c->doc, err);
	if (text.ptr != NULL)
		OPENSSL_cleanse(text.ptr, text.len);
	if (status != 0)
		return err_hint(err, "repair the file, or name another with DOCKER_CONFIG");
	d->n++;
	return 0;
}

/* $DOCKER_CONFIG, when set, stands for the folder in the home; $REGISTRY_AUTH_FILE comes before
 * all. */
static int read_files(struct docker *d, struct err *err)
{
	static const struct {
		const char *variable, *below;
	} places[] = {{"REGISTRY_AUTH_FILE", ""},
	              {"DOCKER_CONFIG", "/config.json"},
	              {"HOME", "/.docker/config.json"},
	              {"XDG_RUNTIME_DIR", "/containers/auth.json"}};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *start = getenv(places[i].variable);

		if (start == NULL || start[0] == '\0')
			continue;
		if (snprintf(path, sizeof(path), "%s%s", start, places[i].below) >=
		    (int)sizeof(path))
			return err_set(err, ERR_LIMIT, "$%s is too long", places[i].variable);
		if (read_file(d, path, err) != 0)
			return -1;
		if (strcmp(places[i].variable, "DOCKER_CONFIG") == 0)
			i++;
	}
	return 0;
}

static int docker_get(struct credential_provider *p, const char *host, bool renew,
                      struct credential *ret, struct err *err)
{
	struct docker *d = (struct docker *)p;
	struct credential c = {0};
	int status = 0;

	pthread_mutex_lock(&d->lock);
	if (renew) {
		forget_files(d);
		status = read_files(d, err);
	}
	for (size_t i = 0; status == 0 && i < d->n && is_empty(&c); i++)
		status = look_up(&d->configs[i], host, &c, err);
	pthread_mutex_unlock(&d->lock);
	if (status != 0) {
		credential_done(&c);
		if (err->code == ERR_NOT_FOUND)
			err_hint(err, "install it, or take it out of ~/.docker/config.json and log "
			              "in again");
		return err_wrap(err, "credentials for '%s'", host);
	}
	*ret = c;
	return 0;
}

static void docker_close(struct credential_provider *p)
{
	struct docker *d = (struct docker *)p;

	forget_files(d);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

int credentials_docker(struct credential_provider **ret_provider, struct err *err)
{
	struct docker *d = mem_zalloc(sizeof(*d));

	d->provider = (struct credential_provider){.get = docker_get, .close = docker_close};
	pthread_mutex_init(&d->lock, NULL);
	if (read_files(d, err) != 0) {
		docker_close(&d->provider);
		return -1;
	}
	*ret_provider = &d->provider;
	return 0;
}
