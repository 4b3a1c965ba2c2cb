/*
 * The file system: which driver's it is; the driver resolves the rest by itself.
 */
#include "k8s/fleet/storage_driver.h"
#include "k8s/resolve/resolve_internal.h"
#include "k8s/storage/storage.h"

/* "write storage: {NAME: {...}}", of each driver. */
static const char *advice(struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1024);

	for (size_t i = 0; i < n_storage_drivers; i++)
		strbuf_addf(&text, "%s storage: {%s: {...}}", i == 0 ? "write" : " or",
		            storage_drivers[i]->name);
	return arena_strdup(a, strbuf_str(&text));
}

static const struct storage_driver *choose(struct resolver *r)
{
	const struct storage_section *section = &r->sections->storage;
	const struct storage_driver *chosen = NULL;

	for (size_t i = 0; i < n_storage_drivers; i++) {
		const struct storage_driver *driver = storage_drivers[i];

		if (!driver->wanted(section))
			continue;
		if (chosen != NULL)
			resolve_problem(r, section->at, "leave one of them out",
			                "storage: a fleet has one file system, not %s and %s",
			                chosen->name, driver->name);
		chosen = driver;
	}
	if (section->set && chosen == NULL)
		resolve_problem(r, section->at, advice(r->arena),
		                "storage: no file system is named");
	return chosen;
}

void resolve_storage(struct resolver *r)
{
	static const struct prepare_section nothing;
	struct fleet_storage *storage = &r->fleet->storage;
	struct storage_resolver of_driver = {r->sections, storage, r->arena, r->diags};

	*storage = (struct fleet_storage){
		.section = &r->sections->storage, .driver = choose(r), .prepare = &nothing};
	if (storage->driver == NULL)
		return;
	storage->claim = arena_printf(r->arena, "%s-data", r->fleet->name);
	storage->driver->resolve(&of_driver);
	storage->prepare_job = storage->prepare->set
	                               ? arena_printf(r->arena, "%s-prepare", r->fleet->name)
	                               : arena_printf(r->arena, "%s-%s-owner", r->fleet->name,
	                                              storage->driver->name);
}
