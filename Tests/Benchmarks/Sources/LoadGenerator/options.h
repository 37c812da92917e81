#ifndef OPTIONS_H
#define OPTIONS_H

/* What a run is like. Each member is an option of its name, with dashes, that takes a value. */
struct options
{
  int port;
  /* The process that is measured. */
  int pid;
  /* Consumers; one that reads 1 KB a second is not among them and not measured. */
  int streams;
  int slow_streams;
  /* The path of a consumer's request; `%d` in it stands for the consumer's number. */
  const char *path;
  /* Connections on which requests follow each other, in place of consumers; their headers. */
  int requests;
  const char *accept;
  const char *if_none_match;
  /* Whether each of them waits for another value than the last one. */
  int long_poll;
  /* Whether requests have the headers of a browser. */
  int browser_headers;
  /* Whether consumers are Lightstreamer clients over WebSocket, each with one subscription to this group. */
  const char *tlcp_group;
  const char *tlcp_schema;
  const char *tlcp_adapter;
  /* Where to publish by POST, and how often a second; NULL: the server has its own events. */
  const char *publish_path;
  int publish_rate;
  /* Whether consumers ask for streams that are compressed with gzip. */
  int gzip;
  /* Whether connections are encrypted. */
  int tls;
  /* Whether to connect, send one request and read the response again and again, in place of streams. */
  int handshakes;
  double warm_up;
  double seconds;
};

/* Reads the command line; ends the process if it cannot. */
struct options read_options (int count, char **arguments);

#endif
