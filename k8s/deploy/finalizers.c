#include "k8s/deploy/finalizers.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/storage/storage.h"

struct finalizer_row {
	const char *name; /* what the finalizer begins with */
	const char *controller, *work;
	const char *look; /* NULL: part of the control plane */
};

#define KARPENTER_PODS "`kubectl get pods -A -l app.kubernetes.io/name=karpenter`"
#define CSI_PODS       "`kubectl get pods -n kube-system`"
#define MANAGER        "kube-controller-manager"

static const struct finalizer_row rows[] = {
	{"karpenter.sh/termination", "Karpenter", "drains the node and ends its instance",
         KARPENTER_PODS},
	{"karpenter.k8s.aws/termination", "Karpenter",
         "waits for the last node claim and deletes the instance profile", KARPENTER_PODS},
	{"external-provisioner.volume.kubernetes.io/finalizer", "the CSI driver",
         "deletes the file system", CSI_PODS},
	{"external-attacher/", "the CSI driver", "detaches the volume from its nodes", CSI_PODS},
	{"kubernetes.io/pvc-protection", MANAGER, "waits until no pod uses the claim", NULL},
	{"kubernetes.io/pv-protection", MANAGER, "waits until no claim is bound to the volume",
         NULL},
	{"resource.kubernetes.io/delete-protection", MANAGER, "waits until no pod uses the claim",
         NULL},
	{"batch.kubernetes.io/job-tracking", MANAGER, "counts the pod for its Job", NULL},
	{"foregroundDeletion", MANAGER, "waits until what the object owns is gone", NULL},
	{"orphan", MANAGER, "releases what the object owns", NULL},
};

static const struct finalizer_row *row_of(const char *finalizer)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_has_prefix(finalizer, rows[i].name))
			return &rows[i];
	return NULL;
}

/* ---- what an object says of itself ---- */

/* The next text of an array, from `item` on; NULL at its end. */
static const cJSON *next_text(const cJSON *item)
{
	while (item != NULL && !cJSON_IsString(item))
		item = item->next;
	return item;
}

static const cJSON *first_finalizer(const cJSON *object)
{
	return next_text(object_first(json_get(json_get(object, "metadata"), "finalizers")));
}

bool object_is_held(const cJSON *object)
{
	return first_finalizer(object) != NULL;
}

bool object_is_leaving(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "deletionTimestamp") != NULL;
}

static void tell_finalizer(const char *finalizer, struct strbuf *sb)
{
	const struct finalizer_row *row = row_of(finalizer);

	if (row != NULL)
		strbuf_addf(sb, "finalizer %s of %s, which %s", finalizer, row->controller,
		            row->work);
	else if (strchr(finalizer, '/') != NULL)
		strbuf_addf(sb, "finalizer %s, for a controller of %.*s to remove", finalizer,
		            (int)strcspn(finalizer, "/"), finalizer);
	else
		strbuf_addf(sb, "finalizer %s, for its controller to remove", finalizer);
}

/* A namespace goes when it is empty; its controller says what is in the way. */
static void tell_namespace(const cJSON *object, struct strbuf *sb)
{
	const cJSON *item = object_first(json_get(json_get(object, "status"), "conditions"));
	const char *separator = "";

	for (; item != NULL; item = item->next) {
		const char *message = json_string(item, "message");

		if (!object_says(item, "status", "True") || message == NULL)
			continue;
		strbuf_addf(sb, "%s%s", separator, message);
		separator = "; ";
	}
	if (separator[0] == '\0')
		strbuf_adds(sb, "its objects are being deleted");
}

void finalizers_tell(const cJSON *object, struct strbuf *sb)
{
	const char *kind = json_string(object, "kind"), *name = object_name(object);
	const cJSON *item = first_finalizer(object);

	strbuf_addf(sb, "%s '%s': ", kind != NULL ? kind : "object", name != NULL ? name : "?");
	if (!object_is_leaving(object))
		strbuf_addf(sb, "it is not being deleted%s", item != NULL ? "; " : "");
	else if (object_is(object, "Namespace"))
		tell_namespace(object, sb);
	else if (item == NULL)
		strbuf_adds(sb, "its grace period lasts");
	for (; item != NULL; item = next_text(item->next)) {
		if (item != first_finalizer(object))
			strbuf_adds(sb, "; ");
		tell_finalizer(item->valuestring, sb);
	}
}

