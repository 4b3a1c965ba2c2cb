#include "builder/cli/key_option.h"

#include <stdlib.h>
#include <string.h>

void key_variables_done(struct key_variables *v)
{
	for (size_t i = 0; i < v->taken.n; i++) {
		free(v->taken.at[i].name);
		mem_free_secret(&v->taken.at[i].value);
	}
	vec_done(&v->taken);
}

static const struct key_variable *find(const struct key_variables *v, const char *name)
{
	for (size_t i = 0; i < v->taken.n; i++)
		if (strcmp(v->taken.at[i].name, name) == 0)
			return &v->taken.at[i];
	return NULL;
}

/* The memory that the kernel shows as our environment is overwritten, too (proc_pid_environ(5)). */
static void take(struct key_variables *v, const char *name)
{
	char *value = getenv(name);

	if (value == NULL || find(v, name) != NULL)
		return;
	vec_push(&v->taken, ((struct key_variable){mem_strdup(name), mem_strdup(value)}));
	explicit_bzero(value, strlen(value));
	unsetenv(name);
}

void key_variables_take(struct key_variables *v)
{
	take(v, TRUST_PASSWORD_VARIABLE);
}

struct outside {
	struct trust_key_outside outside;
	struct key_variables *variables;
	const struct aws_outside *aws;
};

static char *take_variable(const struct trust_key_outside *o, const char *name)
{
	struct key_variables *v = ((const struct outside *)o)->variables;

	take(v, name);
	const struct key_variable *found = find(v, name);

	return found != NULL ? mem_strdup(found->value) : NULL;
}

static int prompt(const struct trust_key_outside *o, const char *question, char **ret_answer,
                  struct err *err)
{
	const struct aws_outside *aws = ((const struct outside *)o)->aws;

	return aws->prompt(aws, question, ret_answer, err);
}

int key_open(struct key_variables *v, const struct remote *remote, const char *ref, bool to_sign,
             struct trust_key **ret_key, struct err *err)
{
	const struct aws_outside *aws = &remote->aws->outside;
	const struct outside o = {
		.outside = {take_variable, aws->prompt != NULL ? prompt : NULL, NULL},
		.variables = v,
		.aws = aws};
	const struct trust_key_opts opts = {.ref = ref,
	                                    .to_sign = to_sign,
	                                    .aws = remote->aws->session,
	                                    .aws_err = &remote->aws->err,
	                                    .outside = &o.outside};

	return trust_key_open(&opts, ret_key, err);
}

void key_list_done(struct key_list *keys)
{
	for (size_t i = 0; i < keys->n; i++)
		trust_key_free(keys->at[i]);
	free(keys->at);
	*keys = (struct key_list){0};
}

int key_list_open(struct key_variables *v, const struct remote *remote, const struct strlist *refs,
                  struct key_list *keys, struct err *err)
{
	keys->at = mem_calloc(refs->n, sizeof(struct trust_key *));
	for (; keys->n < refs->n; keys->n++)
		if (key_open(v, remote, refs->at[keys->n], false, &keys->at[keys->n], err) != 0)
			return -1;
	return 0;
}

int key_annotations(const struct strlist *texts, struct arena *a, struct strmap *ret_map,
                    struct err *err)
{
	for (size_t i = 0; i < texts->n; i++) {
		const char *equals = strchr(texts->at[i], '=');

		if (equals == NULL || equals == texts->at[i])
			return err_set(err, ERR_USAGE, "'%.200s' is not NAME=VALUE", texts->at[i]);
		strmap_set(ret_map, a,
		           arena_strndup(a, texts->at[i], (size_t)(equals - texts->at[i])),
		           equals + 1);
	}
	return 0;
}
