/*
 * Which program an image holds, by the last word of its repository: mirrors keep that. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_PROGRAM_H
#define SLIPWAY_K8S_DEPLOY_PROGRAM_H

#include <stdbool.h>

/* Is it "k8s-device-plugin", as nvcr.io/nvidia/k8s-device-plugin:v0.20.0 is? NULL is not. */
bool is_program(const char *image, const char *program);

/* Do two images hold the same one? */
bool same_program(const char *a, const char *b);

#endif
