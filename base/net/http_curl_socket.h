/*
 * The sockets that libcurl works on. Private to this folder.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_CURL_SOCKET_H
#define SLIPWAY_BASE_NET_HTTP_CURL_SOCKET_H

#include <curl/curl.h>

/*
 * For CURLOPT_OPENSOCKETFUNCTION: a socket that no child process inherits. One to this machine has
 * small buffers, for there is no way on which bytes could be: what the kernel grew them to, up to
 * megabytes for each connection (tcp(7), tcp_rmem and tcp_wmem), would leave the processors' caches
 * before the other process reads it. libcurl closes it; CURL_SOCKET_BAD and errno on failure.
 */
curl_socket_t curl_open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address);

#endif
