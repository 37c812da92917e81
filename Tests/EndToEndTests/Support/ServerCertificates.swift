/// Certificates of one authority for one key, valid until 2120 unless another time is said; for tests alone.
enum ServerCertificates {
    /// The authority.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBmTCCAT+gAwIBAgIUaCuQOyZ37iLyAAqCvQjRWbWMbeAwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMTQ1MTA4WhgPMjEy
        NjEwMzAxNDUxMDhaMBkxFzAVBgNVBAMMDnRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAEvYGk6y5ZyoLw+nxsFIdxE+wm1Ng33qI33GOJtE7U
        64ChSZdtwgLR8kVpVDRPcfMNZUWQkWgCJuL7S9WlszVir6NjMGEwHQYDVR0OBBYE
        FAH9BCqAC7ZADCFMAD+DwSjnzm4OMB8GA1UdIwQYMBaAFAH9BCqAC7ZADCFMAD+D
        wSjnzm4OMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqGSM49
        BAMCA0gAMEUCIQCCywmWn2ovpvclkQZDifElu2obNZkUJLn4yYbr+X2HLwIgT78y
        y/xtKVFWhJoRaEamHlGiXF2BBKnyhvmyUaOlcXQ=
        -----END CERTIFICATE-----

        """

    /// For localhost and 127.0.0.1.
    static let valid = """
        -----BEGIN CERTIFICATE-----
        MIIBZjCCAQygAwIBAgIBBTAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA50ZXN0IGF1
        dGhvcml0eTAgFw0yNjAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAG
        A1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvYGk6y5Z
        yoLw+nxsFIdxE+wm1Ng33qI33GOJtE7U64ChSZdtwgLR8kVpVDRPcfMNZUWQkWgC
        JuL7S9WlszVir6NIMEYwCQYDVR0TBAIwADAaBgNVHREEEzARgglsb2NhbGhvc3SH
        BH8AAAEwHQYDVR0OBBYEFAH9BCqAC7ZADCFMAD+DwSjnzm4OMAoGCCqGSM49BAMC
        A0gAMEUCIAQ6cy+YKSBKFiZH0o/3OapFZjeRaWE1Hov3H/sKhxEVAiEAi5DcWDmH
        K6VDqrwBDgyb56SwUseG9ptOp5wKWUvL7k8=
        -----END CERTIFICATE-----

        """

    /// For another name.
    static let otherName = """
        -----BEGIN CERTIFICATE-----
        MIIBZzCCAQ6gAwIBAgIBBDAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA50ZXN0IGF1
        dGhvcml0eTAgFw0yNjAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAG
        A1UEAwwJZWxzZXdoZXJlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvYGk6y5Z
        yoLw+nxsFIdxE+wm1Ng33qI33GOJtE7U64ChSZdtwgLR8kVpVDRPcfMNZUWQkWgC
        JuL7S9WlszVir6NKMEgwCQYDVR0TBAIwADAcBgNVHREEFTATghFlbHNld2hlcmUu
        ZXhhbXBsZTAdBgNVHQ4EFgQUAf0EKoALtkAMIUwAP4PBKOfObg4wCgYIKoZIzj0E
        AwIDRwAwRAIgJsvE+4lOPkTwMSPU4Bomq4mCJhWbSwPpeSz9Y6/J5WICID4IvQGF
        MHWXIu/Y9b+2XR7Fk9nloIEO5c9FKP/XXoqP
        -----END CERTIFICATE-----

        """

    /// Valid until 2021.
    static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBZDCCAQqgAwIBAgIBAjAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA50ZXN0IGF1
        dGhvcml0eTAeFw0yMDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMBQxEjAQBgNV
        BAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABL2BpOsuWcqC
        8Pp8bBSHcRPsJtTYN96iN9xjibRO1OuAoUmXbcIC0fJFaVQ0T3HzDWVFkJFoAibi
        +0vVpbM1Yq+jSDBGMAkGA1UdEwQCMAAwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/
        AAABMB0GA1UdDgQWBBQB/QQqgAu2QAwhTAA/g8Eo585uDjAKBggqhkjOPQQDAgNI
        ADBFAiEAmZXeVlEKgOgHjWfMdyYXjSQm8N9FhrGh664DIaMbI5gCIG25AoWj04Jn
        2qbB2S0r+PlMfhpP5kaFLttxqqzBjce/
        -----END CERTIFICATE-----

        """

    /// Valid from 2100.
    static let notYetValid = """
        -----BEGIN CERTIFICATE-----
        MIIBaDCCAQ6gAwIBAgIBAzAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA50ZXN0IGF1
        dGhvcml0eTAiGA8yMTAwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAUMRIw
        EAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS9gaTr
        LlnKgvD6fGwUh3ET7CbU2DfeojfcY4m0TtTrgKFJl23CAtHyRWlUNE9x8w1lRZCR
        aAIm4vtL1aWzNWKvo0gwRjAJBgNVHRMEAjAAMBoGA1UdEQQTMBGCCWxvY2FsaG9z
        dIcEfwAAATAdBgNVHQ4EFgQUAf0EKoALtkAMIUwAP4PBKOfObg4wCgYIKoZIzj0E
        AwIDSAAwRQIhAKQ4UPBZU799NcrR1td0DBMMxT9zDC1HJh8eM/+ZMTgUAiAzCXS6
        sZ1JCvtsRg/RVyS7eUbxTBMvsCvQO0I0uK8n1A==
        -----END CERTIFICATE-----

        """

    /// The private key of all of them.
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgDPw+TOZpVZMPAf1D
        o5H/miF6onk6iaf0zwviC/XwWOGhRANCAAS9gaTrLlnKgvD6fGwUh3ET7CbU2Dfe
        ojfcY4m0TtTrgKFJl23CAtHyRWlUNE9x8w1lRZCRaAIm4vtL1aWzNWKv
        -----END PRIVATE KEY-----

        """
}
