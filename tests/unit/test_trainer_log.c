/* The PyTorch program's lines, JSON, TensorBoard records, Prometheus. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/crc32c.h"
#include "base/jsonr.h"
#include "tests/harness.h"
#include "trainer/data/le.h"
#include "trainer/log/events.h"
#include "trainer/log/exporter.h"
#include "trainer/log/lines.h"

/* Expected texts are what CPython 3.11 prints for repr(). */
static void floats_as_python(void)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{1e-5, "1e-05"},
	             {5e-5, "5e-05"},
	             {0.0001, "0.0001"},
	             {0.9, "0.9"},
	             {1, "1.0"},
	             {0, "0.0"},
	             {100, "100.0"},
	             {1e16, "1e+16"},
	             {1e15, "1000000000000000.0"},
	             {-2.5, "-2.5"},
	             {0.1 + 0.2, "0.30000000000000004"},
	             {1.5e-7, "1.5e-07"},
	             {123456.789, "123456.789"}};
	char text[LOG_FLOAT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		log_float(cases[i].value, text);
		CHECK_STR(text, cases[i].text);
	}
}

static void seed_lines(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct log_training t = {
		"xla:1", 1, 0, 1e-5, 0.0927734375, 8.766481, "2023-09-22 04:13:00.5"};
	struct log_test test = {"cpu:0", 3, 2, 4.5, -1, "T"};

	log_training(&sb, &t);
	CHECK_STR(strbuf_str(&sb), "| Training Device=xla:1 Epoch=1 Step=0 Learning_Rate=1e-05 "
	                           "Loss=0.09277 Throughput=8.76648 Time=2023-09-22 04:13:00.5\n");
	strbuf_reset(&sb);
	log_test(&sb, &test);
	test.accuracy = 12.345;
	log_test(&sb, &test);
	CHECK_STR(strbuf_str(&sb), "| Test Device=cpu:0 Step=3 Epoch=2 Throughput=4.50000 Time=T\n"
	                           "| Test Device=cpu:0 Step=3 Epoch=2 Throughput=4.50000 "
	                           "Accuracy=12.35 Time=T\n");
	strbuf_reset(&sb);
	log_preparing(&sb, "synthetic", "/dataset");
	log_throughputs(&sb, "train", 1.23456, 2);
	CHECK_STR(strbuf_str(&sb),
	          "==> Preparing data.FLAGS.dataset:synthetic,dataset_dir:'/dataset\n"
	          "Average train throughput: 1.2346\nMax train throughput: 2.0000\n");
}

static void namespace_box(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct log_flag flags[] = {{"dataset", FLAG_STRING, "a'b", 0},
	                           {"batch_size", FLAG_INT, NULL, 8},
	                           {"lr", FLAG_FLOAT, NULL, 5e-5},
	                           {"do_eval", FLAG_BOOL, NULL, 0}};

	log_namespace(&sb, flags, ARRAY_LEN(flags));
	CHECK_STR(strbuf_str(&sb),
	          "--------TRAINING CONFIG----------\n"
	          "Namespace(dataset='a\\'b', batch_size=8, lr=5e-05, do_eval=False)\n"
	          "---------------------------------\n");
}

static void json_line(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};
	struct log_step s = {.step = 3, .epoch = 1, .loss = 0.5, .grad_norm = 0.0 / 0.0 * 0};
	struct err err = {0};

	log_json(&sb, &s);
	CHECK(sb.len > 0 && sb.ptr[sb.len - 1] == '\n');
	CHECK_OK(jsonr_parse("line", sb.ptr, sb.len - 1, &doc, &err), &err);
	CHECK(jsonr_get(&doc, doc.nodes, "loss") != NULL);
	CHECK_INT(jsonr_get(&doc, doc.nodes, "grad_norm")->type, JSONR_NULL);
	CHECK(jsonr_get(&doc, doc.nodes, "gpu_power_watts") == NULL);
}

