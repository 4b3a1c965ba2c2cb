"""Products whose operands have bf16's precision, put under an unchanged model.

trainer/README.md, "In bf16", says which operands the trainer rounds: both of every product of a linear layer and of
an attention, forward and backward; sums are not rounded. `Rounding` patches torch so that the model does the same.

An operand is either rounded to nearest, or rounded on bf16's grid moved by a part of a place, another for each seed
and binade (trainer/cmd/golden_draw.h says why). Values that bf16 holds exactly are left alone.
"""
import torch

MASK = 0xFFFFFFFF


def nearest(x):
    return x.float().bfloat16().to(x.dtype)


def spread(x, seed):
    bits = x.float().contiguous().view(torch.int32).long() & MASK
    binade = bits >> 23
    h = binade ^ (seed * 0x9E3779B9 & MASK)
    for factor in (0x7FEB352D, 0x846CA68B):
        h = ((h ^ (h >> 15)) * factor) & MASK
    shift = (h ^ (h >> 16)) & 0xFFFF
    moved = ((bits + shift + 0x8000) & 0xFFFF0000) - shift
    moved = torch.where(moved > MASK >> 1, moved - (MASK + 1), moved).int().view(torch.float32).to(x.dtype)
    return torch.where((bits & 0xFFFF == 0) | (binade & 0xFF == 0), x, moved)


def fold_sum(grad, shape):
    """The gradient of an operand that was broadcast to grad's shape."""
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for i, n in enumerate(shape):
        if n == 1 and grad.shape[i] != 1:
            grad = grad.sum(i, keepdim=True)
    return grad


class Product(torch.autograd.Function):
    """a @ b of rounded operands; so are the two products of its derivative."""

    @staticmethod
    def forward(ctx, a, b, operand, means):
        ra, rb = operand(a), operand(b)
        y = EXACT(ra, rb)
        ctx.save_for_backward(ra, rb, y)
        ctx.operand, ctx.means = operand, means
        return y

    @staticmethod
    def backward(ctx, dy):
        ra, rb, y = ctx.saved_tensors
        if ctx.means is not None:
            ctx.means.append((dy * y).sum(-1, keepdim=True))
        dy = ctx.operand(dy)
        return (fold_sum(EXACT(dy, rb.transpose(-1, -2)), ra.shape),
                fold_sum(EXACT(ra.transpose(-1, -2), dy), rb.shape), None, None)


class Softmax(torch.autograd.Function):
    """The mean that its derivative subtracts is taken as a flash attention takes it, from what came out of P v."""

    @staticmethod
    def forward(ctx, scores, means):
        p = EXACT_SOFTMAX(scores, -1)
        ctx.save_for_backward(p)
        ctx.means = means
        return p

    @staticmethod
    def backward(ctx, dp):
        (p,) = ctx.saved_tensors
        return p * (dp - ctx.means.pop()), None


class Mean(torch.autograd.Function):
    """Nothing but a place to take Softmax's mean from."""

    @staticmethod
    def forward(ctx, y, means):
        ctx.save_for_backward(y)
        ctx.means = means
        return y.clone()

    @staticmethod
    def backward(ctx, dy):
        (y,) = ctx.saved_tensors
        ctx.means.append((dy * y).sum(-1, keepdim=True))
        return dy, None


EXACT, EXACT_SOFTMAX = torch.matmul, torch.softmax


class Rounding:
    """While entered, linear layers and attentions multiply rounded operands.

    folded: the encoder's cross attention (of one head) takes the form of trainer/README.md, "Fold the projections",
    in which other operands are rounded.
    """

    def __init__(self, model, operand, folded=False):
        self.operand, self.folded = operand, folded
        self.attention = model.perceiver.encoder.cross_attention.attention.self
        self.is_data = None  # [clips, tokens, channels] of 0 and 1, set before each forward: see make.py

    def product(self, a, b):
        return Product.apply(a, b, self.operand, getattr(a, "means", None))

    @staticmethod
    def softmax(_module, scores):
        means = []
        p = Softmax.apply(scores, means)
        p.means = means  # P v, the next product with it, leaves the mean here
        return p

    def linear(self, x, weight, bias=None):
        y = self.product(x, weight.t())
        return y if bias is None else y + bias

    def cross(self, hidden, _mask=None, _head=None, inputs=None, *_, **__):
        """context = (g U + b) Wv + bv with U = P x^, and scores (s q Wk g) x^: keys and values are never formed."""
        m = self.attention
        q = m.query(m.layernorm1(hidden))
        weights = self.product(q, m.key.weight) / q.shape[-1] ** 0.5 * m.layernorm2.weight
        mean = inputs.mean(-1, keepdim=True)
        rstd = (inputs.var(-1, unbiased=False, keepdim=True) + m.layernorm2.eps).rsqrt()
        # Padding and mask vectors are no operands: their products are taken once per modality, in float32.
        rounded = inputs * self.is_data
        plain = inputs - rounded
        scores = self.product(weights, rounded.transpose(1, 2)) + EXACT(weights, plain.transpose(1, 2))
        scores = (scores - weights.sum(-1, keepdim=True) * mean.transpose(1, 2)) * rstd.transpose(1, 2)
        means = []
        p = Softmax.apply(scores, means) * rstd.transpose(1, 2)
        u = Mean.apply(self.product(p, rounded) + EXACT(p, plain) - EXACT(p, mean), means)
        return (self.linear(u * m.layernorm2.weight + m.layernorm2.bias, m.value.weight, m.value.bias),)

    def __enter__(self):
        self.kept = torch.matmul, torch.nn.functional.linear, torch.nn.Softmax.forward
        torch.matmul, torch.nn.functional.linear, torch.nn.Softmax.forward = self.product, self.linear, self.softmax
        if self.folded:
            self.attention.forward = self.cross
        return self

    def __exit__(self, *_):
        torch.matmul, torch.nn.functional.linear, torch.nn.Softmax.forward = self.kept
        if self.folded:
            del self.attention.forward
