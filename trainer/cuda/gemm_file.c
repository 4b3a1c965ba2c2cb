#include "trainer/cuda/gemm_file.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fds.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/slurp.h"

static const char *const forms[PRODUCT_FORMS] = {
	[PRODUCT_NT] = "nt", [PRODUCT_NN] = "nn", [PRODUCT_TN] = "tn"};

/* ---- the text ---- */

static void add_title(const char *title, struct strbuf *ret)
{
	strbuf_addf(ret, "slipway products 2: %s\n", title);
}

static void add_line(const struct gemm_times *t, struct strbuf *ret)
{
	const struct product_shape *s = &t->shape;

	strbuf_addf(ret,
	            "%s %u %u %u %u %u %u ways %u aligned %u %u %u own %.3f three %.3f "
	            "cublaslt %.3f\n",
	            forms[s->form], s->m, s->n, s->k, s->lda, s->ldb, s->ldc, s->ways, s->aligned_a,
	            s->aligned_b, s->aligned_c, t->own_us, t->three_us, t->library_us);
}

void gemm_file_text(const char *title, const struct gemm_times *times, size_t n, struct strbuf *ret)
{
	add_title(title, ret);
	for (size_t i = 0; i < n; i++)
		add_line(&times[i], ret);
}

/* ---- reading it ---- */

static bool is_time(double us)
{
	return isfinite(us) && us >= 0;
}

static bool form_of(const char *name, uint32_t *ret)
{
	for (uint32_t f = 0; f < PRODUCT_FORMS; f++)
		if (strcmp(name, forms[f]) == 0) {
			*ret = f;
			return true;
		}
	return false;
}

/* What is there as far as scanf reads it; whether that is all, and as we write it, is for the
 * caller to see. */
static bool scan_line(const char *line, struct gemm_times *ret)
{
	struct product_shape *s = &ret->shape;
	char form[3];

	/* NOLINTNEXTLINE(cert-err34-c): a number that does not fit is not written back alike */
	int n = sscanf(line,
	               "%2s %u %u %u %u %u %u ways %u aligned %u %u %u own %lf three %lf "
	               "cublaslt %lf",
	               form, &s->m, &s->n, &s->k, &s->lda, &s->ldb, &s->ldc, &s->ways,
	               &s->aligned_a, &s->aligned_b, &s->aligned_c, &ret->own_us, &ret->three_us,
	               &ret->library_us);

	return n == 14 && form_of(form, &s->form) && is_time(ret->own_us) && ret->own_us > 0 &&
	       is_time(ret->three_us) && is_time(ret->library_us);
}

/* A line is what we would write, byte for byte, or it is not ours. */
static bool parse_line(const char *line, size_t n, struct gemm_times *ret)
{
	AUTO(strbuf) struct strbuf again = STRBUF_INIT(1024);
	char copy[256];

	*ret = (struct gemm_times){0};
	if (n >= sizeof(copy))
		return false;
	memcpy(copy, line, n);
	copy[n] = '\0';
	if (!scan_line(copy, ret))
		return false;
	add_line(ret, &again);
	return again.len == n && memcmp(strbuf_str(&again), line, n) == 0;
}

static bool parse_lines(const char *text, struct gemm_times_list *ret)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n") + 1;
		struct gemm_times t;

		if (text[n - 1] == '\0' || !parse_line(text, n, &t))
			return false;
		vec_push(&ret->all, t);
		text += n;
	}
	return true;
}

bool gemm_file_parse(const char *text, const char *title, struct gemm_times_list *ret)
{
	AUTO(strbuf) struct strbuf first = STRBUF_INIT(4096);

	*ret = (struct gemm_times_list){0};
	add_title(title, &first);
	if (strncmp(text, strbuf_str(&first), first.len) != 0)
		return false;
	if (parse_lines(text + first.len, ret))
		return true;
	vec_done(&ret->all);
	return false;
}

/* ---- the file ---- */

bool gemm_file_path(const char *title, char ret[PATH_MAX])
{
	const char *folder = getenv("CUDA_CACHE_PATH"), *home = getenv("HOME");
	char digest[SHA256_HEX_MAX];
	struct sha256 s;
	int n;

	sha256_init(&s);
	sha256_update(&s, title, strlen(title));
	sha256_hex(&s, digest);
	if (folder != NULL && folder[0] == '/')
		n = snprintf(ret, PATH_MAX, "%s/slipway-products-%.16s", folder, digest);
	else if (home != NULL && home[0] == '/')
		n = snprintf(ret, PATH_MAX, "%s/.nv/ComputeCache/slipway-products-%.16s", home,
		             digest);
	else
		return false;
	return n > 0 && n < PATH_MAX;
}

/* Never waits, as an open pipe would have it. */
int gemm_file_read(const char *path, struct strbuf *ret, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	return slurp_fd(fd, GEMM_FILE_MAX, ret, err);
}

int gemm_file_write(const char *path, const struct strbuf *text, struct err *err)
{
	char folder[PATH_MAX];
	const char *end = strrchr(path, '/');

	snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
	if (fs_mkdirs(folder, err) != 0)
		return -1;
	return fs_write_file(path, strbuf_str(text), text->len, 0600, err);
}
