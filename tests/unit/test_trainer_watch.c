/*
 * What rank 0 concludes from the ranks' signs of life, and how ranks recognise each other.
 */
#include <math.h>
#include <string.h>

#include "base/run_exit.h"
#include "tests/harness.h"
#include "trainer/comm/greeting.h"
#include "trainer/comm/hmac.h"
#include "trainer/comm/watch_internal.h"
#include "trainer/comm/watch_judge.h"

/* ---- signs ---- */

/* Four ranks that work well, a time-out of 40 seconds. */
static struct watch_judge four(void)
{
	struct watch_judge j;

	watch_judge_init(&j, 4, 40);
	for (unsigned i = 0; i < 4; i++)
		j.signs[i] = (struct watch_sign){.watched = true, .heard = 100};
	return j;
}

static bool next(struct watch_judge *j, double now, struct watch_finding *f)
{
	*f = (struct watch_finding){WATCH_WELL, 0, 0, false};
	return watch_judge_next(j, now, f);
}

static void gone(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	CHECK(!next(&j, 101, &f));
	j.signs[2].gone = true;
	CHECK(next(&j, 101, &f));
	CHECK(f.kind == WATCH_GONE && f.rank == 2 && f.lost);
	watch_judge_done(&j);
	j = four();
	j.signs[3].failed = true;
	CHECK(next(&j, 101, &f));
	CHECK(f.kind == WATCH_FAILED && f.rank == 3 && f.lost);
	watch_judge_done(&j);
}

static void left(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	j.signs[2].left = true;
	j.signs[3].watched = false;
	for (unsigned i = 0; i < 2; i++)
		j.signs[i].heard = 1000;
	CHECK(!next(&j, 1000, &f));
	watch_judge_done(&j);
}

static void silent(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	for (unsigned i = 0; i < 3; i++)
		j.signs[i].heard = 119;
	CHECK(!next(&j, 119, &f));
	CHECK(next(&j, 120, &f));
	CHECK(f.kind == WATCH_SILENT && f.rank == 3 && !f.lost);
	CHECK(!next(&j, 121, &f));
	for (unsigned i = 0; i < 3; i++)
		j.signs[i].heard = 140;
	CHECK(next(&j, 140, &f));
	CHECK(f.kind == WATCH_SILENT && f.rank == 3 && f.lost);
	watch_judge_done(&j);
}

static void back_again(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	for (unsigned i = 0; i < 3; i++)
		j.signs[i].heard = 120;
	CHECK(next(&j, 120, &f));
	j.signs[3].heard = 121;
	CHECK(!next(&j, 121, &f));
	for (unsigned i = 0; i < 3; i++)
		j.signs[i].heard = 141;
	CHECK(next(&j, 141, &f));
	CHECK(f.kind == WATCH_SILENT && !f.lost);
	watch_judge_done(&j);
}

/* A rank that beats and does not come to the exchange in which the others are. */
static void late(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	for (unsigned i = 0; i < 4; i++) {
		j.signs[i].heard = 130;
		j.signs[i].waiting = i != 1;
		j.signs[i].stretch = i != 1 ? 6 : 30;
	}
	CHECK(!next(&j, 130, &f));
	CHECK(next(&j, 131, &f));
	CHECK(f.kind == WATCH_LATE && f.rank == 1 && !f.lost);
	for (unsigned i = 0; i < 4; i++) {
		j.signs[i].heard = 164;
		j.signs[i].stretch += 34;
	}
	CHECK(next(&j, 164, &f));
	CHECK(f.kind == WATCH_LATE && f.rank == 1 && f.lost);
	watch_judge_done(&j);
}

/* Rank 1 was stopped while it waited: the others stand in the exchange, rank 0 inside a call. */
static void held_up(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	j.signs[1].waiting = true;
	for (double now = 101; now < 120; now++) {
		for (unsigned i = 0; i < 4; i++) {
			j.signs[i].heard = i == 1 ? 100 : now;
			j.signs[i].waiting = i > 0;
			j.signs[i].stretch = i == 1 ? 0 : now - 100;
		}
		CHECK(!next(&j, now, &f));
	}
	CHECK(next(&j, 120, &f));
	CHECK(f.kind == WATCH_SILENT && f.rank == 1 && !f.lost);
	watch_judge_done(&j);
}

/* A long step that nobody waits in is nobody's fault. */
static void long_step(void)
{
	struct watch_judge j = four();
	struct watch_finding f;

	for (unsigned i = 0; i < 4; i++) {
		j.signs[i].heard = 1000;
		j.signs[i].stretch = 900;
	}
	CHECK(!next(&j, 1000, &f));
	watch_judge_done(&j);
}

/* Ten more steps in ten seconds, of which rank 2 works `share` and the others one. */
static void ten_seconds(struct watch_judge *j, double *now, double share)
{
	*now += 10;
	for (unsigned i = 0; i < 4; i++) {
		j->signs[i].heard = *now;
		j->signs[i].steps += 10;
		j->signs[i].busy += i == 2 ? share : 1;
	}
}

