/// A certificate for localhost that an intermediate authority signed, and that authority's root; for tests alone.
enum TestAuthority {
    /// The root certificate.
    static let root = """
        -----BEGIN CERTIFICATE-----
        MIIBfTCCASKgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAl0ZXN0IHJv
        b3QwIBcNMjYxMTIyMDYzOTE4WhgPMjEyNjEwMjkwNjM5MThaMBQxEjAQBgNVBAMM
        CXRlc3Qgcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJN7gtz0LsYRk86E
        FLzENbWkk8o/+xQjHW8uNGXAYE5aTFEzxCyS+ke7gNY+UWx35lSaVvx/P2zYUuUx
        PY27hiOjYzBhMB0GA1UdDgQWBBQZjGb/UdwzIWOwMCiBNTBwsZE2pDAfBgNVHSME
        GDAWgBQZjGb/UdwzIWOwMCiBNTBwsZE2pDAPBgNVHRMBAf8EBTADAQH/MA4GA1Ud
        DwEB/wQEAwICBDAKBggqhkjOPQQDAgNJADBGAiEA3EkIeAxFkePN3MsWgC/f20sq
        zqAJzW6eYAkQekDNIssCIQCDE7LA6n06Epi+dnNU4seBP0jM26774f6BnyYwGnep
        mg==
        -----END CERTIFICATE-----

        """

    /// The certificates that the server sends: its own, the one of the intermediate authority, and one of an
    /// unrelated authority.
    static let chain = """
        -----BEGIN CERTIFICATE-----
        MIIBiTCCATCgAwIBAgIBAzAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBF0ZXN0IGlu
        dGVybWVkaWF0ZTAgFw0yNjExMjIwNjM5MThaGA8yMTI2MTAyOTA2MzkxOFowFDES
        MBAGA1UEAwwJbG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEK/iT
        AJqdSSS+ciCm7kESkC14FGU1VzRgpQJRfOhyeGQBXSEb+6EzKGzUxSZdxv9bhXkG
        U5E1JZsfYl5XElP9eKNpMGcwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAkG
        A1UdEwQCMAAwHwYDVR0jBBgwFoAUlrS2Cf14oqMhmoFCz4pUcgNTkuEwHQYDVR0O
        BBYEFGo88m1irL+Qy9VwPG8oWgVWXo4/MAoGCCqGSM49BAMCA0cAMEQCIHmx6+rO
        kXWO/FBKikTxPuF+ekNj0WpBsXG+bssi7DYfAiAuIqCqcqyrp6B4Blu57XUbJPoU
        ElxbNO/H1Ou3+JWVhg==
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBhDCCASqgAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAl0ZXN0IHJv
        b3QwIBcNMjYxMTIyMDYzOTE4WhgPMjEyNjEwMjkwNjM5MThaMBwxGjAYBgNVBAMM
        EXRlc3QgaW50ZXJtZWRpYXRlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5YE7
        EfLXUOd7x/eQ0jqpnPHv4Ohog22mCuROotzTBwjHJjMbPRj4vTtIOuiAkv2II+o8
        0cBz6tRkCwjGkLq9UaNjMGEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMC
        AgQwHQYDVR0OBBYEFJa0tgn9eKKjIZqBQs+KVHIDU5LhMB8GA1UdIwQYMBaAFBmM
        Zv9R3DMhY7AwKIE1MHCxkTakMAoGCCqGSM49BAMCA0gAMEUCIBNMe54Zde2oLXTp
        M6nraYBV7TYg4kYIbWVvF3d+dWM/AiEAkgpy3EkZ3fzU+R1dceht92/7vmr1F53f
        Vw+zNKYEAmw=
        -----END CERTIFICATE-----
        -----BEGIN CERTIFICATE-----
        MIIBczCCARqgAwIBAgIBBDAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA10ZXN0IHN0
        cmFuZ2VyMCAXDTI2MTEyMjA2MzkxOFoYDzIxMjYxMDI5MDYzOTE4WjAYMRYwFAYD
        VQQDDA10ZXN0IHN0cmFuZ2VyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEyQNJ
        8+L50mjmvEI1E2ngDTzyzCtu3YpKwuYytMA8ywktrAgPMtrMeM4q/cNvbXjDNgYV
        Un2vmC1tP3NsRzeE3KNTMFEwHQYDVR0OBBYEFKZaGXQAbxKN6GoT+InxRN9mE3l1
        MB8GA1UdIwQYMBaAFKZaGXQAbxKN6GoT+InxRN9mE3l1MA8GA1UdEwEB/wQFMAMB
        Af8wCgYIKoZIzj0EAwIDRwAwRAIgC09nGdvjbJ1AcyYwCDYcznM4GnSLdYK1BPC1
        zTyJvuQCIAfZFw9dQt7tZ/0fn+BEEasz6wwMDHNoLxdBa9waevkO
        -----END CERTIFICATE-----

        """

    /// The private key of the server.
    static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2s0hW2vErbz9C3ZI
        Hm5Wxtbc+3eMDfZsTIuiu1voITahRANCAAQr+JMAmp1JJL5yIKbuQRKQLXgUZTVX
        NGClAlF86HJ4ZAFdIRv7oTMobNTFJl3G/1uFeQZTkTUlmx9iXlcSU/14
        -----END PRIVATE KEY-----

        """

    /// The digests of the public keys.
    static let rootPin = "sha256/NZexUBfd6JmcQWg7woNAPAgHdHuFrt/uXoMFRiWxys4="
    static let intermediatePin = "sha256/OAMAeSG+Hv9My5vigDPmrkbEh2E6VNW3VutXHqFXwi4="
    static let leafPin = "sha256/wuxU/AFUg5tuCqzRIFZ/zPlRmC1QdYIFsOGpQyxto+8="
    static let strangerPin = "sha256/iWB7SVFUf6VxAHZx+qmRJdezqwDlGQR3PL4jesqOgAA="
}
