/*
 * The members of every document, by commands.
 */
#include "base/attr.h"
#include "builder/cli/output_schema.h"

#define FORM(command, when, rows)                                                                  \
	{                                                                                          \
		command, when, rows, ARRAY_LEN(rows), NULL                                         \
	}
#define FORMS(command, when, rows, member)                                                         \
	{                                                                                          \
		command, when, rows, ARRAY_LEN(rows), member                                       \
	}

#define LAYERS(at)                                                                                 \
	{at "layers[].name", OUT_TEXT, OUT_MAYBE, "The layer's name in the spec"},                 \
		{at "layers[].digest", OUT_DIGEST, OUT_ALWAYS, "Of the compressed layer"},         \
	{                                                                                          \
		at "layers[].size", OUT_COUNT, OUT_ALWAYS, "Of the compressed layer, in bytes"     \
	}

#define SENT(at)                                                                                   \
	{at "blobs_uploaded", OUT_COUNT, OUT_ALWAYS, "Blobs that were sent"},                      \
		{at "blobs_mounted", OUT_COUNT, OUT_ALWAYS,                                        \
	         "Blobs taken from another repository there"},                                     \
		{at "blobs_existed", OUT_COUNT, OUT_ALWAYS, "Blobs that were there"},              \
		{at "bytes_uploaded", OUT_COUNT, OUT_ALWAYS, "Bytes that were sent"},              \
		{at "manifests_put", OUT_COUNT, OUT_ALWAYS,                                        \
	         "Manifests and indexes that were sent"},                                          \
	{                                                                                          \
		at "attached", OUT_COUNT, OUT_ALWAYS,                                              \
			"Documents sent along: signatures, SBOMs, statements"                      \
	}

#define PROBLEMS                                                                                   \
	{"problems", OUT_OBJECT, OUT_MAYBE, "What the image check says"},                          \
		{"problems[].severity", OUT_TEXT, OUT_ALWAYS, "error, warning or note"},           \
		{"problems[].file", OUT_TEXT, OUT_MAYBE, "The file it is in"},                     \
		{"problems[].line", OUT_COUNT, OUT_MAYBE, "From 1"},                               \
		{"problems[].column", OUT_COUNT, OUT_MAYBE, "From 1"},                             \
		{"problems[].rule", OUT_TEXT, OUT_MAYBE, "The rule of docs/CHECK.md"},             \
		{"problems[].message", OUT_TEXT, OUT_ALWAYS, "What is wrong"},                     \
	{                                                                                          \
		"problems[].hint", OUT_TEXT, OUT_MAYBE, "The next step"                            \
	}

