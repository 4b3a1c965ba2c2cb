#include "k8s/fleet/regions.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

static const struct {
	const char *name, *zones;
} regions[] = {
	{"af-south-1", "abc"},      {"ap-east-1", "abc"},       {"ap-east-2", "abc"},
	{"ap-northeast-1", "abcd"}, {"ap-northeast-2", "abcd"}, {"ap-northeast-3", "abc"},
	{"ap-south-1", "abc"},      {"ap-south-2", "abc"},      {"ap-southeast-1", "abc"},
	{"ap-southeast-2", "abc"},  {"ap-southeast-3", "abc"},  {"ap-southeast-4", "abc"},
	{"ap-southeast-5", "abc"},  {"ap-southeast-6", "abc"},  {"ap-southeast-7", "abc"},
	{"ca-central-1", "abd"},    {"ca-west-1", "abc"},       {"cn-north-1", "abd"},
	{"cn-northwest-1", "abc"},  {"eu-central-1", "abc"},    {"eu-central-2", "abc"},
	{"eu-north-1", "abc"},      {"eu-south-1", "abc"},      {"eu-south-2", "abc"},
	{"eu-west-1", "abc"},       {"eu-west-2", "abc"},       {"eu-west-3", "abc"},
	{"il-central-1", "abc"},    {"me-central-1", "abc"},    {"me-south-1", "abc"},
	{"mx-central-1", "abc"},    {"sa-east-1", "abc"},       {"us-east-1", "abcdef"},
	{"us-east-2", "abc"},       {"us-gov-east-1", "abc"},   {"us-gov-west-1", "abc"},
	{"us-west-1", "abc"},       {"us-west-2", "abcd"},
};

const char *region_zones(const char *region)
{
	for (size_t i = 0; i < ARRAY_LEN(regions); i++)
		if (strcmp(regions[i].name, region) == 0)
			return regions[i].zones;
	return NULL;
}

const char *region_nearest(const char *name)
{
	const char *names[ARRAY_LEN(regions)];

	for (size_t i = 0; i < ARRAY_LEN(regions); i++)
		names[i] = regions[i].name;
	return text_nearest(name, names, ARRAY_LEN(regions));
}

bool region_has_zone(const char *region, const char *zone)
{
	const char *zones = region_zones(region);
	size_t len = strlen(region);

	return zones != NULL && text_has_prefix(zone, region) && strlen(zone) == len + 1 &&
	       strchr(zones, zone[len]) != NULL;
}

const char *aws_partition(const char *region)
{
	if (text_has_prefix(region, "cn-"))
		return "aws-cn";
	return text_has_prefix(region, "us-gov-") ? "aws-us-gov" : "aws";
}
