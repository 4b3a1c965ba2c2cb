# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="sqlite3"

work() {
	[ "$(run_image :memory: "create table t(n); insert into t values (1), (2), (39.5);
		select sum(n), round(exp(1), 3), json_extract('{\"a\": [7]}', '$.a[0]') from t")" = "42.5|2.718|7" ]
}
