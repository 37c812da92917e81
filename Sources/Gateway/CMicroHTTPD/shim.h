#ifndef CMICROHTTPD_SHIM_H
#define CMICROHTTPD_SHIM_H

#include <stddef.h>
#include <stdint.h>
/* Not in Swift's Glibc module in all releases. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <microhttpd.h>

/* Declared by <sys/socket.h> for GNU sources only. */
extern int accept4 (int socket, struct sockaddr *address, socklen_t *length, int flags);

/* Accepts a connection as a non-blocking socket. Swift takes the flags for this module's own, since they are used here:
   release builds find them only in files that import it. */
static inline int
cmhd_accept (int listener, struct sockaddr *address, socklen_t *length)
{
  return accept4 (listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* How many bytes were read from a TCP socket in all; -1 if the system does not tell. */
static inline int64_t
cmhd_read_count (int descriptor)
{
  /* The first part of `struct tcp_info` of <linux/tcp.h>, of which <netinet/tcp.h> has fewer members. */
  struct { uint8_t others[128]; uint64_t received; } info;
  socklen_t size = sizeof info;
  int unread;
  int later;

  /* Equal numbers of unread bytes before and after: no byte arrived in between. */
  if (0 != ioctl (descriptor, FIONREAD, &unread) ||
      0 != getsockopt (descriptor, 6 /* IPPROTO_TCP */, 11 /* TCP_INFO */, &info, &size) ||
      sizeof info != size ||
      0 != ioctl (descriptor, FIONREAD, &later) || unread != later)
    return -1;
  return (int64_t) info.received - unread;
}

/* What a daemon is started with; see `cmhd_start`. */
struct cmhd_settings
{
  unsigned int connection_limit;
  size_t connection_memory;
  unsigned int idle_seconds;
  /* Both NULL without TLS; PEM text that must live as long as the daemon. */
  const char *certificate;
  const char *key;
  /* First argument of every callback but the unescape one. */
  void *context;
  MHD_NotifyConnectionCallback connection;
  void *(*request_line)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback access;
  MHD_RequestCompletedCallback completed;
  size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text);
};

/* TLS 1.3 and 1.2 with authenticated ciphers alone, and in 1.2 only with ephemeral keys: no static RSA, no CBC. */
static const char cmhd_tls_priorities[] =
  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:"
  "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM";

/* `MHD_start_daemon` is variadic, which Swift cannot call. The daemon has no thread and no listening socket of its
   own: its owner adds the connections, waits for its epoll descriptor and calls `MHD_run`. */
static inline struct MHD_Daemon *
cmhd_start (const struct cmhd_settings *settings)
{
  struct MHD_OptionItem tls[] = {
    { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *) settings->certificate },
    { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *) settings->key },
    { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *) cmhd_tls_priorities },
    { MHD_OPTION_END, 0, NULL }
  };
  unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;

  if (NULL == settings->certificate)
    tls[0].option = MHD_OPTION_END;
  else
    flags |= MHD_USE_TLS;
  return MHD_start_daemon (flags, 0,
                           NULL, NULL,
                           settings->access, settings->context,
                           MHD_OPTION_CONNECTION_LIMIT, settings->connection_limit,
                           MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory,
                           MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds,
                           MHD_OPTION_NOTIFY_CONNECTION, settings->connection, settings->context,
                           MHD_OPTION_URI_LOG_CALLBACK, settings->request_line, settings->context,
                           MHD_OPTION_NOTIFY_COMPLETED, settings->completed, settings->context,
                           MHD_OPTION_UNESCAPE_CALLBACK, settings->unescape, NULL,
                           MHD_OPTION_ARRAY, tls,
                           MHD_OPTION_END);
}

/* `MHD_get_daemon_info` and `MHD_get_connection_info` are variadic as well. Each of the following wraps one question. */

static inline int
cmhd_epoll_descriptor (struct MHD_Daemon *daemon)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_EPOLL_FD);

  return NULL == info ? -1 : info->epoll_fd;
}

static inline int
cmhd_descriptor (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_CONNECTION_FD);

  return NULL == info ? -1 : info->connect_fd;
}

/* The bytes from the method to the end of the empty line behind the header lines; 0 if the library does not report them. */
static inline size_t
cmhd_head_size (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);

  return NULL == info ? 0 : info->header_size;
}

static inline void *
cmhd_socket_context (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

  return NULL == info ? NULL : info->socket_context;
}

/* The TLS session, a `gnutls_session_t`; NULL without TLS. */
static inline void *
cmhd_tls_session (struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info (connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

  return NULL == info ? NULL : info->tls_session;
}

/* A response that ends with its connection and is not framed. Without this, 0.9.75 ends the head of an unframed response
   to HEAD with a stray last chunk. (The function is variadic.) */
static inline enum MHD_Result
cmhd_leave_unframed (struct MHD_Response *response)
{
  return MHD_set_response_options (response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

#endif
