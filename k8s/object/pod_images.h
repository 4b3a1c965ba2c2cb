/*
 * The images that pods of rendered objects run, wherever an object has pods (k8s/object/pods.h):
 * those of all containers, and of volumes that are images (Pod v1 core, `image` of a volume).
 */
#ifndef SLIPWAY_K8S_OBJECT_POD_IMAGES_H
#define SLIPWAY_K8S_OBJECT_POD_IMAGES_H

#include "base/doc/json.h"

/* Calls `visit` with every string that names an image; it may give the string another value. */
void each_pod_image(cJSON *object, void (*visit)(cJSON *image, void *listener), void *listener);

#endif
