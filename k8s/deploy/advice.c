/*
 * What kubectl's complaints mean and what to do about them. Patterns are parts of the sentences of
 * client-go, kubectl and the API server; rows are tried in order, the special before the general.
 */
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"

struct advice {
	const char *pattern, *second; /* both must be there; second NULL = one is enough */
	enum err_code code;
	const char *hint;
};

static const struct advice advices[] = {
	{"no configuration has been provided", NULL, ERR_USAGE,
         "No cluster is chosen: `aws eks update-kubeconfig --name CLUSTER --region REGION`."},
	{"current-context is not set", NULL, ERR_USAGE,
         "Choose a cluster: `kubectl config use-context NAME`, or --context NAME."},
	{"context", "does not exist", ERR_USAGE,
         "`kubectl config get-contexts` lists the contexts."},
	{"connection to the server localhost:8080 was refused", NULL, ERR_USAGE,
         "No cluster is chosen: `aws eks update-kubeconfig --name CLUSTER --region REGION`."},
	{"failed calling webhook", NULL, ERR_SERVER,
         "An admission webhook did not answer. Its pods must be running: look in `kubectl get "
         "pods -A` for the operator that it names, then run this again."},
	{"admission webhook", "denied the request", ERR_SERVER,
         "A policy of the cluster refuses this object; change the spec, or ask who owns the "
         "policy."},
	{"ValidatingAdmissionPolicy", "denied request", ERR_SERVER,
         "A policy of the cluster refuses this object; change the spec, or ask who owns the "
         "policy."},
	{"Apply failed with", "conflict", ERR_CONFLICT,
         "Another field manager owns those fields. Release them there, or take them over with "
         "--force-conflicts."},
	{"field is immutable", NULL, ERR_CONFLICT,
         "This field cannot be changed. Delete the object with kubectl and run this again: a "
         "job continues from its checkpoint, but deleting a claim deletes its data."},
	{"the object has been modified", NULL, ERR_CONFLICT, "Run this again."},
	{"Precondition failed", "UID in precondition", ERR_CONFLICT,
         "Somebody deleted it and made another of its name meanwhile. Run this again."},
	{"UID in the precondition", NULL, ERR_CONFLICT,
         "Somebody deleted it and made another of its name meanwhile. Run this again."},
	{"ResourceVersion in the precondition", NULL, ERR_CONFLICT, "Run this again."},
	{"Precondition failed", NULL, ERR_CONFLICT, "Run this again."},
	{"(AlreadyExists)", NULL, ERR_CONFLICT, ""},
	{"already exists", NULL, ERR_CONFLICT, ""},
	{"ExpiredToken", NULL, ERR_DENIED,
         "The credentials have expired: log in again (`aws sso login`)."},
	{"token has expired", NULL, ERR_DENIED,
         "The credentials have expired: log in again (`aws sso login`)."},
	{"getting credentials", NULL, ERR_DENIED,
         "kubectl's credential plugin failed: run `aws sts get-caller-identity` in this shell."},
	{"must be logged in to the server", NULL, ERR_DENIED,
         "The cluster does not accept these credentials. They may have expired; on EKS the role "
         "also needs an access entry (`aws eks create-access-entry`)."},
	{"Unauthorized", NULL, ERR_DENIED,
         "The cluster does not accept these credentials. They may have expired; on EKS the role "
         "also needs an access entry (`aws eks create-access-entry`)."},
	{"(Forbidden)", NULL, ERR_DENIED,
         "Ask for permission for that verb on that resource; `kubectl auth can-i --list` shows "
         "what is allowed now."},
	{"is forbidden", NULL, ERR_DENIED,
         "Ask for permission for that verb on that resource; `kubectl auth can-i --list` shows "
         "what is allowed now."},
	{"no matches for kind", NULL, ERR_NOT_FOUND, ""},
	{"doesn't have a resource type", NULL, ERR_NOT_FOUND, ""},
	{"unknown flag", NULL, ERR_UNSUPPORTED, "This kubectl is too old; install a newer one."},
	{"TooManyRequests", NULL, ERR_NETWORK, "The API server is busy; run this again later."},
	{"Too Many Requests", NULL, ERR_NETWORK, "The API server is busy; run this again later."},
	{"i/o timeout", NULL, ERR_NETWORK,
         "The API server cannot be reached from here: VPN, security "
         "group, or a private endpoint."},
	{"Client.Timeout", NULL, ERR_NETWORK,
         "The API server cannot be reached from here: VPN, "
         "security group, or a private endpoint."},
	{"context deadline exceeded", NULL, ERR_NETWORK, "The API server is slow or unreachable."},
	{"no such host", NULL, ERR_NETWORK,
         "The cluster's address does not exist: was it deleted? `aws eks update-kubeconfig` renews "
         "it."},
	{"was refused", NULL, ERR_NETWORK, "Nothing listens at the cluster's address."},
	{"connection refused", NULL, ERR_NETWORK, "Nothing listens at the cluster's address."},
	{"connection reset", NULL, ERR_NETWORK, "The connection broke; run this again."},
	{": EOF", NULL, ERR_NETWORK, "The connection broke; run this again."},
	{"unexpected EOF", NULL, ERR_NETWORK, "The connection broke; run this again."},
	{"GOAWAY", NULL, ERR_NETWORK, "The connection broke; run this again."},
	{"broken pipe", NULL, ERR_NETWORK, "The connection broke; run this again."},
	{"http2: client connection lost", NULL, ERR_NETWORK,
         "The connection broke; run this again."},
	{"TLS handshake timeout", NULL, ERR_NETWORK, "The API server is slow or unreachable."},
	{"ServiceUnavailable", NULL, ERR_NETWORK,
         "The API server is not ready; run this again later."},
	{"unable to handle the request", NULL, ERR_NETWORK,
         "The API server is not ready; run this again later."},
	{"etcdserver: request is too large", NULL, ERR_SERVER,
         "The object is larger than the cluster stores."},
	{"etcdserver: mvcc: database space exceeded", NULL, ERR_SERVER,
         "The cluster's etcd is full: its operator must make room."},
	{"etcdserver:", NULL, ERR_NETWORK,
         "The cluster's etcd is slow or has no leader; `kubectl get --raw /readyz?verbose` shows "
         "its health."},
	{"(Timeout)", NULL, ERR_NETWORK, "The API server is slow; run this again later."},
	{"(ServerTimeout)", NULL, ERR_NETWORK, "The API server is slow; run this again later."},
	{"InternalError", NULL, ERR_NETWORK,
         "`kubectl get --raw /readyz?verbose` shows its health."},
	{"timed out waiting for the condition", NULL, ERR_NETWORK,
         "It takes longer than expected; run the same command again."},
	{"x509:", NULL, ERR_DENIED,
         "The cluster's certificate is not the one that kubeconfig "
         "expects: `aws eks update-kubeconfig` renews it."},
	{"(NotFound)", NULL, ERR_NOT_FOUND, ""},
};

