/// A certificate for localhost and the loopback addresses, signed by itself; for tests alone.
enum TestIdentity {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBeTCCAR+gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
        CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHRLXUbVUdfGzvKy
        mJPhzb8cgo6a1tCQ7z0Sy/oFUNzFkk7WTDPTT/lf0Nz/HM1ZqrBRYcHgQMW+pgs5
        VlWZg9GjYDBeMA8GA1UdEwEB/wQFMAMBAf8wLAYDVR0RBCUwI4IJbG9jYWxob3N0
        hwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMB0GA1UdDgQWBBR+iYfkqZ2KILsBJ0yP
        bDgrgLu0CDAKBggqhkjOPQQDAgNIADBFAiAkMOHTuAAlx5jg7r/boe72cdsHs8R/
        tnUrZSCgxz8aEQIhAMGVWpYIPshwVaOM0ruFWxnVsGotpSF+R6LAtz89xV2k
        -----END CERTIFICATE-----

        """

    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnKJGNA6yvKbAgbwy
        BJ0wv6DWaKR6Xu3yvkJ8CkLA2pqhRANCAAR0S11G1VHXxs7yspiT4c2/HIKOmtbQ
        kO89Esv6BVDcxZJO1kwz00/5X9Dc/xzNWaqwUWHB4EDFvqYLOVZVmYPR
        -----END PRIVATE KEY-----

        """

    /// The digests of its public key, as `openssl` computes them.
    static let sha256Pin = "sha256/TuN1rTj4Av0tyTycYjzFXlZ9Mewu6lbbu6UbO0Ajjdk="
    static let sha1Pin = "sha1/6PiNxl0ukOH6FqI56ynlwGGoAnk="
}
