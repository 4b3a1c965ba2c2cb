#include "trainer/prepare/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"

enum { MESSAGE_MAX = 1024, TICK_MS = 200, SHARD_FILE_MAX_GB = 64, CHILD_GOOD = 0, CHILD_BAD = 3 };

struct decoding {
	pid_t pid; /* 0: free */
	int pipe;
	size_t video;
	double deadline;
	bool late;
};

struct preparation {
	const struct prepare_options *o;
	struct videos videos;
	struct video_outcome *outcomes;
	struct decoding *children; /* o->jobs of them */
	size_t next;               /* video to start */
	size_t running;
	struct prepare_report report;
};

/* ---- in the child ---- */

static void limit(int what, uint64_t value)
{
	struct rlimit r = {value, value};

	setrlimit((__rlimit_resource_t)what, &r);
}

/* Writes "d" or "r" and the shard's name, or "x" and the reason; returns the exit status. */
static int child_work(const struct prepare_options *o, const char *path, int out)
{
	char file[PREPARE_NAME_MAX], message[MESSAGE_MAX];
	struct err err = {0};
	bool decoded = false;
	int rc;

#ifndef __SANITIZE_ADDRESS__ /* which maps terabytes */
	limit(RLIMIT_AS, o->memory_bytes);
#endif
	limit(RLIMIT_CPU, o->timeout_s);
	limit(RLIMIT_FSIZE, (uint64_t)SHARD_FILE_MAX_GB << 30);
	limit(RLIMIT_CORE, 0);
	signal(SIGXFSZ, SIG_IGN);
	decode_quiet();
	rc = prepare_one(o, path, file, &decoded, &err);
	if (rc == 0)
		snprintf(message, sizeof(message), "%c%s", decoded ? 'd' : 'r', file);
	else
		snprintf(message, sizeof(message), "x%.1000s", err.msg);
	if (write(out, message, strlen(message)) < 0)
		return CHILD_BAD;
	return rc == 0 ? CHILD_GOOD : CHILD_BAD;
}

/* ---- in the parent ---- */

static int start_child(struct preparation *r, struct decoding *c, struct err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return err_set(err, ERR_IO, "make a pipe");
	c->pid = fork();
	if (c->pid < 0) {
		c->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return err_set(err, ERR_IO, "start a child process");
	}
	if (c->pid == 0) {
		/* Straight to the kernel: the parent's exit handlers are not the child's. */
		int status = child_work(r->o, r->videos.at[r->next].path, fds[1]);

		close(fds[1]);
		quick_exit(status);
	}
	close(fds[1]);
	c->pipe = fds[0];
	c->video = r->next++;
	c->late = false;
	c->deadline = clock_seconds() + 2.0 * r->o->timeout_s;
	r->running++;
	return 0;
}

static char *describe_end(const struct decoding *c, int status, const char *message)
{
	char text[MESSAGE_MAX];

	if (c->late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		snprintf(text, sizeof(text), "the decoder did not finish in time");
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "the decoder crashed (%s)",
		         strsignal(WTERMSIG(status)));
	else if (message[0] == 'x')
		return mem_strdup(message + 1);
	else
		snprintf(text, sizeof(text), "the decoder ended with status %d",
		         WEXITSTATUS(status));
	return mem_strdup(text);
}

static bool is_shard_name(const char *file)
{
	const char *place;

	for (size_t i = 0; (place = prepare_place(i)) != NULL; i++)
		if (text_has_prefix(file, place) &&
		    text_has_prefix(file + strlen(place), "shards/"))
			return true;
	return false;
}

/* Clips of a shard a child says it made: the child may be in the hands of its video. */
static uint32_t count_clips(const struct prepare_options *o, const char *file)
{
	struct err unusable = {0};
	struct shard s = {0};
	char path[PATH_MAX];
	uint32_t n = 0;

	if (is_shard_name(file) && strstr(file, "..") == NULL &&
	    fs_join(path, o->out, file, &unusable) == 0 && shard_open(path, &s, &unusable) == 0 &&
	    memcmp(&s.shape, &o->shape, sizeof(s.shape)) == 0)
		n = (uint32_t)s.n_clips;
	return n;
}

static void collect(struct preparation *r, struct decoding *c, int status)
{
	struct video_outcome *out = &r->outcomes[c->video];
	char message[MESSAGE_MAX + 1];
	ssize_t n = read(c->pipe, message, MESSAGE_MAX);

	message[n > 0 ? n : 0] = '\0';
	close(c->pipe);
	c->pid = 0;
	r->running--;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_GOOD &&
	    (message[0] == 'd' || message[0] == 'r'))
		out->clips = count_clips(r->o, message + 1);
	if (out->clips > 0) {
		out->file = mem_strdup(message + 1);
		if (message[0] == 'd')
			r->report.decoded++;
		else
			r->report.reused++;
	} else {
		out->reason = describe_end(c, status, message);
	}
	if (r->o->progress != NULL)
		r->o->progress(r->o->ctx, &r->videos.at[c->video], out->reason);
}

