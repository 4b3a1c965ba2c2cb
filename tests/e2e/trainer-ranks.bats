#!/usr/bin/env bats
# slipway-trainer on several ranks: Open MPI, MPICH, a rank that dies.

load trainer

# Both of one arithmetic: what differs is how clips are shared out.
SAME=(--max_steps 10 --preset seeds --attention_dropout 0)
PAUSE=()

# close_to ONE MANY: weights of the last step, equal up to rounding.
close_to() {
	python3 - "$1" "$2" <<-'PY'
		import json, struct, sys
		def read(folder):
		    b = open(folder + "/step-00000010/model.safetensors", "rb").read()
		    n, = struct.unpack("<Q", b[:8])
		    head = json.loads(b[8:8 + n])
		    head.pop("__metadata__", None)
		    return {k: struct.unpack("<%df" % ((v["data_offsets"][1] - v["data_offsets"][0]) // 4),
		                             b[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]])
		            for k, v in head.items()}
		one, many = read(sys.argv[1]), read(sys.argv[2])
		# AdamW turns rounding noise into moves of the size of lr where the gradient is nothing
		# but noise, so the mean tells and the largest is bounded by lr.
		worst = max(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
		total = sum(abs(a - b) for k in one for a, b in zip(one[k], many[k]))
		mean = total / sum(len(v) for v in one.values())
		print(sys.argv[2], "mean", mean, "largest", worst)
		sys.exit(0 if mean < 1e-6 and worst < 2e-3 else 1)
	PY
}

# train_ranks N OUTPUT MPIRUN...: N ranks that share 8 clips a step; $PAUSE is among their options.
train_ranks() {
	local n=$1 out=$2
	shift 2
	"$@" -n "$n" "$TRAINER" train "${TINY[@]}" "${SAME[@]}" --batch_size $((8 / n)) --output_dir "$out" --resume \
		"${PAUSE[@]}"
}

@test "ranks: 2 and 4 ranks of Open MPI train as 1 rank with the larger batch" {
	openmpi
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_ranks "$n" "ranks$n" mpirun --oversubscribe >log 2>&1
		grep "^$n ranks (Open MPI)" log
		close_to one "ranks$n"
	done
}

@test "ranks: 2 and 4 ranks of MPICH train as 1 rank with the larger batch" {
	mpich
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_ranks "$n" "ranks$n" "$MPIEXEC" >log 2>&1
		grep "^$n ranks (MPICH)" log
		close_to one "ranks$n"
	done
}

# train_pods N OUTPUT: N ranks that nobody started together, as the pods of a job are.
train_pods() {
	local n=$1 out=$2 rank pids=()
	for ((rank = n - 1; rank >= 0; rank--)); do
		env "NODE_RANK=$rank" "NNODES=$n" MASTER_ADDR=localhost "MASTER_PORT=$PORT" "$TRAINER" train "${TINY[@]}" \
			"${SAME[@]}" --batch_size $((8 / n)) --output_dir "$out" --join_timeout 30 >"log$rank" 2>&1 3>&- &
		pids+=($!)
	done
	for rank in "${pids[@]}"; do wait "$rank"; done
}

free_port() { PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'); }

@test "ranks: pods meet at rank 0 without mpirun and train as 1 rank with the larger batch" {
	mpich
	free_port
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	for n in 2 4; do
		train_pods "$n" "pods$n"
		grep "^$n ranks (MPICH)" log0
		close_to one "pods$n"
	done
}

@test "ranks: a pod that does not come is named; one too many and strangers are turned away" {
	mpich
	free_port
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=3 "$TRAINER" train "${TINY[@]}" --output_dir out)
	NODE_RANK=0 "${pod[@]}" --join_timeout 6 >log0 2>&1 3>&- &
	first=$!
	# It waits for longer, or it would be named as gone.
	NODE_RANK=1 "${pod[@]}" --join_timeout 30 >log1 2>&1 3>&- &
	second=$!
	for _ in $(seq 50); do
		ss -Hltn "sport = :$PORT" | grep -q . && break
		sleep 0.1
	done
	sleep 1
	printf 'GET / HTTP/1.0\r\n\r\n' >"/dev/tcp/localhost/$PORT"
	NODE_RANK=1 run "${pod[@]}" --join_timeout 6
	[ "$status" -eq 1 ]
	[[ "$output" == *"rank 0 at localhost refused to let this rank join: rank 1 of 3 is not expected: there is one already"* ]]
	ends_with 76 wait "$first"
	cat log0
	grep "of 3 ranks, these did not come to port $PORT within 6 s: 2" log0
	wait "$second" && false
	NODE_RANK=2 run "${pod[@]}" --join_timeout 3
	[ "$status" -eq 76 ]
	[[ "$output" == *"no answer from rank 0 at localhost port $PORT for 3 s"* ]]
}

@test "ranks: with Open MPI alone, pods are told what they need" {
	[ ! -e "/usr/lib/$(uname -m)-linux-gnu/libmpich.so.12" ] || skip "MPICH is installed"
	openmpi
	LD_LIBRARY_PATH=$PWD/x/usr/lib/$(uname -m)-linux-gnu NNODES=2 NODE_RANK=0 run train out
	[ "$status" -eq 1 ]
	[[ "$output" == *"started rank 0 of 2 without mpirun, and Open MPI cannot join ranks that way"*"libmpich12"*"MASTER_ADDR"* ]]
}

@test "ranks: the number of ranks may change at each resume" {
	openmpi
	train one "${SAME[@]}" --batch_size 8 >/dev/null
	ends_with 75 train parts "${SAME[@]}" --batch_size 8 --stop_after 3
	PAUSE=(--stop_after 2)
	ends_with 75 train_ranks 4 parts mpirun --oversubscribe 2>log
	PAUSE=()
	grep 'resuming from parts/step-00000003' log
	train_ranks 2 parts mpirun --oversubscribe >log 2>&1
	grep 'resuming from parts/step-00000005' log
	close_to one parts
}

# launched LAUNCHER N COMMAND...: as N ranks, beginning with the last; each rank's status goes to ./ended.
launched() {
	local launcher=$1 n=$2 rank pids=()
	shift 2
	case $launcher in
	openmpi) mpirun --oversubscribe -n "$n" "$@" ;;
	# Without its clean-up it would kill all ranks before one could say which was the first.
	mpich) "$MPIEXEC" -disable-auto-cleanup -n "$n" "$@" ;;
	pods)
		for ((rank = n - 1; rank >= 0; rank--)); do
			env "NODE_RANK=$rank" "NNODES=$n" MASTER_ADDR=localhost "MASTER_PORT=$PORT" SLIPWAY_RUN_TOKEN=run-7 "$@" &
			pids+=($!)
		done
		for rank in "${pids[@]}"; do
			status=0
			wait "$rank" || status=$?
			echo "$status" >>ended
		done
		;;
	esac
}

