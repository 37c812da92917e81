@testable internal import TLCP

/// Requests and their parameter lines.
extension ClientRequestTests {
    static func add(_ change: (inout AddRequest) -> Void) -> ControlOperation {
        var request = AddRequest(
            subscriptionID: SubscriptionID(1),
            mode: .merge,
            group: "item1 item2",
            schema: "name price"
        )
        change(&request)
        return .add(request)
    }

    static func control(_ id: Int, _ operation: ControlOperation) -> ClientRequest {
        .control(ControlRequest(requestID: RequestID(id), operation: operation))
    }

    private static func message(_ id: Int, _ text: String, _ change: (inout MessageRequest) -> Void) -> ClientRequest {
        var request = MessageRequest(requestID: RequestID(id), text: text)
        change(&request)
        return .message(request)
    }

    private static func create(
        _ connection: ConnectionParameters,
        _ change: (inout CreateSessionRequest) -> Void
    ) -> ClientRequest {
        var request = CreateSessionRequest(connection: connection)
        change(&request)
        return .createSession(request)
    }

    static let pairs: [(ClientRequest, String)] = sessions + controls + messages + pushes

    private static let sessions: [(ClientRequest, String)] = [
        (
            create(ConnectionParameters(.streaming(keepaliveMillis: 5000, sendsSync: false))) {
                $0.adapterSet = "DEMO"
                $0.user = "mia"
                $0.cause = "api"
                $0.password = "secret"
            },
            "LS_keepalive_millis=5000&LS_adapter_set=DEMO&LS_user=mia&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg"
                + "&LS_send_sync=false&LS_cause=api&LS_password=secret"
        ),
        (
            create(ConnectionParameters(.polling())) {
                $0.adapterSet = "DEMO"
                $0.cause = "api"
            },
            "LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_adapter_set=DEMO"
                + "&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg&LS_cause=api"
        ),
        (
            create(ConnectionParameters(.polling())) {
                $0.timeToLive = .unlimited
                $0.maxBandwidth = 40
                $0.user = ""
                $0.oldSession = SessionID("S0")
                $0.supportedDiffs = .all
            },
            "LS_ttl_millis=unlimited&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
                + "&LS_requested_max_bandwidth=40.0&LS_user=&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg"
                + "&LS_old_session=S0&LS_supported_diffs=P%2CT"
        ),
        (
            .bindSession(
                BindSessionRequest(
                    sessionID: SessionID("S1"),
                    connection: ConnectionParameters(.streaming(sendsSync: false), contentLength: 10000),
                    cause: "http.loop"
                )
            ),
            "LS_session=S1&LS_content_length=10000&LS_send_sync=false&LS_cause=http.loop"
        ),
        (
            .bindSession(
                BindSessionRequest(
                    sessionID: SessionID("S1"),
                    connection: ConnectionParameters(
                        .streaming(keepaliveMillis: 5000, inactivityMillis: 7000, sendsSync: false)
                    )
                )
            ),
            "LS_session=S1&LS_keepalive_millis=5000&LS_inactivity_millis=7000&LS_send_sync=false"
        ),
        (
            .bindSession(
                BindSessionRequest(
                    sessionID: nil,
                    connection: ConnectionParameters(.polling(intervalMillis: 0, idleMillis: 19000))
                )
            ),
            "LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000"
        ),
        (
            .bindSession(
                BindSessionRequest(
                    sessionID: SessionID("S1"),
                    connection: ConnectionParameters(.polling()),
                    recoveryFrom: 6,
                    cause: "ws.error"
                )
            ),
            "LS_session=S1&LS_recovery_from=6&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_cause=ws.error"
        ),
        (.heartbeat(HeartbeatRequest(sessionID: SessionID("S1"))), "LS_session=S1"),
        (.heartbeat(HeartbeatRequest()), ""),
    ]