static const struct output_row init[] = {
	{"directory", OUT_TEXT, OUT_ALWAYS, "The folder"},
	{"kind", OUT_TEXT, OUT_ALWAYS, "What it holds"},
	{"files[].path", OUT_TEXT, OUT_ALWAYS, "Below the folder"},
	{"files[].state", OUT_TEXT, OUT_ALWAYS, "created, added to or kept; or would be"},
	{"files[].text", OUT_TEXT, OUT_MAYBE, "With --dry-run: what it would hold"},
	{"next[].command", OUT_TEXT, OUT_ALWAYS, "A command that comes next"},
	{"next[].meaning", OUT_TEXT, OUT_ALWAYS, "What it makes"},
};
static const struct output_row build[] = {
	{"name", OUT_TEXT, OUT_ALWAYS, "The spec's name"},
	{"image", OUT_TEXT, OUT_MAYBE, "The image's name among several of a spec"},
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the index, or of the one manifest"},
	{"media_type", OUT_TEXT, OUT_ALWAYS, "Of what the digest names"},
	{"size", OUT_COUNT, OUT_ALWAYS, "Of what the digest names, in bytes"},
	{"layout", OUT_TEXT, OUT_MAYBE, "Where the image was written"},
	{"checked", OUT_BOOL, OUT_ALWAYS, "Was the image check run?"},
	{"allowed", OUT_COUNT, OUT_MAYBE, "Findings that the spec allows"},
	{"references", OUT_TEXTS, OUT_ALWAYS, "Names under which it can be had"},
	{"attached", OUT_TEXTS, OUT_MAYBE, "Documents attached to each image"},
	{"images[].platform", OUT_TEXT, OUT_ALWAYS, "OS/ARCH"},
	{"images[].digest", OUT_DIGEST, OUT_ALWAYS, "Of the platform's manifest"},
	{"images[].compressed_size", OUT_COUNT, OUT_ALWAYS, "Of all layers, in bytes"},
	{"images[].largest_layer", OUT_COUNT, OUT_ALWAYS, "Its compressed bytes"},
	{"images[].soci_index", OUT_DIGEST, OUT_MAYBE, "Of the index for lazy pulls"},
	LAYERS("images[]."),
	{"images[].layers[].diff_id", OUT_DIGEST, OUT_ALWAYS, "Of the layer's tar"},
	{"images[].layers[].raw_size", OUT_COUNT, OUT_ALWAYS, "Of the layer's tar, in bytes"},
	{"images[].layers[].cached", OUT_BOOL, OUT_ALWAYS, "Was it taken from the cache?"},
	{"images[].layers[].shared", OUT_BOOL, OUT_ALWAYS, "Do all platforms have it?"},
	{"push", OUT_OBJECT, OUT_MAYBE, "What --push sent"},
	SENT("push."),
};
static const struct output_row plan[] = {
	{"name", OUT_TEXT, OUT_ALWAYS, "The spec's name"},
	{"repository", OUT_TEXT, OUT_MAYBE, "Where it would be pushed"},
	{"tags", OUT_TEXTS, OUT_ALWAYS, "Its tags"},
	{"git", OUT_MAP, OUT_ALWAYS, "What git says of the source, where the spec asks"},
	{"compression", OUT_TEXT, OUT_ALWAYS, "zstd or gzip"},
	{"images", OUT_ANY, OUT_ALWAYS, "Per platform: base, layers and their sources"},
};
static const struct output_row push[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of what was pushed"},
	{"repository", OUT_TEXT, OUT_ALWAYS, "Where to"},
	{"tags", OUT_TEXTS, OUT_ALWAYS, "Tags that name it now"},
	SENT(""),
};
static const struct output_row copy[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of what was copied"},
	{"media_type", OUT_TEXT, OUT_ALWAYS, "Of what the digest names"},
	{"from", OUT_TEXT, OUT_ALWAYS, "The source"},
	{"to", OUT_TEXT, OUT_ALWAYS, "The target"},
	{"tags", OUT_TEXTS, OUT_ALWAYS, "Tags that name it now"},
	SENT(""),
};
static const struct output_row sign[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the image"},
	{"key", OUT_TEXT, OUT_ALWAYS, "The key's fingerprint"},
	{"signed", OUT_COUNT, OUT_ALWAYS, "Signatures that were made"},
	{"already_there", OUT_COUNT, OUT_ALWAYS, "Signatures of this key that were there"},
};
static const struct output_row neff[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the image"},
	{"modules[].module", OUT_TEXT, OUT_ALWAYS, "The module's key"},
	{"modules[].compiler", OUT_TEXT, OUT_ALWAYS, "What compiled it, and its version"},
	{"modules[].digest", OUT_DIGEST, OUT_ALWAYS, "Of the artifact's manifest"},
	{"modules[].size", OUT_COUNT, OUT_ALWAYS, "Of its files, in bytes"},
	{"modules[].moved", OUT_BOOL, OUT_ALWAYS, "Was it sent or fetched now?"},
};
static const struct output_row inspect[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of what the reference names"},
	{"media_type", OUT_TEXT, OUT_ALWAYS, "Of what the reference names"},
	{"size", OUT_COUNT, OUT_ALWAYS, "Of its document, in bytes"},
	{"attached", OUT_ANY, OUT_MAYBE, "With --tree: documents attached to it"},
	{"annotations", OUT_MAP, OUT_MAYBE, "Of the index"},
	{"images[].platform", OUT_TEXT, OUT_MAYBE, "OS/ARCH"},
	{"images[].digest", OUT_DIGEST, OUT_ALWAYS, "Of the manifest"},
	{"images[].media_type", OUT_TEXT, OUT_ALWAYS, "Of the manifest"},
	LAYERS("images[]."),
	{"images[].layers[].media_type", OUT_TEXT, OUT_ALWAYS, "Its format"},
	{"images[].compressed_size", OUT_COUNT, OUT_ALWAYS, "Of all layers, in bytes"},
	{"images[].annotations", OUT_MAP, OUT_MAYBE, "Of the manifest"},
	{"images[].config", OUT_ANY, OUT_MAYBE, "The image configuration, as OCI defines it"},
	{"images[].attached", OUT_ANY, OUT_MAYBE, "With --tree: documents attached to it"},
};
static const struct output_row verify[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the image"},
	{"blobs", OUT_COUNT, OUT_ALWAYS, "Blobs that were read and compared"},
	{"allowed", OUT_COUNT, OUT_MAYBE, "Findings that were allowed"},
	{"platforms[].platform", OUT_TEXT, OUT_ALWAYS, "OS/ARCH"},
	{"platforms[].layers", OUT_COUNT, OUT_ALWAYS, "Its layers"},
	{"platforms[].compressed_size", OUT_COUNT, OUT_ALWAYS, "Bytes in the registry"},
	{"platforms[].content_size", OUT_COUNT, OUT_ALWAYS, "Bytes of its files"},
	{"platforms[].files", OUT_COUNT, OUT_ALWAYS, "Its files and folders"},
	PROBLEMS,
};
static const struct output_row verify_key[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the image"},
	{"keys[].key", OUT_TEXT, OUT_ALWAYS, "The key's fingerprint"},
	{"keys[].kind", OUT_TEXT, OUT_ALWAYS, "The key's algorithm"},
	{"keys[].signatures", OUT_ANY, OUT_ALWAYS, "Form, manifest, name and annotations of each"},
	{"keys[].platform_signatures", OUT_ANY, OUT_MAYBE, "With --recursive, per platform"},
	{"covers[].platform", OUT_TEXT, OUT_ALWAYS, "OS/ARCH"},
	{"covers[].digest", OUT_DIGEST, OUT_ALWAYS, "Of its manifest"},
};
static const struct output_row verify_trust[] = {
	{"trust[].image", OUT_TEXT, OUT_ALWAYS, "The image that was looked at"},
	{"trust[].pinned", OUT_TEXT, OUT_MAYBE, "The same by digest"},
	{"trust[].rules", OUT_COUNT, OUT_ALWAYS, "Rules of the spec that apply to it"},
	{"trust[].has", OUT_TEXTS, OUT_ALWAYS, "What it has shown"},
	{"trust[].refused", OUT_OBJECT, OUT_ALWAYS, "What it lacks"},
	{"trust[].refused[].line", OUT_COUNT, OUT_MAYBE, "Of the rule in the spec"},
	{"trust[].refused[].asked", OUT_TEXT, OUT_ALWAYS, "What the rule asks for"},
	{"trust[].refused[].reason", OUT_TEXT, OUT_ALWAYS, "Why it does not count"},
	{"trust[].refused[].next", OUT_TEXT, OUT_MAYBE, "The next step"},
};
static const struct output_row verify_rebuild[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the image"},
	{"rebuilt", OUT_DIGEST, OUT_ALWAYS, "Of what was built here"},
	{"equal", OUT_BOOL, OUT_ALWAYS, "Are the digests the same?"},
	{"proved", OUT_BOOL, OUT_ALWAYS, "Equal, and of the inputs that were stated"},
	{"signed", OUT_BOOL, OUT_ALWAYS, "Were statements held against a key?"},
	{"statements", OUT_ANY, OUT_ALWAYS, "Per platform: the statement and its builder"},
	{"keys", OUT_TEXTS, OUT_ALWAYS, "Fingerprints of the keys"},
	{"differences", OUT_ANY, OUT_ALWAYS, "Inputs that are not as stated"},
	{"remarks", OUT_ANY, OUT_ALWAYS, "What could not be compared"},
	PROBLEMS,
};
static const struct output_row diff[] = {
	{"equal", OUT_BOOL, OUT_ALWAYS, "Are both the same, bit by bit?"},
	{"a", OUT_TEXT, OUT_ALWAYS, "The first reference"},
	{"b", OUT_TEXT, OUT_ALWAYS, "The second reference"},
	{"platforms[].platform", OUT_TEXT, OUT_ALWAYS, "OS/ARCH"},
	{"platforms[].only", OUT_TEXT, OUT_MAYBE, "a or b: only that image has it"},
	{"platforms[].config", OUT_ANY, OUT_MAYBE, "Members of the configuration that differ"},
	{"platforms[].layers", OUT_ANY, OUT_MAYBE, "Layers that differ"},
	{"platforms[].files", OUT_ANY, OUT_MAYBE, "Files that differ, and in what"},
	{"annotations", OUT_ANY, OUT_MAYBE, "Annotations that differ"},
	{"documents", OUT_ANY, OUT_MAYBE, "Documents whose bytes differ"},
};
static const struct output_row scan[] = {
	{"threshold", OUT_TEXT, OUT_ALWAYS, "From this severity on the image is refused"},
	{"databases", OUT_OBJECT, OUT_MAYBE, "What was asked (--db)"},
	{"databases[].path", OUT_TEXT, OUT_ALWAYS, "The file"},
	{"databases[].kind", OUT_TEXT, OUT_ALWAYS, "Its format"},
	{"databases[].modified", OUT_TEXT, OUT_ALWAYS, "The latest change in it"},
	{"databases[].records", OUT_COUNT, OUT_ALWAYS, "Its records"},
	{"unjudged", OUT_TEXTS, OUT_MAYBE, "What no database says anything of"},
	{"unused_waivers", OUT_TEXTS, OUT_MAYBE, "Waivers that waive nothing"},
	{"images[].digest", OUT_DIGEST, OUT_ALWAYS, "Of the platform's manifest"},
	{"images[].platform", OUT_TEXT, OUT_ALWAYS, "OS/ARCH"},
	{"images[].status", OUT_TEXT, OUT_ALWAYS, "How the scan ended"},
	{"images[].counts", OUT_COUNTS, OUT_ALWAYS, "Findings by severity"},
	{"images[].findings", OUT_ANY, OUT_ALWAYS, "Name, severity, package, version, address"},
	{"refused", OUT_COUNT, OUT_ALWAYS, "Findings at or above the threshold"},
	{"error", OUT_TEXT, OUT_MAYBE, "Why the scan is not complete"},
};
static const struct output_row status[] = {
	{"time", OUT_TEXT, OUT_NULL, "When this was seen"},
	{"fleet", OUT_TEXT, OUT_NULL, "The fleet's name"},
	{"stages[].name", OUT_TEXT, OUT_ALWAYS, "The stage"},
	{"stages[].state", OUT_TEXT, OUT_ALWAYS, "ready, waiting, absent or failed"},
	{"stages[].objects", OUT_COUNT, OUT_ALWAYS, "Objects that are there"},
	{"stages[].planned", OUT_COUNT, OUT_ALWAYS, "Objects that the spec has"},
	{"stages[].why", OUT_TEXT, OUT_ALWAYS, "What keeps it from being ready"},
	{"target.name", OUT_TEXT, OUT_NULL, "The target the job runs on"},
	{"target.reason", OUT_TEXT, OUT_NULL, "Why this one"},
	{"target.since", OUT_TEXT, OUT_NULL, "Since when"},
	{"target.attempts[].target", OUT_TEXT, OUT_NULL, "A target that was tried"},
	{"target.attempts[].started", OUT_TEXT, OUT_NULL, "When"},
	{"target.attempts[].ended", OUT_TEXT, OUT_NULL, "Until when"},
	{"target.attempts[].outcome", OUT_TEXT, OUT_NULL, "What came of it"},
	{"target.attempts[].cause", OUT_TEXT, OUT_NULL, "Why"},
	{"job.name", OUT_TEXT, OUT_NULL, "The job's object"},
	{"job.phase", OUT_TEXT, OUT_ALWAYS, "Where the job stands"},
	{"job.why", OUT_TEXT, OUT_ALWAYS, "What keeps it from running"},
	{"job.run", OUT_COUNT, OUT_NULL, "Its number among the fleet's runs"},
	{"job.age_seconds", OUT_COUNT, OUT_NULL, "Since it was made"},
	{"job.pods[].name", OUT_TEXT, OUT_ALWAYS, "The pod"},
	{"job.pods[].rank", OUT_COUNT, OUT_NULL, "Its rank"},
	{"job.pods[].phase", OUT_TEXT, OUT_ALWAYS, "Kubernetes' word"},
	{"job.pods[].ready", OUT_BOOL, OUT_ALWAYS, "Is it ready?"},
	{"job.pods[].restarts", OUT_COUNT, OUT_ALWAYS, "How often it was started again"},
	{"job.pods[].node", OUT_TEXT, OUT_NULL, "Where it runs"},
	{"job.pods[].why", OUT_TEXT, OUT_ALWAYS, "What keeps it from running"},
	{"training", OUT_ANY, OUT_ALWAYS, "The last step and checkpoint that the log shows"},
	{"nodes[].name", OUT_TEXT, OUT_ALWAYS, "The node or claim"},
	{"nodes[].kind", OUT_TEXT, OUT_ALWAYS, "node or claim"},
	{"nodes[].instance_type", OUT_TEXT, OUT_NULL, "As EC2 calls it"},
	{"nodes[].zone", OUT_TEXT, OUT_NULL, "Availability zone"},
	{"nodes[].capacity_type", OUT_TEXT, OUT_NULL, "on-demand, spot or reserved"},
	{"nodes[].age_seconds", OUT_COUNT, OUT_NULL, "Since it was made"},
	{"nodes[].ready", OUT_BOOL, OUT_ALWAYS, "Is it ready?"},
	{"nodes[].why", OUT_TEXT, OUT_ALWAYS, "What keeps it from being ready"},
	{"nodes[].price_per_hour", OUT_TEXT, OUT_NULL, "A decimal text"},
	{"pulls[].node", OUT_TEXT, OUT_MAYBE, "Where the image was pulled"},
	{"pulls[].pod", OUT_TEXT, OUT_MAYBE, "For which pod"},
	{"pulls[].image", OUT_TEXT, OUT_MAYBE, "Which image"},
	{"pulls[].bytes", OUT_COUNT, OUT_ALWAYS, "Its size"},
	{"pulls[].milliseconds", OUT_COUNT, OUT_ALWAYS, "How long it took"},
	{"pulls[].megabytes_per_second", OUT_COUNT, OUT_ALWAYS, "How fast"},
	{"cost.currency", OUT_TEXT, OUT_NULL, "Of the prices"},
	{"cost.per_hour", OUT_TEXT, OUT_NULL, "Of all nodes, a decimal text"},
	{"cost.unknown", OUT_COUNT, OUT_ALWAYS, "Nodes without a price"},
	{"cost.storage_gib", OUT_COUNT, OUT_ALWAYS, "Of volumes"},
	{"cost.storage_per_hour", OUT_TEXT, OUT_NULL, "Of volumes, a decimal text"},
};
static const struct output_row index_[] = {
	{"digest", OUT_DIGEST, OUT_ALWAYS, "Of the index"},
	{"media_type", OUT_TEXT, OUT_ALWAYS, "Of the index"},
	{"size", OUT_COUNT, OUT_ALWAYS, "Of the index, in bytes"},
	{"repository", OUT_TEXT, OUT_ALWAYS, "Where it is"},
	{"manifests", OUT_ANY, OUT_ALWAYS, "Its descriptors, as OCI defines them"},
	{"tags", OUT_TEXTS, OUT_ALWAYS, "Tags that name it now"},
};
static const struct output_row version[] = {
	{"version", OUT_TEXT, OUT_ALWAYS, "Of this program"},
	{"format_version", OUT_COUNT, OUT_ALWAYS, "Of the layers' bits (docs/FORMAT.md)"},
	{"formats", OUT_MAP, OUT_ALWAYS, "The encoders, by compression"},
	{"latest", OUT_TEXT, OUT_MAYBE, "With --check: the newest release"},
	{"current", OUT_BOOL, OUT_MAYBE, "With --check: is this the newest release?"},
};

const struct output_form output_forms[] = {
	FORM("init", "files were written", init),
	FORMS("build", "an image was built", build, "builds"),
	FORMS("build", "with --dry-run", plan, "builds"),
	FORMS("push", "an image was pushed", push, "pushes"),
	FORM("copy", "an image was copied", copy),
	FORM("sign", "an image was signed", sign),
	FORM("neff", "modules were sent, fetched or listed", neff),
	FORM("inspect", "an image", inspect),
	FORM("verify", "the image check", verify),
	FORM("verify", "with --key", verify_key),
	FORM("verify", "with --trust", verify_trust),
	FORM("verify", "with --rebuild", verify_rebuild),
	FORM("diff", "two images", diff),
	FORM("scan", "a scan", scan),
	FORM("index", "an index was made", index_),
	FORM("status", "the fleet in a cluster", status),
	FORM("version", "this program", version),
	{.command = NULL},
};

const char *const output_commands[] = {"init",  "build",   "push",    "copy", "sign",
                                       "neff",  "inspect", "verify",  "diff", "scan",
                                       "index", "status",  "version", NULL};