/* What a device does not tell is in no log. */
static void meters_of_a_device(void)
{
	AUTO(strbuf)
	struct strbuf json = STRBUF_INIT(0),
		      metrics = STRBUF_INIT(0), line = STRBUF_INIT(0);
	struct log_step s = {.step = 3, .tokens_per_second = 1234.4};

	log_details(&line, &s);
	CHECK(strstr(strbuf_str(&line), ", 1234 tokens/s\n") != NULL);
	s.meters.has[METER_USE] = s.meters.has[METER_CORRECTED] = true;
	s.meters.value[METER_USE] = 0.5;
	s.meters.value[METER_CORRECTED] = 7;
	strbuf_reset(&line);
	log_details(&line, &s);
	CHECK(strstr(strbuf_str(&line), ", 1234 tokens/s; GPU 50 %\n") != NULL);
	log_json(&json, &s);
	CHECK(strstr(strbuf_str(&json), "\"gpu_utilization_ratio\":0.5,"
	                                "\"gpu_ecc_corrected_total\":7,") != NULL);
	exporter_format(&metrics, &s, 0);
	CHECK(strstr(strbuf_str(&metrics),
	             "# TYPE slipway_trainer_gpu_ecc_corrected_total counter\n"
	             "slipway_trainer_gpu_ecc_corrected_total{rank=\"0\"} 7\n") != NULL);
	CHECK(strstr(strbuf_str(&metrics), "tokens_per_second{rank=\"0\"} 1234.4") != NULL);
	CHECK(strstr(strbuf_str(&metrics), "power") == NULL);
	for (size_t i = 0; i < METERS; i++)
		CHECK(meter_row((enum meter)i)->name != NULL && meter_row((enum meter)i)->tag);
}

/* An evaluation's line has no "loss", which steps are read by; what was not judged has no best. */
static void evaluations(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};
	struct log_eval e = {.step = 40,
	                     .epoch = 2,
	                     .clips = 800,
	                     .values = {0.25, 0.5, 0.125, 6.5, 10, 20, INFINITY, 0.5, 0.75},
	                     .seconds = 1.5,
	                     .judged = true,
	                     .metric = METRIC_PSNR,
	                     .best = 11,
	                     .best_step = 20,
	                     .stale = 1};
	struct err err = {0};

	log_eval(&sb, &e);
	CHECK_STR(
		strbuf_str(&sb),
		"  validation after step 40: loss 0.25000, image 0.50000 (PSNR 10.00 dB), audio "
		"0.12500 (PSNR 20.00 dB, SNR inf dB), label 6.50000, top-1 50.00 %, top-5 75.00 %; "
		"800 clips in 1.5 s; best psnr 11.00000 after step 20\n");
	strbuf_reset(&sb);
	log_eval_json(&sb, &e);
	CHECK_OK(jsonr_parse("line", sb.ptr, sb.len - 1, &doc, &err), &err);
	CHECK(jsonr_get(&doc, doc.nodes, "loss") == NULL);
	CHECK(jsonr_get(&doc, doc.nodes, "val_loss")->number == 0.25);
	CHECK_INT(jsonr_get(&doc, doc.nodes, "val_snr")->type, JSONR_NULL);
	CHECK(jsonr_get(&doc, doc.nodes, "best")->number == 11);
	CHECK(jsonr_get(&doc, doc.nodes, "step")->number == 40);
	strbuf_reset(&sb);
	e.judged = false;
	e.step = 0;
	log_eval_json(&sb, &e);
	CHECK(strstr(strbuf_str(&sb), "\"best") == NULL && strstr(strbuf_str(&sb), "step") == NULL);
	strbuf_reset(&sb);
	exporter_format_eval(&sb, &e, 0);
	CHECK(strstr(strbuf_str(&sb), "\nslipway_trainer_validation_top5{rank=\"0\"} 0.75\n") !=
	      NULL);
}

