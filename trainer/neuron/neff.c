#include "trainer/neuron/neff.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

enum {
	AT_PACKAGE = 0,
	AT_HEAD_SIZE = 8,
	AT_DATA_SIZE = 16,
	AT_MAJOR = 24,
	AT_MINOR = 32,
	AT_NAME = 220,
	AT_CORES = 476,
	AT_LOGICAL = 552
};

static uint64_t get64(const unsigned char *at)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | at[i];
	return value;
}

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* The head of a file of `size` bytes. */
static int read_head(const unsigned char *head, uint64_t size, struct neff *ret, struct err *err)
{
	struct neff n = {.package_version = get64(head + AT_PACKAGE),
	                 .data_size = get64(head + AT_DATA_SIZE),
	                 .major = get64(head + AT_MAJOR),
	                 .minor = get64(head + AT_MINOR),
	                 .cores = get32(head + AT_CORES),
	                 .logical_cores = get32(head + AT_LOGICAL)};

	if (get64(head + AT_HEAD_SIZE) != NEFF_HEAD)
		return err_set(err, ERR_FORMAT, "not a NEFF: its head says that it has %llu bytes",
		               (unsigned long long)get64(head + AT_HEAD_SIZE));
	if (n.data_size != size - NEFF_HEAD)
		return err_set(err, ERR_FORMAT,
		               "a NEFF of %llu bytes, of which there are %llu: it was cut off",
		               (unsigned long long)n.data_size + NEFF_HEAD,
		               (unsigned long long)size);
	if (n.cores == 0 || n.cores > 1024 || n.logical_cores > 2)
		return err_set(err, ERR_FORMAT, "a NEFF for %u cores of %u each", n.cores,
		               n.logical_cores);
	memcpy(n.name, head + AT_NAME, sizeof(n.name) - 1);
	*ret = n;
	return 0;
}

int neff_read(const void *bytes, size_t n, struct neff *ret, struct err *err)
{
	if (n < NEFF_HEAD)
		return err_set(err, ERR_FORMAT, "not a NEFF: %zu bytes, its head alone has %d", n,
		               NEFF_HEAD);
	return read_head(bytes, n, ret, err);
}

int neff_check(const char *path, struct neff *ret, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char head[NEFF_HEAD];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", path);
	if (fs_pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return err_set(err, ERR_FORMAT, "%s: not a NEFF: shorter than its head", path);
	if (read_head(head, (uint64_t)st.st_size, ret, err) != 0)
		return err_wrap(err, "%s", path);
	return 0;
}
