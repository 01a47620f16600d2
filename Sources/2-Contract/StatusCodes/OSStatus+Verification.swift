// Status codes about verification, requests, data stores and timestamps. The numbers are those of Apple's SecBase.h.

/// A staged operation has begun already.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// No staged operation has begun.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// The signature or authentication code does not match.
public let errSecVerifyFailed: OSStatus = -67808
/// The size of the output cannot be told in advance.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// The input is not a whole number of blocks.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// The public key does not fit.
public let errSecPublicKeyInconsistent: OSStatus = -67811
/// The device could not be verified.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// The login name is not valid.
public let errSecInvalidLoginName: OSStatus = -67813
/// Somebody is logged in already.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// The digest algorithm is not valid.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// The group of certificate revocation lists is not valid.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// The certificate cannot be used for this.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// The certificate has expired.
public let errSecCertificateExpired: OSStatus = -67818
/// The certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// The certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// The certificate is suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// The credentials do not suffice.
public let errSecInsufficientCredentials: OSStatus = -67822
/// The action is not valid.
public let errSecInvalidAction: OSStatus = -67823
/// The authority is not valid.
public let errSecInvalidAuthority: OSStatus = -67824
/// The action could not be verified.
public let errSecVerifyActionFailed: OSStatus = -67825
/// The certificate authority is not valid.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// The authority of the certificate revocation list is not valid.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// Another spelling of ``errSecInvalidCRLAuthority``.
public let errSecInvaldCRLAuthority: OSStatus = errSecInvalidCRLAuthority
/// The encoding of the certificate revocation list is not valid.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// The type of the certificate revocation list is not valid.
public let errSecInvalidCRLType: OSStatus = -67829
/// The certificate revocation list is not valid.
public let errSecInvalidCRL: OSStatus = -67830
/// The form type is not valid.
public let errSecInvalidFormType: OSStatus = -67831
/// The ID is not valid.
public let errSecInvalidID: OSStatus = -67832
/// The identifier is not valid.
public let errSecInvalidIdentifier: OSStatus = -67833
/// The index is not valid.
public let errSecInvalidIndex: OSStatus = -67834
/// The policy identifiers are not valid.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// The time is not valid.
public let errSecInvalidTimeString: OSStatus = -67836
/// The reason is not valid.
public let errSecInvalidReason: OSStatus = -67837
/// The inputs of the request are not valid.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// The response vector is not valid.
public let errSecInvalidResponseVector: OSStatus = -67839
/// The stop-on policy is not valid.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// The tuple is not valid.
public let errSecInvalidTuple: OSStatus = -67841
/// More than one value is not supported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// The certificate is not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// There is no default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// The form was rejected.
public let errSecRejectedForm: OSStatus = -67845
/// The request was lost.
public let errSecRequestLost: OSStatus = -67846
/// The request was rejected.
public let errSecRequestRejected: OSStatus = -67847
/// The address type is not supported.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// The service is not supported.
public let errSecUnsupportedService: OSStatus = -67849
/// The tuple group is not valid.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// The base access control lists are not valid.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// The credentials of the tuple are not valid.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// Another spelling of ``errSecInvalidTupleCredentials``.
public let errSecInvalidTupleCredendtials: OSStatus = errSecInvalidTupleCredentials
/// The encoding is not valid.
public let errSecInvalidEncoding: OSStatus = -67853
/// The validity period is not valid.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// The requester is not valid.
public let errSecInvalidRequestor: OSStatus = -67855
/// The request descriptor is not valid.
public let errSecRequestDescriptor: OSStatus = -67856
/// The bundle information is not valid.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// The index into the certificate revocation list is not valid.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// There are no field values.
public let errSecNoFieldValues: OSStatus = -67859
/// The field format is not supported.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// The index information is not supported.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// The locality is not supported.
public let errSecUnsupportedLocality: OSStatus = -67862
/// This number of attributes is not supported.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// This number of indexes is not supported.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// This number of record types is not supported.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// A field was given more than once.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// The field format is not compatible.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// The parsing module is not valid.
public let errSecInvalidParsingModule: OSStatus = -67868
/// The database is locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// The data store is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// A value is missing.
public let errSecMissingValue: OSStatus = -67871
/// The query limits are not supported.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// This number of selection predicates is not supported.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// The operator is not supported.
public let errSecUnsupportedOperator: OSStatus = -67874
/// The location of the database is not valid.
public let errSecInvalidDBLocation: OSStatus = -67875
/// The access request is not valid.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// The index information is not valid.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// The new owner is not valid.
public let errSecInvalidNewOwner: OSStatus = -67878
/// The modify mode is not valid.
public let errSecInvalidModifyMode: OSStatus = -67879
/// A certificate extension that is required is missing.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// The extended key usage extension is not critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// There is no timestamp.
public let errSecTimestampMissing: OSStatus = -67882
/// The timestamp is not valid.
public let errSecTimestampInvalid: OSStatus = -67883
/// The timestamp is not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// The timestamp service is not available.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// The algorithm of the timestamp is not known or not supported.
public let errSecTimestampBadAlg: OSStatus = -67886
/// The timestamp request is not permitted or not supported.
public let errSecTimestampBadRequest: OSStatus = -67887
/// The data for the timestamp is of the wrong format.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// The timestamp authority has no time source.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// The timestamp authority does not support the policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// The timestamp authority does not support the extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// The timestamp authority cannot give the additional information.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// The timestamp authority failed.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// There is no signing time.
public let errSecSigningTimeMissing: OSStatus = -67894
/// The timestamp request was rejected.
public let errSecTimestampRejection: OSStatus = -67895
/// The timestamp request is waiting.
public let errSecTimestampWaiting: OSStatus = -67896
/// The timestamp authority warns of a coming revocation.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// The timestamp authority notifies of a revocation.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// The certificate does not allow this policy.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// The certificate does not allow this name.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// The certificate is valid for longer than is allowed.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// The certificate is that of an authority where another kind is expected.
public let errSecCertificateIsCA: OSStatus = -67902
/// The certificate contains an extension twice.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
/// The certificate lacks a qualified certificate statement it must have.
public let errSecMissingQualifiedCertStatement: OSStatus = -67904

