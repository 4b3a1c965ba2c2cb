#include "k8s/fleet/arn.h"

#include <string.h>

#include "k8s/fleet/grammar.h"
#include "k8s/fleet/regions.h"

/* arn:PARTITION:SERVICE:REGION:ACCOUNT:REST */
enum { PART_PARTITION = 1, PART_REGION = 3, COLONS = 5 };

static const char *part_of(const char *arn, size_t n, struct arena *a)
{
	for (; n > 0; n--)
		arn += strcspn(arn, ":") + 1;
	return arena_strndup(a, arn, strcspn(arn, ":"));
}

static bool has_parts(const char *arn)
{
	size_t colons = 0;

	for (; *arn != '\0'; arn++)
		colons += *arn == ':';
	return colons >= COLONS;
}

void arn_check(const struct placed_arn *arn, const char *region, struct arena *a,
               struct diags *diags)
{
	const char *hint;

	if (arn->text == NULL || !has_parts(arn->text) || region == NULL ||
	    check_region(region, &hint) != NULL)
		return;
	const char *partition = part_of(arn->text, PART_PARTITION, a);
	const char *place = part_of(arn->text, PART_REGION, a);

	if (strcmp(partition, aws_partition(region)) != 0)
		diags_error(diags, arn->at,
		            arena_printf(a, "its ARNs begin with arn:%s:", aws_partition(region)),
		            "%s: an ARN of the partition %s, but %s is in %s", arn->what, partition,
		            region, aws_partition(region));
	else if (arn->regional && strcmp(place, region) != 0)
		diags_error(diags, arn->at, "name one of the cluster's own region",
		            "%s: it is of the region '%s', but the cluster is in %s", arn->what,
		            place, region);
}
