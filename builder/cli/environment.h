/*
 * The environment variables that slipway reads, for `slipway help environment` and the page
 * docs/ENVIRONMENT.md. tests/lint/environment holds the table against the source, both ways.
 */
#ifndef SLIPWAY_BUILDER_CLI_ENVIRONMENT_H
#define SLIPWAY_BUILDER_CLI_ENVIRONMENT_H

#include "base/strbuf.h"

/* Appends the page, in Markdown. */
void environment_markdown(struct strbuf *sb);

/* Appends the variables of slipway itself and of the system, as troff for slipway(1). */
void environment_man(struct strbuf *sb);

#endif
