/* The least that libmicrohttpd can do for a request: one answer to everything, made beforehand.

     BareResponder                      one thread with epoll, each request is answered at once
     BareResponder --interval SECONDS   requests with a tag wait, suspended; all get the same answer once in an interval

   It prints its port, and runs until it is killed. */

#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { CONNECTIONS = 20000, ROUNDS = 64 };

static int begun;
static int woken;
static struct MHD_Response *answer;
static unsigned int version;
static struct MHD_Connection *waiting[CONNECTIONS];
static size_t waiting_count;

/* Replaces the answer by one with another value and tag. */
static void
renew_answer (void)
{
  static char body[64];
  char tag[32];
  int length = snprintf (body, sizeof (body), "{\"value\":\"%u.34\",\"age\":0.123,\"stale\":false}", version % 90 + 10);

  if (answer != NULL)
    MHD_destroy_response (answer);
  answer = MHD_create_response_from_buffer ((size_t) length, body, MHD_RESPMEM_MUST_COPY);
  MHD_add_response_header (answer, "Content-Type", "application/json");
  snprintf (tag, sizeof (tag), "W/\"%u\"", version++);
  MHD_add_response_header (answer, "ETag", tag);
}

static enum MHD_Result
respond (void *context, struct MHD_Connection *connection, const char *target, const char *method, const char *http,
         const char *upload, size_t *upload_size, void **request)
{
  (void) target, (void) method, (void) http, (void) upload, (void) upload_size;
  if (*request == NULL)
    {
      *request = &begun;
      return MHD_YES;
    }
  if (context != NULL && *request == &begun && waiting_count < CONNECTIONS
      && MHD_lookup_connection_value (connection, MHD_HEADER_KIND, "If-None-Match") != NULL)
    {
      *request = &woken;
      waiting[waiting_count++] = connection;
      MHD_suspend_connection (connection);
      return MHD_YES;
    }
  return MHD_queue_response (connection, MHD_HTTP_OK, answer);
}

/* Runs the library until it has no more work; whether it asks for another run. */
static int
run (struct MHD_Daemon *daemon, int descriptor)
{
  struct pollfd question = { .fd = descriptor, .events = POLLIN };
  MHD_UNSIGNED_LONG_LONG milliseconds;
  int rounds = 0;

  do
    MHD_run (daemon);
  while (++rounds < ROUNDS && poll (&question, 1, 0) == 1);
  return MHD_get_timeout (daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

/* Answers the waiting requests once in an interval, in one pass over the daemon. */
static void
answer_in_intervals (struct MHD_Daemon *daemon, int seconds)
{
  int descriptor = MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  int timer = timerfd_create (CLOCK_MONOTONIC, 0);
  struct itimerspec interval = { .it_interval.tv_sec = seconds, .it_value.tv_sec = seconds };
  struct pollfd sources[] = { { .fd = descriptor, .events = POLLIN }, { .fd = timer, .events = POLLIN } };
  uint64_t expirations;
  int is_due = 0;

  timerfd_settime (timer, 0, &interval, NULL);
  for (;;)
    {
      poll (sources, 2, is_due ? 0 : -1);
      if (sources[1].revents != 0 && read (timer, &expirations, sizeof (expirations)) > 0)
        {
          renew_answer ();
          while (waiting_count > 0)
            MHD_resume_connection (waiting[--waiting_count]);
        }
      is_due = run (daemon, descriptor);
    }
}

int
main (int count, char **arguments)
{
  int seconds = count == 3 && strcmp (arguments[1], "--interval") == 0 ? atoi (arguments[2]) : 0;
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  unsigned int mode = seconds > 0 ? MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME : MHD_USE_EPOLL_INTERNAL_THREAD;
  struct rlimit descriptors;
  struct MHD_Daemon *daemon;

  getrlimit (RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit (RLIMIT_NOFILE, &descriptors);
  renew_answer ();
  daemon = MHD_start_daemon (mode, 0, NULL, NULL, respond, seconds > 0 ? &begun : NULL, MHD_OPTION_SOCK_ADDR,
                             (struct sockaddr *) &address, MHD_OPTION_CONNECTION_LIMIT, (unsigned int) CONNECTIONS,
                             MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u, MHD_OPTION_END);
  if (daemon == NULL)
    return 1;
  printf ("port %d\n", MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush (stdout);
  if (seconds > 0)
    answer_in_intervals (daemon, seconds);
  pause ();
  return 0;
}
