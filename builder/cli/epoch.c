#include "builder/cli/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "k8s/fleet/eks_versions.h"

/* The last second of the year 9999. */
static const int64_t epoch_max = 253402300799;

int epoch_read(int64_t *ret_epoch, bool *ret_set, struct err *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");

	*ret_epoch = 0;
	*ret_set = text != NULL && text[0] != '\0';
	if (!*ret_set)
		return 0;
	if (text_int64(text, strlen(text), ret_epoch) && *ret_epoch >= 0 && *ret_epoch <= epoch_max)
		return 0;
	err_set(err, ERR_USAGE, "SOURCE_DATE_EPOCH '%s' is not a number of seconds", text);
	return err_hint(err, "write seconds since 1970, as `git log -1 --format=%%ct` prints them");
}

int epoch_check_support(struct cli *cli, const struct spec *spec, struct err *err)
{
	const struct cluster_section *cluster = &spec->sections.cluster;
	struct clock *clock = clock_system();
	struct eks_remark remark;
	int64_t epoch;
	bool fixed;

	if (!cluster->set)
		return 0;
	if (epoch_read(&epoch, &fixed, err) != 0)
		return -1;
	if (!eks_version_remark(spec->fleet.minor, cluster->support,
	                        fixed ? epoch * 1000 : clock->now_ms(clock), &cli->arena, &remark))
		return 0;
	diag_hint(&cli->diags,
	          diags_add(&cli->diags, DIAG_WARNING, srcpos_or(cluster->version_at, cluster->at),
	                    "cluster.version: %s", remark.text),
	          "%s", remark.hint);
	return 0;
}
