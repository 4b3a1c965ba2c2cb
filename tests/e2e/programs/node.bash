# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="nodejs ca-certificates"

prepare() { [ -e ca.pem ] || make_certificate; }

# trust: whether Node trusts a server of the test's own authority.
trust() {
	mkdir -p scripts
	cp cert.pem key.pem scripts/
	chmod 0644 scripts/key.pem
	cat >scripts/trust.mjs <<-'END'
		import {readFileSync} from "node:fs";
		import {createServer, get} from "node:https";

		const server = createServer({cert: readFileSync("/scripts/cert.pem"), key: readFileSync("/scripts/key.pem")},
		    (request, answer) => answer.end("served")).listen(0, "127.0.0.1");
		server.once("listening", () => get(`https://localhost:${server.address().port}/`)
		    .on("response", answer => { console.log("status", answer.statusCode); process.exit(); })
		    .on("error", error => { console.log(error.code); process.exit(1); }));
	END
	run_image /scripts/trust.mjs
}

work() {
	mkdir -p scripts
	cat >scripts/facts.mjs <<-'END'
		import {createHash, generateKeyPairSync, sign, verify} from "node:crypto";
		import {readFileSync, writeFileSync} from "node:fs";
		import {lookup} from "node:dns/promises";
		import {userInfo} from "node:os";
		import {gunzipSync, gzipSync} from "node:zlib";
		import {Worker} from "node:worker_threads";
		import {createServer} from "node:http";

		writeFileSync("/tmp/data", gzipSync("slipway"));
		const text = gunzipSync(readFileSync("/tmp/data"));
		console.log("hash", createHash("sha256").update(text).digest("hex").slice(0, 8));
		const {privateKey, publicKey} = generateKeyPairSync("ed25519");
		console.log("signature", verify(null, text, publicKey, sign(null, text, privateKey)));
		console.log("user", userInfo().username);
		console.log("localhost", (await lookup("localhost", {family: 4})).address);
		const noon = new Date("2026-07-01T12:00:00Z");
		console.log("languages", noon.toLocaleString("de-DE", {timeZone: "Europe/Berlin", weekday: "long", hour: "numeric"}));
		const worker = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", {eval: true});
		console.log("worker", await new Promise(done => worker.once("message", done)));
		// fetch is one of the modules that Debian's Node reads from a file.
		const server = createServer((request, answer) => answer.end("served")).listen(0, "127.0.0.1");
		await new Promise(done => server.once("listening", done));
		console.log("fetch", await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text());
		server.close();
		server.closeAllConnections();
	END
	OPTIONS=(-v "$WORK/scripts:/scripts:ro")
	run_image /scripts/facts.mjs >facts
	cat facts
	diff facts - <<-END
		hash $(printf slipway | sha256sum | cut -c 1-8)
		signature true
		user app
		localhost 127.0.0.1
		languages Mittwoch, 14 Uhr
		worker 42
		fetch served
	END
	# CommonJS modules are read by another of them.
	[ "$(run_image -p '1 + 1')" = 2 ]
	# Whom it trusts, the bundle says alone.
	run trust
	[ "$status" -eq 1 ]
	[[ $output == *UNABLE_TO_* ]]
	OPTIONS+=(-v "$WORK/ca.pem:/etc/ssl/certs/ca-certificates.crt:ro")
	[ "$(trust)" = "status 200" ]
}
