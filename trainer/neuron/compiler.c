#include "trainer/neuron/compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/proc.h"

enum { VERSION_MS = 60 * 1000, SAY_MS = 30 * 1000, POLL_MS = 200 };

/* Source: neuronx-cc's "CLI reference guide"; a logical core of trn2 is two by default. */
static const struct neuron_target targets[] = {
	{"trn1", "--target=trn1", 1, "--enable-saturate-infinity"},
	{"trn1n", "--target=trn1n", 1, "--enable-saturate-infinity"},
	{"inf2", "--target=inf2", 1, "--enable-saturate-infinity"},
	{"trn2", "--target=trn2", 2, NULL},
};

int neuron_target_find(const char *name, const struct neuron_target **ret, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		if (strcmp(targets[i].name, name) != 0)
			continue;
		*ret = &targets[i];
		return 0;
	}
	return err_set(err, ERR_USAGE, "--target is '%.60s', expected trn1, trn1n, inf2 or trn2",
	               name);
}

void neuron_flags(const struct neuron_target *t, const char *ret[NEURON_FLAGS_MAX])
{
	size_t n = 0;

	ret[n++] = "--framework=XLA";
	ret[n++] = t->flag;
	ret[n++] = "--model-type=transformer";
	/* its default has changed between releases; types are those of the module */
	ret[n++] = "--auto-cast=none";
	ret[n++] = "-O1";
	if (t->logical_cores != 1)
		ret[n++] = "-lnc=2";
	if (t->infinity != NULL)
		ret[n++] = t->infinity;
	ret[n] = NULL;
}

