/// Public keys that OpenSSL's program made: SubjectPublicKeyInfo in base64. Their private keys are nowhere.
enum TableKeys {
    static let p192 =
        "MEkwEwYHKoZIzj0CAQYIKoZIzj0DAQEDMgAEAenlGXoUKpH4pX+MjjKLjl9JCzhBvR0CUHZbb8/Ar+FpR+POVG9+GXbdFXdgR+tx"
    static let p224 =
        "ME4wEAYHKoZIzj0CAQYFK4EEACEDOgAErffa4yAhxIHiJSuTx6gltAdGpuQPf32SGc7dvC8bWE0bKTMuuU89TTu+B3HTbPJXFyac"
        + "j2x94lU="
    static let p384 =
        "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAETrlbT3R4aU1ZIL1txq0WkbEATJbii+kKcgd0zYxbXl0gyHsvvgbWTWXj6nsiq+rbYGqz"
        + "G+MLqf1+r7fvSiutDPffJ9C1RNeDBtRBIGvfnw/xHA24bFv9CDxq4xAJ/rMu"
    static let p521 =
        "MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBctBesr35d6j423jCHuc48l52boFWlu0WCSUMJiy2O1G1PWMS1+nhE9Rc0NNvOxQL"
        + "tNppSEMOQX5U98srxXomWdAAUs6TyCyxiR4cdKGUk9fuwcTTeKfy6jtpeZezsAaPknk/l2mZnvEUh2qVGSgPL0Qz4Reo5z+AFYMw"
        + "KuQsDTstkus="
    static let secp256k1 =
        "MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEjk2E337hr44ozrPoH/5/PB/lmM2zdkKmFLCNSZ+m21+/XydB0ylJyu99Ydl8tke0897N"
        + "wsCGFSlyYO4G1JaW5g=="
    static let brainpool =
        "MFowFAYHKoZIzj0CAQYJKyQDAwIIAQEHA0IABHPnj5bbTf14gTQus9X2c2Jcadh8sf/QCNA4+DNFgLRYD84JdTs7fCbVQpglYx6v"
        + "azg0lB0CPxNMz5h5I20FnXA="
    static let ed25519 =
        "MCowBQYDK2VwAyEACvUNeAvWN+LgTkcYUwUx+ycr91SCqMg/7Ce6jlP8Uj8="
    static let ed448 =
        "MEMwBQYDK2VxAzoAptOWesVKDCrvlk45dFRHIBKoSQAt9LXk/u3nwblFY16ulU/YIQp478qkBmSNJGAGmPD5hhrc9YEA"
    static let x25519 =
        "MCowBQYDK2VuAyEAThwtGT9L76sYfgY9jqptBnuLkSbQRCeI/e5j5ZMjWg8="
    static let rsa768 =
        "MHwwDQYJKoZIhvcNAQEBBQADawAwaAJhAO8iaE5b8HKw8bM1KTSRuPYH3Qxf7ZKcTLaF4xadn/gRZ5/piFEWgr4Usas3JLEKJf/F"
        + "37GcrRpcaoLHHFfw+pnN4olqQ3Yw1QWoWkvLI6vvV2J67gc53rRrJJ7WbdQykQIDAQAB"
    static let rsa1024 =
        "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCmDBavjiX8h/KasiXlMHXwaCbUALN750y1WvbUk2z97tupi9kMULCKLC68dGVU"
        + "ij9US8wluKbLArwC+xq/FPBWmS7I54vo7gOW8njIJnyGvRvcB0vjFjF1ZBRcNuAiTaWzYVOtJ1zmiCEXtRPjZyyvqOrfi1kjrEGl"
        + "QfJBvXf3ewIDAQAB"
    static let rsa2048 =
        "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAsh2DeaEIenrM+Tg8RQANLbjht7T4upwxdxXo3lsyRmSRYPr1Izeqa30T"
        + "LrKL9xRHh+ZKI8wJun/IHgE/PRuucven3qoh81wQWc1pLc5l2vhhGS9nAjuoBfNhWbcSxlZMlqP7TfP+brHmnhAo/jJ8tJ2TtmvJ"
        + "/xFzTxDTTYwbgZzgHPFlCebo7bSoeYM9RZC5EMtEezMAGJRnup6fSBtooZsRcXmBtMvuab5A4hziP37Txhqh6t149ydnIDD+xiAi"
        + "OQoMEbOGh1ObZPhVCBYPhVQObIUsSZlp2GobkjqjtONm+0jErJhlDnZc3AJUCevdaJQmLc/YLeQwSh0BMJl5ewIDAQAB"
    static let dsa =
        "MIIBtjCCASsGByqGSM44BAEwggEeAoGBAK15CMrUTtn3hbk3FaCU4fEVWF92xxYr13+6B0E7QZlnKP9LRxHEk55ZUoypqfzJKvnb"
        + "vInTRBvlsac0zDVnFcLXCOPHA7yZSObK3nlx8Bol5upLAkic5oE+mqH3OM2U0TGWpQYyNmBwpGk1vB4ngsEUuhLSUXWb3QAsCjIx"
        + "ncSHAhUAoy6CSvvddy+nd9nX37Sw1rSAe48CgYATdszF4UyOEgLCQMC/qCCrhLqZ0RWdKKmaaUpADfP20rXRo2v2W3oQ/wmNoNiI"
        + "df/VSQDebTCeFemNzH6mwis6htmMpVhRJ8/6yI73OhbH5R+tlOfjeAvqz3hJ25Xo8vKqMLCcGgJF9c/m9q8zbny9OepSSg8bASQI"
        + "FoR4Fr8etgOBhAACgYAsy4EdDbVyPx4nPq0DpPxAhHuednX6rDl7BPypce3r1iO/d7De/MIy0wzn7qCvteLAqV+iX7oGNZ0G7YdX"
        + "C7nrzTZCJQch6NOHR38djr5Ff7er8ri266dkKy16ETs4uKCu64xOu6Aq7URvn7cCiKJ51m4aLDy3mSrDQpEivVCqpQ=="
}
