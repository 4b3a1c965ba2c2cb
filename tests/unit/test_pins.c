/* The table of what others publish and slipway names by version. */
#include "tests/harness.h"

#include "base/text.h"
#include "k8s/fleet/pins.h"

static bool is_day(const char *text)
{
	static const char form[] = "0000-00-00";

	if (strlen(text) != strlen(form))
		return false;
	for (size_t i = 0; form[i] != '\0'; i++)
		if (form[i] == '-' ? text[i] != '-' : text[i] < '0' || text[i] > '9')
			return false;
	return true;
}

static void rows_are_whole(void)
{
	for (size_t i = 0; i < PINS; i++) {
		const struct pin *p = &pins[i];

		CHECK(p->repository != NULL && p->repository[0] != '\0');
		if (p->repository == NULL)
			continue;
		CHECK(strchr(p->repository, ':') == NULL);
		CHECK(text_has_prefix(p->image, p->repository));
		CHECK(text_has_suffix(p->image, p->version));
		CHECK(p->purpose[0] != '\0');
		CHECK(strlen(p->source) > strlen("https://"));
		CHECK(is_day(p->read));
	}
}

/* A tag that moves is no pin. */
static void versions_stand_still(void)
{
	for (size_t i = 0; i < PINS; i++) {
		CHECK(strcmp(pins[i].version, "latest") != 0);
		CHECK(pins[i].version[0] != '\0' || i == PIN_KUBE_SCHEDULER);
	}
}

static void names_stand_once(void)
{
	for (size_t i = 0; i < PINS; i++)
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(pins[i].image, pins[k].image) != 0);
}

int main(void)
{
	TEST("pins: every row says what, which version, where and when it was read",
	     rows_are_whole);
	TEST("pins: no version moves by itself", versions_stand_still);
	TEST("pins: nothing is pinned twice", names_stand_once);
	return test_done();
}
