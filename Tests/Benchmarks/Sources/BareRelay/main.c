/* The least delay of any process between a server and its clients: one epoll loop that passes the bytes of each connection
   on, one `recv` and one `send` for each event. It neither parses nor buffers: a client that is slow ends its connection.

     BareRelay --to PORT */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1024, MOST_EVENTS = 64 };

/* The other end of each connection; 0 for none. */
static int others[MOST_DESCRIPTORS];

static struct sockaddr_in
loopback (int port)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };

  address.sin_port = htons ((uint16_t) port);
  return address;
}

static int
listen_somewhere (void)
{
  struct sockaddr_in address = loopback (0);
  socklen_t length = sizeof (address);
  int listener = socket (AF_INET, SOCK_STREAM, 0);

  if (bind (listener, (struct sockaddr *) &address, length) != 0 || listen (listener, 64) != 0
      || getsockname (listener, (struct sockaddr *) &address, &length) != 0)
    {
      perror ("listen");
      exit (1);
    }
  printf ("port %d\n", ntohs (address.sin_port));
  fflush (stdout);
  return listener;
}

static void
watch (int poller, int descriptor)
{
  struct epoll_event event = { .events = EPOLLIN, .data.fd = descriptor };
  int on = 1;

  setsockopt (descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
  epoll_ctl (poller, EPOLL_CTL_ADD, descriptor, &event);
}

static void
connect_next (int poller, int listener, int port)
{
  struct sockaddr_in address = loopback (port);
  int client = accept (listener, NULL, NULL);
  int server = socket (AF_INET, SOCK_STREAM, 0);

  if (client < 0 || server < 0 || client >= MOST_DESCRIPTORS || server >= MOST_DESCRIPTORS
      || connect (server, (struct sockaddr *) &address, sizeof (address)) != 0)
    {
      perror ("connect");
      exit (1);
    }
  others[client] = server;
  others[server] = client;
  watch (poller, client);
  watch (poller, server);
}

static void
pass_on (int descriptor)
{
  char bytes[65536];
  int other = others[descriptor];
  ssize_t count;

  if (other == 0)
    return;
  count = recv (descriptor, bytes, sizeof (bytes), MSG_DONTWAIT);
  if (count > 0 && send (other, bytes, (size_t) count, MSG_NOSIGNAL | MSG_DONTWAIT) == count)
    return;
  others[descriptor] = 0;
  others[other] = 0;
  close (descriptor);
  close (other);
}

int
main (int argument_count, char **arguments)
{
  struct epoll_event events[MOST_EVENTS];
  int poller = epoll_create1 (0);
  int listener;
  int port;

  if (argument_count != 3 || strcmp (arguments[1], "--to") != 0)
    {
      puts ("BareRelay --to PORT");
      return 2;
    }
  port = atoi (arguments[2]);
  listener = listen_somewhere ();
  watch (poller, listener);
  for (;;)
    {
      int count = epoll_wait (poller, events, MOST_EVENTS, -1);

      for (int index = 0; index < count; index++)
        {
          if (events[index].data.fd == listener)
            connect_next (poller, listener, port);
          else
            pass_on (events[index].data.fd);
        }
    }
}
