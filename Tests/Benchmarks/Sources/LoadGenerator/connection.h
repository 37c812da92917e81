#ifndef CONNECTION_H
#define CONNECTION_H

#include <stddef.h>
#include <sys/types.h>

#include "options.h"

/* A connection to the server, encrypted if the options say so. */
struct connection
{
  int descriptor;
  /* A GnuTLS session; NULL: not encrypted. */
  void *session;
};

/* Connects, and performs the handshake. Ends the process if that is not possible.

     receive_buffer: the size of the socket's receive buffer; 0: that of the system */
void connection_open (struct connection *connection, const struct options *options, int receive_buffer);

/* Sends all of the bytes. Ends the process if that is not possible. */
void connection_send (struct connection *connection, const char *bytes, size_t count);

/* Reads what is there, without waiting: the number of bytes, 0 at the end, -1 with EAGAIN if there is nothing. */
ssize_t connection_receive (struct connection *connection, char *bytes, size_t count);

/* Waits until there is something to read. */
void connection_wait (struct connection *connection);

void connection_close (struct connection *connection);

#endif
