#include "k8s/deploy/kubectl.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"

enum {
	RETRY_FIRST_MS = 1000,
	RETRY_MAX_MS = 15000,
	REMIND_MS = 60000, /* an outage that lasts is told so often */
	KUBECTL_CALL_TOLD_MAX = 64 << 10
};

void kubectl_reply_done(struct kubectl_reply *reply)
{
	strbuf_done(&reply->out);
	strbuf_done(&reply->err_text);
}

static size_t add_globals(const struct kubectl_exec *k, const char **argv)
{
	size_t n = 0;

	argv[n++] = k->program;
	if (k->kubeconfig != NULL) {
		argv[n++] = "--kubeconfig";
		argv[n++] = k->kubeconfig;
	}
	if (k->context != NULL) {
		argv[n++] = "--context";
		argv[n++] = k->context;
	}
	return n;
}

void kubectl_exec_argv(const struct kubectl_exec *k, const char *const *args,
                       const char *argv[KUBECTL_ARGV_MAX])
{
	size_t n = add_globals(k, argv);

	for (size_t i = 0; args[i] != NULL; i++) {
		if (i == KUBECTL_ARGS_MAX)
			BUG("kubectl: more than %d arguments", KUBECTL_ARGS_MAX);
		argv[n++] = args[i];
	}
	argv[n] = NULL;
}

int kubectl_exec_missing(const struct kubectl_exec *k, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "cannot reach the cluster: there is no program '%s'",
	        k->program);
	return err_hint(err, "Install kubectl 1.%d or newer, or name it in $KUBECTL.",
	                KUBECTL_MINOR_MIN);
}

static void tell_call(struct progress *progress, const char *const *argv)
{
	AUTO(strbuf) struct strbuf line = STRBUF_INIT(KUBECTL_CALL_TOLD_MAX);

	for (; *argv != NULL; argv++)
		strbuf_addf(&line, "%s ", *argv);
	progress_detail(progress, "call %s", strbuf_str(&line));
}

static int call_program(struct kubectl *base, const char *const *args, const char *input,
                        struct kubectl_reply *reply, struct err *err)
{
	struct kubectl_exec *k = (struct kubectl_exec *)base;
	const char *argv[KUBECTL_ARGV_MAX];
	struct proc_result r = {.out = STRBUF_INIT(KUBECTL_OUTPUT_MAX),
	                        .err_text = STRBUF_INIT(KUBECTL_ERROR_MAX)};

	kubectl_exec_argv(k, args, argv);
	tell_call(base->progress, argv);
	if (proc_run(argv, input, k->timeout_ms, &r, err) != 0) {
		proc_result_done(&r);
		return err->code == ERR_NOT_FOUND ? kubectl_exec_missing(k, err) : -1;
	}
	*reply = (struct kubectl_reply){r.exit_status, r.out, r.err_text};
	return 0;
}

static int follow_program(struct kubectl *base, const char *const *args, struct proc_child *ret,
                          struct err *err)
{
	struct kubectl_exec *k = (struct kubectl_exec *)base;
	const char *argv[KUBECTL_ARGV_MAX];

	kubectl_exec_argv(k, args, argv);
	tell_call(base->progress, argv);
	if (proc_start(argv, ret, err) != 0)
		return err->code == ERR_NOT_FOUND ? kubectl_exec_missing(k, err) : -1;
	return 0;
}

void kubectl_exec_init(struct kubectl_exec *k, struct clock *clock, struct progress *progress)
{
	const char *program = getenv("KUBECTL");

	*k = (struct kubectl_exec){
		.base = {call_program, clock, progress, &k->patience, follow_program},
		.patience = {.window_ms = PATIENCE_SHORT_MS},
		.program = program != NULL && program[0] != '\0' ? program : "kubectl",
		.timeout_ms = KUBECTL_CALL_MS,
	};
}

/* One try: 0, or an error made of the exit status. */
static int try_once(struct kubectl *k, const char *const *args, const char *input,
                    struct kubectl_reply *reply, struct err *err)
{
	*reply = (struct kubectl_reply){.out = STRBUF_INIT(KUBECTL_OUTPUT_MAX)};
	if (k->call(k, args, input, reply, err) != 0)
		return -1;
	if (reply->status == 0)
		return 0;
	kubectl_advice(strbuf_str(&reply->err_text), err);
	kubectl_reply_done(reply);
	return -1;
}

static int64_t now_of(const struct kubectl *k)
{
	return k->clock->now_ms(k->clock);
}

/* An outage: since the first failure of the call at hand. */
struct outage {
	int64_t since_ms, delay_ms, told_ms;
	struct err told; /* its message */
};

static int64_t window_of(const struct patience *p)
{
	if (p == NULL)
		return -1;
	return p->answered || p->window_ms < PATIENCE_SHORT_MS ? p->window_ms : PATIENCE_SHORT_MS;
}

static void tell_outage(struct kubectl *k, const char *verb, struct outage *o,
                        const struct err *err)
{
	int64_t now = now_of(k);

	if (strcmp(o->told.msg, err->msg) == 0 && now - o->told_ms < REMIND_MS)
		return;
	progress_note(k->progress, "kubectl %s: %s; trying again in %lld s", verb, err->msg,
	              (long long)(o->delay_ms / 1000));
	o->told_ms = now;
	o->told = *err;
}