/* The line that holds `at`, or the first one that is not a warning. */
static void telling_line(const char *text, const char *at, const char **ret_line, size_t *ret_len)
{
	const char *line = text;

	if (at != NULL) {
		line = at;
		while (line > text && line[-1] != '\n')
			line--;
	} else {
		while (text_has_prefix(line, "Warning:") && strchr(line, '\n') != NULL)
			line = strchr(line, '\n') + 1;
	}
	if (text_has_prefix(line, "error: "))
		line += strlen("error: ");
	*ret_line = line;
	*ret_len = strcspn(line, "\n");
}

/* The install command of the operator whose kind the cluster does not know. */
static int name_operator(const char *line, struct err *err)
{
	const struct operator_row *op = operator_for_text(line);

	if (op != NULL)
		return err_hint(err, "%s is missing: %s", op->name, op->install);
	return -1;
}

/* "The Job "a" is invalid: spec.template: Invalid value: VALUE: field is immutable" without the
 * value, which is a Go struct of any length: the end of the sentence is what counts. */
static int set_shortened(enum err_code code, const char *line, size_t len, struct err *err)
{
	static const char value[] = ": Invalid value: ", end[] = ": field is immutable";
	const char *from = memmem(line, len, value, strlen(value));
	const char *to =
		from != NULL ? memmem(from, len - (size_t)(from - line), end, strlen(end)) : NULL;

	if (to != NULL)
		return err_set(err, code, "%.*s%.*s", (int)(from - line > 400 ? 400 : from - line),
		               line, (int)strlen(end), to);
	return err_set(err, code, "%.*s", (int)(len > 900 ? 900 : len), line);
}

int kubectl_advice(const char *stderr_text, struct err *err)
{
	const struct advice *found = NULL;
	const char *line;
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(advices) && found == NULL; i++)
		if (strstr(stderr_text, advices[i].pattern) != NULL &&
		    (advices[i].second == NULL || strstr(stderr_text, advices[i].second) != NULL))
			found = &advices[i];
	telling_line(stderr_text, found != NULL ? strstr(stderr_text, found->pattern) : NULL, &line,
	             &len);
	if (len == 0)
		return err_set(err, ERR_SERVER, "kubectl failed without a message");
	set_shortened(found != NULL ? found->code : ERR_SERVER, line, len, err);
	if (found != NULL && found->code == ERR_NOT_FOUND)
		return name_operator(line, err), -1;
	if (found != NULL && found->hint[0] != '\0')
		err_hint(err, "%s", found->hint);
	return -1;
}
