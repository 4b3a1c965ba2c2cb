#include "k8s/fleet/pins.h"

#include "base/attr.h"

/* Everything that a row must say. */
#define PIN(id, repository_, version_, purpose_, source_, read_)                                   \
	[PIN_##id] = {                                                                             \
		.repository = "" repository_,                                                      \
		.version = "" version_,                                                            \
		.image = repository_ ":" version_,                                                 \
		.purpose = "" purpose_,                                                            \
		.source = "https://" source_,                                                      \
		.read = "" read_,                                                                  \
	},

const struct pin pins[] = {PIN_LIST(PIN)};
_Static_assert(ARRAY_LEN(pins) == PINS, "pins: one row per enum pin_name");
