/* The least that libmicrohttpd can do for a request: one thread with epoll, and one answer to everything that was made
   beforehand. It prints its port, and stops when its input is closed. */

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char answer[] = "{\"value\":\"12.34\",\"age\":0.123,\"stale\":false}";

static enum MHD_Result
respond (void *context, struct MHD_Connection *connection, const char *target, const char *method, const char *version,
         const char *upload, size_t *upload_size, void **request)
{
  static int begun;

  (void) target, (void) method, (void) version, (void) upload, (void) upload_size;
  if (*request == NULL)
    {
      *request = &begun;
      return MHD_YES;
    }
  return MHD_queue_response (connection, MHD_HTTP_OK, context);
}

int
main (void)
{
  struct MHD_Response *response =
    MHD_create_response_from_buffer (sizeof (answer) - 1, (void *) answer, MHD_RESPMEM_PERSISTENT);
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  struct MHD_Daemon *daemon;
  char end;

  MHD_add_response_header (response, "Content-Type", "application/json");
  daemon = MHD_start_daemon (MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, respond, response, MHD_OPTION_SOCK_ADDR,
                             (struct sockaddr *) &address, MHD_OPTION_END);
  if (daemon == NULL)
    return 1;
  printf ("port %d\n", MHD_get_daemon_info (daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush (stdout);
  while (read (STDIN_FILENO, &end, 1) > 0)
    ;
  pause ();
  MHD_stop_daemon (daemon);
  MHD_destroy_response (response);
  return 0;
}
