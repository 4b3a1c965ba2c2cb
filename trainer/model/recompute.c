#include "trainer/model/recompute.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
	const char *name;
	struct recompute setting;
} names[] = {
	{"none", {false, 0}},
	{"selective", {true, 0}},
	{"full", {true, 1}},
};

int recompute_parse(const char *text, struct recompute *ret, struct err *err)
{
	int64_t every;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(text, names[i].name) == 0) {
			*ret = names[i].setting;
			return 0;
		}
	if (text_int64(text, strlen(text), &every) && every >= 1 && every <= RECOMPUTE_EVERY_MAX) {
		*ret = (struct recompute){true, (size_t)every};
		return 0;
	}
	err_set(err, ERR_USAGE,
	        "--activation_checkpointing is '%.60s', expected none, selective, full or a number "
	        "from 1 to %d",
	        text, RECOMPUTE_EVERY_MAX);
	return err_hint(err, "selective computes norms and activations again, full whole layers, 2 "
	                     "every second layer.");
}

const char *recompute_text(struct recompute r, char out[RECOMPUTE_TEXT_MAX])
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].setting.selective == r.selective && names[i].setting.every == r.every)
			return names[i].name;
	snprintf(out, RECOMPUTE_TEXT_MAX, "%zu", r.every);
	return out;
}

size_t recompute_layers(struct recompute r, size_t n)
{
	return r.every > 0 ? n / r.every : 0;
}

/* The last layer of each N: what the very last one computed is still there when backward begins. */
bool recompute_layer(struct recompute r, size_t i)
{
	return r.every > 0 && (i + 1) % r.every == 0;
}