/* Walks TFRecord frames; the number of whole ones, with good checksums. */
static size_t count_records(const struct strbuf *sb)
{
	size_t at = 0, n = 0;

	while (at + 16 <= sb->len) {
		const unsigned char *p = (const unsigned char *)sb->ptr + at;
		size_t len = (size_t)le64_get(p);

		CHECK(le32_get(p + 8) == crc32c_masked(crc32c(0, p, 8)));
		if (len > sb->len - at - 16)
			break;
		CHECK(le32_get(p + 12 + len) == crc32c_masked(crc32c(0, p + 12, len)));
		at += 16 + len;
		n++;
	}
	CHECK_INT(at, sb->len);
	return n;
}

static void event_records(void)
{
	static const unsigned char want[] = {0x09, 0,    0,    0,    0,    0,    0,    0xf0,
	                                     0x3f, 0x10, 0xac, 0x02, 0x2a, 0x0a, 0x0a, 0x08,
	                                     0x0a, 0x01, 'L',  0x15, 0,    0,    0,    0x3f};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	struct events_scalar s = {"L", 0.5f};

	events_scalars(&sb, 1.0, 300, &s, 1);
	CHECK_INT(sb.len, sizeof(want) + 16);
	CHECK(memcmp(sb.ptr + 12, want, sizeof(want)) == 0);
	events_version(&sb, 1.0);
	CHECK_INT(count_records(&sb), 2);
}

static void ask(uint16_t port, const char *request, char *reply, size_t size)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t n = 0;
	ssize_t got;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	reply[0] = '\0';
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		return;
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return;
	shutdown(fd, SHUT_WR);
	while (n + 1 < size && (got = recv(fd, reply + n, size - 1 - n, 0)) > 0)
		n += (size_t)got;
	reply[n] = '\0';
}

static void prometheus(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO_FREE char *reply = malloc(1 << 16), *endless = malloc(1 << 15);
	struct log_step s = {.step = 7, .loss = 0.25};
	struct exporter *e;
	struct err err = {0};

	CHECK_OK(exporter_start(0, &e, &err), &err);
	exporter_format(&sb, &s, 0);
	exporter_publish(e, strbuf_str(&sb));
	ask(exporter_port(e), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", reply, 1 << 16);
	CHECK(strstr(reply, "HTTP/1.0 200 OK") == reply);
	CHECK(strstr(reply, "slipway_trainer_steps_total{rank=\"0\"} 7\n") != NULL);
	CHECK(strstr(reply, "slipway_trainer_loss{rank=\"0\"} 0.25\n") != NULL);
	ask(exporter_port(e), "GET / HTTP/1.1\r\n\r\n", reply, 1 << 16);
	CHECK(strstr(reply, "HTTP/1.0 404") == reply);
	ask(exporter_port(e), "half", reply, 1 << 16);
	CHECK(strstr(reply, "HTTP/1.0 400") == reply);
	memset(endless, 'a', 1 << 15);
	endless[(1 << 15) - 1] = '\0';
	ask(exporter_port(e), endless, reply, 1 << 16);
	ask(exporter_port(e), "GET /metrics HTTP/1.0\r\n\r\n", reply, 1 << 16);
	CHECK(strstr(reply, "200 OK") != NULL);
	exporter_stop(e);
}

int main(void)
{
	TEST("log: floats look as Python's", floats_as_python);
	TEST("log: the PyTorch program's lines, letter by letter", seed_lines);
	TEST("log: the Namespace in its box", namespace_box);
	TEST("log: a JSON line a step; what is not finite is null", json_line);
	TEST("log: what a device tells of itself, and nothing that it does not",
	     meters_of_a_device);
	TEST("log: an evaluation as a line, as JSON, as metrics", evaluations);
	TEST("log: TensorBoard records have the format's bytes and checksums", event_records);
	TEST("log: Prometheus metrics are served, bad requests are not", prometheus);
	return test_done();
}
