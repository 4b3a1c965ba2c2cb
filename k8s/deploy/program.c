#include "k8s/deploy/program.h"

#include <stddef.h>
#include <string.h>

/* The last word, without tag and digest, and its length. */
static size_t last_word(const char *image, const char **ret)
{
	size_t len = strcspn(image, "@");
	const char *word = image;

	for (size_t i = 0; i < len; i++)
		if (image[i] == '/')
			word = image + i + 1;
	*ret = word;
	return strcspn(word, ":@");
}

bool same_program(const char *a, const char *b)
{
	const char *x, *y;
	size_t n = last_word(a, &x), m = last_word(b, &y);

	return n == m && n > 0 && strncmp(x, y, n) == 0;
}

bool is_program(const char *image, const char *program)
{
	return image != NULL && same_program(image, program);
}
