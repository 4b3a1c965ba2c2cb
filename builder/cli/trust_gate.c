#include "builder/cli/trust_gate.h"

static int open_key(const struct gate_outside *o, const char *ref, struct trust_key **ret_key,
                    struct err *err)
{
	struct trust_gate *t = o->ctx;

	return key_open(&t->variables, t->remote, ref, false, ret_key, err);
}

void trust_gate_init(struct trust_gate *t, struct cli *cli, const struct spec *spec,
                     const struct remote *remote)
{
	*t = (struct trust_gate){.cli = cli, .remote = remote};
	t->outside = (struct gate_outside){.open_key = open_key, .ctx = t};
	t->gate = (struct gate){.rules = spec->trust,
	                        .n_rules = spec->n_trust,
	                        .spec_dir = spec->dir,
	                        .remote = remote,
	                        .outside = &t->outside,
	                        .arena = &cli->arena};
	key_variables_take(&t->variables);
}

void trust_gate_done(struct trust_gate *t)
{
	gate_done(&t->gate);
	key_variables_done(&t->variables);
}

static cJSON *verdict_json(const struct gate_verdict *v)
{
	cJSON *row = cJSON_CreateObject(), *has, *refused;

	json_add_string(row, "image", v->image);
	if (v->pinned != NULL)
		json_add_string(row, "pinned", v->pinned);
	json_add_int(row, "rules", (int64_t)v->n_rules);
	has = json_add_array(row, "has");
	for (size_t i = 0; i < v->has.n; i++)
		json_push_string(has, v->has.at[i]);
	refused = json_add_array(row, "refused");
	for (size_t i = 0; i < v->n_refusals; i++) {
		const struct gate_refusal *r = &v->refusals[i];
		cJSON *item = cJSON_CreateObject();

		if (r->at.file != NULL)
			json_add_int(item, "line", r->at.line);
		json_add_string(item, "asked", r->asked);
		json_add_string(item, "reason", r->reason);
		json_add_string(item, "next", r->next);
		json_push(refused, item);
	}
	return row;
}

/* Where no rule is for an image, they all stand for the one that is missing. */
static struct srcpos place_of(const struct trust_gate *t, struct srcpos at)
{
	return at.file != NULL || t->gate.n_rules == 0 ? at : t->gate.rules[0].at;
}

static void tell(struct trust_gate *t, const char *image, const struct gate_refusal *r)
{
	struct diag *d =
		diags_add(&t->cli->diags, DIAG_ERROR, place_of(t, r->at), "trust%s%s: %s: %s",
	                  r->asked[0] != '\0' ? "." : "", r->asked, image, r->reason);

	if (r->next[0] != '\0')
		diag_hint(&t->cli->diags, d, "%s", r->next);
}

void trust_gate_refuse(struct trust_gate *t, const char *image, const char *reason,
                       const char *next)
{
	const struct gate_refusal r = {.asked = "", .reason = reason, .next = next};

	tell(t, image, &r);
	t->n_refused++;
}

int trust_gate_look(struct trust_gate *t, const char *image, cJSON *rows,
                    struct gate_verdict *ret_verdict, struct err *err)
{
	struct gate_verdict v;

	if (gate_look(&t->gate, image, &v, err) != 0)
		return -1;
	t->n_images++;
	t->n_refused += v.n_refusals > 0;
	for (size_t i = 0; i < v.n_refusals; i++)
		tell(t, v.pinned != NULL ? v.pinned : v.image, &v.refusals[i]);
	json_push(rows, verdict_json(&v));
	*ret_verdict = v;
	return 0;
}

int trust_gate_verdict(const struct trust_gate *t, struct err *err)
{
	if (t->n_refused == 0)
		return 0;
	return err_set(err, ERR_CHECK, "%zu of %zu image%s not what `trust` in the spec asks for",
	               t->n_refused, t->n_images, t->n_images == 1 ? " is" : "s are");
}
