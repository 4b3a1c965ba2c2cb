#include "k8s/object/pod_images.h"

#include "base/attr.h"

/* Lists of a pod's specification, and where an entry names its image. */
static const struct {
	const char *list, *holder, *key; /* holder NULL = the entry itself */
} places[] = {
	{"initContainers", NULL, "image"},
	{"containers", NULL, "image"},
	{"ephemeralContainers", NULL, "image"},
	{"volumes", "image", "reference"},
};

static void visit_pod(cJSON *pod, void (*visit)(cJSON *image, void *listener), void *listener)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		cJSON *list = cJSON_GetObjectItemCaseSensitive(pod, places[i].list);

		for (cJSON *e = cJSON_IsArray(list) ? list->child : NULL; e != NULL; e = e->next) {
			cJSON *holder = e, *image;

			if (places[i].holder != NULL)
				holder = cJSON_GetObjectItemCaseSensitive(e, places[i].holder);
			image = cJSON_GetObjectItemCaseSensitive(holder, places[i].key);
			if (cJSON_IsString(image))
				visit(image, listener);
		}
	}
}

void each_pod_image(cJSON *object, void (*visit)(cJSON *image, void *listener), void *listener)
{
	if (cJSON_IsArray(json_get(object, "containers")))
		visit_pod(object, visit, listener);
	for (cJSON *child = object->child; child != NULL; child = child->next)
		if (cJSON_IsObject(child) || cJSON_IsArray(child))
			each_pod_image(child, visit, listener);
}