static void slow(void)
{
	struct watch_judge j = four();
	struct watch_finding f;
	double now = 100;

	CHECK(!next(&j, now, &f));
	ten_seconds(&j, &now, 2.5);
	CHECK(!next(&j, now, &f));
	ten_seconds(&j, &now, 9);
	CHECK(next(&j, now, &f));
	CHECK(f.kind == WATCH_SLOW && f.rank == 2 && !f.lost && f.seconds == 9);
	for (int i = 0; i < 2; i++) {
		ten_seconds(&j, &now, 9);
		CHECK(!next(&j, now, &f));
	}
	ten_seconds(&j, &now, 9);
	CHECK(next(&j, now, &f));
	CHECK(f.kind == WATCH_SLOW && f.rank == 2 && f.lost);
	watch_judge_done(&j);
}

/* Three times as slow for ever: named, once. */
static void slow_and_no_more(void)
{
	struct watch_judge j = four();
	struct watch_finding f;
	double now = 100;

	CHECK(!next(&j, now, &f));
	for (size_t i = 0; i < 9; i++) {
		ten_seconds(&j, &now, 3.5);
		CHECK(next(&j, now, &f) == (i == 0));
	}
	watch_judge_done(&j);
}

/* Near the limit: still slow, and given up. */
static void slow_on_and_on(void)
{
	static const double shares[] = {6, 4, 3.5, 4.5};
	struct watch_judge j = four();
	struct watch_finding f;
	double now = 100;

	CHECK(!next(&j, now, &f));
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		ten_seconds(&j, &now, shares[i]);
		CHECK(next(&j, now, &f) == (i == 0 || i == 3));
	}
	CHECK(f.kind == WATCH_SLOW && f.rank == 2 && f.lost);
	watch_judge_done(&j);
}

static void slow_for_once(void)
{
	struct watch_judge j = four();
	struct watch_finding f;
	double now = 100;

	CHECK(!next(&j, now, &f));
	for (int i = 0; i < 4; i++) {
		ten_seconds(&j, &now, 9);
		CHECK(next(&j, now, &f));
		CHECK(f.kind == WATCH_SLOW && !f.lost);
		ten_seconds(&j, &now, 1);
		CHECK(!next(&j, now, &f));
	}
	watch_judge_done(&j);
}

static void statuses(void)
{
	const struct run_exit_row *row;

	CHECK_INT(watch_others_status(0), RUN_EXIT_RANK_LOST);
	for (unsigned i = 0; (row = run_exit_at(i)) != NULL; i++)
		CHECK_INT(watch_others_status(row->status),
		          row->hopeless ? row->status : RUN_EXIT_RANK_LOST);
}

/* ---- ranks at work ---- */

enum { TICKS = 20 /* a second */, CREW_MAX = 4 };

/* Ranks that do a part of each step and wait for each other, one at a tenth of its speed from some
 * moment on. */
struct crew {
	unsigned n, slow;
	double step;  /* seconds of work, for each rank */
	double onset; /* of the slowness */
	double left[CREW_MAX];
	double since[CREW_MAX]; /* began to work or to wait */
	struct watch_sign now[CREW_MAX];
};

static void begin_step(struct crew *c, double now)
{
	for (unsigned i = 0; i < c->n; i++) {
		c->now[i].steps += c->left[i] <= 0;
		c->now[i].waiting = false;
		c->left[i] = c->step;
		c->since[i] = now;
	}
}

static void work_a_tick(struct crew *c, double now)
{
	bool all = true;

	for (unsigned i = 0; i < c->n; i++) {
		struct watch_sign *s = &c->now[i];
		double speed = i == c->slow && now >= c->onset ? 0.1 : 1;

		if (s->waiting)
			continue;
		s->busy += 1.0 / TICKS;
		c->left[i] -= speed / TICKS;
		s->waiting = c->left[i] <= 0;
		if (s->waiting)
			c->since[i] = now;
		all &= s->waiting;
	}
	if (all)
		begin_step(c, now);
}

/* Signs come once a second; rank 0 knows its own at once. */
static void beat_at(const struct crew *c, struct watch_judge *j, unsigned tick, double now)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (i > 0 && (tick + 7 * i) % TICKS != 0)
			continue;
		j->signs[i] = c->now[i];
		j->signs[i].watched = true;
		j->signs[i].heard = now;
		j->signs[i].stretch = now - c->since[i];
	}
}

/* When a rank is first named, in seconds after the onset; -1: a rank that is well was named. */
static double named_after(struct crew *c)
{
	struct watch_judge j;
	struct watch_finding f;
	double after = INFINITY;

	watch_judge_init(&j, c->n, 45);
	begin_step(c, 0);
	for (unsigned tick = 0; tick < 100 * TICKS && isinf(after); tick++) {
		double now = (double)tick / TICKS;

		beat_at(c, &j, tick, now);
		if (watch_judge_next(&j, now, &f))
			after = f.rank == c->slow && now >= c->onset ? now - c->onset : -1;
		work_a_tick(c, now);
	}
	watch_judge_done(&j);
	return after;
}

