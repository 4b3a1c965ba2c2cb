#include "k8s/deploy/postmortem.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/pod.h"

const cJSON *postmortem_pod(const cJSON *pods)
{
	const cJSON *first = NULL;

	for (const cJSON *pod = object_first(pods); pod != NULL; pod = pod->next) {
		char text[POD_TEXT_MAX];

		if (object_name(pod) == NULL || !pod_failure(pod, text))
			continue;
		if (first == NULL || pod_ended_ms(pod) < pod_ended_ms(first))
			first = pod;
	}
	return first;
}

static void add_printable(const char *text, struct strbuf *sb)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		strbuf_addc(sb, (c >= ' ' && c <= '~') || c == '\n' ? (char)c : '?');
	}
	if (len > 0 && text[len - 1] != '\n')
		strbuf_addc(sb, '\n');
}

void postmortem_log(struct kubectl *k, const cJSON *pod, struct strbuf *sb)
{
	const cJSON *container = object_first(json_get(json_get(pod, "spec"), "containers"));
	const char *name = json_string(container, "name"), *namespace = object_namespace(pod);
	AUTO(strbuf) struct strbuf tail = STRBUF_INIT(64);
	struct kubectl_reply reply;
	struct err ignored = {0};
	struct patience *patience = k->patience;

	if (name == NULL || namespace == NULL)
		return;
	strbuf_addf(&tail, "--tail=%d", POSTMORTEM_LINES);
	const char *const args[] = {"logs", "-n", namespace,         object_name(pod),
	                            "-c",   name, strbuf_str(&tail), NULL};

	/* The pod may be gone by now: not worth waiting for. */
	k->patience = NULL;
	if (kubectl_run(k, args, NULL, &reply, &ignored) == 0) {
		add_printable(strbuf_str(&reply.out), sb);
		kubectl_reply_done(&reply);
	}
	k->patience = patience;
}
