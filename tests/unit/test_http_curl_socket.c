/* The sockets that libcurl works on. */
#include "tests/harness.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/net/http_curl_socket.h"

static int opened(const char *ip)
{
	struct curl_sockaddr address = {.family = AF_INET, .socktype = SOCK_STREAM};
	struct sockaddr_in in = {.sin_family = AF_INET};

	CHECK_INT(inet_pton(AF_INET, ip, &in.sin_addr), 1);
	memcpy(&address.addr, &in, sizeof(in));
	return curl_open_socket(NULL, CURLSOCKTYPE_IPCXN, &address);
}

static int option(int fd, int name)
{
	socklen_t size = sizeof(int);
	int value = -1;

	CHECK_INT(getsockopt(fd, SOL_SOCKET, name, &value, &size), 0);
	return value;
}

static void one_to_this_machine_has_small_buffers(void)
{
	int near = opened("127.0.0.1"), far = opened("192.0.2.1"),
	    plain = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(near >= 0 && far >= 0);
	CHECK(option(near, SO_SNDBUF) != option(plain, SO_SNDBUF));
	CHECK(option(near, SO_RCVBUF) != option(plain, SO_RCVBUF));
	CHECK(option(near, SO_SNDBUF) <= 512 << 10 && option(near, SO_RCVBUF) <= 512 << 10);
	/* The kernel grows those of others by itself, unless they are set. */
	CHECK_INT(option(far, SO_SNDBUF), option(plain, SO_SNDBUF));
	CHECK_INT(option(far, SO_RCVBUF), option(plain, SO_RCVBUF));
	close(near);
	close(far);
	close(plain);
}

static void no_child_inherits_one(void)
{
	int fd = opened("192.0.2.1");

	CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	close(fd);
}

int main(void)
{
	TEST("sockets: one to this machine has small buffers",
	     one_to_this_machine_has_small_buffers);
	TEST("sockets: no child inherits one", no_child_inherits_one);
	return test_done();
}