    private static let controls: [(ClientRequest, String)] = [
        (
            control(
                1,
                add {
                    $0.dataAdapter = "QUOTES"
                    $0.snapshot = .yes
                    $0.maxFrequency = .limited(5)
                    $0.isAcknowledged = false
                }
            ),
            "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1%20item2&LS_schema=name%20price"
                + "&LS_data_adapter=QUOTES&LS_snapshot=true&LS_requested_max_frequency=5.0&LS_ack=false"
        ),
        (
            control(
                2,
                add {
                    $0.mode = .distinct
                    $0.selector = "s"
                    $0.snapshot = .length(20)
                    $0.maxFrequency = .unfiltered
                    $0.bufferSize = .limited(50)
                }
            ),
            "LS_reqId=2&LS_op=add&LS_subId=1&LS_mode=DISTINCT&LS_group=item1%20item2&LS_schema=name%20price"
                + "&LS_selector=s&LS_snapshot=20&LS_requested_max_frequency=unfiltered&LS_requested_buffer_size=50"
        ),
        (
            control(
                5,
                .delete(DeleteRequest(subscriptionID: SubscriptionID(2), isAcknowledged: false, cause: "zombie"))
            ),
            "LS_reqId=5&LS_subId=2&LS_op=delete&LS_ack=false&LS_cause=zombie"
        ),
        (
            control(4, .reconf(ReconfRequest(subscriptionID: SubscriptionID(1), maxFrequency: .unlimited))),
            "LS_reqId=4&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=unlimited"
        ),
        (
            control(15, .constrain(ConstrainRequest(maxBandwidth: .limited(40)))),
            "LS_reqId=15&LS_op=constrain&LS_requested_max_bandwidth=40.0"
        ),
        (
            control(16, .forceRebind(ForceRebindRequest(closesSocket: true, cause: "slow"))),
            "LS_reqId=16&LS_op=force_rebind&LS_close_socket=true&LS_cause=slow"
        ),
        (
            control(6, .destroy(DestroyRequest(closesSocket: true, cause: "api"))),
            "LS_reqId=6&LS_op=destroy&LS_close_socket=true&LS_cause=api"
        ),
        (
            control(17, .destroy(DestroyRequest(causeCode: -5, causeMessage: "shift over"))),
            "LS_reqId=17&LS_op=destroy&LS_cause_code=-5&LS_cause_message=shift%20over"
        ),
        (
            .control(
                ControlRequest(
                    requestID: RequestID("a7"),
                    sessionID: SessionID("S1"),
                    operation: .constrain(ConstrainRequest(maxBandwidth: nil))
                )
            ),
            "LS_session=S1&LS_reqId=a7&LS_op=constrain"
        ),
    ]

    private static let messages: [(ClientRequest, String)] = [
        (
            message(3, "buy IBM") {
                $0.sequence = "orders"
                $0.progressive = 1
            },
            "LS_reqId=3&LS_message=buy%20IBM&LS_sequence=orders&LS_msg_prog=1"
        ),
        (message(4, "x") { $0.progressive = 9 }, "LS_reqId=4&LS_message=x&LS_msg_prog=9"),
        (
            message(5, "50% off & \"A+B\"=ok") {
                $0.wantsOutcome = false
                $0.sequence = "s_1"
                $0.progressive = 2
                $0.maxWaitMillis = 2000
            },
            "LS_reqId=5&LS_message=50%25%20off%20%26%20%22A%2BB%22%3Dok&LS_outcome=false&LS_sequence=s_1"
                + "&LS_msg_prog=2&LS_max_wait=2000"
        ),
        (
            message(6, "") {
                $0.wantsOutcome = false
                $0.isAcknowledged = false
            },
            "LS_reqId=6&LS_message=&LS_outcome=false&LS_ack=false"
        ),
    ]

    private static let pushes: [(ClientRequest, String)] = [
        (
            control(
                1,
                .mpnRegister(
                    MPNRegisterRequest(
                        platform: "Apple",
                        appID: "app",
                        deviceToken: "old",
                        newDeviceToken: "new",
                        cause: "refresh.token"
                    )
                )
            ),
            "LS_reqId=1&LS_op=register&PN_type=Apple&PN_appId=app&PN_deviceToken=old&PN_newDeviceToken=new"
                + "&LS_cause=refresh.token"
        ),
        (
            control(2, .mpnResetBadge(MPNResetBadgeRequest(deviceID: "d"))),
            "LS_reqId=2&LS_op=reset_badge&PN_deviceId=d"
        ),
    ]
}
