#include "k8s/deploy/ready_job.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/compiling.h"
#include "k8s/deploy/pod.h"
#include "k8s/deploy/postmortem.h"
#include "k8s/deploy/refusal.h"

/* "WHY: MORE"; printable, for it is shown. */
static void add_why(char why[WHY_MAX], const char *what, const char *more)
{
	size_t len = strlen(why);

	snprintf(why + len, WHY_MAX - len, "%s%s%s%s", len > 0 ? ": " : "", what,
	         more != NULL && what[0] != '\0' ? ": " : "", more != NULL ? more : "");
	for (char *p = why + len; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = *p == '\n' || *p == '\t' ? ' ' : '?';
}

/* The last event that says that a pod could not be made. */
static const char *refused_by(const cJSON *events, enum refusal *ret)
{
	const char *said = NULL;

	*ret = REFUSAL_NONE;
	for (const cJSON *e = object_first(events); e != NULL; e = e->next) {
		const char *message = json_string(e, "message");

		if (message == NULL || !object_says(e, "reason", "FailedCreate"))
			continue;
		*ret = refusal_of(message, NULL);
		said = message;
	}
	return said;
}

/* Of a pod that is there: false when there is nothing to say. */
static bool judge_pod(const cJSON *pod, bool *ret_hopeless, char why[WHY_MAX])
{
	const char *reason, *message;
	char text[POD_TEXT_MAX];

	if (pod_failure(pod, text)) {
		add_why(why, object_name(pod) != NULL ? object_name(pod) : "a pod", text);
		return true;
	}
	if (pod_unplaced(pod) != NULL) {
		add_why(why, "its pod has no node", pod_unplaced(pod));
		return true;
	}
	for (const cJSON *c = NULL; (c = pod_next_status(pod, c)) != NULL;)
		if (container_waits(c, &reason, &message)) {
			add_why(why, reason, message);
			*ret_hopeless = text_has_suffix(reason, "Pull") ||
			                                text_has_prefix(reason, "ImagePull")
			                        ? image_is_refused(message)
			                        : false;
			return true;
		}
	return false;
}

enum readiness ready_job_judge(const cJSON *pods, const cJSON *events, enum readiness now,
                               char why[WHY_MAX])
{
	bool hopeless = false, said = false;
	enum refusal refusal;
	const char *message;

	for (const cJSON *pod = object_first(pods); pod != NULL && !said; pod = pod->next)
		said = judge_pod(pod, &hopeless, why);
	if (said)
		return hopeless ? NEVER : now;
	message = object_first(pods) == NULL ? refused_by(events, &refusal) : NULL;
	if (message == NULL)
		return now;
	add_why(why, "the cluster refuses its pod", message);
	return refusal == REFUSAL_FINAL ? NEVER : now;
}

/* ---- reading ---- */

static void read_list(struct kubectl *k, const char *kind, const char *namespace,
                      const char *option, const char *selector, cJSON **ret)
{
	const char *const args[] = {"get",    kind, "-n",   namespace, option,
	                            selector, "-o", "json", NULL};
	struct err ignored = {0};

	if (kubectl_list(k, args, NULL, ret, &ignored) != 0)
		*ret = cJSON_CreateArray();
}

static void add_log(struct kubectl *k, const cJSON *job, const cJSON *pods, char why[WHY_MAX])
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(COMPILING_LOG_MAX);
	const cJSON *pod = postmortem_pod(pods);
	const char *last;

	if (is_compile_job(job))
		compiling_log(k, object_namespace(job), object_name(job), &text);
	if (text.len == 0 && pod != NULL)
		postmortem_log(k, pod, &text);
	if (text.len == 0)
		return;
	/* Its last line alone: a reason is a line. */
	text.ptr[text.len - 1] = '\0';
	last = strrchr(text.ptr, '\n');
	add_why(why, "its log ends", last != NULL ? last + 1 : text.ptr);
}

static void add_progress(struct kubectl *k, const cJSON *job, char why[WHY_MAX])
{
	AUTO(strbuf) struct strbuf log = STRBUF_INIT(COMPILING_LOG_MAX);
	char text[COMPILING_TEXT_MAX];

	compiling_log(k, object_namespace(job), object_name(job), &log);
	compiling_text(strbuf_str(&log), text);
	if (text[0] != '\0')
		add_why(why, text, NULL);
}

enum readiness ready_job_look(struct kubectl *k, const cJSON *job, enum readiness now,
                              char why[WHY_MAX])
{
	AUTO(strbuf) struct strbuf owned = STRBUF_INIT(256), about = STRBUF_INIT(256);
	const char *namespace = object_namespace(job), *name = object_name(job);
	AUTO(json) cJSON *pods = NULL;
	AUTO(json) cJSON *events = NULL;

	if (namespace == NULL || name == NULL)
		return now;
	strbuf_addf(&owned, "job-name=%s", name);
	strbuf_addf(&about, "type=Warning,involvedObject.name=%s", name);
	read_list(k, "pods", namespace, "-l", strbuf_str(&owned), &pods);
	if (object_first(pods) == NULL)
		read_list(k, "events", namespace, "--field-selector", strbuf_str(&about), &events);
	now = ready_job_judge(pods, events, now, why);
	if (now == NEVER)
		add_log(k, job, pods, why);
	else if (is_compile_job(job))
		add_progress(k, job, why);
	return now;
}
