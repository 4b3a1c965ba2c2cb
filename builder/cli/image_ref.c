#include "builder/cli/image_ref.h"

#include <openssl/crypto.h>
#include <string.h>

#include "builder/oci/archive.h"

enum { PASSWORD_MAX = 16 << 10 };

/* One line of standard input, wiped by the caller. */
static int read_password(struct strbuf *sb, struct err *err)
{
	char buf[1024];
	ssize_t n;

	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		strbuf_add(sb, buf, (size_t)n);
	OPENSSL_cleanse(buf, sizeof(buf));
	if (n < 0)
		return err_set(err, ERR_IO, "read the password from standard input");
	while (sb->len > 0 && (sb->ptr[sb->len - 1] == '\n' || sb->ptr[sb->len - 1] == '\r'))
		sb->ptr[--sb->len] = '\0';
	if (sb->len == 0)
		return err_set(err, ERR_USAGE, "--password-stdin: standard input is empty");
	return 0;
}

/* The registry that --username is meant for: the one the command's reference names. */
static const char *login_host(const char *reference, struct arena *a)
{
	struct ref ref;
	struct err ignored = {0};

	if (reference == NULL || ref_parse(reference, a, &ref, &ignored) != 0 ||
	    ref.kind != REF_REGISTRY)
		return NULL;
	return ref.host;
}

/* A password that was typed in goes to one host; every other one is docker's configuration's
 * matter. */
static int typed_credentials(const struct cli *cli, const char *host,
                             struct credential_provider *docker,
                             struct credential_provider **ret_provider, struct err *err)
{
	AUTO(strbuf) struct strbuf password = STRBUF_INIT(PASSWORD_MAX);
	int status = read_password(&password, err);

	if (status == 0)
		*ret_provider = credentials_for_host(
			host, credentials_fixed(cli->options.username, strbuf_str(&password)),
			docker);
	if (password.ptr != NULL)
		OPENSSL_cleanse(password.ptr, password.len);
	return status;
}

static int choose_credentials(const struct cli *cli, const char *reference,
                              struct credential_provider **ret_provider, struct err *err)
{
	const struct options *o = &cli->options;
	struct arena a = {0};
	struct credential_provider *docker = NULL;
	const char *host = login_host(reference, &a);
	int status = 0;

	if ((o->username != NULL) != o->password_stdin)
		status = err_set(err, ERR_USAGE, "--username and --password-stdin go together");
	else if (o->username != NULL && host == NULL)
		status = err_set(err, ERR_USAGE,
		                 "--username: the command names no registry to log in to");
	else if (credentials_docker(&docker, err) != 0)
		status = -1;
	else if (o->username == NULL)
		*ret_provider = docker;
	else if (typed_credentials(cli, host, docker, ret_provider, err) != 0) {
		docker->close(docker);
		status = -1;
	}
	arena_done(&a);
	return status;
}

int remote_open(const struct cli *cli, const char *reference, struct remote *ret_remote,
                struct err *err)
{
	const struct options *o = &cli->options;
	struct remote r = {.progress = cli->progress,
	                   .insecure = o->insecure,
	                   .jobs = (unsigned)o->jobs,
	                   .retries = (unsigned)o->retries};

	if (choose_credentials(cli, reference, &r.credentials, err) != 0)
		return -1;
	if (http_curl_open(&(struct http_curl_opts){.ca_file = o->ca}, &r.transport, err) != 0) {
		remote_done(&r);
		return -1;
	}
	*ret_remote = r;
	return 0;
}

void remote_done(struct remote *r)
{
	http_close(r->transport);
	if (r->credentials != NULL && r->credentials->close != NULL)
		r->credentials->close(r->credentials);
	*r = (struct remote){0};
}

int remote_registry(const struct remote *r, const struct ref *ref, struct registry **ret_registry,
                    struct err *err)
{
	const struct registry_opts opts = {.transport = r->transport,
	                                   .credentials = r->credentials,
	                                   .progress = r->progress,
	                                   .insecure = r->insecure,
	                                   .retries = r->retries,
	                                   .jobs = r->jobs};

	return registry_open(ref, &opts, ret_registry, err);
}

void image_done(struct image *image)
{
	store_close(image->store);
	registry_close(image->registry);
	layout_close(image->layout);
	*image = (struct image){0};
}

int image_open(const struct remote *remote, const char *text, struct arena *a,
               struct image *ret_image, struct err *err)
{
	struct image image = {0};

	if (ref_parse(text, a, &image.ref, err) != 0)
		return -1;
	switch (image.ref.kind) {
	case REF_REGISTRY:
		if (remote_registry(remote, &image.ref, &image.registry, err) != 0)
			return -1;
		image.store = registry_store(image.registry);
		break;
	case REF_LAYOUT:
		if (layout_open(image.ref.path, LAYOUT_READ, &image.layout, err) != 0)
			return -1;
		image.store = layout_store(image.layout);
		break;
	case REF_OCI_ARCHIVE:
		if (archive_open_oci(image.ref.path, &image.store, err) != 0)
			return -1;
		break;
	case REF_DOCKER_ARCHIVE:
		err_set(err, ERR_UNSUPPORTED, "docker archives are written, not read");
		return err_hint(err, "use oci-archive: or oci:");
	}
	*ret_image = image;
	return 0;
}

/* A layout's or archive's entry with this digest, or the digest's own document. */
static int root_by_digest(const struct image *image, struct arena *a, struct descriptor *ret_root,
                          struct err *err)
{
	struct index index;
	char text[DIGEST_TEXT_MAX];

	digest_text(&image->ref.digest, text);
	if (image->registry != NULL)
		return registry_head_manifest(image->registry, text, a, ret_root, err);
	if (image->layout != NULL && layout_index(image->layout, a, &index, err) == 0)
		for (size_t i = 0; i < index.n_manifests; i++)
			if (digest_equal(&index.manifests[i].digest, &image->ref.digest)) {
				*ret_root = index.manifests[i];
				return 0;
			}
	return err_set(err, ERR_NOT_FOUND, "no image has digest %s", text);
}

int image_root(const struct image *image, struct arena *a, struct descriptor *ret_root,
               struct err *err)
{
	if (image->ref.has_digest)
		return root_by_digest(image, a, ret_root, err);
	return store_resolve(image->store, image->ref.tag, a, ret_root, err);
}
