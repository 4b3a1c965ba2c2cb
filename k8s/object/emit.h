/*
 * Writing what the renderers made: YAML with remarks, JSON, or one List; to a text or to a folder.
 * The same fleet always gives the same bytes.
 */
#ifndef SLIPWAY_K8S_OBJECT_EMIT_H
#define SLIPWAY_K8S_OBJECT_EMIT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "k8s/object/object.h"

enum k8s_format { K8S_YAML, K8S_JSON, K8S_LIST };

/* One document as YAML in block style, two spaces, with the notes behind values (notes may be
 * NULL). Strings that a YAML 1.1 or 1.2 reader could take for something else are quoted; texts of
 * several lines are literal blocks. */
void k8s_yaml(const cJSON *doc, const struct k8s_note *notes, size_t n_notes, struct strbuf *sb);

/* One file's documents as text; K8S_LIST is as K8S_JSON. */
void k8s_file_text(const struct k8s_output *out, const struct k8s_output_file *file,
                   enum k8s_format format, bool foreign, struct strbuf *sb);

/* What of an output a stream holds. */
struct k8s_scope {
	bool foreign;       /* also what is not for kubectl */
	const char *choice; /* of files that are a choice, only this target's; NULL = all */
};

/* All objects as one text for `kubectl apply -f -`: YAML documents parted by "---", JSON documents
 * one after another, or a v1 List. */
void k8s_stream(const struct k8s_output *out, enum k8s_format format, struct k8s_scope scope,
                struct strbuf *sb);

/*
 * Writes dir/FOLDER/FILE and a kustomization.yaml per folder and one above them; of files that are
 * a choice, kustomizations name those of the fleet's first target. Files that an earlier run wrote
 * and this one does not (listed in dir/.slipway-files) are removed; any other file is left alone,
 * as are those of concerns that a partial output did not render. A stranger's file where one of
 * ours must go makes ERR_CONFLICT before anything is written.
 */
int k8s_write_dir(const struct k8s_output *out, enum k8s_format format, const char *dir,
                  struct err *err) MUST_USE;

#endif
