#include "builder/scan/cvss4.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"

enum { AV, PR, UI, AC, AT, VC, VI, VA, SC, SI, SA, METRICS };

/* The letters of each metric, the worst first: their place is the distance from it (table 24). */
static const struct {
	const char *name, *letters;
} metrics[METRICS] = {
	[AV] = {"AV", "NALP"}, [PR] = {"PR", "NLH"}, [UI] = {"UI", "NPA"}, [AC] = {"AC", "LH"},
	[AT] = {"AT", "NP"},   [VC] = {"VC", "HLN"}, [VI] = {"VI", "HLN"}, [VA] = {"VA", "HLN"},
	[SC] = {"SC", "HLN"},  [SI] = {"SI", "HLN"}, [SA] = {"SA", "HLN"},
};

static bool read_metric(const char *vector, const char *name, const char *letters, int *ret)
{
	const size_t n = strlen(name);

	for (size_t len; *vector != '\0'; vector += len + (vector[len] == '/')) {
		len = strcspn(vector, "/");
		const char *letter =
			len == n + 2 && strncmp(vector, name, n) == 0 && vector[n] == ':'
				? strchr(letters, vector[n + 1])
				: NULL;

		if (letter == NULL)
			continue;
		*ret = (int)(letter - letters);
		return true;
	}
	return false;
}

/* ---- classes ---- */

/* The groups of metrics that make a class, and how many levels each has where nothing but the base
 * is known. IMPACT joins two groups of the specification, whose second says whether one of the
 * metrics is at its worst: of its five levels a base vector has the first, third and last. */
enum { EXPLOIT, COMPLEXITY, IMPACT, BEYOND, GROUPS };
enum { IMPACT_BOTH, IMPACT_BOTH_LESS, IMPACT_SOME, IMPACT_SOME_LESS, IMPACT_NONE, IMPACT_LEVELS };

/* Scores in tenths, of classes whose exploits are in the wild (tables 24 to 30). */
static const int class_scores[IMPACT_LEVELS][3][2][2] = {
	[IMPACT_BOTH] = {{{100, 93}, {95, 92}}, {{94, 87}, {90, 77}}, {{86, 70}, {73, 54}}},
	[IMPACT_BOTH_LESS] = {{{96, 90}, {91, 81}}, {{89, 75}, {77, 66}}, {{74, 54}, {55, 43}}},
	[IMPACT_SOME] = {{{93, 88}, {92, 84}}, {{86, 72}, {74, 61}}, {{72, 53}, {61, 46}}},
	[IMPACT_SOME_LESS] = {{{92, 80}, {82, 70}}, {{76, 57}, {59, 52}}, {{57, 36}, {51, 18}}},
	[IMPACT_NONE] = {{{79, 69}, {71, 63}}, {{65, 53}, {58, 23}}, {{47, 24}, {24, 10}}},
};

struct cvss4_class {
	int level[GROUPS];
};

static struct cvss4_class class_of(const int m[METRICS])
{
	const bool network = m[AV] == 0, anybody = m[PR] == 0, alone = m[UI] == 0;
	const bool physical = m[AV] == 3;
	const bool secret = m[VC] == 0, changed = m[VI] == 0, gone = m[VA] == 0;
	struct cvss4_class c = {0};

	if (!(network && anybody && alone))
		c.level[EXPLOIT] = !physical && (network || anybody || alone) ? 1 : 2;
	c.level[COMPLEXITY] = m[AC] == 0 && m[AT] == 0 ? 0 : 1;
	c.level[IMPACT] = secret && changed           ? IMPACT_BOTH
	                  : secret || changed || gone ? IMPACT_SOME
	                                              : IMPACT_NONE;
	c.level[BEYOND] = m[SC] == 0 || m[SI] == 0 || m[SA] == 0 ? 0 : 1;
	return c;
}

static int score_of(const struct cvss4_class *c)
{
	return class_scores[c->level[IMPACT]][c->level[EXPLOIT]][c->level[COMPLEXITY]]
			   [c->level[BEYOND]];
}

/* ---- the next class below, group by group ---- */

