#include "builder/cli/price_option.h"

int price_option(struct cli *cli, struct prices *ret, bool *ret_given, struct err *err)
{
	*ret_given = cli->options.prices != NULL;
	if (!*ret_given)
		return 0;
	return prices_load(cli->options.prices, &cli->arena, &cli->diags, ret, err);
}
