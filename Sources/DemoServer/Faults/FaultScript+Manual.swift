extension FaultScript {
    /// The syntax of fault scripts, as the command help prints it.
    package static let manual = """
        A fault script has one fault a line, or several between semicolons: an effect, then NAME=VALUE pairs in any \
        order. Values are percent-encoded (%20 for a space). Empty lines and what follows # are ignored.

          at=       when: now (on all streams), data:COUNT (once a stream has carried so many data notifications), or \
        a request: handshake wsok create bind recovery streaming add delete reconf constrain force_rebind destroy mpn \
        msg heartbeat control; without it the moment in brackets
          skip=N    occasions to skip first
          times=N   number of occasions, or always; default 1

        Connections:
          drop                   the connection is cut; its session can be recovered [now]
          cut-line [bytes=N]     the connection is cut after N bytes of the next line, or in its middle [now]
          mute ms=N              writes are lost for this time [now]
          stall ms=N             writes are delayed for this time [now]
          half-open              nothing is read or written, and the connection stays open [now]
          split bytes=N          every write is cut into random pieces of at most N bytes [streaming]
          one-line-per-write     every line is a message or chunk of its own [streaming]
          hold-stream            an HTTP stream is held back until it ends, as by a buffering proxy [streaming]
          content-length bytes=N LOOP comes after so many bytes, over WebSocket too [streaming]

        Requests:
          refuse code=N [text=T] CONERR for create and bind, REQERR for the others, 403 for a handshake [control]
          error code=N [text=T]  ERROR [control]
          status code=N          an HTTP status, 200 … 599; the request is not executed [handshake]
          ignore                 the request is neither executed nor answered [control]
          lose-answer            the request is executed, the response is lost [control]
          delay ms=N             the request is executed, the response is delayed [control]
          duplicate-answer       the response is sent twice [control]
          late-answers           the responses of a batch come last, in reverse order [control]
          raw-commas             commas in the response are not escaped [control]

        Sessions:
          loop [ms=N]            the stream ends with LOOP,N [now]
          end code=N [text=T]    the session ends with END; a bind receives it in place of CONOK [now]
          wrong-counts [items=N] [fields=N]  added to the counts of SUBOK and SUBCMD [add]
          progress by=N          PROG is N higher than the data that follows; negative: restart earlier [recovery]
          refuse-recovery        CONERR,4 [recovery]
          repeat-data            the last data notification is written again, uncounted [now]
          skip-data              the next data notification is counted and not written [now]
          inject line=T …        these lines are written as they are [now]
          control-link address=T CONOK has this control link [streaming]
          client-address address=T  CLIENTIP has this address [streaming]

        Examples: "drop at=data:5", "refuse code=7 text=Full at=create times=2", "loop at=add skip=1", \
        "progress by=3;drop".
        """
}
