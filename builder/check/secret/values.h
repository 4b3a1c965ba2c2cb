/*
 * What values and names say of themselves: a text that stands for a secret to be filled in, a name
 * that promises one. Pure.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_VALUES_H
#define SLIPWAY_BUILDER_CHECK_SECRET_VALUES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A random token that cannot be one: too few different characters, or a run such as "xxxx",
 * "12345678", "abcdefgh", "EXAMPLE".
 */
bool secret_is_dummy(const char *token, size_t len);

/*
 * A value that is no secret by its form: empty, a variable or a template ("${X}", "{{x}}",
 * "<token>"), a switch ("true", "0"), a word that says what to write ("changeme"), or a dummy.
 */
bool secret_is_placeholder(const char *value, size_t len);

/* A value that says where the secret is: a path, or a URL or ARN without a password in it. */
bool secret_is_reference(const char *value, size_t len);

/* Whether the text holds SCHEME://USER:PASSWORD@ with a password that is no placeholder. */
bool secret_has_url_password(const char *text, size_t len);

/*
 * Whether "name = value" gives a secret away: the name's last words promise one (PASSWORD, TOKEN,
 * apiKey, ..., also *_KEY before what looks random) and the value is neither placeholder nor
 * reference.
 */
bool secret_assignment_leaks(const char *name, size_t name_len, const char *value, size_t len);

#endif
