#include "builder/cli/remote_option.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

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

/* One line from the terminal, not shown while it is typed. */
static int prompt_terminal(const struct aws_outside *o UNUSED, const char *question,
                           char **ret_answer, struct err *err)
{
	AUTO_CLOSE int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct termios shown, hidden;
	char line[256] = "";

	if (tty < 0 || tcgetattr(tty, &shown) != 0)
		return err_set(err, ERR_DENIED, "cannot prompt: there is no terminal");
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

/* What a core file would show is gone when nobody may write one. */
static void forbid_core_files(void)
{
	const struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* The password, wiped by the caller, when one is announced; what goes with what is said first. */
static int take_password(const struct remote_options *o, const char *host, struct strbuf *sb,
                         struct err *err)
{
	if ((o->username != NULL) != o->password_stdin) {
		err_set(err, ERR_USAGE, "--username and --password-stdin need each other");
		return err_hint(err, "write both: `... -u NAME --password-stdin <FILE`; or log in "
		                     "with docker or podman, whose file slipway reads");
	}
	if (o->ecr_region != NULL && !aws_region_valid(o->ecr_region))
		return err_set(err, ERR_USAGE, "--ecr-region: '%s' is not an AWS region",
		               o->ecr_region);
	if (o->username == NULL)
		return 0;
	if (host == NULL)
		return err_set(err, ERR_USAGE,
		               "--username: the command names no registry to log in to");
	return read_password(sb, err);
}

int remote_from_options(struct cli *cli, const struct remote_options *o, int64_t jobs,
                        const char *reference, struct remote *ret_remote, struct err *err)
{
	AUTO(strbuf) struct strbuf password = STRBUF_INIT(PASSWORD_MAX);
	struct remote_opts opts = {
		.host = login_host(reference, &cli->arena),
		.username = o->username,
		.ecr_region = o->ecr_region,
		.profile = o->profile,
		.ca_file = o->ca,
		.connect_to = o->connect_to,
		.insecure = o->insecure,
		.jobs = (unsigned)jobs,
		.retries = (unsigned)o->retries,
		.prompt = isatty(STDIN_FILENO) ? prompt_terminal : NULL,
		.progress = cli->progress,
		.arena = &cli->arena,
	};

	forbid_core_files();
	int status = take_password(o, opts.host, &password, err);

	opts.password = strbuf_str(&password);
	if (status == 0)
		status = remote_open(&opts, ret_remote, err);
	if (password.ptr != NULL)
		OPENSSL_cleanse(password.ptr, password.len);
	return status;
}
