#include "k8s/deploy/lease_wait.h"

#include <string.h>

#include "base/attr.h"
#include "base/interrupt.h"
#include "k8s/deploy/kinds.h"

enum { WAIT_MS = 2000 };

bool lease_is_of_this_machine(const char *identity)
{
	char ours[LEASE_IDENTITY_MAX];
	const char *place = strrchr(identity, '/');
	size_t host = strcspn(identity, "/");

	lease_identity(ours);
	return place != NULL && place != identity + host &&
	       strcmp(place, strrchr(ours, '/')) == 0 && strncmp(identity, ours, host + 1) == 0;
}

static int read_holder(struct lease *l, cJSON **ret, struct err *err)
{
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);

	strbuf_addf(&name, "%s" LEASE_SUFFIX, l->fleet);
	const char *const args[] = {"get",
	                            "leases.coordination.k8s.io",
	                            strbuf_str(&name),
	                            "-n",
	                            l->namespace,
	                            "--ignore-not-found",
	                            "-o",
	                            "json",
	                            NULL};

	return kubectl_json(l->inner, args, NULL, ret, err);
}

/* Has it been written since `before` was read, or does its process run here? */
static bool shows_life(const cJSON *before, const cJSON *now)
{
	const char *holder = json_string(json_get(now, "spec"), "holderIdentity");
	const char *was = object_version(before), *is = object_version(now);

	/* It was given back meanwhile. */
	if (holder == NULL || holder[0] == '\0')
		return false;
	if (lease_is_of_this_machine(holder))
		return true;
	return was != NULL && is != NULL && strcmp(was, is) != 0;
}

static int64_t now_of(const struct lease *l)
{
	return l->inner->clock->now_ms(l->inner->clock);
}

int lease_take_silent(struct lease *l, int64_t until_ms, struct err *err)
{
	AUTO(json) cJSON *first = NULL;

	for (;;) {
		AUTO(json) cJSON *now = NULL;
		struct err unread = {0};

		if (lease_take(l, 0, err) == 0)
			return 0;
		if (err->code != ERR_BUSY || now_of(l) >= until_ms ||
		    read_holder(l, &now, &unread) != 0 || shows_life(first, now))
			return -1;
		if (first == NULL && now != NULL) {
			progress_note(l->inner->progress,
			              "%s; waiting for a sign of life, or its end", err->msg);
			first = now;
			now = NULL;
		}
		*err = (struct err){0};
		l->inner->clock->sleep_ms(l->inner->clock, WAIT_MS);
		if (interrupt_check(err) != 0)
			return -1;
	}
}
