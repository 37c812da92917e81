extension FaultScript {
    /// The language of fault scripts, for people.
    package static let manual = """
        A fault script has one fault a line, or several between semicolons: an effect, then NAME=VALUE pairs in any \
        order. Values are percent-encoded (%20 for a space). Empty lines and what follows # are ignored.

          at=       when: now (on all streams), data:COUNT (once a stream has carried so many data notifications), or \
        a request: handshake wsok create bind recovery streaming add delete reconf constrain force_rebind destroy mpn \
        msg heartbeat control; without it the moment in brackets
          skip=N    occasions to let pass first
          times=N   number of strikes, or always; 1 without it

        What happens to connections:
          drop                   it is cut without a goodbye; the session waits for its recovery [now]
          cut-line [bytes=N]     the next line is cut after N bytes, else in its middle, then the connection [now]
          mute ms=N              what is written during this time is lost [now]
          stall ms=N             what is written during this time arrives only after it [now]
          half-open              nothing is read or written any more, and it stays open [now]
          split bytes=N          every write is cut into random pieces of at most N bytes [streaming]
          one-line-per-write     every line is a message or chunk of its own [streaming]
          hold-stream            an HTTP stream is held back until it ends, as by a buffering proxy [streaming]
          content-length bytes=N LOOP comes after so many bytes, over WebSocket too [streaming]

        What happens to requests:
          refuse code=N [text=T] CONERR for create and bind, REQERR for the others, 403 for a handshake [control]
          error code=N [text=T]  ERROR [control]
          status code=N          an HTTP status, 200 … 599, and nothing is done [handshake]
          ignore                 nothing is done or answered [control]
          lose-answer            it is done, the answer is lost [control]
          delay ms=N             it is done, the answer comes later [control]
          duplicate-answer       the answer comes twice [control]
          late-answers           the answers of a batch come last, in reverse order [control]
          raw-commas             texts of the answer keep their commas [control]

        What happens to sessions:
          loop [ms=N]            the stream ends with LOOP,N [now]
          end code=N [text=T]    the session ends with END; a bind gets it in place of CONOK [now]
          wrong-counts [items=N] [fields=N]  SUBOK and SUBCMD are wrong by these numbers [add]
          progress by=N          PROG is ahead of what follows by N; negative: an earlier point, truly [recovery]
          refuse-recovery        CONERR,4 [recovery]
          repeat-data            the last data notification is written again, uncounted [now]
          skip-data              the next data notification is counted and not written [now]
          inject line=T …        these lines are written as they are [now]
          control-link address=T CONOK names this control link [streaming]
          client-address address=T  CLIENTIP names this address [streaming]

        Examples: "drop at=data:5", "refuse code=7 text=Full at=create times=2", "loop at=add skip=1", \
        "progress by=3;drop".
        """
}
