/* A module as an artifact, and back. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "builder/neff/neff.h"
#include "builder/oci/artifact.h"
#include "builder/oci/mediatype.h"

#define COMPILER_PREFIX "neuronxcc-"
#define MODULE_PREFIX   "MODULE_"
#define LAYER_TITLE     "org.opencontainers.image.title"
#define DIGITS          "0123456789"
#define LETTERS         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

const struct neff_file neff_files[NEFF_FILES] = {
	[NEFF_FILE_FLAGS] = {"compile_flags.json", "application/vnd.slipway.neff.flags.v1+json",
                             1 << 20, false},
	[NEFF_FILE_SOURCE] = {"model.hlo_module.pb", "application/vnd.slipway.neff.hlo.v1", 1 << 30,
                              false},
	[NEFF_FILE_RESULT] = {"model.neff", "application/vnd.slipway.neff.model.v1",
                              (int64_t)8 << 30, true},
};

int64_t neff_size(const struct neff_module *m)
{
	int64_t size = 0;

	for (size_t i = 0; i < NEFF_FILES; i++)
		size += m->files[i].size;
	return size;
}

/* ---- names ---- */

/* A prefix, then one to many of these letters. They become folders: no slash, and the prefix keeps
 * "." and ".." away. */
static bool is_name(const char *name, const char *prefix, const char *letters)
{
	size_t n = strlen(name), start = strlen(prefix);

	return text_has_prefix(name, prefix) && n > start && n <= NEFF_NAME_MAX &&
	       strspn(name + start, letters) == n - start;
}

bool neff_is_compiler(const char *name)
{
	return is_name(name, COMPILER_PREFIX, DIGITS LETTERS ".+-_");
}

/* "+" parts the module's hash from that of the flags. */
bool neff_is_key(const char *name)
{
	const char *plus = strchr(name, '+');

	return is_name(name, MODULE_PREFIX, DIGITS LETTERS "+") && plus != NULL &&
	       plus[1] != '\0' && strchr(plus + 1, '+') == NULL &&
	       plus > name + strlen(MODULE_PREFIX);
}

/* ---- to the artifact ---- */

/* With the file's name, for clients that write layers to files (ORAS). */
static struct descriptor layer_of(const struct neff_module *m, size_t kind, struct arena *a)
{
	struct descriptor d = m->files[kind];

	d.media_type = neff_files[kind].media_type;
	d.annotations = (struct strmap){0};
	strmap_set(&d.annotations, a, LAYER_TITLE, neff_files[kind].name);
	return d;
}

void neff_print(struct neff_module *m, const struct descriptor *subject, struct arena *a,
                struct strbuf *text)
{
	struct descriptor layers[NEFF_FILES];
	struct descriptor about = {.media_type = subject->media_type,
	                           .digest = subject->digest,
	                           .size = subject->size};
	struct manifest doc = {.media_type = MEDIA_MANIFEST,
	                       .artifact_type = NEFF_ARTIFACT_TYPE,
	                       .config = {.media_type = MEDIA_EMPTY,
	                                  .digest = digest_of(EMPTY_BYTES, strlen(EMPTY_BYTES)),
	                                  .size = (int64_t)strlen(EMPTY_BYTES)},
	                       .layers = layers,
	                       .subject = &about};

	for (size_t i = 0; i < NEFF_FILES; i++)
		if (m->files[i].media_type != NULL)
			layers[doc.n_layers++] = layer_of(m, i, a);
	strmap_set(&doc.annotations, a, NEFF_COMPILER, m->compiler);
	strmap_set(&doc.annotations, a, NEFF_MODULE, m->key);
	manifest_print(&doc, text);
	m->manifest = (struct descriptor){.media_type = MEDIA_MANIFEST,
	                                  .digest = digest_of(text->ptr, text->len),
	                                  .size = (int64_t)text->len,
	                                  .artifact_type = NEFF_ARTIFACT_TYPE,
	                                  .annotations = doc.annotations};
}

/* ---- from the artifact ---- */