/* Ends children that are late; collects those that have ended. Waits at most TICK_MS. */
static void reap(struct preparation *r)
{
	struct timespec tick = {.tv_nsec = TICK_MS * 1000000L / 20};
	bool any = false;

	for (unsigned i = 0; i < r->o->jobs; i++) {
		struct decoding *c = &r->children[i];
		int status;

		if (c->pid == 0)
			continue;
		if (!c->late && clock_seconds() > c->deadline) {
			c->late = true;
			kill(c->pid, SIGKILL);
		}
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			collect(r, c, status);
			any = true;
		}
	}
	if (!any)
		nanosleep(&tick, NULL);
}

static void kill_all(struct preparation *r)
{
	for (unsigned i = 0; i < r->o->jobs; i++) {
		struct decoding *c = &r->children[i];
		int status;

		if (c->pid == 0)
			continue;
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &status, 0);
		close(c->pipe);
		c->pid = 0;
	}
}

/* The next video that needs a child; known and missing ones are settled here. */
static bool more_work(struct preparation *r)
{
	for (; r->next < r->videos.n; r->next++) {
		struct video_outcome *out = &r->outcomes[r->next];

		if (out->known) {
			r->report.reused += out->file != NULL;
			continue;
		}
		if (!r->videos.at[r->next].missing)
			return true;
		out->reason = mem_strdup("there is no such file");
		if (r->o->progress != NULL)
			r->o->progress(r->o->ctx, &r->videos.at[r->next], out->reason);
	}
	return false;
}

static int decode_all(struct preparation *r, struct err *err)
{
	while (more_work(r) || r->running > 0) {
		if (interrupt_check(err) != 0)
			return err_hint(
				err, "Run the same command again: it continues where it stopped.");
		for (unsigned i = 0; i < r->o->jobs && more_work(r); i++)
			if (r->children[i].pid == 0 && start_child(r, &r->children[i], err) != 0)
				return -1;
		reap(r);
	}
	return 0;
}

static void count(struct preparation *r)
{
	r->report.videos = r->videos.n;
	r->report.ignored = r->videos.ignored;
	r->report.classes = r->videos.classes.n;
	for (size_t i = 0; i < r->videos.n; i++) {
		r->report.clips += r->outcomes[i].clips;
		r->report.rejected += r->outcomes[i].file == NULL;
	}
}

static int run_all(struct preparation *r, struct err *err)
{
	if (decode_all(r, err) != 0) {
		kill_all(r);
		return -1;
	}
	count(r);
	if (r->o->split > 0 &&
	    prepare_split(r->o, &r->videos, r->outcomes, &r->report.validation, err) != 0)
		return -1;
	if (prepare_record(r->o, &r->videos, r->outcomes, err) != 0)
		return -1;
	/* Videos to be classified need not be good for anything. */
	if (r->report.clips > 0 || r->o->unlabelled)
		return 0;
	return err_set(err, ERR_SPEC, "not one of %zu videos in '%s' could be decoded", r->videos.n,
	               r->o->source);
}

/* The folder is ours alone, and holds no half shards of a crashed run. */
static int own_folder(const struct prepare_options *o, int *ret_lock, struct err *err)
{
	char lock[PATH_MAX], tmp[PATH_MAX];

	if (fs_mkdirs(o->out, err) != 0 || fs_join(lock, o->out, "lock", err) != 0 ||
	    fs_join(tmp, o->out, "tmp", err) != 0)
		return -1;
	if (fs_lock(lock, FS_LOCK_TRY_EXCLUSIVE, ret_lock, err) != 0) {
		if (err->code == ERR_CONFLICT)
			err_set(err, ERR_CONFLICT, "another prepare is writing to '%s'", o->out);
		return -1;
	}
	return fs_remove_tree(tmp, err) == 0 && fs_mkdirs(tmp, err) == 0 ? 0 : -1;
}

static int find_videos(const struct prepare_options *o, struct videos *ret, struct err *err)
{
	if (o->unlabelled)
		return videos_scan_unlabelled(o->source, ret, err);
	if (videos_scan(o->source, ret, err) != 0)
		return -1;
	if (prepare_classes(o, ret, err) == 0)
		return 0;
	videos_done(ret);
	return -1;
}

int prepare_run(const struct prepare_options *o, struct prepare_report *ret, struct err *err)
{
	AUTO_CLOSE int lock = -1;
	struct preparation r = {.o = o};
	int rc;

	if (clip_shape_check(&o->shape, err) != 0 || find_videos(o, &r.videos, err) != 0)
		return -1;
	rc = own_folder(o, &lock, err);
	r.outcomes = mem_calloc(r.videos.n, sizeof(*r.outcomes));
	r.children = mem_calloc(o->jobs, sizeof(*r.children));
	if (rc == 0) {
		prepare_recall(o, &r.videos, r.outcomes);
		rc = run_all(&r, err);
	}
	if (rc == 0)
		*ret = r.report;
	for (size_t i = 0; i < r.videos.n; i++) {
		free(r.outcomes[i].file);
		free(r.outcomes[i].reason);
	}
	free(r.outcomes);
	free(r.children);
	videos_done(&r.videos);
	return rc;
}
