/*
 * The classes of a session's label head, and every dataset's labels by their names. For this folder
 * only.
 */
#ifndef SLIPWAY_TRAINER_SESSION_CLASSES_H
#define SLIPWAY_TRAINER_SESSION_CLASSES_H

#include "trainer/session/session.h"

/*
 * Gives the clips of d, just opened from `folder`, the labels of the head. The first call
 * looks for the head's classes, in this order:
 *   1. config.json of --checkpoint, else id2label of --config_file_path;
 *   2. those of --init_from, when they hold every class of the dataset (rank 0 reads them);
 *   3. the train split's, by which the labels of all splits are numbered then.
 * ERR_SPEC naming the class that the head lacks, or both numbers when there are too few labels.
 */
int session_match_classes(struct session *s, struct dataset *d, const char *folder,
                          struct err *err) MUST_USE;

#endif