/* With the time-out that is the default. */
static void slowed_to_a_tenth(void)
{
	static const double steps[] = {0.1, 0.3, 0.6, 0.8, 1, 1.5, 2.4, 3, 5, 7, 10};

	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		for (double onset = 20; onset < 32; onset += 0.75)
			for (unsigned slow = 0; slow < 4; slow++) {
				struct crew c = {.n = slow < 2 ? 2 : 4,
				                 .slow = slow,
				                 .step = steps[i],
				                 .onset = onset};
				double after = named_after(&c);

				if (after >= 0 && after <= 30)
					continue;
				printf("# steps of %.1f s, slow from %.2f s on: %.1f s\n", steps[i],
				       onset, after);
				test_fail(__FILE__, __LINE__, "named within 30 s");
			}
}

/* ---- greetings ---- */

/* RFC 4231, test cases 2 and 6. */
static void hmac(void)
{
	char key[132], out[SHA256_HEX_MAX];

	CHECK_STR(hmac_sha256_hex("Jefe", "what do ya want for nothing?", out),
	          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, 131);
	key[131] = '\0';
	CHECK_STR(
		hmac_sha256_hex(key, "Test Using Larger Than Block-Size Key - Hash Key First", out),
		"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void greet(void)
{
	struct greeting leader = {.leader = "0123456789abcdef0123456789abcdef"}, rank = {0};
	char line[GREETING_LINE_MAX];
	struct err err = {0};

	greeting_challenge(&leader, line);
	CHECK(greeting_read_challenge(line, &rank));
	CHECK_STR(rank.leader, leader.leader);
	CHECK_OK(greeting_nonce(rank.rank_nonce, &err), &err);
	rank.rank = 3;
	rank.n_ranks = 4;
	greeting_answer(&rank, "key", line);
	CHECK(strstr(line, "key") == NULL);
	CHECK(greeting_read_answer(line, "key", &leader) == GREETING_PROVEN);
	CHECK_INT(leader.rank, 3);
	CHECK_INT(leader.n_ranks, 4);
	CHECK(greeting_read_answer(line, "kez", &leader) == GREETING_UNPROVEN);
	greeting_welcome(&leader, "key", line);
	CHECK(greeting_read_welcome(line, "key", &rank) == GREETING_PROVEN);
	CHECK(greeting_read_welcome(line, "", &rank) == GREETING_UNPROVEN);
	CHECK(greeting_read_welcome("there is one already\n", "key", &rank) == GREETING_GARBLED);
}

/* What was said on one connection does not open another, nor another rank's seat. */
static void replay(void)
{
	struct greeting first = {3, 4, "0123456789abcdef0123456789abcdef", "00"}, second = first;
	char line[GREETING_LINE_MAX];

	greeting_answer(&first, "key", line);
	second.leader[0] = '1';
	CHECK(greeting_read_answer(line, "key", &first) == GREETING_PROVEN);
	CHECK(greeting_read_answer(line, "key", &second) == GREETING_UNPROVEN);
	line[5] = '2';
	CHECK(greeting_read_answer(line, "key", &first) == GREETING_UNPROVEN);
}

static void garbled(void)
{
	static const char *const bad[] = {
		"",
		"\n",
		"GET / HTTP/1.0\r\n",
		"rank 1 of 2\n",
		"rank -1 of 2 nonce 00 proof 00\n",
		"rank  1 of 2 nonce 00 proof 00\n",
		"rank 1 of 2 nonce 00 proof 00\n",
		"rank 01 of 2 nonce 00 proof "
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
		"rank 1 of 2 nonce 00 proof "
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef more\n",
	};
	struct greeting g = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (greeting_read_answer(bad[i], "key", &g) != GREETING_GARBLED ||
		    greeting_read_challenge(bad[i], &g))
			test_fail(__FILE__, __LINE__, bad[i]);
}

int main(void)
{
	TEST("watch: a rank whose connection broke, or that failed, is lost at once", gone);
	TEST("watch: who has left, or was never seen, is not missed", left);
	TEST("watch: a silent rank is named after half of the time-out, lost after it", silent);
	TEST("watch: a rank that comes back starts anew", back_again);
	TEST("watch: a rank that others wait for is named, though it beats", late);
	TEST("watch: a rank that a stopped one holds up is not named in its place", held_up);
	TEST("watch: a long step of all ranks is nobody's fault", long_step);
	TEST("watch: a rank many times slower than the others is named, then given up", slow);
	TEST("watch: a rank three times slower than the others is named, not given up",
	     slow_and_no_more);
	TEST("watch: a slow rank that is hardly faster now and then is given up, too",
	     slow_on_and_on);
	TEST("watch: a rank that is slow now and then is named, not given up", slow_for_once);
	TEST("watch: a rank at a tenth of its speed is named within 30 s, however long its steps",
	     slowed_to_a_tenth);
	TEST("watch: a status that starting again does not help is passed on to all ranks",
	     statuses);
	TEST("hmac: RFC 4231", hmac);
	TEST("greeting: both sides prove the key, which is not sent", greet);
	TEST("greeting: an answer proves nothing on another connection", replay);
	TEST("greeting: what is not an answer is told from one", garbled);
	return test_done();
}