/* The scores one level down; -1 where there is none. Of two ways down the higher one counts. */
static int lower_score(const struct cvss4_class *c, int group)
{
	static const int below[IMPACT_LEVELS][2] = {
		[IMPACT_BOTH] = {IMPACT_BOTH_LESS, IMPACT_SOME},
		[IMPACT_SOME] = {IMPACT_SOME_LESS, IMPACT_SOME_LESS},
	};
	static const int levels[GROUPS] = {[EXPLOIT] = 3, [COMPLEXITY] = 2, [BEYOND] = 2};
	struct cvss4_class first = *c, second = *c;

	if (group == IMPACT) {
		if (c->level[IMPACT] == IMPACT_NONE)
			return -1;
		first.level[IMPACT] = below[c->level[IMPACT]][0];
		second.level[IMPACT] = below[c->level[IMPACT]][1];
	} else {
		if (c->level[group] + 1 == levels[group])
			return -1;
		first.level[group]++;
		second.level[group]++;
	}
	return score_of(&first) > score_of(&second) ? score_of(&first) : score_of(&second);
}

/* ---- how far below the worst of its class ---- */

/* The worst vectors of a level, in places of letters; a vector lies below one of them at least. */
enum { WORST_METRICS = 3, WORST_MAX = 3 };

struct cvss4_level {
	int depth; /* steps that the level is deep */
	int n;
	int worst[WORST_MAX][WORST_METRICS];
};

static const struct cvss4_group {
	int metrics[WORST_METRICS], n_metrics;
	struct cvss4_level levels[IMPACT_LEVELS];
} groups[GROUPS] = {
	[EXPLOIT] = {{AV, PR, UI},
                     3,
                     {{1, 1, {{0, 0, 0}}},
                      {4, 3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                      {5, 2, {{3, 0, 0}, {1, 1, 1}}}}},
	[COMPLEXITY] = {{AC, AT}, 2, {{1, 1, {{0, 0}}}, {2, 2, {{1, 0}, {0, 1}}}}},
	[IMPACT] = {{VC, VI, VA},
                    3,
                    {[IMPACT_BOTH] = {7, 1, {{0, 0, 0}}},
                     [IMPACT_SOME] = {8, 2, {{1, 0, 0}, {0, 1, 0}}},
                     [IMPACT_NONE] = {10, 1, {{1, 1, 1}}}}},
	[BEYOND] = {{SC, SI, SA}, 3, {{5, 1, {{0, 0, 0}}}, {4, 1, {{1, 1, 1}}}}},
};

/* In steps; -1 when the vector does not lie below this one. */
static int distance(const struct cvss4_group *g, const int worst[WORST_METRICS],
                    const int m[METRICS])
{
	int sum = 0;

	for (int i = 0; i < g->n_metrics; i++) {
		int d = m[g->metrics[i]] - worst[i];

		if (d < 0)
			return -1;
		sum += d;
	}
	return sum;
}

/* All groups' worst vectors are tried together, in order: the first that fits counts. As groups
 * share no metric, that is the first of each. */
static int distance_in(const struct cvss4_group *g, int level, const int m[METRICS])
{
	const struct cvss4_level *l = &g->levels[level];
	int d = -1;

	for (int i = 0; d < 0 && i < l->n; i++)
		d = distance(g, l->worst[i], m);
	return d < 0 ? 0 : d;
}

/* ---- the score ---- */

static bool has_impact(const int m[METRICS])
{
	for (int i = VC; i <= SA; i++)
		if (m[i] < 2)
			return true;
	return false;
}

static int score(const int m[METRICS])
{
	const struct cvss4_class c = class_of(m);
	/* The group of threats is at its worst, which is a way down of no distance. */
	double sum = 0, ways = 1;

	for (int g = 0; g < GROUPS; g++) {
		const int lower = lower_score(&c, g);

		if (lower < 0)
			continue;
		ways++;
		sum += (score_of(&c) - lower) * distance_in(&groups[g], c.level[g], m) /
		       (double)groups[g].levels[c.level[g]].depth;
	}
	/* Half a tenth goes up, and what binary fractions fall short of it, too. */
	return (int)floor(score_of(&c) - sum / ways + 0.5 + 1e-5);
}

bool cvss4_base_score(const char *vector, int *ret_tenths)
{
	static const char prefix[] = "CVSS:4.0/";
	int m[METRICS];

	if (!text_has_prefix(vector, prefix))
		return false;
	for (int i = 0; i < METRICS; i++)
		if (!read_metric(vector + strlen(prefix), metrics[i].name, metrics[i].letters,
		                 &m[i]))
			return false;
	*ret_tenths = has_impact(m) ? score(m) : 0;
	return true;
}