# pid_of RANK OUTPUT: the trainer that is this rank of the run with this --output_dir.
pid_of() {
	local pid
	for pid in $(pgrep -f "slipway-trainer train .*--output_dir $2( |\$)"); do
		! tr '\0' '\n' <"/proc/$pid/environ" | grep -Eqx "(OMPI_COMM_WORLD_RANK|PMI_RANK|NODE_RANK)=$1" || echo "$pid"
	done
}

# slowed PID: to a tenth, until it ends.
slowed() {
	while kill -STOP "$1" && sleep 0.45 && kill -CONT "$1" && sleep 0.05; do :; done 2>/dev/null
}

# named_after BEGAN RANK WORDS: seconds until the log names the rank, by its time stamps, and how often another was
# named before.
named_after() {
	python3 - "$@" <<-'PY'
		import calendar, re, sys, time
		began, rank, words = int(sys.argv[1]), sys.argv[2], sys.argv[3]
		said = [m for m in (re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) rank (\d+) \(\S+\) (.*)", line) for line in open("log")) if m]
		at = lambda m: calendar.timegm(time.strptime(m.group(1), "%Y-%m-%dT%H:%M:%SZ"))
		right = [m.group(2) == rank and re.match(words, m.group(3)) is not None for m in said if at(m) >= began]
		said = [m for m in said if at(m) >= began]
		assert True in right, [m.group(0) for m in said]
		print(at(said[right.index(True)]) - began, right.index(True))
	PY
}

# ended_well LAUNCHER N: ranks that were left say so where no launcher speaks for them.
ended_well() { [ "$1" != pods ] || [ "$(grep -cxE '75|76' ended)" -ge $(($2 - 1)) ]; }

# ranks_at_work OUTPUT: their number, without a launcher whose command line names them, too.
ranks_at_work() { pgrep -cf "^$TRAINER train .*--output_dir $1( |\$)" || true; }

# harmed HOW PID: does it; a rank that is slowed is so until it ends.
harmed() {
	case $1 in
	SLOW) slowed "$2" 3>&- & ;;
	*) kill "-$1" "$2" ;;
	esac
}

