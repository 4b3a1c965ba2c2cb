#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/registry/credentials.h"
#include "tests/harness.h"

struct scene {
	char dir[4096];
	struct credential_provider *provider;
	struct credential c;
	struct err err;
};

static void put(const struct scene *s, const char *name, const char *text, mode_t mode)
{
	char path[PATH_MAX];
	struct err err = {0};

	CHECK_OK(fs_join(path, s->dir, name, &err), &err);
	CHECK_OK(fs_write_file(path, text, strlen(text), mode, &err), &err);
}

static void scene_start(struct scene *s)
{
	char path[PATH_MAX];

	*s = (struct scene){0};
	test_tmpdir(s->dir);
	snprintf(path, sizeof(path), "%.3000s/containers", s->dir);
	mkdir(path, 0755);
	unsetenv("REGISTRY_AUTH_FILE");
	setenv("DOCKER_CONFIG", s->dir, 1);
	setenv("XDG_RUNTIME_DIR", s->dir, 1);
}

static void scene_done(struct scene *s)
{
	struct err err = {0};

	credential_done(&s->c);
	if (s->provider != NULL)
		s->provider->close(s->provider);
	CHECK_OK(fs_remove_tree(s->dir, &err), &err);
}

static int get(struct scene *s, const char *host, bool renew)
{
	if (s->provider == NULL && credentials_docker(&s->provider, &s->err) != 0)
		return -1;
	credential_done(&s->c);
	return s->provider->get(s->provider, host, renew, &s->c, &s->err);
}

static void same(const char *got, const char *want)
{
	if (got != NULL || want != NULL)
		CHECK_STR(got, want);
}

static void reads_entries(void)
{
	static const struct {
		const char *host, *username, *secret, *identity, *token;
	} rows[] = {
		{"r.example", "u", "p:q", NULL, NULL},
		{"localhost:5000", "name", "word", NULL, NULL},
		{"docker.io", "hub", "x", NULL, NULL},
		{"old.example", "u", "p", NULL, NULL},
		{"id.example", NULL, NULL, "refresh", NULL},
		{"token.example", NULL, NULL, NULL, "bearer"},
		{"empty.example", NULL, NULL, NULL, NULL},
		{"unknown.example", NULL, NULL, NULL, NULL},
		{"example", NULL, NULL, NULL, NULL},
		{"podman.example", "u", "p", NULL, NULL},
	};
	AUTO(scene) struct scene s;

	scene_start(&s);
	put(&s, "config.json",
	    "{\"auths\":{\"r.example\":{\"auth\":\"dTpwOnE=\"},"
	    "\"localhost:5000\":{\"username\":\"name\",\"password\":\"word\"},"
	    "\"https://index.docker.io/v1/\":{\"auth\":\"aHViOng=\"},"
	    "\"https://old.example/v1/\":{\"auth\":\"dTpw\"},"
	    "\"id.example\":{\"identitytoken\":\"refresh\"},"
	    "\"token.example\":{\"registrytoken\":\"bearer\"},\"empty.example\":{}}}", 0600);
	put(&s, "containers/auth.json",
	    "{\"auths\":{\"podman.example\":{\"auth\":\"dTpw\"},\"r.example\":{\"auth\":\"dTpw\"}}}", 0600);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_OK(get(&s, rows[i].host, false), &s.err);
		same(s.c.username, rows[i].username);
		same(s.c.secret, rows[i].secret);
		same(s.c.identity_token, rows[i].identity);
		same(s.c.registry_token, rows[i].token);
	}
}

static void no_file(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s);
	CHECK_OK(get(&s, "r.example", false), &s.err);
	CHECK(s.c.username == NULL && s.c.secret == NULL);
}

static void broken_files(void)
{
	static const char *const texts[] = {"", "{", "{\"auths\":{\"r.example\":{\"auth\":\"aHVzaA==\"}}}",
	                                    "{\"auths\":{\"r.example\":{\"auth\":\"hush!\"}}}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(scene) struct scene s;

		scene_start(&s);
		put(&s, "config.json", texts[i], 0600);
		CHECK(get(&s, "r.example", false) != 0);
		CHECK_INT(s.err.code, ERR_FORMAT);
		CHECK(strstr(s.err.msg, "config.json") != NULL);
		CHECK(strstr(s.err.msg, "hush") == NULL && strstr(s.err.msg, "aHVz") == NULL);
	}
}

static void renewal_reads_again(void)
{
	AUTO(scene) struct scene s;

	scene_start(&s);
	put(&s, "config.json", "{\"auths\":{\"r.example\":{\"auth\":\"dTpvbGQ=\"}}}", 0600);
	CHECK_OK(get(&s, "r.example", false), &s.err);
	CHECK_STR(s.c.secret, "old");
	put(&s, "config.json", "{\"auths\":{\"r.example\":{\"auth\":\"dTpuZXc=\"}}}", 0600);
	CHECK_OK(get(&s, "r.example", false), &s.err);
	CHECK_STR(s.c.secret, "old");
	CHECK_OK(get(&s, "r.example", true), &s.err);
	CHECK_STR(s.c.secret, "new");
}

static void use_path(const struct scene *s)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s:%s", s->dir, getenv("PATH"));
	setenv("PATH", path, 1);
}

