/* On a CPU a linear layer and its GELU are two passes: the values are in a cache between them. */
#include "trainer/ops/cpu.h"

void linear_then_gelu(struct ops *ops, const struct op_linear_gelu *p)
{
	ops->table->linear_forward(ops, &p->linear);
	ops->table->gelu_forward(ops, &p->gelu);
}

void linear_then_gelu_backward(struct ops *ops, const struct op_linear_gelu *p)
{
	ops->table->linear_backward(ops, &p->linear);
	ops->table->gelu_backward(ops, &p->gelu);
}
