// Status codes about the attributes of a cryptographic operation. The numbers are those of Apple's SecBase.h.

/// The attribute for the key is not valid.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// The attribute for the key is missing.
public let errSecMissingAttributeKey: OSStatus = -67749
/// The attribute for the initialisation vector is not valid.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// The attribute for the initialisation vector is missing.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// The attribute for the salt is not valid.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// The attribute for the salt is missing.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// The attribute for the padding is not valid.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// The attribute for the padding is missing.
public let errSecMissingAttributePadding: OSStatus = -67755
/// The attribute for the random data is not valid.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// The attribute for the random data is missing.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// The attribute for the seed is not valid.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// The attribute for the seed is missing.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// The attribute for the passphrase is not valid.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// The attribute for the passphrase is missing.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// The attribute for the key length is not valid.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// The attribute for the key length is missing.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// The attribute for the block size is not valid.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// The attribute for the block size is missing.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// The attribute for the output size is not valid.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// The attribute for the output size is missing.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// The attribute for the number of rounds is not valid.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// The attribute for the number of rounds is missing.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// The attribute for the algorithm parameters is not valid.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// The attribute for the algorithm parameters is missing.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// The attribute for the label is not valid.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// The attribute for the label is missing.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// The attribute for the key type is not valid.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// The attribute for the key type is missing.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// The attribute for the mode is not valid.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// The attribute for the mode is missing.
public let errSecMissingAttributeMode: OSStatus = -67777
/// The attribute for the number of effective bits is not valid.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// The attribute for the number of effective bits is missing.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// The attribute for the start date is not valid.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// The attribute for the start date is missing.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// The attribute for the end date is not valid.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// The attribute for the end date is missing.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// The attribute for the version is not valid.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// The attribute for the version is missing.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// The attribute for the prime is not valid.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// The attribute for the prime is missing.
public let errSecMissingAttributePrime: OSStatus = -67787
/// The attribute for the base is not valid.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// The attribute for the base is missing.
public let errSecMissingAttributeBase: OSStatus = -67789
/// The attribute for the subprime is not valid.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// The attribute for the subprime is missing.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// The attribute for the iteration count is not valid.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// The attribute for the iteration count is missing.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// The attribute for the database handle is not valid.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// The attribute for the database handle is missing.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// The attribute for the access credentials is not valid.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// The attribute for the access credentials is missing.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// The attribute for the public key format is not valid.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// The attribute for the public key format is missing.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// The attribute for the private key format is not valid.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// The attribute for the private key format is missing.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// The attribute for the symmetric key format is not valid.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// The attribute for the symmetric key format is missing.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// The attribute for the wrapped key format is not valid.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// The attribute for the wrapped key format is missing.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805

extension StatusMessages {
    static let attributes: [OSStatus: String] = [
        errSecInvalidAttributeKey: "The attribute for the key is not valid.",
        errSecMissingAttributeKey: "The attribute for the key is missing.",
        errSecInvalidAttributeInitVector: "The attribute for the initialisation vector is not valid.",
        errSecMissingAttributeInitVector: "The attribute for the initialisation vector is missing.",
        errSecInvalidAttributeSalt: "The attribute for the salt is not valid.",
        errSecMissingAttributeSalt: "The attribute for the salt is missing.",
        errSecInvalidAttributePadding: "The attribute for the padding is not valid.",
        errSecMissingAttributePadding: "The attribute for the padding is missing.",
        errSecInvalidAttributeRandom: "The attribute for the random data is not valid.",
        errSecMissingAttributeRandom: "The attribute for the random data is missing.",
        errSecInvalidAttributeSeed: "The attribute for the seed is not valid.",
        errSecMissingAttributeSeed: "The attribute for the seed is missing.",
        errSecInvalidAttributePassphrase: "The attribute for the passphrase is not valid.",
        errSecMissingAttributePassphrase: "The attribute for the passphrase is missing.",
        errSecInvalidAttributeKeyLength: "The attribute for the key length is not valid.",
        errSecMissingAttributeKeyLength: "The attribute for the key length is missing.",
        errSecInvalidAttributeBlockSize: "The attribute for the block size is not valid.",
        errSecMissingAttributeBlockSize: "The attribute for the block size is missing.",
        errSecInvalidAttributeOutputSize: "The attribute for the output size is not valid.",
        errSecMissingAttributeOutputSize: "The attribute for the output size is missing.",
        errSecInvalidAttributeRounds: "The attribute for the number of rounds is not valid.",
        errSecMissingAttributeRounds: "The attribute for the number of rounds is missing.",
        errSecInvalidAlgorithmParms: "The attribute for the algorithm parameters is not valid.",
        errSecMissingAlgorithmParms: "The attribute for the algorithm parameters is missing.",
        errSecInvalidAttributeLabel: "The attribute for the label is not valid.",
        errSecMissingAttributeLabel: "The attribute for the label is missing.",
        errSecInvalidAttributeKeyType: "The attribute for the key type is not valid.",
        errSecMissingAttributeKeyType: "The attribute for the key type is missing.",
        errSecInvalidAttributeMode: "The attribute for the mode is not valid.",
        errSecMissingAttributeMode: "The attribute for the mode is missing.",
        errSecInvalidAttributeEffectiveBits: "The attribute for the number of effective bits is not valid.",
        errSecMissingAttributeEffectiveBits: "The attribute for the number of effective bits is missing.",
        errSecInvalidAttributeStartDate: "The attribute for the start date is not valid.",
        errSecMissingAttributeStartDate: "The attribute for the start date is missing.",
        errSecInvalidAttributeEndDate: "The attribute for the end date is not valid.",
        errSecMissingAttributeEndDate: "The attribute for the end date is missing.",
        errSecInvalidAttributeVersion: "The attribute for the version is not valid.",
        errSecMissingAttributeVersion: "The attribute for the version is missing.",
        errSecInvalidAttributePrime: "The attribute for the prime is not valid.",
        errSecMissingAttributePrime: "The attribute for the prime is missing.",
        errSecInvalidAttributeBase: "The attribute for the base is not valid.",
        errSecMissingAttributeBase: "The attribute for the base is missing.",
        errSecInvalidAttributeSubprime: "The attribute for the subprime is not valid.",
        errSecMissingAttributeSubprime: "The attribute for the subprime is missing.",
        errSecInvalidAttributeIterationCount: "The attribute for the iteration count is not valid.",
        errSecMissingAttributeIterationCount: "The attribute for the iteration count is missing.",
        errSecInvalidAttributeDLDBHandle: "The attribute for the database handle is not valid.",
        errSecMissingAttributeDLDBHandle: "The attribute for the database handle is missing.",
        errSecInvalidAttributeAccessCredentials: "The attribute for the access credentials is not valid.",
        errSecMissingAttributeAccessCredentials: "The attribute for the access credentials is missing.",
        errSecInvalidAttributePublicKeyFormat: "The attribute for the public key format is not valid.",
        errSecMissingAttributePublicKeyFormat: "The attribute for the public key format is missing.",
        errSecInvalidAttributePrivateKeyFormat: "The attribute for the private key format is not valid.",
        errSecMissingAttributePrivateKeyFormat: "The attribute for the private key format is missing.",
        errSecInvalidAttributeSymmetricKeyFormat: "The attribute for the symmetric key format is not valid.",
        errSecMissingAttributeSymmetricKeyFormat: "The attribute for the symmetric key format is missing.",
        errSecInvalidAttributeWrappedKeyFormat: "The attribute for the wrapped key format is not valid.",
        errSecMissingAttributeWrappedKeyFormat: "The attribute for the wrapped key format is missing.",
    ]
}
