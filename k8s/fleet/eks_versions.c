#include "k8s/fleet/eks_versions.h"

#include "base/attr.h"
#include "base/timestamp.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* The first day without the support. */
static const struct {
	int minor;
	const char *standard_end, *extended_end;
} versions[] = {
	{31, "2025-11-26", "2026-11-26"}, {32, "2026-03-23", "2027-03-23"},
	{33, "2026-07-29", "2027-07-29"}, {34, "2026-12-02", "2027-12-02"},
	{35, "2027-03-27", "2028-03-27"}, {36, "2027-08-02", "2028-08-02"},
};
_Static_assert(ARRAY_LEN(versions) == EKS_MINOR_NEWEST - EKS_MINOR_OLDEST + 1,
               "versions: a row for each");

/* Whole days from now to a day; negative when it has passed. */
static int64_t days_until(const char *day, int64_t now_ms, struct arena *a)
{
	int64_t ms = 0;

	if (!timestamp_iso8601(arena_printf(a, "%sT00:00:00Z", day), &ms))
		BUG("'%s' is not a day", day);
	return ms / DAY_MS - now_ms / DAY_MS;
}

static const char *end_of(const char *support, const char *day, int64_t days, int minor,
                          struct arena *a)
{
	if (days <= 0)
		return arena_printf(a, "Kubernetes 1.%d left EKS's %s support on %s", minor,
		                    support, day);
	return arena_printf(a, "Kubernetes 1.%d leaves EKS's %s support on %s, in %lld day%s",
	                    minor, support, day, (long long)days, days == 1 ? "" : "s");
}

static const char *next_step(int minor, const char *otherwise, struct arena *a)
{
	if (minor >= EKS_MINOR_DEFAULT)
		return arena_printf(a, "plan the upgrade to 1.%d: %s", minor + 1, otherwise);
	return arena_printf(a, "upgrade, and write version: \"" EKS_DEFAULT_VERSION "\"; %s",
	                    otherwise);
}

bool eks_version_remark(int minor, enum eks_support support, int64_t now_ms, struct arena *a,
                        struct eks_remark *ret)
{
	if (minor > EKS_MINOR_NEWEST)
		return false;
	if (minor < EKS_MINOR_OLDEST) {
		ret->text = arena_printf(a, "EKS no longer runs Kubernetes 1.%d", minor);
		ret->hint = next_step(minor, "EKS has upgraded such clusters", a);
		return true;
	}
	const char *standard = versions[minor - EKS_MINOR_OLDEST].standard_end;
	const char *extended = versions[minor - EKS_MINOR_OLDEST].extended_end;
	int64_t days = days_until(standard, now_ms, a);

	if (days > EKS_NOTICE_DAYS)
		return false;
	if (support == SUPPORT_STANDARD) {
		ret->text = end_of("standard", standard, days, minor, a);
		ret->hint = next_step(minor,
		                      "from that day EKS upgrades the cluster when it sees fit", a);
		return true;
	}
	days = days_until(extended, now_ms, a);
	if (days > EKS_NOTICE_DAYS && days_until(standard, now_ms, a) <= 0)
		return false; /* what was asked for, and paid for */
	ret->text = days > EKS_NOTICE_DAYS ? end_of("standard", standard,
	                                            days_until(standard, now_ms, a), minor, a)
	                                   : end_of("extended", extended, days, minor, a);
	ret->hint = next_step(minor,
	                      days > EKS_NOTICE_DAYS
	                              ? "from that day an hour of the cluster costs 0.60 "
	                                "instead of 0.10 USD"
	                              : "from that day EKS upgrades the cluster when it sees fit",
	                      a);
	return true;
}