/* AWS's keys are for the helper that logs in to ECR; another sees the profile's name at most. */
static void helpers_environment(void)
{
	AUTO(scene) struct scene s;
	AUTO_FREE char *path = mem_strdup(getenv("PATH"));
	static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	                                    "AWS_SECURITY_TOKEN", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	                                    "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE",
	                                    "AWS_PROFILE"};
	static const char script[] = "#!/bin/sh\nn=$(env | grep -c '^AWS_.*=planted')\n"
				     "echo \"{\\\"Username\\\":\\\"u\\\",\\\"Secret\\\":\\\"$n of $SLIPWAY_TEST\\\"}\"\n";

	scene_start(&s);
	use_path(&s);
	put(&s, "docker-credential-ecr-login", script, 0755);
	put(&s, "docker-credential-other", script, 0755);
	put(&s, "config.json", "{\"credHelpers\":{\"e.example\":\"ecr-login\",\"o.example\":\"other\"}}", 0600);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		setenv(names[i], "planted", 1);
	setenv("SLIPWAY_TEST", "8", 1);
	CHECK_OK(get(&s, "e.example", false), &s.err);
	CHECK_STR(s.c.secret, "8 of 8");
	CHECK_OK(get(&s, "o.example", false), &s.err);
	CHECK_STR(s.c.secret, "1 of 8");
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unsetenv(names[i]);
	unsetenv("SLIPWAY_TEST");
	setenv("PATH", path, 1);
}

static void helpers(void)
{
	AUTO(scene) struct scene s;
	AUTO_FREE char *path = mem_strdup(getenv("PATH"));

	scene_start(&s);
	use_path(&s);
	put(&s, "docker-credential-one",
	    "#!/bin/sh\n[ \"$1\" = get ] || exit 9\nread -r host\n"
	    "echo \"{\\\"ServerURL\\\":\\\"$host\\\",\\\"Username\\\":\\\"one\\\",\\\"Secret\\\":\\\"$host\\\"}\"\n",
	    0755);
	put(&s, "docker-credential-two",
	    "#!/bin/sh\nread -r host\ncase $host in\n"
	    "token.example) echo '{\"Username\":\"<token>\",\"Secret\":\"refresh\"}';;\n"
	    "broken.example) echo 'hush hush';;\n"
	    "failing.example) echo hush; exit 3;;\n"
	    "*) echo 'credentials not found in native keychain'; exit 1;;\nesac\n",
	    0755);
	put(&s, "config.json",
	    "{\"credHelpers\":{\"r.example\":\"one\",\"docker.io\":\"one\",\"gone.example\":\"absent\","
	    "\"evil.example\":\"../../bin/sh\"},"
	    "\"credsStore\":\"two\",\"auths\":{\"plain.example\":{\"auth\":\"dTpw\"}}}", 0600);
	CHECK_OK(get(&s, "r.example", false), &s.err);
	CHECK_STR(s.c.username, "one");
	CHECK_STR(s.c.secret, "r.example");
	CHECK_OK(get(&s, "docker.io", false), &s.err);
	CHECK_STR(s.c.secret, "https://index.docker.io/v1/");
	CHECK_OK(get(&s, "token.example", false), &s.err);
	CHECK_STR(s.c.identity_token, "refresh");
	CHECK(s.c.username == NULL);
	CHECK_OK(get(&s, "unknown.example", false), &s.err);
	CHECK(s.c.username == NULL);
	CHECK_OK(get(&s, "plain.example", false), &s.err);
	CHECK_STR(s.c.secret, "p");
	CHECK(get(&s, "broken.example", false) != 0);
	CHECK_INT(s.err.code, ERR_FORMAT);
	CHECK(strstr(s.err.msg, "hush") == NULL);
	CHECK(get(&s, "failing.example", false) != 0);
	CHECK_INT(s.err.code, ERR_DENIED);
	CHECK(strstr(s.err.msg, "hush") == NULL);
	CHECK(get(&s, "gone.example", false) != 0);
	CHECK(strstr(s.err.msg, "docker-credential-absent") != NULL);
	CHECK(get(&s, "evil.example", false) != 0);
	CHECK_INT(s.err.code, ERR_FORMAT);
	setenv("PATH", path, 1);
}

static void fixed_for_one_host(void)
{
	struct credential_provider *p =
		credentials_for_host("r.example", credentials_fixed("u", "p"), NULL);
	struct credential c = {0};
	struct err err = {0};

	CHECK_OK(p->get(p, "r.example", false, &c, &err), &err);
	CHECK_STR(c.username, "u");
	CHECK_STR(c.secret, "p");
	credential_done(&c);
	CHECK_OK(p->get(p, "base.example", false, &c, &err), &err);
	CHECK(c.username == NULL && c.secret == NULL);
	p->close(p);
}

int main(void)
{
	TEST("docker config: hosts are found in every form, in docker's file and in podman's", reads_entries);
	TEST("docker config: no file is anonymous", no_file);
	TEST("docker config: a broken file is named without its secrets", broken_files);
	TEST("docker config: a renewal reads the files again", renewal_reads_again);
	TEST("docker config: a helper gets no AWS secret, but the one that logs in to ECR", helpers_environment);
	TEST("docker config: helpers come before the store, the store before entries", helpers);
	TEST("docker config: a fixed password goes to its host and to no other", fixed_for_one_host);
	return test_done();
}
