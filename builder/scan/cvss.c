#include "builder/scan/cvss.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "builder/scan/cvss4.h"

/* One metric: its letters, and a weight for each. */
struct cvss_metric {
	const char *name;
	const char *letters;
	double weights[4];
};

enum { V3_AV, V3_AC, V3_PR, V3_UI, V3_S, V3_C, V3_I, V3_A, V3_METRICS };

/* Table 15 of the specification; PR as it weighs where the scope is unchanged. */
static const struct cvss_metric v3[V3_METRICS] = {
	[V3_AV] = {"AV", "NALP", {0.85, 0.62, 0.55, 0.2}},
	[V3_AC] = {"AC", "LH", {0.77, 0.44}},
	[V3_PR] = {"PR", "NLH", {0.85, 0.62, 0.27}},
	[V3_UI] = {"UI", "NR", {0.85, 0.62}},
	[V3_S] = {"S", "UC", {0, 1}},
	[V3_C] = {"C", "HLN", {0.56, 0.22, 0}},
	[V3_I] = {"I", "HLN", {0.56, 0.22, 0}},
	[V3_A] = {"A", "HLN", {0.56, 0.22, 0}},
};

enum { V2_AV, V2_AC, V2_AU, V2_C, V2_I, V2_A, V2_METRICS };

static const struct cvss_metric v2[V2_METRICS] = {
	[V2_AV] = {"AV", "LAN", {0.395, 0.646, 1.0}}, [V2_AC] = {"AC", "HML", {0.35, 0.61, 0.71}},
	[V2_AU] = {"Au", "MSN", {0.45, 0.56, 0.704}}, [V2_C] = {"C", "NPC", {0, 0.275, 0.660}},
	[V2_I] = {"I", "NPC", {0, 0.275, 0.660}},     [V2_A] = {"A", "NPC", {0, 0.275, 0.660}},
};

/* Finds "NAME:X" among the segments of a vector. */
static bool read_metric(const char *vector, const struct cvss_metric *m, double *ret)
{
	size_t name = strlen(m->name);

	while (*vector != '\0') {
		size_t n = strcspn(vector, "/");
		const char *letter =
			n == name + 2 && strncmp(vector, m->name, name) == 0 && vector[name] == ':'
				? strchr(m->letters, vector[name + 1])
				: NULL;

		if (letter != NULL) {
			*ret = m->weights[letter - m->letters];
			return true;
		}
		vector += n + (vector[n] == '/');
	}
	return false;
}

static bool read_metrics(const char *vector, const struct cvss_metric *table, size_t n, double *ret)
{
	for (size_t i = 0; i < n; i++)
		if (!read_metric(vector, &table[i], &ret[i]))
			return false;
	return true;
}

/* Appendix A of 3.1: the smallest tenth that is not less, free of floating point's errors. */
static int round_up(double score)
{
	long exact = lround(score * 100000);

	return (int)(exact % 10000 == 0 ? exact / 10000 : exact / 10000 + 1);
}

static int score_v3(const double m[V3_METRICS])
{
	bool changed = m[V3_S] > 0;
	double privileges = m[V3_PR];
	double base = 1 - (1 - m[V3_C]) * (1 - m[V3_I]) * (1 - m[V3_A]);
	double impact = changed ? 7.52 * (base - 0.029) - 3.25 * pow(base - 0.02, 15) : 6.42 * base;

	if (changed && privileges < 0.85)
		privileges = privileges > 0.5 ? 0.68 : 0.5;
	double ease = 8.22 * m[V3_AV] * m[V3_AC] * privileges * m[V3_UI];

	if (impact <= 0)
		return 0;
	return round_up(fmin((changed ? 1.08 : 1.0) * (impact + ease), 10));
}

static int score_v2(const double m[V2_METRICS])
{
	double impact = 10.41 * (1 - (1 - m[V2_C]) * (1 - m[V2_I]) * (1 - m[V2_A]));
	double ease = 20 * m[V2_AV] * m[V2_AC] * m[V2_AU];

	return (int)lround((0.6 * impact + 0.4 * ease - 1.5) * (impact > 0 ? 1.176 : 0) * 10);
}

bool cvss_base_score(const char *vector, int *ret_tenths)
{
	double m[V3_METRICS];

	if (text_has_prefix(vector, "CVSS:3.")) {
		if (!read_metrics(vector, v3, V3_METRICS, m))
			return false;
		*ret_tenths = score_v3(m);
		return true;
	}
	if (text_has_prefix(vector, "CVSS:4."))
		return cvss4_base_score(vector, ret_tenths);
	if (text_has_prefix(vector, "CVSS:") || !read_metrics(vector, v2, V2_METRICS, m))
		return false;
	*ret_tenths = score_v2(m);
	return true;
}

enum severity cvss_severity(int tenths)
{
	static const struct {
		int from;
		enum severity severity;
	} ratings[] = {{90, SEVERITY_CRITICAL},
	               {70, SEVERITY_HIGH},
	               {40, SEVERITY_MEDIUM},
	               {1, SEVERITY_LOW}};

	for (size_t i = 0; i < ARRAY_LEN(ratings); i++)
		if (tenths >= ratings[i].from)
			return ratings[i].severity;
	return SEVERITY_INFORMATIONAL;
}
