#include "builder/cli/price_option.h"

int price_option(struct cli *cli, const char *file, struct prices *ret, bool *ret_given,
                 struct err *err)
{
	*ret_given = file != NULL;
	if (!*ret_given)
		return 0;
	return prices_load(file, &cli->arena, &cli->diags, ret, err);
}
