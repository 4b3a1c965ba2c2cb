#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fs.h"
#include "base/stream.h"
#include "trainer/cmd/cmd.h"

static const char *const purpose =
	"Copies this program to FILE: into a folder that another container sees, from an image\n"
	"that holds nothing else.";

static int copy_self(struct fs_temp *temp, struct err *err)
{
	struct fd_sink sink;
	struct source *self;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_set(err, ERR_IO, "open /proc/self/exe");
	self = source_from_fd(fd);
	fd_sink_init(&sink, temp->fd);
	rc = stream_copy(self, &sink.sink, NULL, err);
	source_close(self);
	return rc;
}

/* There whole or not at all: whoever waits for it sees no half program. */
static int install(const char *path, struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	char folder[PATH_MAX];

	fs_parent(path, folder);
	return fs_mkdirs(folder, err) != 0 || fs_temp_open(&temp, folder, err) != 0 ||
	                       copy_self(&temp, err) != 0 ||
	                       fs_temp_commit(&temp, path, 0755, err) != 0
	               ? -1
	               : 0;
}

int cmd_install(int argc, char **argv)
{
	struct err err = {0};

	if (argc == 1 && strcmp(argv[0], "--help") == 0) {
		printf("Usage: slipway-trainer install FILE\n\n%s\n", purpose);
		return RUN_EXIT_DONE;
	}
	if (argc != 1 || argv[0][0] == '-') {
		err_set(&err, ERR_USAGE, "install takes the FILE to write, and nothing else");
		return cmd_fail(&err);
	}
	return install(argv[0], &err) == 0 ? RUN_EXIT_DONE : cmd_fail(&err);
}