declare -A WORDS=([KILL]='has gone' [STOP]='has given no sign|keeps the others waiting' [SLOW]='is slow|keeps the others waiting')

# hurt LAUNCHER N RANK HOW SECONDS [OPTIONS...]: a run whose rank is hurt is ended with that rank named in the log, by
# time stamps within SECONDS, and can be resumed. Adds a row to ./figures.
hurt() {
	local launcher=$1 n=$2 rank=$3 how=$4 limit=$5 out=hurt-$1-$2-$3-$4 began job victim after others left=0
	echo "--- $*"
	[ "$how" != STOP ] || left=1
	rm -rf "$out"
	: >ended
	launched "$launcher" "$n" "$TRAINER" train "${TINY[@]}" --max_steps 1000000 --num_epochs 100000 --checkpoint_steps 20 \
		--batch_size 1 --join_timeout 30 --output_dir "$out" "${@:6}" >log 2>&1 3>&- &
	job=$!
	for _ in $(seq 300); do
		[ ! -e "$out/latest" ] || break
		sleep 0.1
	done
	victim=$(pid_of "$rank" "$out")
	[ -n "$victim" ]
	began=$(date +%s)
	harmed "$how" "$victim"
	# A launcher waits for a stopped process, too.
	for _ in $(seq 900); do
		[ "$(ranks_at_work "$out")" -gt "$left" ] || break
		sleep 0.1
	done
	# On a crowded machine a slow rank is not much slower than the others: then it is named, and not given up.
	[ "$how" != SLOW ] || pkill -TERM -f "^$TRAINER train .*--output_dir $out( |\$)" || true
	kill -KILL "$victim" 2>/dev/null || true
	wait "$job" || true
	tail -n 20 log
	# Of a node's ranks mpiexec kills the others milliseconds after the first: who is faster is luck.
	if ! named_after "$began" "$rank" "${WORDS[$how]}" >named; then
		[ "$launcher $how" = "mpich KILL" ]
		[ "${tries:-1}" -lt 3 ]
		tries=$((${tries:-1} + 1)) hurt "$@"
		return
	fi
	read -r after others <named
	[ "$after" -le "$limit" ]
	ended_well "$launcher" "$n"
	ends_with 75 train "$out" --resume --batch_size "$n" --max_steps 1000000 --num_epochs 100000 --stop_after 2 2>resumed
	printf '%-8s %5s  rank %-4s %-5s %5s s %7s  %s\n' "$launcher" "$n" "$rank" "$how" "$after" "$others" \
		"$(sed -n 's/^resuming from .*step-0*/resumed from step /p' resumed)" >>figures
	grep -q 'resumed from' <(tail -n 1 figures)
}

# hurt_all LAUNCHER: rank 0 and another of 2 and of 4 ranks, with the time-out that is the default.
hurt_all() {
	local n rank how
	for n in 2 4; do
		for rank in 0 1; do
			for how in KILL STOP SLOW; do hurt "$1" "$n" "$rank" "$how" 30; done
		done
	done
	{ echo "# launcher ranks  hurt      how  named after  others" && sed 's/^/# /' figures; } >&3
}

