# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="postgresql-15 postgresql-client-15 dash tzdata libc-bin"

sql() { in_server psql -X -A -t -h /tmp -d postgres -c "$1"; }

work() {
	volume data 999
	OPTIONS=(-v "$WORK/data:/var/lib/postgresql/data" --entrypoint /usr/lib/postgresql/15/bin/initdb)
	run_image -D /var/lib/postgresql/data --no-sync
	OPTIONS=(-v "$WORK/data:/var/lib/postgresql/data")
	serve
	until_done sql 'select 1'
	[ "$(sql "select current_user, sum(n) from generate_series(1, 100) n")" = "postgres|5050" ]
	[ "$(sql "set timezone = 'Europe/Berlin'; select '2026-07-01 12:00+00'::timestamptz" | tail -n 1)" = "2026-07-01 14:00:00+02" ]
	[ "$(sql "select upper('für'), current_setting('server_encoding')")" = "FÜR|UTF8" ]
	# Both plug-ins: procedures, and the stems of words.
	sql 'create table t(id serial primary key, word text)'
	sql "do \$\$ begin for i in 1..10 loop insert into t(word) values ('running ' || i); end loop; end \$\$"
	[ "$(sql "select count(*) from t where to_tsvector('english', word) @@ to_tsquery('english', 'runs')")" = 10 ]
	podman_here stop --time 60 server >/dev/null
	[ "$(podman_here inspect --format '{{.State.ExitCode}}' server)" = 0 ]
	podman_here rm server >/dev/null
	serve
	until_done sql 'select 1'
	[ "$(sql 'select count(*) from t')" = 10 ]
	podman_here rm --force --time 0 server >/dev/null
	rm -r data
}
