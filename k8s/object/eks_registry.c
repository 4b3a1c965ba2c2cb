#include "k8s/object/eks_registry.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

static const struct {
	const char *region, *account;
} own_accounts[] = {
	{"af-south-1", "877085696533"},     {"ap-east-1", "800184023465"},
	{"ap-south-2", "900889452093"},     {"ap-southeast-3", "296578399912"},
	{"ap-southeast-4", "491585149902"}, {"ap-southeast-5", "151610086707"},
	{"ap-southeast-6", "333609536671"}, {"ap-southeast-7", "121268973566"},
	{"ca-west-1", "761377655185"},      {"cn-north-1", "918309763551"},
	{"cn-northwest-1", "961992271922"}, {"eu-central-2", "900612956339"},
	{"eu-south-1", "590381155156"},     {"eu-south-2", "455263428931"},
	{"il-central-1", "066635153087"},   {"me-central-1", "759879836304"},
	{"me-south-1", "558608220178"},     {"us-gov-east-1", "151742754352"},
	{"us-gov-west-1", "013241004608"},
};

const char *eks_registry(const char *region, struct arena *a)
{
	const char *account = "602401143452";

	for (size_t i = 0; i < ARRAY_LEN(own_accounts); i++)
		if (strcmp(own_accounts[i].region, region) == 0)
			account = own_accounts[i].account;
	return arena_printf(a, "%s.dkr.ecr.%s.amazonaws.com%s", account, region,
	                    text_has_prefix(region, "cn-") ? ".cn" : "");
}