@test "ranks: a rank that is killed or stopped is named in the log, and the job resumes" {
	mpich
	free_port
	hurt pods 2 0 KILL 2 --rank_timeout 4
	hurt pods 4 1 STOP 5 --rank_timeout 4
	hurt mpich 2 1 KILL 2 --rank_timeout 4
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || return 0
	hurt_all pods
}

@test "ranks: the same under MPICH's mpiexec" {
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || skip "part of the long series"
	mpich
	hurt_all mpich
}

@test "ranks: the same under Open MPI" {
	openmpi
	hurt openmpi 2 0 KILL 2 --rank_timeout 4
	hurt openmpi 2 1 STOP 5 --rank_timeout 4
	[ -n "${SLIPWAY_TEST_LONG:-}" ] || return 0
	hurt_all openmpi
}

@test "ranks: that give up together do so with the last good weights saved" {
	mpich
	# A model whose checkpoint takes longer to write than a rank to leave.
	run "$MPIEXEC" -n 2 "$TRAINER" train --config_file_path mid --batch_size 1 --max_steps 60 --threads 1 --logdir logs \
		--lr 1000 --grad_clip 0 --spike_factor 0 --max_bad_steps 2 --max_backoffs 0 --output_dir out
	echo "$output"
	[ "$status" -eq 1 ]
	[[ "$output" == *"rank 0: step 3: the gradient was not finite"*"The last good weights are saved."* ]]
	"$TRAINER" inspect "out/$(cat out/latest)"
}

# reading RANK DATA: this rank of two, on its own copy of the clips; its status goes to ./status RANK.
reading() {
	local status=0
	env "NODE_RANK=$1" NNODES=2 MASTER_ADDR=localhost "MASTER_PORT=$PORT" "$TRAINER" train "${TINY[@]}" --dataset kinetics \
		--dataset_dir "$2" --max_steps 1000000 --num_epochs 1000000 --log_steps 1 --join_timeout 30 --output_dir out \
		>"log$1" 2>&1 ||
		status=$?
	echo "$status" >"status$1"
}