static void say(const struct neuron_compiler *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(const struct neuron_compiler *c, const char *fmt, ...)
{
	char line[512];
	va_list args;

	if (c->say == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	c->say(c->ctx, line);
}

/* The first word of digits and dots, "2.16.372.0"; the rest of the line may be anything. */
static void find_version(const char *text, char ret[64])
{
	size_t n = 0;

	snprintf(ret, 64, "unknown");
	for (; *text != '\0'; text += n > 0 ? n : 1) {
		n = strspn(text, "0123456789.");
		if (n < 3 || n >= 64 || memchr(text, '.', n) == NULL)
			continue;
		memcpy(ret, text, n);
		ret[n] = '\0';
		return;
	}
}

int neuron_compiler_open(struct neuron_compiler *c, struct err *err)
{
	const char *const argv[] = {c->program, "--version", NULL};
	struct proc_result r = {.out.max = 1 << 16, .err_text.max = 1 << 16};
	int rc = proc_run(argv, NULL, VERSION_MS, &r, err);

	if (rc == 0 && r.exit_status != 0)
		rc = err_set(err, ERR_JOB, "%s --version ended with status %d", c->program,
		             r.exit_status);
	if (rc == 0) {
		find_version(strbuf_str(&r.out), c->version);
		if (strcmp(c->version, "unknown") == 0)
			find_version(strbuf_str(&r.err_text), c->version);
	}
	proc_result_done(&r);
	if (rc != 0 && err->code == ERR_NOT_FOUND)
		err_hint(err,
		         "Modules are compiled in an image that has the Neuron compiler, on any "
		         "x86 machine; training itself reads the cache only.");
	return rc;
}

/* ---- one compile ---- */

static int64_t now_ms(void)
{
	return clock_monotonic_ns() / (1000 * 1000);
}

struct compile {
	const struct neuron_compiler *c;
	const char *name;
	struct proc_child child;
	int log;
	int64_t begun, said;
};

/* What the child has written goes to the log. False at its end. */
static bool drain(struct compile *k, int *fd)
{
	char bytes[1 << 14];
	struct err ignored = {0};

	while (*fd >= 0) {
		ssize_t n = read(*fd, bytes, sizeof(bytes));

		if (n > 0) {
			(void)!fs_write_all(k->log, bytes, (size_t)n, &ignored);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		attr_close_fd(fd);
	}
	return false;
}

static void say_progress(struct compile *k)
{
	int64_t now = now_ms();

	if (now - k->said < SAY_MS)
		return;
	k->said = now;
	say(k->c, "compiling %s for %s: %lld s", k->name, k->c->target->name,
	    (long long)((now - k->begun) / 1000));
}

static int check_time(const struct compile *k, struct err *err)
{
	if (interrupt_check(err) != 0)
		return -1;
	if (k->c->timeout_s == 0 || now_ms() - k->begun < (int64_t)k->c->timeout_s * 1000)
		return 0;
	return err_set(err, ERR_JOB, "%s took longer than %u s for %s", k->c->program,
	               k->c->timeout_s, k->name);
}

/* Until the child has closed both of its outputs. */
static int follow(struct compile *k, struct err *err)
{
	bool out = true, complaints = true;

	while (out || complaints) {
		struct pollfd fds[] = {{.fd = k->child.out, .events = POLLIN},
		                       {.fd = k->child.err_text, .events = POLLIN}};

		poll(fds, ARRAY_LEN(fds), POLL_MS);
		out = drain(k, &k->child.out);
		complaints = drain(k, &k->child.err_text);
		say_progress(k);
		if (check_time(k, err) != 0)
			return -1;
	}
	return 0;
}

/* neuronx-cc compile MODULE FLAGS --output NEFF --verbose=35, as AWS's own cache calls it. */
static int start(struct compile *k, const struct neuron_entry *e, const char *const flags[],
                 char paths[3][PATH_MAX], struct err *err)
{
	const char *argv[NEURON_FLAGS_MAX + 8];
	size_t n = 0;

	if (fs_join(paths[0], e->work, "model.hlo_module.pb", err) != 0 ||
	    fs_join(paths[1], e->work, "model.neff", err) != 0 ||
	    fs_join(paths[2], e->work, "model.log", err) != 0)
		return -1;
	argv[n++] = k->c->program;
	argv[n++] = "compile";
	argv[n++] = paths[0];
	for (size_t i = 0; flags[i] != NULL; i++)
		argv[n++] = flags[i];
	argv[n++] = "--output";
	argv[n++] = paths[1];
	argv[n++] = "--verbose=35";
	argv[n] = NULL;
	k->log = open(paths[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (k->log < 0)
		return err_set(err, ERR_IO, "create '%s'", paths[2]);
	return proc_start(argv, &k->child, err);
}

/* *ret_status: the compiler's own, when it came to its end. */
static int run(struct compile *k, const struct neuron_entry *e, const char *const flags[],
               int *ret_status, struct err *err)
{
	char paths[3][PATH_MAX];
	int rc;

	k->begun = k->said = now_ms();
	if (start(k, e, flags, paths, err) != 0)
		return -1;
	rc = follow(k, err);
	*ret_status = proc_end(&k->child, rc != 0);
	if (rc == 0 && *ret_status == 0)
		(void)unlink(paths[2]); /* a log says that it failed */
	return rc;
}

static int failed_before(const struct neuron_entry *e, const char *name, struct err *err)
{
	err_set(err, ERR_JOB, "compiling %s failed before: %s/model.log says why", name, e->folder);
	return err_hint(err, "--retry_failed compiles it again.");
}

static int keep_failure(struct neuron_entry *e, const char *name, int status, struct err *err)
{
	char log[PATH_MAX];

	if (fs_join(log, e->folder, "model.log", err) != 0 ||
	    neuron_entry_commit(e, true, err) != 0)
		return -1;
	return err_set(err, ERR_JOB, "compiling %s failed with status %d: %s says why", name,
	               status, log);
}

static int compile_into(struct neuron_entry *e, const struct neuron_compiler *c, const char *name,
                        const struct strbuf *module, const char *const flags[], struct err *err)
{
	struct compile k = {.c = c, .name = name, .log = -1};
	int status = 0, rc;

	say(c, "compiling %s for %s: %zu bytes of HLO", name, c->target->name, module->len);
	if (neuron_entry_begin(e, module, flags, err) != 0)
		return -1;
	rc = run(&k, e, flags, &status, err);
	attr_close_fd(&k.log);
	if (rc != 0)
		return -1;
	if (status != 0)
		return keep_failure(e, name, status, err);
	if (neuron_entry_commit(e, false, err) != 0) {
		err->code = ERR_JOB; /* whatever it is, it is the compiler's */
		return err_wrap(err, "what %s made of %s", c->program, name);
	}
	say(c, "compiled %s in %lld s", name, (long long)((now_ms() - k.begun) / 1000));
	return 0;
}

struct compile_wait {
	const struct neuron_compiler *c;
	const char *name;
};

static void say_waiting(void *ctx)
{
	const struct compile_wait *w = ctx;

	say(w->c, "%s: another process compiles it, waiting", w->name);
}

int neuron_compile(const struct neuron_compiler *c, const char *cache, const char *name,
                   const struct strbuf *module, bool *ret_was_there, char ret_neff[PATH_MAX],
                   struct err *err)
{
	AUTO(neuron_entry) struct neuron_entry e = {.lock = -1};
	const char *flags[NEURON_FLAGS_MAX];
	char key[NEURON_KEY_MAX];
	struct compile_wait w = {c, name};
	bool there;

	neuron_flags(c->target, flags);
	neuron_cache_key(module, flags, key);
	if (neuron_entry_open(cache, c->version, key, say_waiting, &w, &e, err) != 0)
		return -1;
	there = e.there;
	if (e.failed && !c->retry)
		return failed_before(&e, name, err);
	if (!there && compile_into(&e, c, name, module, flags, err) != 0)
		return -1;
	if (neuron_cache_find(cache, key, ret_neff, err) != 0)
		return -1;
	*ret_was_there = there;
	return 0;
}
