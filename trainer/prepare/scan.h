/*
 * Which videos there are and what their classes are: a folder of class folders (Kinetics), or a CSV
 * with a heading that names the columns `path` and `label`. Labels are numbered in the order of the
 * sorted class names, as torchvision does, or as a given list has them. Reads names, never videos.
 */
#ifndef SLIPWAY_TRAINER_PREPARE_SCAN_H
#define SLIPWAY_TRAINER_PREPARE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/classes/class_list.h"

#define VIDEO_NO_LABEL UINT32_MAX

struct video {
	char *path; /* owned */
	uint32_t label;
	uint64_t size;
	int64_t mtime_ns;
	bool missing; /* of a CSV: there is no such file */
};

struct videos {
	struct video *at; /* sorted by path */
	size_t n, cap;
	struct class_list classes; /* sorted */
	size_t ignored;            /* files that are no videos by their names */
};

/* ERR_NOT_FOUND, ERR_IO, ERR_FORMAT (a CSV's line), ERR_SPEC when no video is there. */
int videos_scan(const char *source, struct videos *ret, struct err *err) MUST_USE;

/* Every video below a folder, without classes. Folders that are symbolic links are left out. */
int videos_scan_unlabelled(const char *source, struct videos *ret, struct err *err) MUST_USE;

/* Numbers the labels as `list` does, which becomes the videos' own. ERR_SPEC naming the class that
 * has videos and is not in it; `where` is what the list is from. */
int videos_renumber(struct videos *v, const struct class_list *list, const char *where,
                    struct err *err) MUST_USE;
void videos_done(struct videos *v);

#endif
