/*
 * GELU and the exponential on the device, from the instructions that every device has. erf is
 * Abramowitz and Stegun 7.1.26, off by at most 1.5e-7, as on the CPU.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_VALUES_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_VALUES_H

#include "trainer/cuda/kernels/device.h"

/* log2(e) in two parts, so that the argument's rounding does not grow with it */
INLINE float exponential(float x)
{
	float high = x * 1.44269502f;
	float low = fused(x, 1.44269502f, -high) + x * 1.925963033e-8f;

	/* Beyond these the result is 0 or infinite, and high may be infinite, low not a number. */
	if (x < -104.0f)
		return 0;
	if (x > 89.0f)
		return exp2_fast(129.0f);
	return exp2_fast(high) * fused(low, 0.693147182f, 1.0f);
}

INLINE float error_function(float x)
{
	float size = x < 0 ? -x : x, t = 1.0f / fused(0.3275911f, size, 1.0f), sum;

	sum = fused(1.061405429f, t, -1.453152027f);
	sum = fused(sum, t, 1.421413741f);
	sum = fused(sum, t, -0.284496736f);
	sum = fused(sum, t, 0.254829592f);
	sum = 1.0f - sum * t * exponential(-size * size);
	return x < 0 ? -sum : sum;
}

/* tanh x, and in *slope 1 - tanh^2 x, which would be rounding alone if it were subtracted. */
INLINE float hyperbolic_tangent(float x, float *slope)
{
	float small = exponential(x < 0 ? 2.0f * x : -2.0f * x), t = 1.0f / (1.0f + small);

	*slope = 4.0f * small * t * t;
	return x < 0 ? (small - 1.0f) * t : (1.0f - small) * t;
}

/* sqrt(2/pi) and the cubic factor of the tanh form (Hendrycks and Gimpel 2016) */
INLINE float tanh_argument(float x)
{
	return 0.797884561f * fused(0.044715f * x * x, x, x);
}

/* form 0: by erf; 1: by tanh, as enum gelu_form counts them */
INLINE float gelu_value(float x, uint32_t form)
{
	float slope, s = form == 0 ? error_function(x * 0.707106781f)
	                           : hyperbolic_tangent(tanh_argument(x), &slope);

	return 0.5f * x * (1.0f + s);
}

INLINE float gelu_slope(float x, uint32_t form)
{
	float t, slope;

	if (form == 0)
		return fused(x * 0.398942280f, exponential(-0.5f * x * x),
		             0.5f * (1.0f + error_function(x * 0.707106781f)));
	t = hyperbolic_tangent(tanh_argument(x), &slope);
	return fused(0.5f * x * slope * 0.797884561f, fused(0.134145f * x, x, 1.0f),
	             0.5f * (1.0f + t));
}

#endif
