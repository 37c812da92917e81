#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void
fail (const char *call, int code)
{
  fprintf (stderr, "%s: %s\n", call, gnutls_strerror (code));
  exit (1);
}

/* A TLS 1.3 client that does not verify the server. The socket does not block after the handshake. */
static gnutls_session_t
shake_hands (int descriptor)
{
  static gnutls_certificate_credentials_t credentials;
  gnutls_session_t session;
  int code;

  if (credentials == NULL)
    gnutls_certificate_allocate_credentials (&credentials);
  gnutls_init (&session, GNUTLS_CLIENT);
  gnutls_priority_set_direct (session, "NORMAL:-VERS-ALL:+VERS-TLS1.3", NULL);
  gnutls_credentials_set (session, GNUTLS_CRD_CERTIFICATE, credentials);
  gnutls_transport_set_int (session, descriptor);
  gnutls_handshake_set_timeout (session, 60000);
  while ((code = gnutls_handshake (session)) < 0)
    if (gnutls_error_is_fatal (code))
      fail ("handshake", code);
  fcntl (descriptor, F_SETFL, fcntl (descriptor, F_GETFL) | O_NONBLOCK);
  return session;
}

void
connection_open (struct connection *connection, const struct options *options, int receive_buffer)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons ((uint16_t) options->port),
                                 .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  int on = 1;

  *connection = (struct connection) { .descriptor = socket (AF_INET, SOCK_STREAM, 0) };
  if (receive_buffer > 0)
    setsockopt (connection->descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof (receive_buffer));
  if (connect (connection->descriptor, (struct sockaddr *) &address, sizeof (address)) != 0)
    {
      perror ("connect");
      exit (1);
    }
  setsockopt (connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
  if (options->tls)
    connection->session = shake_hands (connection->descriptor);
}

void
connection_send (struct connection *connection, const char *bytes, size_t count)
{
  if (connection->session != NULL)
    {
      ssize_t code;

      while ((code = gnutls_record_send (connection->session, bytes, count)) == GNUTLS_E_AGAIN)
        ;
      if (code != (ssize_t) count)
        fail ("send", (int) code);
    }
  else if (send (connection->descriptor, bytes, count, MSG_NOSIGNAL) != (ssize_t) count)
    {
      perror ("send");
      exit (1);
    }
}

/* Decrypts all records that have been received, as far as there is room. */
static ssize_t
receive_records (gnutls_session_t session, char *bytes, size_t count)
{
  size_t total = 0;

  while (total < count)
    {
      ssize_t code = gnutls_record_recv (session, bytes + total, count - total);

      if (code == GNUTLS_E_AGAIN || code == GNUTLS_E_INTERRUPTED)
        break;
      if (code <= 0)
        return (ssize_t) total;
      total += (size_t) code;
    }
  errno = EAGAIN;
  return total > 0 ? (ssize_t) total : -1;
}

ssize_t
connection_receive (struct connection *connection, char *bytes, size_t count)
{
  if (connection->session != NULL)
    return receive_records (connection->session, bytes, count);
  return recv (connection->descriptor, bytes, count, MSG_DONTWAIT);
}

void
connection_wait (struct connection *connection)
{
  struct pollfd readable = { .fd = connection->descriptor, .events = POLLIN };

  poll (&readable, 1, -1);
}

void
connection_close (struct connection *connection)
{
  if (connection->session != NULL)
    gnutls_deinit (connection->session);
  close (connection->descriptor);
}
