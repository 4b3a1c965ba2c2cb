#include "base/net/http_curl_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "base/net/reach.h"

enum { LOCAL_BUFFER = 256 << 10 /* the kernel doubles it, for its own accounts: socket(7) */ };

static bool is_this_machine(const struct curl_sockaddr *address)
{
	const void *ip =
		address->family == AF_INET6
			? (const void *)&((const struct sockaddr_in6 *)&address->addr)->sin6_addr
			: &((const struct sockaddr_in *)&address->addr)->sin_addr;
	char text[INET6_ADDRSTRLEN];

	return (address->family == AF_INET || address->family == AF_INET6) &&
	       inet_ntop(address->family, ip, text, sizeof(text)) != NULL &&
	       reach_is_loopback(text);
}

curl_socket_t curl_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address)
{
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	int bytes = LOCAL_BUFFER;

	(void)ctx;
	(void)purpose;
	if (fd < 0)
		return CURL_SOCKET_BAD;
	/* Before the connection is made: the window's scale is agreed on then. */
	if (is_this_machine(address)) {
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	}
	return fd;
}
