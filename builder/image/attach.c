#include "builder/image/attach.h"

#include <string.h>
#include <sys/mman.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"

/* The registry client reads blobs from a file: one in memory. */
static int put_bytes(struct registry *r, const struct descriptor *desc, const void *bytes,
                     struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("slipway-blob", MFD_CLOEXEC);
	enum blob_outcome outcome;

	if (fd < 0)
		return err_set(err, ERR_IO, "create a file in memory");
	return fs_write_all(fd, bytes, (size_t)desc->size, err) != 0 ||
	                       registry_put_blob(r, desc, fd, NULL, &outcome, err) != 0
	               ? -1
	               : 0;
}

int attach_blob(const struct attach_place *place, const struct descriptor *desc, const void *bytes,
                struct err *err)
{
	struct descriptor ignored;

	return place->registry != NULL ? put_bytes(place->registry, desc, bytes, err)
	                               : layout_put(place->layout, desc->media_type, bytes,
	                                            (size_t)desc->size, &ignored, err);
}

int attach_artifact(const struct attach_place *place, const struct artifact *artifact,
                    struct descriptor *ret_desc, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(artifact_form) struct artifact_form form = {0};
	const struct digest *subject = &artifact->subject->digest;

	artifact_form(artifact, &a, &form);
	if (attach_blob(place, &form.config, EMPTY_BYTES, err) != 0 ||
	    attach_blob(place, &form.layer, artifact->bytes, err) != 0)
		return err_wrap(err, "attach %s", artifact->type);
	if (place->registry != NULL) {
		if (registry_put_referrer(place->registry, subject, &form.manifest, form.text.ptr,
		                          err) != 0)
			return -1;
	} else if (attach_blob(place, &form.manifest, form.text.ptr, err) != 0 ||
	           layout_attach(place->layout, subject, NULL, &form.manifest, err) != 0) {
		return err_wrap(err, "attach %s", artifact->type);
	}
	if (ret_desc != NULL)
		*ret_desc = form.manifest;
	return 0;
}

int attach_tagged(const struct attach_place *place, const struct digest *subject, const char *tag,
                  const struct descriptor *desc, const void *bytes, struct err *err)
{
	bool existed;

	if (place->registry != NULL)
		return registry_put_manifest(place->registry, tag, desc, bytes, &existed, err);
	return attach_blob(place, desc, bytes, err) != 0 ||
	                       layout_attach(place->layout, subject, tag, desc, err) != 0
	               ? -1
	               : 0;
}
