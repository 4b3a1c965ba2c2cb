# How much of a long series runs: lib.bash and trainer.bash load it.
# shellcheck shell=bash

# Long series run whole in `make test-long`, and a fixed tenth of them here.
# series N: how many of N.
series() { if [[ -n ${SLIPWAY_TEST_LONG:-} ]]; then echo "$1"; else echo $((($1 + 9) / 10)); fi; }

# chosen TEXT: whether this one of a series belongs to the tenth, by its checksum.
chosen() { [[ -n ${SLIPWAY_TEST_LONG:-} ]] || (($(cksum <<<"$1" | cut -d ' ' -f 1) % 10 == 0)); }
