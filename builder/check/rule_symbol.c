/*
 * Symbols of a program: each that a relocation names is defined by something that the loader maps.
 * Nothing is said when something comes from the node or is missing, when a file's tables are not
 * understood, or of what no program loads at start: the host of a plug-in may define anything.
 */
#include <string.h>

#include "builder/check/linkage.h"

/* Of one object, what is defined nowhere. */
struct unbound {
	const struct elf_symbol_need *first; /* the first that stops the start, else the first */
	size_t n;
	bool at_start;
};

/* A library may have functions that this program never gets to; what the program itself calls, it
 * was written to call. */
static bool is_error(const struct linkage *l, const struct link_object *o, const struct unbound *u)
{
	return u->at_start || o == l->objects.at[0].object;
}

/* A known file without a table defines nothing and needs nothing; an unknown table may. */
static bool is_known(const struct link_object *o)
{
	return o->elf->symbols != NULL && !o->elf->filter;
}

static bool scope_is_known(const struct linkage *l, const struct link_object *loader)
{
	if (l->open || loader == NULL || !is_known(loader))
		return false;
	for (size_t i = 0; i < l->objects.n; i++)
		if (!is_known(l->objects.at[i].object))
			return false;
	return true;
}

/* Whether the objects that define everything it needs are all loaded again. */
static bool is_bound_again(const struct linkage *l, const struct link_object *o)
{
	for (size_t i = 0; i < o->n_providers; i++)
		if (o->providers[i]->program != l->program)
			return false;
	return o->n_providers > 0;
}

struct binding {
	struct linkage *l;
	struct link_object *from, *loader;
	struct link_object *providers[LINK_PROVIDERS_MAX];
	size_t n_providers;
	bool too_many;
};

static bool provides(struct binding *b, struct link_object *o, const struct elf_symbol_need *need,
                     uint64_t hash, const char *version)
{
	size_t steps = 1;
	bool defined =
		(o != b->from || !need->elsewhere) && elf_defines(o->elf, hash, version, &steps);

	return linkage_spend(b->l, steps) && defined;
}

static void note_provider(struct binding *b, struct link_object *o)
{
	for (size_t i = 0; i < b->n_providers; i++)
		if (b->providers[i] == o)
			return;
	if (b->n_providers < LINK_PROVIDERS_MAX)
		b->providers[b->n_providers++] = o;
	else
		b->too_many = true;
}

/* Whichever defines it: order matters to what is called, not to whether it is found. */
static struct link_object *find_provider(struct binding *b, const struct elf_symbol_need *need)
{
	struct linkage *l = b->l;
	const struct elf_version *v = elf_version_at(b->from->elf, need->version);
	const char *version = v != NULL && v->library != NULL ? v->name : NULL;
	const size_t len = strlen(need->name);
	const uint64_t hash = elf_symbol_hash(need->name, len);
	const struct linked *named = version != NULL ? linkage_find(l, v->library) : NULL;

	linkage_spend(l, len / 64 + (version != NULL ? linkage_name_cost(v->library) : 0));
	if (named != NULL && provides(b, named->object, need, hash, version))
		return named->object;
	for (size_t i = 0; i < b->n_providers; i++)
		if (provides(b, b->providers[i], need, hash, version))
			return b->providers[i];
	for (size_t i = 0; i < l->objects.n; i++)
		if (provides(b, l->objects.at[i].object, need, hash, version))
			return l->objects.at[i].object;
	return provides(b, b->loader, need, hash, version) ? b->loader : NULL;
}

/* musl binds everything before the start; glibc does when it is told to. */
static bool binds_now(const struct linkage *l, const struct elf_info *elf)
{
	const char *env = rule_env(l->image, "LD_BIND_NOW");

	return elf->bind_now || l->is_musl || (env != NULL && env[0] != '\0');
}

static struct unbound bind_object(struct binding *b)
{
	const struct elf_symbols *s = b->from->elf->symbols;
	const bool now = binds_now(b->l, b->from->elf);
	struct unbound u = {0};

	for (size_t i = 0; i < s->n_needs && !b->l->exhausted; i++) {
		const struct elf_symbol_need *need = &s->needs[i];
		struct link_object *o = find_provider(b, need);

		if (o != NULL) {
			note_provider(b, o);
			continue;
		}
		if (u.first == NULL || (!u.at_start && (now || need->at_start)))
			u.first = need;
		u.at_start |= now || need->at_start;
		u.n++;
	}
	return u;
}

static void report(struct linkage *l, const struct link_object *o, const struct unbound *u)
{
	struct check_image *image = l->image;
	struct arena *a = image->run->arena;
	const struct linked *root = &l->objects.at[0];
	const struct elf_version *v = elf_version_at(o->elf, u->first->version);
	const bool versioned = v != NULL && v->library != NULL;
	const char *text = arena_printf(
		a, "%s the symbol '%s'%s%s%s%s%s, which nothing%s%s defines: %s",
		u->at_start ? "needs" : "calls", u->first->name, versioned ? " in version " : "",
		versioned ? v->name : "", versioned ? " of " : "", versioned ? v->library : "",
		u->n > 1 ? arena_printf(a, " and %zu more", u->n - 1) : "",
		o != root->object ? " that is loaded for " : " that is loaded",
		o != root->object ? root->name : "",
		u->at_start ? "the loader stops the start with 'undefined symbol'"
			    : "the program dies when it gets there");

	rule_hint(image,
	          rule_report_as(image, RULE_ELF_SYMBOL,
	                         is_error(l, o, u) ? DIAG_ERROR : DIAG_WARNING,
	                         rule_place_of(image, o->node), text),
	          "put in the version of the library that the file was linked with, or build it "
	          "against the one of the image");
}

static void check_object(struct linkage *l, struct link_object *o, struct link_object *loader)
{
	const unsigned done = MARK_GLIBC_REPORTED | MARK_SYMBOL_REPORTED;
	struct binding b = {.l = l, .from = o, .loader = loader};
	struct unbound u;

	/* Missing versions were reported: their symbols are the same problem. */
	if (o->elf->symbols->n_needs == 0 || (o->node->marks & done) != 0 || is_bound_again(l, o))
		return;
	u = bind_object(&b);
	if (l->exhausted)
		return;
	o->n_providers = 0;
	if (u.n == 0 && !b.too_many) {
		memcpy(o->providers, b.providers, sizeof(b.providers));
		o->n_providers = b.n_providers;
	}
	if (u.n == 0 || (!is_error(l, o, &u) && (o->node->marks & MARK_SYMBOL_WARNED) != 0))
		return;
	o->node->marks |= is_error(l, o, &u) ? MARK_SYMBOL_REPORTED : MARK_SYMBOL_WARNED;
	report(l, o, &u);
}

void linkage_check_symbols(struct linkage *l)
{
	struct link_object *loader;

	if (l->image->run->off[RULE_ELF_SYMBOL] || l->loader == NULL)
		return;
	loader = linkage_object(l, l->loader);
	if (!scope_is_known(l, loader))
		return;
	loader->program = l->program;
	for (size_t i = 0; i < l->objects.n; i++)
		check_object(l, l->objects.at[i].object, loader);
}