extension StatusMessages {
    static let verification: [OSStatus: String] = [
        errSecStagedOperationInProgress: "A staged operation has begun already.",
        errSecStagedOperationNotStarted: "No staged operation has begun.",
        errSecVerifyFailed: "The signature or authentication code does not match.",
        errSecQuerySizeUnknown: "The size of the output cannot be told in advance.",
        errSecBlockSizeMismatch: "The input is not a whole number of blocks.",
        errSecPublicKeyInconsistent: "The public key does not fit.",
        errSecDeviceVerifyFailed: "The device could not be verified.",
        errSecInvalidLoginName: "The login name is not valid.",
        errSecAlreadyLoggedIn: "Somebody is logged in already.",
        errSecInvalidDigestAlgorithm: "The digest algorithm is not valid.",
        errSecInvalidCRLGroup: "The group of certificate revocation lists is not valid.",
        errSecCertificateCannotOperate: "The certificate cannot be used for this.",
        errSecCertificateExpired: "The certificate has expired.",
        errSecCertificateNotValidYet: "The certificate is not valid yet.",
        errSecCertificateRevoked: "The certificate was revoked.",
        errSecCertificateSuspended: "The certificate is suspended.",
        errSecInsufficientCredentials: "The credentials do not suffice.",
        errSecInvalidAction: "The action is not valid.",
        errSecInvalidAuthority: "The authority is not valid.",
        errSecVerifyActionFailed: "The action could not be verified.",
        errSecInvalidCertAuthority: "The certificate authority is not valid.",
        errSecInvalidCRLAuthority: "The authority of the certificate revocation list is not valid.",
        errSecInvalidCRLEncoding: "The encoding of the certificate revocation list is not valid.",
        errSecInvalidCRLType: "The type of the certificate revocation list is not valid.",
        errSecInvalidCRL: "The certificate revocation list is not valid.",
        errSecInvalidFormType: "The form type is not valid.",
        errSecInvalidID: "The ID is not valid.",
        errSecInvalidIdentifier: "The identifier is not valid.",
        errSecInvalidIndex: "The index is not valid.",
        errSecInvalidPolicyIdentifiers: "The policy identifiers are not valid.",
        errSecInvalidTimeString: "The time is not valid.",
        errSecInvalidReason: "The reason is not valid.",
        errSecInvalidRequestInputs: "The inputs of the request are not valid.",
        errSecInvalidResponseVector: "The response vector is not valid.",
        errSecInvalidStopOnPolicy: "The stop-on policy is not valid.",
        errSecInvalidTuple: "The tuple is not valid.",
        errSecMultipleValuesUnsupported: "More than one value is not supported.",
        errSecNotTrusted: "The certificate is not trusted.",
        errSecNoDefaultAuthority: "There is no default authority.",
        errSecRejectedForm: "The form was rejected.",
        errSecRequestLost: "The request was lost.",
        errSecRequestRejected: "The request was rejected.",
        errSecUnsupportedAddressType: "The address type is not supported.",
        errSecUnsupportedService: "The service is not supported.",
        errSecInvalidTupleGroup: "The tuple group is not valid.",
        errSecInvalidBaseACLs: "The base access control lists are not valid.",
        errSecInvalidTupleCredentials: "The credentials of the tuple are not valid.",
        errSecInvalidEncoding: "The encoding is not valid.",
        errSecInvalidValidityPeriod: "The validity period is not valid.",
        errSecInvalidRequestor: "The requester is not valid.",
        errSecRequestDescriptor: "The request descriptor is not valid.",
        errSecInvalidBundleInfo: "The bundle information is not valid.",
        errSecInvalidCRLIndex: "The index into the certificate revocation list is not valid.",
        errSecNoFieldValues: "There are no field values.",
        errSecUnsupportedFieldFormat: "The field format is not supported.",
        errSecUnsupportedIndexInfo: "The index information is not supported.",
        errSecUnsupportedLocality: "The locality is not supported.",
        errSecUnsupportedNumAttributes: "This number of attributes is not supported.",
        errSecUnsupportedNumIndexes: "This number of indexes is not supported.",
        errSecUnsupportedNumRecordTypes: "This number of record types is not supported.",
        errSecFieldSpecifiedMultiple: "A field was given more than once.",
        errSecIncompatibleFieldFormat: "The field format is not compatible.",
        errSecInvalidParsingModule: "The parsing module is not valid.",
        errSecDatabaseLocked: "The database is locked.",
        errSecDatastoreIsOpen: "The data store is open.",
        errSecMissingValue: "A value is missing.",
        errSecUnsupportedQueryLimits: "The query limits are not supported.",
        errSecUnsupportedNumSelectionPreds: "This number of selection predicates is not supported.",
        errSecUnsupportedOperator: "The operator is not supported.",
        errSecInvalidDBLocation: "The location of the database is not valid.",
        errSecInvalidAccessRequest: "The access request is not valid.",
        errSecInvalidIndexInfo: "The index information is not valid.",
        errSecInvalidNewOwner: "The new owner is not valid.",
        errSecInvalidModifyMode: "The modify mode is not valid.",
        errSecMissingRequiredExtension: "A certificate extension that is required is missing.",
        errSecExtendedKeyUsageNotCritical: "The extended key usage extension is not critical.",
        errSecTimestampMissing: "There is no timestamp.",
        errSecTimestampInvalid: "The timestamp is not valid.",
        errSecTimestampNotTrusted: "The timestamp is not trusted.",
        errSecTimestampServiceNotAvailable: "The timestamp service is not available.",
        errSecTimestampBadAlg: "The algorithm of the timestamp is not known or not supported.",
        errSecTimestampBadRequest: "The timestamp request is not permitted or not supported.",
        errSecTimestampBadDataFormat: "The data for the timestamp is of the wrong format.",
        errSecTimestampTimeNotAvailable: "The timestamp authority has no time source.",
        errSecTimestampUnacceptedPolicy: "The timestamp authority does not support the policy.",
        errSecTimestampUnacceptedExtension: "The timestamp authority does not support the extension.",
        errSecTimestampAddInfoNotAvailable: "The timestamp authority cannot give the additional information.",
        errSecTimestampSystemFailure: "The timestamp authority failed.",
        errSecSigningTimeMissing: "There is no signing time.",
        errSecTimestampRejection: "The timestamp request was rejected.",
        errSecTimestampWaiting: "The timestamp request is waiting.",
        errSecTimestampRevocationWarning: "The timestamp authority warns of a coming revocation.",
        errSecTimestampRevocationNotification: "The timestamp authority notifies of a revocation.",
        errSecCertificatePolicyNotAllowed: "The certificate does not allow this policy.",
        errSecCertificateNameNotAllowed: "The certificate does not allow this name.",
        errSecCertificateValidityPeriodTooLong: "The certificate is valid for longer than is allowed.",
        errSecCertificateIsCA: "The certificate is that of an authority where another kind is expected.",
        errSecCertificateDuplicateExtension: "The certificate contains an extension twice.",
        errSecMissingQualifiedCertStatement: "The certificate lacks a qualified certificate statement it must have.",
    ]
}
