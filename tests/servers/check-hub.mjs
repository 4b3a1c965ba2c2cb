// What Hugging Face's own client makes of a checkpoint's model.safetensors: `node check-hub.mjs MODULES DIR`, where
// MODULES is a node_modules folder with @huggingface/hub. The hub's answers come from DIR; nothing leaves the machine.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

const [modules, folder] = process.argv.slice(2);
const { parseSafetensorsMetadata } = createRequire(join(modules, "/"))("@huggingface/hub");

// GET with Range, as the hub answers it.
async function hub(url, request) {
	const file = await readFile(join(folder, basename(new URL(url).pathname)));
	const range = /bytes=(\d+)-(\d+)/.exec(new Headers(request?.headers).get("range") ?? "");
	const [first, last] = range ? [Number(range[1]), Math.min(Number(range[2]), file.length - 1)] : [0, file.length - 1];
	const headers = { etag: '"local"', "content-range": `bytes ${first}-${last}/${file.length}` };
	return new Response(file.subarray(first, last + 1), { status: range ? 206 : 200, headers });
}

const { header, parameterCount } = await parseSafetensorsMetadata({
	repo: "local/checkpoint",
	path: "model.safetensors",
	computeParametersCount: true,
	fetch: hub,
});
const names = Object.keys(header).filter((name) => name !== "__metadata__");
console.log(`${names.length} tensors, ${JSON.stringify(parameterCount)}, format ${header.__metadata__.format}`);
