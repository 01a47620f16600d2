import Foundation
import KeychainServices
import TestSupport
import Testing

/// The paths of NIST's Public Key Interoperability Test Suite (PKITS 1.0.1), of those settings that `SecTrust` has: any
/// policy will do, and no policy is asked for.
@Suite struct PKITSTests {
    private struct Path {
        var number: String
        var isValid: Bool
        /// From the authority below the anchor to the certificate in question.
        var certificates: [String]
    }

    /// Returns nil for one that cannot be read: a few signatures are so broken that they are no whole bytes.
    private static func certificate(_ name: String) throws -> SecCertificate? {
        let der = try TestVectors.contents(of: "x509/PKITS_data/certs/\(name).crt")
        return SecCertificateCreateWithData(nil, der as CFData)
    }

    private static func isTrusted(_ path: Path) throws -> Bool {
        var created: SecTrust?
        guard let last = path.certificates.last, let leaf = try certificate(last) else { return false }
        let certificates = try [leaf] + path.certificates.dropLast().reversed().compactMap(certificate)
        #expect(
            SecTrustCreateWithCertificates(certificates as CFArray, SecPolicyCreateBasicX509(), &created)
                == errSecSuccess)
        let trust = try #require(created)
        let anchor = try #require(try certificate("TrustAnchorRootCertificate"))
        #expect(SecTrustSetAnchorCertificates(trust, [anchor] as CFArray) == errSecSuccess)
        // In 2020, in the middle of the lives of the valid certificates.
        let date = Date(timeIntervalSinceReferenceDate: 600_000_000)
        #expect(SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
        return SecTrustEvaluateWithError(trust, nil)
    }

    @Test func pathsAreJudgedAsTheSuiteSays() throws {
        let paths = try Self.table.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count > 2)
            return Path(number: words[0], isValid: words[1] == "+", certificates: Array(words[2...]))
        }
        #expect(paths.count == 214)
        var (refused, trusted): (Set<String>, Set<String>) = ([], [])
        for path in paths where try Self.isTrusted(path) != path.isValid {
            if path.isValid { refused.insert(path.number) } else { trusted.insert(path.number) }
        }
        #expect(refused == Self.refusedHere)
        #expect(trusted == Self.trustedHere)
    }

    /// Apple's systems know no DSA.
    private static let refusedHere: Set<String> = ["4.1.4", "4.1.5"]

    /// Nothing but a revocation list speaks against these. The certificates do not say where it is.
    private static let trustedHere: Set<String> = [
        "4.4.1", "4.4.2", "4.4.3", "4.4.4", "4.4.5", "4.4.6", "4.4.8", "4.4.9", "4.4.10", "4.4.11", "4.4.12",
        "4.4.15", "4.4.18", "4.4.20", "4.4.21", "4.5.2", "4.5.5", "4.5.7", "4.7.4", "4.7.5", "4.14.2", "4.14.3",
        "4.14.6", "4.14.8", "4.14.9", "4.14.11", "4.14.12", "4.14.14", "4.14.15", "4.14.16", "4.14.17", "4.14.20",
        "4.14.21", "4.14.23", "4.14.26", "4.14.27", "4.14.31", "4.14.32", "4.14.34", "4.14.35", "4.15.1", "4.15.3",
        "4.15.4", "4.15.6", "4.15.9", "4.15.10",
    ]

    /// The number of a test, whether its path is valid, and the path's certificates below the anchor.
    private static let table = """
        4.1.1 + GoodCACert ValidCertificatePathTest1EE
        4.1.2 - BadSignedCACert InvalidCASignatureTest2EE
        4.1.3 - GoodCACert InvalidEESignatureTest3EE
        4.1.4 + DSACACert ValidDSASignaturesTest4EE
        4.1.5 + DSACACert DSAParametersInheritedCACert ValidDSAParameterInheritanceTest5EE
        4.1.6 - DSACACert InvalidDSASignatureTest6EE
        4.2.1 - BadnotBeforeDateCACert InvalidCAnotBeforeDateTest1EE
        4.2.2 - GoodCACert InvalidEEnotBeforeDateTest2EE
        4.2.3 + GoodCACert Validpre2000UTCnotBeforeDateTest3EE
        4.2.4 + GoodCACert ValidGeneralizedTimenotBeforeDateTest4EE
        4.2.5 - BadnotAfterDateCACert InvalidCAnotAfterDateTest5EE
        4.2.6 - GoodCACert InvalidEEnotAfterDateTest6EE
        4.2.7 - GoodCACert Invalidpre2000UTCEEnotAfterDateTest7EE
        4.2.8 + GoodCACert ValidGeneralizedTimenotAfterDateTest8EE
        4.3.1 - GoodCACert InvalidNameChainingTest1EE
        4.3.2 - NameOrderingCACert InvalidNameChainingOrderTest2EE
        4.3.3 + GoodCACert ValidNameChainingWhitespaceTest3EE
        4.3.4 + GoodCACert ValidNameChainingWhitespaceTest4EE
        4.3.5 + GoodCACert ValidNameChainingCapitalizationTest5EE
        4.3.6 + UIDCACert ValidNameUIDsTest6EE
        4.3.7 + RFC3280MandatoryAttributeTypesCACert ValidRFC3280MandatoryAttributeTypesTest7EE
        4.3.8 + RFC3280OptionalAttributeTypesCACert ValidRFC3280OptionalAttributeTypesTest8EE
        4.3.9 + UTF8StringEncodedNamesCACert ValidUTF8StringEncodedNamesTest9EE
        4.3.10 + RolloverfromPrintableStringtoUTF8StringCACert ValidRolloverfromPrintableStringtoUTF8StringTest10EE
        4.3.11 + UTF8StringCaseInsensitiveMatchCACert ValidUTF8StringCaseInsensitiveMatchTest11EE
        4.4.1 - NoCRLCACert InvalidMissingCRLTest1EE
        4.4.2 - GoodCACert RevokedsubCACert InvalidRevokedCATest2EE
        4.4.3 - GoodCACert InvalidRevokedEETest3EE
        4.4.4 - BadCRLSignatureCACert InvalidBadCRLSignatureTest4EE
        4.4.5 - BadCRLIssuerNameCACert InvalidBadCRLIssuerNameTest5EE
        4.4.6 - WrongCRLCACert InvalidWrongCRLTest6EE
        4.4.7 + TwoCRLsCACert ValidTwoCRLsTest7EE
        4.4.8 - UnknownCRLEntryExtensionCACert InvalidUnknownCRLEntryExtensionTest8EE
        4.4.9 - UnknownCRLExtensionCACert InvalidUnknownCRLExtensionTest9EE
        4.4.10 - UnknownCRLExtensionCACert InvalidUnknownCRLExtensionTest10EE
        4.4.11 - OldCRLnextUpdateCACert InvalidOldCRLnextUpdateTest11EE
        4.4.12 - pre2000CRLnextUpdateCACert Invalidpre2000CRLnextUpdateTest12EE
        4.4.13 + GeneralizedTimeCRLnextUpdateCACert ValidGeneralizedTimeCRLnextUpdateTest13EE
        4.4.14 + NegativeSerialNumberCACert ValidNegativeSerialNumberTest14EE
        4.4.15 - NegativeSerialNumberCACert InvalidNegativeSerialNumberTest15EE
        4.4.16 + LongSerialNumberCACert ValidLongSerialNumberTest16EE
        4.4.17 + LongSerialNumberCACert ValidLongSerialNumberTest17EE
        4.4.18 - LongSerialNumberCACert InvalidLongSerialNumberTest18EE
        4.4.19 + SeparateCertificateandCRLKeysCertificateSigningCACert SeparateCertificateandCRLKeysCRLSigningCert ValidSeparateCertificateandCRLKeysTest19EE
        4.4.20 - SeparateCertificateandCRLKeysCertificateSigningCACert SeparateCertificateandCRLKeysCRLSigningCert InvalidSeparateCertificateandCRLKeysTest20EE
        4.4.21 - SeparateCertificateandCRLKeysCA2CertificateSigningCACert SeparateCertificateandCRLKeysCA2CRLSigningCert InvalidSeparateCertificateandCRLKeysTest21EE
        4.5.1 + BasicSelfIssuedNewKeyCACert BasicSelfIssuedNewKeyOldWithNewCACert ValidBasicSelfIssuedOldWithNewTest1EE
        4.5.2 - BasicSelfIssuedNewKeyCACert BasicSelfIssuedNewKeyOldWithNewCACert InvalidBasicSelfIssuedOldWithNewTest2EE
        4.5.3 + BasicSelfIssuedOldKeyCACert BasicSelfIssuedOldKeyNewWithOldCACert ValidBasicSelfIssuedNewWithOldTest3EE
        4.5.4 + BasicSelfIssuedOldKeyCACert BasicSelfIssuedOldKeyNewWithOldCACert ValidBasicSelfIssuedNewWithOldTest4EE
        4.5.5 - BasicSelfIssuedOldKeyCACert BasicSelfIssuedOldKeyNewWithOldCACert InvalidBasicSelfIssuedNewWithOldTest5EE
        4.5.6 + BasicSelfIssuedCRLSigningKeyCACert BasicSelfIssuedCRLSigningKeyCRLCert ValidBasicSelfIssuedCRLSigningKeyTest6EE
        4.5.7 - BasicSelfIssuedCRLSigningKeyCACert BasicSelfIssuedCRLSigningKeyCRLCert InvalidBasicSelfIssuedCRLSigningKeyTest7EE
        4.5.8 - BasicSelfIssuedCRLSigningKeyCACert BasicSelfIssuedCRLSigningKeyCRLCert InvalidBasicSelfIssuedCRLSigningKeyTest8EE
        4.6.1 - MissingbasicConstraintsCACert InvalidMissingbasicConstraintsTest1EE
        4.6.2 - basicConstraintsCriticalcAFalseCACert InvalidcAFalseTest2EE
        4.6.3 - basicConstraintsNotCriticalcAFalseCACert InvalidcAFalseTest3EE
        4.6.4 + basicConstraintsNotCriticalCACert ValidbasicConstraintsNotCriticalTest4EE
        4.6.5 - pathLenConstraint0CACert pathLenConstraint0subCACert InvalidpathLenConstraintTest5EE
        4.6.6 - pathLenConstraint0CACert pathLenConstraint0subCACert InvalidpathLenConstraintTest6EE
        4.6.7 + pathLenConstraint0CACert ValidpathLenConstraintTest7EE
        4.6.8 + pathLenConstraint0CACert ValidpathLenConstraintTest8EE
        4.6.9 - pathLenConstraint6CACert pathLenConstraint6subCA0Cert pathLenConstraint6subsubCA00Cert InvalidpathLenConstraintTest9EE
        4.6.10 - pathLenConstraint6CACert pathLenConstraint6subCA0Cert pathLenConstraint6subsubCA00Cert InvalidpathLenConstraintTest10EE
        4.6.11 - pathLenConstraint6CACert pathLenConstraint6subCA1Cert pathLenConstraint6subsubCA11Cert pathLenConstraint6subsubsubCA11XCert InvalidpathLenConstraintTest11EE
        4.6.12 - pathLenConstraint6CACert pathLenConstraint6subCA1Cert pathLenConstraint6subsubCA11Cert pathLenConstraint6subsubsubCA11XCert InvalidpathLenConstraintTest12EE
        4.6.13 + pathLenConstraint6CACert pathLenConstraint6subCA4Cert pathLenConstraint6subsubCA41Cert pathLenConstraint6subsubsubCA41XCert ValidpathLenConstraintTest13EE
        4.6.14 + pathLenConstraint6CACert pathLenConstraint6subCA4Cert pathLenConstraint6subsubCA41Cert pathLenConstraint6subsubsubCA41XCert ValidpathLenConstraintTest14EE
        4.6.15 + pathLenConstraint0CACert pathLenConstraint0SelfIssuedCACert ValidSelfIssuedpathLenConstraintTest15EE
        4.6.16 - pathLenConstraint0CACert pathLenConstraint0SelfIssuedCACert pathLenConstraint0subCA2Cert InvalidSelfIssuedpathLenConstraintTest16EE
        4.6.17 + pathLenConstraint1CACert pathLenConstraint1SelfIssuedCACert pathLenConstraint1subCACert pathLenConstraint1SelfIssuedsubCACert ValidSelfIssuedpathLenConstraintTest17EE
        4.7.1 - keyUsageCriticalkeyCertSignFalseCACert InvalidkeyUsageCriticalkeyCertSignFalseTest1EE
        4.7.2 - keyUsageNotCriticalkeyCertSignFalseCACert InvalidkeyUsageNotCriticalkeyCertSignFalseTest2EE
        4.7.3 + keyUsageNotCriticalCACert ValidkeyUsageNotCriticalTest3EE
        4.7.4 - keyUsageCriticalcRLSignFalseCACert InvalidkeyUsageCriticalcRLSignFalseTest4EE
        4.7.5 - keyUsageNotCriticalcRLSignFalseCACert InvalidkeyUsageNotCriticalcRLSignFalseTest5EE
        4.8.2 + NoPoliciesCACert AllCertificatesNoPoliciesTest2EE
        4.8.3 + GoodCACert PoliciesP2subCACert DifferentPoliciesTest3EE
        4.8.4 - GoodCACert GoodsubCACert DifferentPoliciesTest4EE
        4.8.5 - GoodCACert PoliciesP2subCA2Cert DifferentPoliciesTest5EE
        4.8.6 + PoliciesP1234CACert PoliciesP1234subCAP123Cert PoliciesP1234subsubCAP123P12Cert OverlappingPoliciesTest6EE
        4.8.7 - PoliciesP123CACert PoliciesP123subCAP12Cert PoliciesP123subsubCAP12P1Cert DifferentPoliciesTest7EE
        4.8.8 - PoliciesP12CACert PoliciesP12subCAP1Cert PoliciesP12subsubCAP1P2Cert DifferentPoliciesTest8EE
        4.8.9 - PoliciesP123CACert PoliciesP123subCAP12Cert PoliciesP123subsubCAP12P2Cert PoliciesP123subsubsubCAP12P2P1Cert DifferentPoliciesTest9EE
        4.8.10 + PoliciesP12CACert AllCertificatesSamePoliciesTest10EE
        4.8.11 + anyPolicyCACert AllCertificatesanyPolicyTest11EE
        4.8.12 - PoliciesP3CACert DifferentPoliciesTest12EE
        4.8.15 + UserNoticeQualifierTest15EE
        4.8.16 + GoodCACert UserNoticeQualifierTest16EE
        4.8.17 + GoodCACert UserNoticeQualifierTest17EE
        4.8.19 + UserNoticeQualifierTest19EE
        4.9.1 + requireExplicitPolicy10CACert requireExplicitPolicy10subCACert requireExplicitPolicy10subsubCACert requireExplicitPolicy10subsubsubCACert ValidrequireExplicitPolicyTest1EE
        4.9.2 + requireExplicitPolicy5CACert requireExplicitPolicy5subCACert requireExplicitPolicy5subsubCACert requireExplicitPolicy5subsubsubCACert ValidrequireExplicitPolicyTest2EE
        4.9.3 - requireExplicitPolicy4CACert requireExplicitPolicy4subCACert requireExplicitPolicy4subsubCACert requireExplicitPolicy4subsubsubCACert InvalidrequireExplicitPolicyTest3EE
        4.9.4 + requireExplicitPolicy0CACert requireExplicitPolicy0subCACert requireExplicitPolicy0subsubCACert requireExplicitPolicy0subsubsubCACert ValidrequireExplicitPolicyTest4EE
        4.9.5 - requireExplicitPolicy7CACert requireExplicitPolicy7subCARE2Cert requireExplicitPolicy7subsubCARE2RE4Cert requireExplicitPolicy7subsubsubCARE2RE4Cert InvalidrequireExplicitPolicyTest5EE
        4.9.6 + requireExplicitPolicy2CACert requireExplicitPolicy2SelfIssuedCACert ValidSelfIssuedrequireExplicitPolicyTest6EE
        4.9.7 - requireExplicitPolicy2CACert requireExplicitPolicy2SelfIssuedCACert requireExplicitPolicy2subCACert InvalidSelfIssuedrequireExplicitPolicyTest7EE
        4.9.8 - requireExplicitPolicy2CACert requireExplicitPolicy2SelfIssuedCACert requireExplicitPolicy2subCACert requireExplicitPolicy2SelfIssuedsubCACert InvalidSelfIssuedrequireExplicitPolicyTest8EE
        4.10.2 - Mapping1to2CACert InvalidPolicyMappingTest2EE
        4.10.4 - P12Mapping1to3CACert P12Mapping1to3subCACert P12Mapping1to3subsubCACert InvalidPolicyMappingTest4EE
        4.10.7 - MappingFromanyPolicyCACert InvalidMappingFromanyPolicyTest7EE
        4.10.8 - MappingToanyPolicyCACert InvalidMappingToanyPolicyTest8EE
        4.10.9 + PanyPolicyMapping1to2CACert ValidPolicyMappingTest9EE
        4.10.10 - GoodCACert GoodsubCAPanyPolicyMapping1to2CACert InvalidPolicyMappingTest10EE
        4.10.11 + GoodCACert GoodsubCAPanyPolicyMapping1to2CACert ValidPolicyMappingTest11EE
        4.10.13 + P1anyPolicyMapping1to2CACert ValidPolicyMappingTest13EE
        4.10.14 + P1anyPolicyMapping1to2CACert ValidPolicyMappingTest14EE
        4.11.1 - inhibitPolicyMapping0CACert inhibitPolicyMapping0subCACert InvalidinhibitPolicyMappingTest1EE
        4.11.2 + inhibitPolicyMapping1P12CACert inhibitPolicyMapping1P12subCACert ValidinhibitPolicyMappingTest2EE
        4.11.3 - inhibitPolicyMapping1P12CACert inhibitPolicyMapping1P12subCACert inhibitPolicyMapping1P12subsubCACert InvalidinhibitPolicyMappingTest3EE
        4.11.4 + inhibitPolicyMapping1P12CACert inhibitPolicyMapping1P12subCACert inhibitPolicyMapping1P12subsubCACert ValidinhibitPolicyMappingTest4EE
        4.11.5 - inhibitPolicyMapping5CACert inhibitPolicyMapping5subCACert inhibitPolicyMapping5subsubCACert inhibitPolicyMapping5subsubsubCACert InvalidinhibitPolicyMappingTest5EE
        4.11.6 - inhibitPolicyMapping1P12CACert inhibitPolicyMapping1P12subCAIPM5Cert inhibitPolicyMapping1P12subsubCAIPM5Cert InvalidinhibitPolicyMappingTest6EE
        4.11.7 + inhibitPolicyMapping1P1CACert inhibitPolicyMapping1P1SelfIssuedCACert inhibitPolicyMapping1P1subCACert ValidSelfIssuedinhibitPolicyMappingTest7EE
        4.11.8 - inhibitPolicyMapping1P1CACert inhibitPolicyMapping1P1SelfIssuedCACert inhibitPolicyMapping1P1subCACert inhibitPolicyMapping1P1subsubCACert InvalidSelfIssuedinhibitPolicyMappingTest8EE
        4.11.9 - inhibitPolicyMapping1P1CACert inhibitPolicyMapping1P1SelfIssuedCACert inhibitPolicyMapping1P1subCACert inhibitPolicyMapping1P1subsubCACert InvalidSelfIssuedinhibitPolicyMappingTest9EE
        4.11.10 - inhibitPolicyMapping1P1CACert inhibitPolicyMapping1P1SelfIssuedCACert inhibitPolicyMapping1P1subCACert inhibitPolicyMapping1P1SelfIssuedsubCACert InvalidSelfIssuedinhibitPolicyMappingTest10EE
        4.11.11 - inhibitPolicyMapping1P1CACert inhibitPolicyMapping1P1SelfIssuedCACert inhibitPolicyMapping1P1subCACert inhibitPolicyMapping1P1SelfIssuedsubCACert InvalidSelfIssuedinhibitPolicyMappingTest11EE
        4.12.1 - inhibitAnyPolicy0CACert InvalidinhibitAnyPolicyTest1EE
        4.12.2 + inhibitAnyPolicy0CACert ValidinhibitAnyPolicyTest2EE
        4.12.3 + inhibitAnyPolicy1CACert inhibitAnyPolicy1subCA1Cert inhibitAnyPolicyTest3EE
        4.12.4 - inhibitAnyPolicy1CACert inhibitAnyPolicy1subCA1Cert InvalidinhibitAnyPolicyTest4EE
        4.12.5 - inhibitAnyPolicy5CACert inhibitAnyPolicy5subCACert inhibitAnyPolicy5subsubCACert InvalidinhibitAnyPolicyTest5EE
        4.12.6 - inhibitAnyPolicy1CACert inhibitAnyPolicy1subCAIAP5Cert InvalidinhibitAnyPolicyTest6EE
        4.12.7 + inhibitAnyPolicy1CACert inhibitAnyPolicy1SelfIssuedCACert inhibitAnyPolicy1subCA2Cert ValidSelfIssuedinhibitAnyPolicyTest7EE
        4.12.8 - inhibitAnyPolicy1CACert inhibitAnyPolicy1SelfIssuedCACert inhibitAnyPolicy1subCA2Cert inhibitAnyPolicy1subsubCA2Cert InvalidSelfIssuedinhibitAnyPolicyTest8EE
        4.12.9 + inhibitAnyPolicy1CACert inhibitAnyPolicy1SelfIssuedCACert inhibitAnyPolicy1subCA2Cert inhibitAnyPolicy1SelfIssuedsubCA2Cert ValidSelfIssuedinhibitAnyPolicyTest9EE
        4.12.10 - inhibitAnyPolicy1CACert inhibitAnyPolicy1SelfIssuedCACert inhibitAnyPolicy1subCA2Cert InvalidSelfIssuedinhibitAnyPolicyTest10EE
        4.13.1 + nameConstraintsDN1CACert ValidDNnameConstraintsTest1EE
        4.13.2 - nameConstraintsDN1CACert InvalidDNnameConstraintsTest2EE
        4.13.3 - nameConstraintsDN1CACert InvalidDNnameConstraintsTest3EE
        4.13.4 + nameConstraintsDN1CACert ValidDNnameConstraintsTest4EE
        4.13.5 + nameConstraintsDN2CACert ValidDNnameConstraintsTest5EE
        4.13.6 + nameConstraintsDN3CACert ValidDNnameConstraintsTest6EE
        4.13.7 - nameConstraintsDN3CACert InvalidDNnameConstraintsTest7EE
        4.13.8 - nameConstraintsDN4CACert InvalidDNnameConstraintsTest8EE
        4.13.9 - nameConstraintsDN4CACert InvalidDNnameConstraintsTest9EE
        4.13.10 - nameConstraintsDN5CACert InvalidDNnameConstraintsTest10EE
        4.13.11 + nameConstraintsDN5CACert ValidDNnameConstraintsTest11EE
        4.13.12 - nameConstraintsDN1CACert nameConstraintsDN1subCA1Cert InvalidDNnameConstraintsTest12EE
        4.13.13 - nameConstraintsDN1CACert nameConstraintsDN1subCA2Cert InvalidDNnameConstraintsTest13EE
        4.13.14 + nameConstraintsDN1CACert nameConstraintsDN1subCA2Cert ValidDNnameConstraintsTest14EE
        4.13.15 - nameConstraintsDN3CACert nameConstraintsDN3subCA1Cert InvalidDNnameConstraintsTest15EE
        4.13.16 - nameConstraintsDN3CACert nameConstraintsDN3subCA1Cert InvalidDNnameConstraintsTest16EE
        4.13.17 - nameConstraintsDN3CACert nameConstraintsDN3subCA2Cert InvalidDNnameConstraintsTest17EE
        4.13.18 + nameConstraintsDN3CACert nameConstraintsDN3subCA2Cert ValidDNnameConstraintsTest18EE
        4.13.19 + nameConstraintsDN1CACert nameConstraintsDN1SelfIssuedCACert ValidDNnameConstraintsTest19EE
        4.13.20 - nameConstraintsDN1CACert InvalidDNnameConstraintsTest20EE
        4.13.21 + nameConstraintsRFC822CA1Cert ValidRFC822nameConstraintsTest21EE
        4.13.22 - nameConstraintsRFC822CA1Cert InvalidRFC822nameConstraintsTest22EE
        4.13.23 + nameConstraintsRFC822CA2Cert ValidRFC822nameConstraintsTest23EE
        4.13.24 - nameConstraintsRFC822CA2Cert InvalidRFC822nameConstraintsTest24EE
        4.13.25 + nameConstraintsRFC822CA3Cert ValidRFC822nameConstraintsTest25EE
        4.13.26 - nameConstraintsRFC822CA3Cert InvalidRFC822nameConstraintsTest26EE
        4.13.27 + nameConstraintsDN1CACert nameConstraintsDN1subCA3Cert ValidDNandRFC822nameConstraintsTest27EE
        4.13.28 - nameConstraintsDN1CACert nameConstraintsDN1subCA3Cert InvalidDNandRFC822nameConstraintsTest28EE
        4.13.29 - nameConstraintsDN1CACert nameConstraintsDN1subCA3Cert InvalidDNandRFC822nameConstraintsTest29EE
        4.13.30 + nameConstraintsDNS1CACert ValidDNSnameConstraintsTest30EE
        4.13.31 - nameConstraintsDNS1CACert InvalidDNSnameConstraintsTest31EE
        4.13.32 + nameConstraintsDNS2CACert ValidDNSnameConstraintsTest32EE
        4.13.33 - nameConstraintsDNS2CACert InvalidDNSnameConstraintsTest33EE
        4.13.34 + nameConstraintsURI1CACert ValidURInameConstraintsTest34EE
        4.13.35 - nameConstraintsURI1CACert InvalidURInameConstraintsTest35EE
        4.13.36 + nameConstraintsURI2CACert ValidURInameConstraintsTest36EE
        4.13.37 - nameConstraintsURI2CACert InvalidURInameConstraintsTest37EE
        4.13.38 - nameConstraintsDNS1CACert InvalidDNSnameConstraintsTest38EE
        4.14.1 + distributionPoint1CACert ValiddistributionPointTest1EE
        4.14.2 - distributionPoint1CACert InvaliddistributionPointTest2EE
        4.14.3 - distributionPoint1CACert InvaliddistributionPointTest3EE
        4.14.4 + distributionPoint1CACert ValiddistributionPointTest4EE
        4.14.5 + distributionPoint2CACert ValiddistributionPointTest5EE
        4.14.6 - distributionPoint2CACert InvaliddistributionPointTest6EE
        4.14.7 + distributionPoint2CACert ValiddistributionPointTest7EE
        4.14.8 - distributionPoint2CACert InvaliddistributionPointTest8EE
        4.14.9 - distributionPoint2CACert InvaliddistributionPointTest9EE
        4.14.10 + NoissuingDistributionPointCACert ValidNoissuingDistributionPointTest10EE
        4.14.11 - onlyContainsUserCertsCACert InvalidonlyContainsUserCertsTest11EE
        4.14.12 - onlyContainsCACertsCACert InvalidonlyContainsCACertsTest12EE
        4.14.13 + onlyContainsCACertsCACert ValidonlyContainsCACertsTest13EE
        4.14.14 - onlyContainsAttributeCertsCACert InvalidonlyContainsAttributeCertsTest14EE
        4.14.15 - onlySomeReasonsCA1Cert InvalidonlySomeReasonsTest15EE
        4.14.16 - onlySomeReasonsCA1Cert InvalidonlySomeReasonsTest16EE
        4.14.17 - onlySomeReasonsCA2Cert InvalidonlySomeReasonsTest17EE
        4.14.18 + onlySomeReasonsCA3Cert ValidonlySomeReasonsTest18EE
        4.14.19 + onlySomeReasonsCA4Cert ValidonlySomeReasonsTest19EE
        4.14.20 - onlySomeReasonsCA4Cert InvalidonlySomeReasonsTest20EE
        4.14.21 - onlySomeReasonsCA4Cert InvalidonlySomeReasonsTest21EE
        4.14.22 + indirectCRLCA1Cert ValidIDPwithindirectCRLTest22EE
        4.14.23 - indirectCRLCA1Cert InvalidIDPwithindirectCRLTest23EE
        4.14.24 + indirectCRLCA2Cert indirectCRLCA1Cert ValidIDPwithindirectCRLTest24EE
        4.14.25 + indirectCRLCA2Cert indirectCRLCA1Cert ValidIDPwithindirectCRLTest25EE
        4.14.26 - indirectCRLCA2Cert indirectCRLCA1Cert InvalidIDPwithindirectCRLTest26EE
        4.14.27 - indirectCRLCA2Cert GoodCACert InvalidcRLIssuerTest27EE
        4.14.28 + indirectCRLCA3Cert indirectCRLCA3cRLIssuerCert ValidcRLIssuerTest28EE
        4.14.29 + indirectCRLCA3Cert indirectCRLCA3cRLIssuerCert ValidcRLIssuerTest29EE
        4.14.30 + indirectCRLCA4Cert indirectCRLCA4cRLIssuerCert ValidcRLIssuerTest30EE
        4.14.31 - indirectCRLCA5Cert indirectCRLCA6Cert InvalidcRLIssuerTest31EE
        4.14.32 - indirectCRLCA5Cert indirectCRLCA6Cert InvalidcRLIssuerTest32EE
        4.14.33 + indirectCRLCA5Cert indirectCRLCA6Cert ValidcRLIssuerTest33EE
        4.14.34 - indirectCRLCA5Cert InvalidcRLIssuerTest34EE
        4.14.35 - indirectCRLCA5Cert InvalidcRLIssuerTest35EE
        4.15.1 - deltaCRLIndicatorNoBaseCACert InvaliddeltaCRLIndicatorNoBaseTest1EE
        4.15.2 + deltaCRLCA1Cert ValiddeltaCRLTest2EE
        4.15.3 - deltaCRLCA1Cert InvaliddeltaCRLTest3EE
        4.15.4 - deltaCRLCA1Cert InvaliddeltaCRLTest4EE
        4.15.5 + deltaCRLCA1Cert ValiddeltaCRLTest5EE
        4.15.6 - deltaCRLCA1Cert InvaliddeltaCRLTest6EE
        4.15.7 + deltaCRLCA1Cert ValiddeltaCRLTest7EE
        4.15.8 + deltaCRLCA2Cert ValiddeltaCRLTest8EE
        4.15.9 - deltaCRLCA2Cert InvaliddeltaCRLTest9EE
        4.15.10 - deltaCRLCA3Cert InvaliddeltaCRLTest10EE
        4.16.1 + ValidUnknownNotCriticalCertificateExtensionTest1EE
        4.16.2 - InvalidUnknownCriticalCertificateExtensionTest2EE
        """
}
