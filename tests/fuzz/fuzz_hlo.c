/*
 * Any bytes as a module for neuronx-cc: within the limits or refused with a sentence, never read beyond their end.
 */
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "trainer/neuron/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct neuron_checked checked = {0};
	struct err err = {0};

	if (neuron_check("fuzz", data, size, &checked, &err) != 0) {
		if (err.code == ERR_NONE || err.msg[0] == '\0')
			BUG("refused without a word");
		return 0;
	}
	if (checked.instructions == 0 || checked.unlisted > checked.instructions ||
	    !(checked.largest >= 0))
		BUG("%zu instructions, %zu of them unlisted", checked.instructions, checked.unlisted);
	return 0;
}
