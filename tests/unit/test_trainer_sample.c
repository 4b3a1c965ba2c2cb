/* Pictures and sounds: the bytes of the formats. */
#include <sys/wait.h>

#include "tests/harness.h"
#include "trainer/data/le.h"
#include "trainer/sample/png.h"
#include "trainer/sample/wav.h"

/* A red and a blue pixel; RFC 2083 gives the chunks, and every PNG ends with the same 12 bytes. */
static void png_bytes(void)
{
	static const uint8_t rgb[6] = {255, 0, 0, 0, 0, 255};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	const char *iend = "\0\0\0\0IEND\xae\x42\x60\x82";

	png_encode(&sb, rgb, 1, 2);
	CHECK_INT(sb.len, 8 + 25 + 12 + (2 + 5 + 7 + 4) + 12);
	CHECK(memcmp(sb.ptr, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\1\x08\2\0\0\0", 29) == 0);
	CHECK(memcmp(sb.ptr + sb.len - 12, iend, 12) == 0);
	CHECK(memcmp(sb.ptr + 41, "\x78\x01\x01\x07\x00\xf8\xff\x00\xff\x00\x00\x00\x00\xff", 14) == 0);
}

/* Python's zlib and a reader of its own chunks look at a larger one, where Python is. */
static void png_by_python(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	AUTO_FREE uint8_t *rgb = malloc(200 * 300 * 3);
	char path[] = "/tmp/slipway-png-XXXXXX";
	int fd = mkstemp(path), status;
	const char *check =
		"import sys,zlib,struct;b=open(sys.argv[1],'rb').read();at=8;d=b''\n"
		"while at<len(b):\n"
		" n,=struct.unpack('>I',b[at:at+4]);t=b[at+4:at+8];c=b[at+8:at+8+n]\n"
		" assert struct.unpack('>I',b[at+8+n:at+12+n])[0]==zlib.crc32(t+c)\n"
		" d+=c if t==b'IDAT' else b'';at+=12+n\n"
		"r=zlib.decompress(d);assert len(r)==200*901 and r[901+1]==(900)%251\n";
	pid_t child;

	for (size_t i = 0; i < (size_t)200 * 300 * 3; i++)
		rgb[i] = (uint8_t)(i % 251);
	png_encode(&sb, rgb, 200, 300);
	CHECK(write(fd, sb.ptr, sb.len) == (ssize_t)sb.len);
	close(fd);
	child = fork();
	if (child == 0) {
		execlp("python3", "python3", "-c", check, path, (char *)NULL);
		quick_exit(77);
	}
	CHECK(waitpid(child, &status, 0) == child);
	unlink(path);
	if (WEXITSTATUS(status) == 77)
		SKIP("python3 is not installed");
	CHECK_INT(status, 0);
}

static void wav_bytes(void)
{
	static const float sound[4] = {0, 1, -2, 0.5f};
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);
	const unsigned char *p;

	wav_encode(&sb, sound, 4, 48000);
	p = (const unsigned char *)sb.ptr;
	CHECK_INT(sb.len, 52);
	CHECK(memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WAVEfmt ", 8) == 0);
	CHECK_INT(le32_get(p + 4), 44);
	CHECK_INT(le32_get(p + 24), 48000);
	CHECK_INT(le32_get(p + 28), 96000);
	CHECK_INT(le32_get(p + 40), 8);
	CHECK_INT((int16_t)le16_get(p + 46), 32767);
	CHECK_INT((int16_t)le16_get(p + 48), -32767);
	CHECK_INT((int16_t)le16_get(p + 50), 16384);
}

int main(void)
{
	TEST("png: the bytes of a picture of two pixels", png_bytes);
	TEST("png: checksums and data of a large picture", png_by_python);
	TEST("wav: header and cut samples", wav_bytes);
	return test_done();
}