@test "ranks: clips that one rank cannot read end all with 79, the shard named and the steps before saved" {
	mpich
	free_port
	tiny_shape
	shard_dataset data 6
	for broken in 0 1; do
		rm -rf data0 data1 out && cp -r data data0 && cp -r data data1
		reading 0 data0 3>&- & first=$!
		reading 1 data1 3>&- & second=$!
		for _ in $(seq 300); do
			! grep -q 'step 5:' log0 2>/dev/null || break
			sleep 0.05
		done
		shard=$(echo "data$broken"/shards/ab/*)
		truncate -s 5000 "$shard"
		wait "$first" "$second"
		tail -n 4 log0 log1
		[ "$(cat status0 status1 | tr '\n' ' ')" = "79 79 " ]
		grep "rank $broken: .*shard '$shard'.* was cut off" "log$broken"
		grep "another rank could not read its clips" "log$((1 - broken))"
		[ -e "out/$(cat out/latest)/manifest.json" ]
	done
	# And before the first step.
	rm -rf out data1 && cp -r data data1
	echo '{' >data1/dataset.json
	reading 0 data 3>&- & first=$!
	reading 1 data1 3>&- & second=$!
	wait "$first" "$second"
	tail -n 4 log0 log1
	[ "$(cat status0 status1 | tr '\n' ' ')" = "79 79 " ]
	grep "data1/dataset.json" log1
	grep 'rank 1 (.*) has ended with an error of its own' log0
}

# listening: until rank 0 is at its port.
listening() {
	for _ in $(seq 100); do
		ss -Hltn "sport = :$PORT" | grep -q . && return 0
		sleep 0.1
	done
	return 1
}

@test "ranks: strangers, silent, garbled or replayed, keep no rank from joining, and are counted" {
	mpich
	free_port
	n=$(series 100)
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=2 SLIPWAY_RUN_TOKEN=a-secret "$TRAINER" train "${TINY[@]}"
		--max_steps 2 --output_dir out --join_timeout 100)
	NODE_RANK=0 "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	listening
	# What a rank answers to a challenge is recorded, and told to rank 0 again and again.
	python3 - "$PORT" "$n" "${pod[@]}" <<-'PY' 3>&- &
		import os, socket, subprocess, sys, time
		port, n, pod = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
		listener = socket.create_server(("127.0.0.1", 0))
		away = [a.replace("MASTER_ADDR=localhost", "MASTER_ADDR=127.0.0.1").replace(
		    "MASTER_PORT=%d" % port, "MASTER_PORT=%d" % listener.getsockname()[1]) for a in pod]
		rank = subprocess.Popen(away, env={**os.environ, "NODE_RANK": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		peer, _ = listener.accept()
		peer.sendall(b"slipway-ranks 1 " + b"0" * 32 + b"\n")
		answer = peer.recv(4096)
		rank.kill()
		held = []
		for i in range(n):
		    for say in (None, b"GET / HTTP/1.0\r\n\r\n", answer):
		        s = socket.create_connection(("127.0.0.1", port))
		        if say is not None:
		            s.recv(4096)
		            s.sendall(say)
		        held.append(s)
		open("strangers", "w").write("there")
		time.sleep(90)
	PY
	strangers=$!
	for _ in $(seq 100); do
		[ ! -e strangers ] || break
		sleep 0.1
	done
	if [ -n "${SLIPWAY_TEST_LONG:-}" ]; then sleep 60; else sleep 6; fi
	NODE_RANK=1 "${pod[@]}"
	wait "$first"
	kill "$strangers"
	cat log0
	grep "all 2 ranks have come; connections turned away: $n silent, $n garbled, $n without proof" log0
	run ! grep -r a-secret log0
}

@test "ranks: a rank of another run is refused; without a library of MPI nobody is waited for" {
	mpich
	free_port
	pod=("$TRAINER" train "${TINY[@]}" --max_steps 2 --output_dir out --join_timeout 60)
	export MASTER_ADDR=localhost MASTER_PORT=$PORT NNODES=2
	NODE_RANK=0 SLIPWAY_RUN_TOKEN=this "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	listening
	NODE_RANK=1 SLIPWAY_RUN_TOKEN=that run "${pod[@]}"
	[ "$status" -eq 1 ]
	[[ "$output" == *"refused to let this rank join: it is of another run: the tokens differ"* ]]
	NODE_RANK=1 SLIPWAY_RUN_TOKEN=this "${pod[@]}"
	wait "$first"
	grep 'all 2 ranks have come; connections turned away: 1 without proof' log0
	began=$SECONDS
	NODE_RANK=0 run "${pod[@]}" --mpi_library libnone.so
	[ "$status" -eq 1 ]
	[[ "$output" == *"no MPI library could be loaded (libnone.so)"* ]]
	[ $((SECONDS - began)) -lt 5 ]
}

@test "ranks: SIGTERM ends the wait for other ranks" {
	mpich
	free_port
	for rank in 0 1; do
		NODE_RANK=$rank MASTER_ADDR=localhost MASTER_PORT=$PORT NNODES=3 "$TRAINER" train "${TINY[@]}" --output_dir out \
			--join_timeout 60 >"log$rank" 2>&1 3>&- &
		waiting=$!
		sleep 1
		kill -TERM "$waiting"
		began=$SECONDS
		ends_with 75 wait "$waiting"
		[ $((SECONDS - began)) -lt 3 ]
		grep interrupted "log$rank"
	done
}

@test "ranks: a connection that sends a byte now and then holds nobody up" {
	mpich
	free_port
	pod=(env MASTER_ADDR=localhost "MASTER_PORT=$PORT" NNODES=2 "$TRAINER" train "${TINY[@]}" --max_steps 2 --output_dir out
		--join_timeout 20)
	NODE_RANK=0 "${pod[@]}" >log0 2>&1 3>&- &
	first=$!
	for _ in $(seq 50); do
		ss -Hltn "sport = :$PORT" | grep -q . && break
		sleep 0.1
	done
	(for _ in $(seq 60); do printf s && sleep 1; done >"/dev/tcp/localhost/$PORT") 2>/dev/null 3>&- &
	drip=$!
	sleep 0.5
	NODE_RANK=1 "${pod[@]}"
	wait "$first"
	kill "$drip"
}
