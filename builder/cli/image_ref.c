#include "builder/cli/image_ref.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <termios.h>

#include "base/fs.h"
#include "base/mem.h"
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

/* A password that was typed in goes to one host; every other one is left to `others`. */
static int typed_credentials(const struct cli *cli, const char *host, struct remote *r,
                             struct err *err)
{
	AUTO(strbuf) struct strbuf password = STRBUF_INIT(PASSWORD_MAX);

	if (host == NULL)
		return err_set(err, ERR_USAGE,
		               "--username: the command names no registry to log in to");
	int status = read_password(&password, err);

	if (status == 0)
		r->credentials = credentials_for_host(
			host, credentials_fixed(cli->options.username, strbuf_str(&password)),
			r->credentials);
	if (password.ptr != NULL)
		OPENSSL_cleanse(password.ptr, password.len);
	return status;
}

/* One line from the terminal, not shown while it is typed. */
static int prompt_terminal(const struct aws_outside *o UNUSED, const char *question,
                           char **ret_answer, struct err *err)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios shown, hidden;
	char line[256] = "";

	if (tty < 0 || tcgetattr(tty, &shown) != 0)
		return err_set(err, ERR_DENIED, "there is no terminal to ask at");
	hidden = shown;
	hidden.c_lflag &= ~(tcflag_t)ECHO;
	if (fs_write_all(tty, question, strlen(question), err) != 0)
		return -1;
	(void)tcsetattr(tty, TCSAFLUSH, &hidden);
	ssize_t n = read(tty, line, sizeof(line) - 1);

	(void)tcsetattr(tty, TCSAFLUSH, &shown);
	if (fs_write_all(tty, "\n", 1, err) != 0)
		return -1;
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	*ret_answer = mem_strdup(line);
	OPENSSL_cleanse(line, sizeof(line));
	return 0;
}

static bool is_ecr(const struct cli *cli, const char *reference, struct arena *a)
{
	const char *host = login_host(reference, a);
	struct ecr_host h;

	return cli->options.ecr_region != NULL || (host != NULL && ecr_host_parse(host, a, &h));
}

static bool has_ca_variable(void)
{
	return getenv("SLIPWAY_CA_BUNDLE") != NULL || getenv("AWS_CA_BUNDLE") != NULL ||
	       getenv("SSL_CERT_FILE") != NULL;
}

/* The settings first: the profile may name the certificates that the transport trusts. */
static int open_transport(const struct cli *cli, const char *reference, struct remote *r,
                          struct err *err)
{
	const struct aws_settings_opts wanted = {.profile = cli->options.profile};
	struct aws_settings settings = {0};
	struct http_curl_opts http = {.ca_file = cli->options.ca,
	                              .connect_to = cli->options.connect_to};

	r->aws = mem_zalloc(sizeof(*r->aws));
	r->aws->outside = aws_outside_real();
	r->aws->outside.progress = cli->progress;
	r->aws->outside.prompt = isatty(STDIN_FILENO) ? prompt_terminal : NULL;
	bool usable = aws_settings_load(&r->aws->outside, &wanted, &settings, &r->aws->err) == 0;

	/* The profile's certificates are for AWS, and for a command that speaks to it. */
	if (http.ca_file == NULL && is_ecr(cli, reference, r->arena) && !has_ca_variable())
		http.ca_file = settings.ca_bundle;
	int status = http_curl_open(&http, &r->transport, err);

	r->aws->outside.http = r->transport;
	if (usable && status == 0)
		r->aws->session = aws_session_new(&r->aws->outside, &settings);
	aws_settings_done(&settings);
	return status;
}

/* Docker's configuration, before it ECR for its own hosts, before that what was typed in. */
static int open_credentials(const struct cli *cli, const char *reference, struct remote *r,
                            struct err *err)
{
	const struct options *o = &cli->options;
	const char *host = login_host(reference, r->arena);
	struct ecr_registry_opts opts = {.session = r->aws->session,
	                                 .session_err = &r->aws->err,
	                                 .progress = cli->progress,
	                                 .alias_host = o->ecr_region != NULL ? host : NULL,
	                                 .alias_region = o->ecr_region};

	if ((o->username != NULL) != o->password_stdin)
		return err_set(err, ERR_USAGE, "--username and --password-stdin go together");
	if (o->ecr_region != NULL && !aws_region_valid(o->ecr_region))
		return err_set(err, ERR_USAGE, "--ecr-region: '%s' is not an AWS region",
		               o->ecr_region);
	if (credentials_docker(&opts.others, err) != 0)
		return -1;
	r->aws->ecr = ecr_registry_new(&opts);
	r->credentials = ecr_registry_credentials(r->aws->ecr);
	return o->username != NULL ? typed_credentials(cli, host, r, err) : 0;
}

/* What a core file would show is gone when nobody may write one. */
static void forbid_core_files(void)
{
	const struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int remote_open(struct cli *cli, const char *reference, struct remote *ret_remote, struct err *err)
{
	const struct options *o = &cli->options;
	struct remote r = {.progress = cli->progress,
	                   .arena = &cli->arena,
	                   .insecure = o->insecure,
	                   .jobs = (unsigned)o->jobs,
	                   .retries = (unsigned)o->retries};

	forbid_core_files();
	if (open_transport(cli, reference, &r, err) != 0 ||
	    open_credentials(cli, reference, &r, err) != 0) {
		remote_done(&r);
		return -1;
	}
	*ret_remote = r;
	return 0;
}

void remote_done(struct remote *r)
{
	if (r->credentials != NULL && r->credentials->close != NULL)
		r->credentials->close(r->credentials);
	if (r->aws != NULL) {
		ecr_registry_free(r->aws->ecr);
		aws_session_free(r->aws->session);
	}
	http_close(r->transport);
	free(r->aws);
	*r = (struct remote){0};
}

int remote_registry(const struct remote *r, const struct ref *ref, struct registry **ret_registry,
                    struct err *err)
{
	const struct registry_opts opts = {.transport = r->transport,
	                                   .credentials = r->credentials,
	                                   .advisor = ecr_registry_advisor(r->aws->ecr),
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
