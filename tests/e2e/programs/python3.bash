# shellcheck shell=bash disable=SC2034,SC2154
PACKAGES="python3 ca-certificates tzdata"

work() {
	mkdir -p scripts
	cat >scripts/facts.py <<-'END'
		import concurrent.futures, ctypes, datetime, importlib, os, pwd, socket, sqlite3, ssl, sys, zoneinfo

		# Every module that is a shared library, and with it what it needs.
		folder = "/usr/lib/python3.11/lib-dynload"
		names = [name.split(".")[0] for name in os.listdir(folder)]
		for name in names:
		    importlib.import_module(name)
		print("modules", len(names) > 30)
		print("user", pwd.getpwuid(os.getuid()).pw_name)
		print("authorities", len(ssl.create_default_context().get_ca_certs()) > 100)
		db = sqlite3.connect(":memory:")
		db.execute("create table t(n)")
		db.executemany("insert into t values (?)", [(n,) for n in range(101)])
		print("sum", db.execute("select sum(n) from t").fetchone()[0])
		libm = ctypes.CDLL("libm.so.6")
		libm.sqrt.restype, libm.sqrt.argtypes = ctypes.c_double, [ctypes.c_double]
		compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
		numbers = (ctypes.c_int * 3)(3, 1, 2)
		ctypes.CDLL(None).qsort(numbers, 3, 4, compare(lambda a, b: a[0] - b[0]))
		print("ctypes", libm.sqrt(49.0), list(numbers))
		noon = datetime.datetime(2026, 7, 1, 12, tzinfo=datetime.timezone.utc)
		print("zone", noon.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")).isoformat())
		print("localhost", socket.gethostbyname("localhost"))
		with concurrent.futures.ThreadPoolExecutor(2) as pool:
		    print("threads", list(pool.map(lambda n: n * n, range(4))))
		print("encoding", sys.getfilesystemencoding(), "grüße".encode("latin-1").decode("iso8859-15"))
	END
	OPTIONS=(-v "$WORK/scripts:/scripts:ro")
	run_image /scripts/facts.py >facts
	cat facts
	diff facts - <<-'END'
		modules True
		user app
		authorities True
		sum 5050
		ctypes 7.0 [1, 2, 3]
		zone 2026-07-01T14:00:00+02:00
		localhost 127.0.0.1
		threads [0, 1, 4, 9]
		encoding utf-8 grüße
	END
}
