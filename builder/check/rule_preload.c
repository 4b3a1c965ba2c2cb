/* What LD_PRELOAD and /etc/ld.so.preload name: the loader complains of what is not there and goes
 * on without it. */
#include "builder/check/linkage.h"

void linkage_check_preload(struct linkage *l)
{
	for (size_t i = 0; i < l->preload.n; i++) {
		if (!l->preload_missing[i])
			continue;
		rule_hint(l->image,
		          rule_report(l->image, RULE_LD_PRELOAD, NO_PLACE,
		                      "'%s' is to be loaded into every program, by LD_PRELOAD or "
		                      "/etc/ld.so.preload, and the loader does not find it: it "
		                      "says so at every start and goes on without it",
		                      l->preload.at[i]),
		          "add the library, or remove it from `env:` or from /etc/ld.so.preload");
	}
}