static int take_names(const struct manifest *m, struct neff_module *module, struct err *err)
{
	const char *compiler = strmap_get(&m->annotations, NEFF_COMPILER);
	const char *key = strmap_get(&m->annotations, NEFF_MODULE);

	if (compiler == NULL || !neff_is_compiler(compiler))
		return err_set(err, ERR_FORMAT, "its annotation %s is not a compiler's: '%.80s'",
		               NEFF_COMPILER, compiler != NULL ? compiler : "");
	if (key == NULL || !neff_is_key(key))
		return err_set(err, ERR_FORMAT, "its annotation %s is not a module's: '%.80s'",
		               NEFF_MODULE, key != NULL ? key : "");
	module->compiler = compiler;
	module->key = key;
	return 0;
}

static int take_layer(const struct descriptor *layer, struct neff_module *module, struct err *err)
{
	size_t i = 0;

	while (i < NEFF_FILES && strcmp(neff_files[i].media_type, layer->media_type) != 0)
		i++;
	if (i == NEFF_FILES)
		return err_set(err, ERR_FORMAT,
		               "a layer is of the type '%.80s', which no module has",
		               layer->media_type);
	if (module->files[i].media_type != NULL)
		return err_set(err, ERR_FORMAT, "it has two layers for %s", neff_files[i].name);
	if (layer->size > neff_files[i].max)
		return err_set(err, ERR_LIMIT, "its %s has %lld bytes; at most %lld are taken",
		               neff_files[i].name, (long long)layer->size,
		               (long long)neff_files[i].max);
	module->files[i] = *layer;
	return 0;
}

int neff_parse(const struct manifest *m, const struct digest *subject,
               struct neff_module *ret_module, struct err *err)
{
	struct neff_module module = {0};

	if (m->subject == NULL || !digest_equal(&m->subject->digest, subject))
		return err_set(err, ERR_FORMAT, "its manifest is about another image");
	if (strcmp(artifact_type_of(m), NEFF_ARTIFACT_TYPE) != 0)
		return err_set(err, ERR_FORMAT, "its manifest is of the type '%.80s'",
		               artifact_type_of(m));
	if (take_names(m, &module, err) != 0)
		return -1;
	for (size_t i = 0; i < m->n_layers; i++)
		if (take_layer(&m->layers[i], &module, err) != 0)
			return -1;
	for (size_t i = 0; i < NEFF_FILES; i++)
		if (neff_files[i].needed && module.files[i].media_type == NULL)
			return err_set(err, ERR_FORMAT, "it has no layer for %s",
			               neff_files[i].name);
	*ret_module = module;
	return 0;
}

/* ---- lists ---- */

static int by_name(const void *a, const void *b)
{
	const struct neff_module *x = a, *y = b;
	int order = strcmp(x->compiler, y->compiler);

	return order != 0 ? order : strcmp(x->key, y->key);
}

void neff_sort(struct neff_list *list)
{
	if (list->n > 1)
		qsort(list->at, list->n, sizeof(*list->at), by_name);
}

const struct neff_module *neff_find(const struct neff_list *list, const char *compiler,
                                    const char *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i].compiler, compiler) == 0 &&
		    strcmp(list->at[i].key, key) == 0)
			return &list->at[i];
	return NULL;
}

static bool has_key(const struct neff_list *all, const char *key)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->at[i].key, key) == 0)
			return true;
	return false;
}

int neff_choose(const struct neff_list *all, const struct strlist *wanted, struct arena *a,
                struct neff_list *ret, struct err *err)
{
	struct neff_list chosen = {arena_calloc(a, all->n, sizeof(*chosen.at)), 0};

	for (size_t i = 0; i < wanted->n; i++)
		if (!has_key(all, wanted->at[i]))
			return err_set(err, ERR_NOT_FOUND, "it has no module '%.160s'",
			               wanted->at[i]);
	for (size_t i = 0; i < all->n; i++)
		if (wanted->n == 0 || strlist_has(wanted, all->at[i].key))
			chosen.at[chosen.n++] = all->at[i];
	*ret = chosen;
	return 0;
}
