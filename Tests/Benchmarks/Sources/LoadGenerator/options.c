#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
take (struct options *options, const char *name, const char *value)
{
  struct { const char *name; int *place; } numbers[] = {
    { "--port", &options->port }, { "--pid", &options->pid },
    { "--streams", &options->streams }, { "--slow-streams", &options->slow_streams },
    { "--browser-headers", &options->browser_headers }, { "--publish-rate", &options->publish_rate },
    { "--requests", &options->requests }, { "--long-poll", &options->long_poll },
    { "--tls", &options->tls }, { "--gzip", &options->gzip }, { "--handshakes", &options->handshakes },
  };
  struct { const char *name; const char **place; } texts[] = {
    { "--path", &options->path }, { "--publish-path", &options->publish_path },
    { "--tlcp-group", &options->tlcp_group }, { "--tlcp-schema", &options->tlcp_schema },
    { "--tlcp-adapter", &options->tlcp_adapter }, { "--accept", &options->accept },
    { "--if-none-match", &options->if_none_match },
  };
  struct { const char *name; double *place; } times[] = {
    { "--warm-up", &options->warm_up }, { "--seconds", &options->seconds },
  };

  for (size_t index = 0; index < sizeof (numbers) / sizeof (numbers[0]); index++)
    if (strcmp (name, numbers[index].name) == 0)
      return *numbers[index].place = atoi (value), 1;
  for (size_t index = 0; index < sizeof (texts) / sizeof (texts[0]); index++)
    if (strcmp (name, texts[index].name) == 0)
      return *texts[index].place = value, 1;
  for (size_t index = 0; index < sizeof (times) / sizeof (times[0]); index++)
    if (strcmp (name, times[index].name) == 0)
      return *times[index].place = atof (value), 1;
  return 0;
}

struct options
read_options (int count, char **arguments)
{
  struct options options = { .streams = 1, .path = "/", .accept = "*/*", .publish_rate = 20, .warm_up = 1, .seconds = 3 };

  for (int index = 1; index < count; index += 2)
    if (index + 1 == count || !take (&options, arguments[index], arguments[index + 1]))
      {
        fprintf (stderr, "what is %s?\n", arguments[index]);
        exit (2);
      }
  if (options.port <= 0 || options.streams < 0 || options.streams > 60000 || options.seconds <= 0)
    {
      fprintf (stderr, "--port, --streams (up to 60000) and --seconds have to be given\n");
      exit (2);
    }
  return options;
}
