/*
 * What things cost, as the user says: slipway holds no prices, since they differ by region,
 * contract and hour. Money is kept as whole millionths of the table's currency, so that sums are
 * exact.
 *
 * A table is a flat YAML mapping, or lines "KEY,PRICE" (CSV, # begins a comment):
 *   trn1.32xlarge: 21.50          per hour, on demand
 *   g5.48xlarge/spot: 6.55        per hour, spot
 *   fsx-gib-month: 0.145          storage, per GiB and month
 *   currency: EUR                 default USD
 */
#ifndef SLIPWAY_K8S_DEPLOY_PRICES_H
#define SLIPWAY_K8S_DEPLOY_PRICES_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/strmap.h"

enum { PRICES_BYTES_MAX = 1 << 20, MICROS = 1000000, HOURS_PER_MONTH = 730 };

#define PRICE_CURRENCY "currency"

struct prices {
	struct strmap table;  /* as written; every price is valid */
	const char *currency; /* "USD" */
};

/* Reads a file: its name ends in .csv, or it is YAML. Problems go to diags (ERR_SPEC). */
int prices_load(const char *path, struct arena *a, struct diags *diags, struct prices *ret,
                struct err *err) MUST_USE;

/* From a mapping whose prices are checked (cluster.prices of the spec). */
void prices_of_map(const struct strmap *map, struct arena *a, struct prices *ret);

/* "21.50" in millionths; false: not a number from 0 below a billion with at most six decimals. */
bool price_parse(const char *text, int64_t *ret_micros);

/*
 * Per hour, of an instance of that capacity type ("on-demand", "spot", "reserved"; NULL: not
 * known). A price without a capacity type is that of on-demand alone: spot is another price, and a
 * reservation is paid for elsewhere. False: unknown, which is not 0.
 */
bool prices_instance(const struct prices *p, const char *type, const char *capacity,
                     int64_t *ret_micros);

/* Per hour, of a file system of that many GiB whose driver has its price under `key` (a row of
 * k8s/fleet/storage_driver.h): a month has 730 hours. */
bool prices_storage(const struct prices *p, const char *key, int64_t gib, int64_t *ret_micros);

/* "21.50 USD" with two decimals at least, four at most; returns out. */
enum { PRICE_TEXT_MAX = 64 };
const char *price_text(const struct prices *p, int64_t micros, char out[PRICE_TEXT_MAX]);

#endif
