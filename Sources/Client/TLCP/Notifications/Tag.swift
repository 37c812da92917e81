/// The first word of a line.
enum Tag: String, CaseIterable {
    case conOK = "CONOK"
    case conErr = "CONERR"
    case reqOK = "REQOK"
    case reqErr = "REQERR"
    case error = "ERROR"
    case wsOK = "WSOK"
    case servName = "SERVNAME"
    case clientIP = "CLIENTIP"
    case cons = "CONS"
    case noop = "NOOP"
    case probe = "PROBE"
    case sync = "SYNC"
    case prog = "PROG"
    case loop = "LOOP"
    case end = "END"
    case update = "U"
    case subOK = "SUBOK"
    case subCmd = "SUBCMD"
    case unsub = "UNSUB"
    case eos = "EOS"
    case cs = "CS"
    case ov = "OV"
    case conf = "CONF"
    case msgDone = "MSGDONE"
    case msgFail = "MSGFAIL"
    case mpnReg = "MPNREG"
    case mpnZero = "MPNZERO"
    case mpnOK = "MPNOK"
    case mpnConf = "MPNCONF"
    case mpnDel = "MPNDEL"

    /// The group of notifications that are parsed and encoded together.
    enum Family {
        case reply, session, subscription, message, mpn
    }

    var family: Family {
        switch self {
        case .conOK, .conErr, .reqOK, .reqErr, .error, .wsOK: .reply
        case .servName, .clientIP, .cons, .noop, .probe, .sync, .prog, .loop, .end: .session
        case .update, .subOK, .subCmd, .unsub, .eos, .cs, .ov, .conf: .subscription
        case .msgDone, .msgFail: .message
        case .mpnReg, .mpnZero, .mpnOK, .mpnConf, .mpnDel: .mpn
        }
    }
}

extension ServerNotification {
    /// The first word of the line.
    var tag: Tag {
        switch self {
        case .conOK: .conOK
        case .conErr: .conErr
        case .reqOK: .reqOK
        case .reqErr: .reqErr
        case .error: .error
        case .wsOK: .wsOK
        case .servName: .servName
        case .clientIP: .clientIP
        case .cons: .cons
        case .noop: .noop
        case .probe: .probe
        case .sync: .sync
        case .prog: .prog
        case .loop: .loop
        case .end: .end
        case .update: .update
        case .subOK: .subOK
        case .subCmd: .subCmd
        case .unsub: .unsub
        case .eos: .eos
        case .cs: .cs
        case .ov: .ov
        case .conf: .conf
        case .msgDone: .msgDone
        case .msgFail: .msgFail
        case .mpnReg: .mpnReg
        case .mpnZero: .mpnZero
        case .mpnOK: .mpnOK
        case .mpnConf: .mpnConf
        case .mpnDel: .mpnDel
        }
    }
}
