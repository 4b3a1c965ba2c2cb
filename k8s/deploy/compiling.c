/* See compiling.h. */
#include "k8s/deploy/compiling.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/job/compile.h"

bool stage_compiles(const struct stage *stage)
{
	return strcmp(stage->name, compile_renderer.name) == 0;
}

bool is_compile_job(const cJSON *object)
{
	return object_is(object, "Job") && object_in(object, compile_renderer.name);
}

/* ---- how far it is ---- */

/* "module 2 of 3: update" behind the trainer's name: both figures, within reason. */
static bool read_line(const char *line, int64_t *ret_at, int64_t *ret_of)
{
	static const char before[] = "slipway-trainer: module ", between[] = " of ";
	const char *of;
	size_t digits;

	if (!text_has_prefix(line, before))
		return false;
	line += strlen(before);
	digits = strspn(line, "0123456789");
	if (digits == 0 || digits > 4 || !text_int64(line, digits, ret_at))
		return false;
	of = line + digits;
	if (!text_has_prefix(of, between))
		return false;
	of += strlen(between);
	digits = strspn(of, "0123456789");
	return digits > 0 && digits <= 4 && of[digits] == ':' && text_int64(of, digits, ret_of);
}

void compiling_text(const char *log, char ret[COMPILING_TEXT_MAX])
{
	int64_t at, of;

	ret[0] = '\0';
	for (const char *line = log; *line != '\0';) {
		size_t len = strcspn(line, "\n");

		if (read_line(line, &at, &of))
			snprintf(ret, COMPILING_TEXT_MAX, "compiling %lld of %lld", (long long)at,
			         (long long)of);
		line += len + (line[len] == '\n');
	}
}

void compiling_log(struct kubectl *k, const char *namespace, const char *job, struct strbuf *ret)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256), tail = STRBUF_INIT(32);
	struct kubectl_reply reply = {.out = STRBUF_INIT(KUBECTL_OUTPUT_MAX)};
	struct err ignored = {0};

	strbuf_addf(&name, "job/%s", job);
	strbuf_addf(&tail, "--tail=%d", COMPILING_LOG_LINES);
	const char *const args[] = {"logs",
	                            "-n",
	                            namespace,
	                            strbuf_str(&name),
	                            "-c",
	                            COMPILE_COMPILE,
	                            strbuf_str(&tail),
	                            NULL};

	if (k->call(k, args, NULL, &reply, &ignored) == 0)
		strbuf_add(ret, strbuf_str(&reply.out),
		           reply.out.len < COMPILING_LOG_MAX ? reply.out.len : COMPILING_LOG_MAX);
	kubectl_reply_done(&reply);
}

/* ---- the way ---- */

/* A compiler that failed says why in its log, and would fail on every target like this one. */
static int tell_failed(const struct stage *stage, struct err *err)
{
	const cJSON *job = stage->items->child;
	char why[ERR_MSG_MAX];

	snprintf(why, sizeof(why), "%s", err->msg);
	*err = (struct err){0};
	err_set(err, ERR_JOB, "compiling ahead has failed: %s", why);
	return err_hint(err,
	                "Its log: `kubectl logs -n %s job/%s --all-containers`. When the cause is "
	                "repaired: `kubectl delete -n %s job %s`, and the same command again.",
	                object_namespace(job), object_name(job), object_namespace(job),
	                object_name(job));
}

int compiling_run(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                  struct apply_counts *ret, struct err *err)
{
	if (stage_apply(k, stage, opts, ret, err) != 0)
		return -1;
	if (stage_await(k, stage, opts, err) == 0)
		return 0;
	return err->code == ERR_SERVER ? tell_failed(stage, err) : -1;
}