const char *finalizers_look(const cJSON *object)
{
	const cJSON *item = first_finalizer(object);
	const struct finalizer_row *row = item != NULL ? row_of(item->valuestring) : NULL;

	return row != NULL ? row->look : NULL;
}

/* ---- what force leaves behind ---- */

/* "i-1" of "aws:///us-west-2a/i-1"; NULL where there is no machine. */
static const char *instance_of(const cJSON *object)
{
	const char *id = json_string(json_get(object, "spec"), "providerID");
	const char *slash;

	if (id == NULL)
		id = json_string(json_get(object, "status"), "providerID");
	slash = id != NULL ? strrchr(id, '/') : NULL;
	return slash != NULL && slash[1] != '\0' ? slash + 1 : NULL;
}

static void tell_instance(const cJSON *object, struct strbuf *sb)
{
	const char *id = instance_of(object);

	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1024);

	strbuf_addf(&text, "instance %s may go on running", id != NULL ? id : "");
	/* A node claim and its node are one instance. */
	if (id == NULL || strstr(strbuf_str(sb), strbuf_str(&text)) != NULL)
		return;
	strbuf_adds(sb, strbuf_str(&text));
	if (text_has_prefix(id, "i-"))
		strbuf_addf(sb, ": `aws ec2 terminate-instances --instance-ids %s`", id);
	strbuf_addc(sb, '\n');
}

static void tell_volume(const cJSON *object, struct strbuf *sb)
{
	const cJSON *csi = json_get(json_get(object, "spec"), "csi");
	const struct storage_driver *driver = storage_driver_find(json_string(csi, "driver"));
	const char *handle = json_string(csi, "volumeHandle");

	strbuf_addf(sb, "file system %s of PersistentVolume %s may still exist",
	            handle != NULL ? handle : "of unknown id", object_name(object));
	if (driver != NULL && driver->delete_command != NULL && handle != NULL)
		strbuf_addf(sb, ": `%s %s`", driver->delete_command, handle);
	strbuf_addc(sb, '\n');
}

void finalizers_tell_risk(const cJSON *object, struct strbuf *sb)
{
	if (object_is(object, "Node") || object_is(object, "NodeClaim"))
		tell_instance(object, sb);
	else if (object_is(object, "PersistentVolume"))
		tell_volume(object, sb);
}

/* ---- force ---- */

static void print_patch(const cJSON *object, struct strbuf *sb)
{
	AUTO(json) cJSON *patch = cJSON_CreateArray();
	cJSON *test = cJSON_CreateObject(), *removal = cJSON_CreateObject();

	json_add_string(test, "op", "test");
	json_add_string(test, "path", "/metadata/uid");
	json_add_string(test, "value", json_string(json_get(object, "metadata"), "uid"));
	json_push(patch, test);
	json_add_string(removal, "op", "remove");
	json_add_string(removal, "path", "/metadata/finalizers");
	json_push(patch, removal);
	json_print(patch, sb);
}

int finalizers_remove(struct kubectl *k, const cJSON *object, struct err *err)
{
	AUTO(strbuf) struct strbuf patch = STRBUF_INIT(1024), resource = STRBUF_INIT(512);
	const char *namespace = object_namespace(object);
	struct kubectl_reply reply;

	object_add_resource(object, &resource);
	print_patch(object, &patch);
	const char *const args[] = {"patch",
	                            strbuf_str(&resource),
	                            object_name(object),
	                            "--type=json",
	                            "-p",
	                            strbuf_str(&patch),
	                            namespace != NULL ? "-n" : NULL,
	                            namespace,
	                            NULL};

	if (kubectl_run(k, args, NULL, &reply, err) == 0) {
		kubectl_reply_done(&reply);
		return 0;
	}
	if (err->code != ERR_NOT_FOUND)
		return err_wrap(err, "remove the finalizers of %s '%s'",
		                json_string(object, "kind"), object_name(object));
	*err = (struct err){0};
	return 0;
}
