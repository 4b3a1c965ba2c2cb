#include "trainer/model/positions.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void positions_linspace(float start, float end, size_t n, float *out)
{
	float step = n > 1 ? (end - start) / (float)(n - 1) : 0;

	/* from both ends to the middle, so that the last value is exactly `end` */
	for (size_t i = 0; i < n; i++)
		out[i] = i < n / 2 || n == 1 ? start + step * (float)i
		                             : end - step * (float)(n - 1 - i);
}

void positions_features(float pos, size_t resolution, size_t n_bands, float *row)
{
	AUTO_FREE float *bands = mem_calloc(n_bands, sizeof(bands[0]));

	positions_linspace(1, (float)resolution / 2, n_bands, bands);
	row[0] = pos;
	for (size_t k = 0; k < n_bands; k++) {
		volatile float cycles =
			pos * bands[k]; /* rounded here, whatever the optimiser likes */
		volatile float argument = cycles * (float)M_PI;

		row[1 + k] = (float)sin((double)argument);
		row[1 + n_bands + k] = (float)cos((double)argument);
	}
}

void positions_encoder(size_t n, size_t resolution, size_t n_bands, float *out)
{
	AUTO_FREE float *pos = mem_calloc(n, sizeof(pos[0]));

	positions_linspace(-1, 1, n, pos);
	for (size_t i = 0; i < n; i++)
		positions_features(pos[i], resolution, n_bands, out + i * (1 + 2 * n_bands));
}

void positions_decoder_row(size_t i, size_t n, size_t resolution, size_t n_bands, float *row)
{
	volatile float fraction = (float)(2 * i) / (float)n;

	positions_features(-1 + fraction, resolution, n_bands, row);
}

void positions_decoder(size_t n, size_t resolution, size_t n_bands, float *out)
{
	for (size_t i = 0; i < n; i++)
		positions_decoder_row(i, n, resolution, n_bands, out + i * (1 + 2 * n_bands));
}