/* Is the call to be made again? Pauses before. The last try is at the window's end. */
static bool outlast(struct kubectl *k, const char *verb, struct outage *o, const struct err *err)
{
	int64_t now = now_of(k), left;

	if (o->delay_ms == 0)
		*o = (struct outage){.since_ms = now, .delay_ms = RETRY_FIRST_MS};
	left = o->since_ms + window_of(k->patience) - now;
	if (err->code != ERR_NETWORK || left <= 0)
		return false;
	o->delay_ms = o->delay_ms < left ? o->delay_ms : left;
	tell_outage(k, verb, o, err);
	k->clock->sleep_ms(k->clock, o->delay_ms);
	o->delay_ms = o->delay_ms < RETRY_MAX_MS / 2 ? 2 * o->delay_ms : RETRY_MAX_MS;
	return true;
}

int kubectl_run(struct kubectl *k, const char *const *args, const char *input,
                struct kubectl_reply *reply, struct err *err)
{
	struct outage outage = {0};

	for (;;) {
		if (interrupt_check(err) != 0)
			return -1;
		if (try_once(k, args, input, reply, err) == 0)
			break;
		/* A kubectl that was interrupted with us says so in its own way. */
		if (interrupt_requested())
			return interrupt_check(err);
		if (!outlast(k, args[0], &outage, err))
			return err_wrap(err, "kubectl %s", args[0]);
		*err = (struct err){0};
	}
	if (k->patience != NULL)
		k->patience->answered = true;
	return 0;
}

int kubectl_json(struct kubectl *k, const char *const *args, const char *input, cJSON **ret_doc,
                 struct err *err)
{
	struct kubectl_reply reply;
	int rc = 0;

	*ret_doc = NULL;
	if (kubectl_run(k, args, input, &reply, err) != 0)
		return -1;
	if (reply.out.len > 0)
		rc = json_parse("kubectl's output", reply.out.ptr, reply.out.len, ret_doc, err);
	kubectl_reply_done(&reply);
	return rc;
}

int kubectl_list(struct kubectl *k, const char *const *args, const char *input, cJSON **ret_items,
                 struct err *err)
{
	cJSON *doc, *items;
	const char *kind;

	if (kubectl_json(k, args, input, &doc, err) != 0)
		return -1;
	kind = json_string(doc, "kind");
	items = cJSON_DetachItemFromObjectCaseSensitive(doc, "items");
	if (items != NULL && cJSON_IsArray(items) && kind != NULL &&
	    text_has_suffix(kind, "List")) {
		cJSON_Delete(doc);
		*ret_items = items;
		return 0;
	}
	cJSON_Delete(items);
	*ret_items = cJSON_CreateArray();
	if (*ret_items == NULL)
		mem_exhausted("cJSON");
	if (doc != NULL)
		json_push(*ret_items, doc);
	return 0;
}

void kubectl_print_list(cJSON *items, struct strbuf *sb)
{
	AUTO(json) cJSON *list = cJSON_CreateObject();

	json_add_string(list, "apiVersion", "v1");
	json_add_string(list, "kind", "List");
	cJSON_AddItemReferenceToObject(list, "items", items);
	json_print(list, sb);
}

int kubectl_look(struct kubectl *k, cJSON *items, cJSON **ret_live, struct err *err)
{
	static const char *const get[] = {"get", "-f",   "-", "--ignore-not-found",
	                                  "-o",  "json", NULL};
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0);

	kubectl_print_list(items, &input);
	return kubectl_list(k, get, strbuf_str(&input), ret_live, err);
}

/* "1.32" of {"major":"1","minor":"32+"}; -1 when it is not there. */
static int minor_of(const cJSON *doc, const char *key)
{
	const char *minor = json_string(json_get(doc, key), "minor");
	int64_t value;
	size_t digits = minor != NULL ? strspn(minor, "0123456789") : 0;

	if (digits == 0 || digits > 4 || !text_int64(minor, digits, &value))
		return -1;
	return (int)value;
}

int kubectl_versions(struct kubectl *k, struct kubectl_versions *ret, struct err *err)
{
	static const char *const args[] = {"version", "-o", "json", "--request-timeout=20s", NULL};
	AUTO(json) cJSON *doc = NULL;

	if (kubectl_json(k, args, NULL, &doc, err) != 0)
		return -1;
	*ret = (struct kubectl_versions){minor_of(doc, "clientVersion"),
	                                 minor_of(doc, "serverVersion")};
	if (ret->client_minor < 0)
		return err_set(err, ERR_FORMAT, "kubectl did not report its version");
	if (ret->client_minor < KUBECTL_MINOR_MIN) {
		err_set(err, ERR_UNSUPPORTED, "kubectl 1.%d is too old", ret->client_minor);
		return err_hint(err,
		                "Install kubectl 1.%d or newer: within one minor version of the "
		                "cluster.",
		                KUBECTL_MINOR_MIN);
	}
	if (ret->server_minor < 0) {
		err_set(err, ERR_NETWORK, "the cluster did not report its version");
		return err_hint(err, "`kubectl version` shows what it answers.");
	}
	return 0;
}
