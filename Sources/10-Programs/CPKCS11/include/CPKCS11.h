/*
 * The types of PKCS #11 (OASIS, Cryptographic Token Interface, versions 2.40, 3.0 and 3.2) that the module needs.
 * Headers in use disagree about versions and later constants, so these are its own.
 */
#ifndef CPKCS11_H
#define CPKCS11_H

#include "Keys.h"

typedef unsigned char CK_BYTE;
typedef unsigned char CK_BBOOL;
typedef unsigned long CK_ULONG;
typedef CK_ULONG CK_RV;
typedef CK_ULONG CK_FLAGS;
typedef CK_ULONG CK_SLOT_ID;
typedef CK_ULONG CK_SESSION_HANDLE;
typedef CK_ULONG CK_OBJECT_HANDLE;
typedef CK_ULONG CK_USER_TYPE;
typedef CK_ULONG CK_MECHANISM_TYPE;
typedef CK_ULONG CK_ATTRIBUTE_TYPE;

typedef struct { CK_BYTE major, minor; } CK_VERSION;

typedef struct {
    CK_VERSION cryptokiVersion;
    CK_BYTE manufacturerID[32];
    CK_FLAGS flags;
    CK_BYTE libraryDescription[32];
    CK_VERSION libraryVersion;
} CK_INFO;

typedef struct {
    CK_BYTE slotDescription[64];
    CK_BYTE manufacturerID[32];
    CK_FLAGS flags;
    CK_VERSION hardwareVersion, firmwareVersion;
} CK_SLOT_INFO;

typedef struct {
    CK_BYTE label[32], manufacturerID[32], model[16], serialNumber[16];
    CK_FLAGS flags;
    CK_ULONG maxSessionCount, sessionCount, maxRwSessionCount, rwSessionCount, maxPinLength, minPinLength;
    CK_ULONG totalPublicMemory, freePublicMemory, totalPrivateMemory, freePrivateMemory;
    CK_VERSION hardwareVersion, firmwareVersion;
    CK_BYTE utcTime[16];
} CK_TOKEN_INFO;

typedef struct {
    CK_SLOT_ID slot;
    CK_ULONG state;
    CK_FLAGS flags;
    CK_ULONG deviceError;
} CK_SESSION_INFO;

typedef struct {
    CK_ATTRIBUTE_TYPE type;
    void *value;
    CK_ULONG length;
} CK_ATTRIBUTE;

typedef struct {
    CK_MECHANISM_TYPE type;
    void *parameter;
    CK_ULONG parameterLength;
} CK_MECHANISM;

typedef struct { CK_ULONG minKeySize, maxKeySize; CK_FLAGS flags; } CK_MECHANISM_INFO;

typedef CK_RV (*CK_NOTIFY)(CK_SESSION_HANDLE session, CK_ULONG event, void *application);

typedef struct {
    CK_RV (*createMutex)(void **mutex);
    CK_RV (*destroyMutex)(void *mutex);
    CK_RV (*lockMutex)(void *mutex);
    CK_RV (*unlockMutex)(void *mutex);
    CK_FLAGS flags;
    void *reserved;
} CK_C_INITIALIZE_ARGS;

typedef struct { CK_MECHANISM_TYPE hash; CK_ULONG maskGeneration, saltLength; } CK_RSA_PKCS_PSS_PARAMS;

typedef struct {
    CK_MECHANISM_TYPE hash;
    CK_ULONG maskGeneration, source;
    void *sourceData;
    CK_ULONG sourceDataLength;
} CK_RSA_PKCS_OAEP_PARAMS;

typedef struct {
    CK_ULONG derivation;
    CK_ULONG sharedDataLength;
    CK_BYTE *sharedData;
    CK_ULONG publicDataLength;
    CK_BYTE *publicData;
} CK_ECDH1_DERIVE_PARAMS;

typedef struct {
    CK_BYTE *iv;
    CK_ULONG ivLength, ivBits;
    CK_BYTE *associated;
    CK_ULONG associatedLength, tagBits;
} CK_GCM_PARAMS;

/* The same without the length of the nonce in bits, as some headers have it. */
typedef struct {
    CK_BYTE *iv;
    CK_ULONG ivLength;
    CK_BYTE *associated;
    CK_ULONG associatedLength, tagBits;
} CK_SHORT_GCM_PARAMS;

typedef struct { CK_ULONG hedge; CK_BYTE *context; CK_ULONG contextLength; } CK_SIGN_ADDITIONAL_CONTEXT;

typedef struct CK_FUNCTION_LIST CK_FUNCTION_LIST;

typedef struct {
    const char *name;
    const void *functions;
    CK_FLAGS flags;
} CK_INTERFACE;

/*
 * The functions of version 2.40 in the order of its table: F for those that the module has, U for those that it does
 * not have (see kc_unsupported).
 */
#define KC_FUNCTIONS_2_40(F, U) \
    F(C_Initialize, (void *arguments)) \
    F(C_Finalize, (void *reserved)) \
    F(C_GetInfo, (CK_INFO *info)) \
    F(C_GetFunctionList, (CK_FUNCTION_LIST **list)) \
    F(C_GetSlotList, (CK_BBOOL withToken, CK_SLOT_ID *slots, CK_ULONG *count)) \
    F(C_GetSlotInfo, (CK_SLOT_ID slot, CK_SLOT_INFO *info)) \
    F(C_GetTokenInfo, (CK_SLOT_ID slot, CK_TOKEN_INFO *info)) \
    F(C_GetMechanismList, (CK_SLOT_ID slot, CK_MECHANISM_TYPE *mechanisms, CK_ULONG *count)) \
    F(C_GetMechanismInfo, (CK_SLOT_ID slot, CK_MECHANISM_TYPE type, CK_MECHANISM_INFO *info)) \
    F(C_InitToken, (CK_SLOT_ID slot, CK_BYTE *pin, CK_ULONG pinLength, CK_BYTE *label)) \
    U(C_InitPIN, (CK_SESSION_HANDLE session, CK_BYTE *pin, CK_ULONG pinLength)) \
    U(C_SetPIN, (CK_SESSION_HANDLE session, CK_BYTE *oldPin, CK_ULONG oldPinLength, CK_BYTE *newPin, CK_ULONG \
      newPinLength)) \
    F(C_OpenSession, (CK_SLOT_ID slot, CK_FLAGS flags, void *application, CK_NOTIFY notify, CK_SESSION_HANDLE \
      *session)) \
    F(C_CloseSession, (CK_SESSION_HANDLE session)) \
    F(C_CloseAllSessions, (CK_SLOT_ID slot)) \
    F(C_GetSessionInfo, (CK_SESSION_HANDLE session, CK_SESSION_INFO *info)) \
    U(C_GetOperationState, (CK_SESSION_HANDLE session, CK_BYTE *state, CK_ULONG *stateLength)) \
    U(C_SetOperationState, (CK_SESSION_HANDLE session, CK_BYTE *state, CK_ULONG stateLength, CK_OBJECT_HANDLE \
      encryptionKey, CK_OBJECT_HANDLE authenticationKey)) \
    F(C_Login, (CK_SESSION_HANDLE session, CK_USER_TYPE user, CK_BYTE *pin, CK_ULONG pinLength)) \
    F(C_Logout, (CK_SESSION_HANDLE session)) \
    F(C_CreateObject, (CK_SESSION_HANDLE session, CK_ATTRIBUTE *attributes, CK_ULONG attributeCount, \
      CK_OBJECT_HANDLE *object)) \
    U(C_CopyObject, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *attributes, CK_ULONG \
      attributeCount, CK_OBJECT_HANDLE *copy)) \
    F(C_DestroyObject, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object)) \
    F(C_GetObjectSize, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ULONG *size)) \
    F(C_GetAttributeValue, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *attributes, CK_ULONG \
      attributeCount)) \
    F(C_SetAttributeValue, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *attributes, CK_ULONG \
      attributeCount)) \
    F(C_FindObjectsInit, (CK_SESSION_HANDLE session, CK_ATTRIBUTE *attributes, CK_ULONG attributeCount)) \
    F(C_FindObjects, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE *objects, CK_ULONG most, CK_ULONG *count)) \
    F(C_FindObjectsFinal, (CK_SESSION_HANDLE session)) \
    F(C_EncryptInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    F(C_Encrypt, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *encrypted, CK_ULONG \
      *encryptedLength)) \
    F(C_EncryptUpdate, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *encrypted, CK_ULONG \
      *encryptedLength)) \
    F(C_EncryptFinal, (CK_SESSION_HANDLE session, CK_BYTE *encrypted, CK_ULONG *encryptedLength)) \
    F(C_DecryptInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    F(C_Decrypt, (CK_SESSION_HANDLE session, CK_BYTE *encrypted, CK_ULONG encryptedLength, CK_BYTE *data, CK_ULONG \
      *dataLength)) \
    F(C_DecryptUpdate, (CK_SESSION_HANDLE session, CK_BYTE *encrypted, CK_ULONG encryptedLength, CK_BYTE *data, \
      CK_ULONG *dataLength)) \
    F(C_DecryptFinal, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG *dataLength)) \
    F(C_DigestInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism)) \
    F(C_Digest, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *digest, CK_ULONG \
      *digestLength)) \
    F(C_DigestUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength)) \
    F(C_DigestKey, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key)) \
    F(C_DigestFinal, (CK_SESSION_HANDLE session, CK_BYTE *digest, CK_ULONG *digestLength)) \
    F(C_SignInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    F(C_Sign, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG \
      *signatureLength)) \
    F(C_SignUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength)) \
    F(C_SignFinal, (CK_SESSION_HANDLE session, CK_BYTE *signature, CK_ULONG *signatureLength)) \
    U(C_SignRecoverInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_SignRecover, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG \
      *signatureLength)) \
    F(C_VerifyInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    F(C_Verify, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG \
      signatureLength)) \
    F(C_VerifyUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength)) \
    F(C_VerifyFinal, (CK_SESSION_HANDLE session, CK_BYTE *signature, CK_ULONG signatureLength)) \
    U(C_VerifyRecoverInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_VerifyRecover, (CK_SESSION_HANDLE session, CK_BYTE *signature, CK_ULONG signatureLength, CK_BYTE *data, \
      CK_ULONG *dataLength)) \
    U(C_DigestEncryptUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength, CK_BYTE *result, \
      CK_ULONG *resultLength)) \
    U(C_DecryptDigestUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength, CK_BYTE *result, \
      CK_ULONG *resultLength)) \
    U(C_SignEncryptUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength, CK_BYTE *result, CK_ULONG \
      *resultLength)) \
    U(C_DecryptVerifyUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength, CK_BYTE *result, \
      CK_ULONG *resultLength)) \
    F(C_GenerateKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *attributes, CK_ULONG \
      attributeCount, CK_OBJECT_HANDLE *key)) \
    F(C_GenerateKeyPair, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *publicAttributes, \
      CK_ULONG publicCount, CK_ATTRIBUTE *privateAttributes, CK_ULONG privateCount, CK_OBJECT_HANDLE *publicKey, \
      CK_OBJECT_HANDLE *privateKey)) \
    F(C_WrapKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE wrappingKey, CK_OBJECT_HANDLE \
      key, CK_BYTE *wrapped, CK_ULONG *wrappedLength)) \
    F(C_UnwrapKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE unwrappingKey, CK_BYTE \
      *wrapped, CK_ULONG wrappedLength, CK_ATTRIBUTE *attributes, CK_ULONG attributeCount, CK_OBJECT_HANDLE *key)) \
    F(C_DeriveKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE baseKey, CK_ATTRIBUTE \
      *attributes, CK_ULONG attributeCount, CK_OBJECT_HANDLE *key)) \
    F(C_SeedRandom, (CK_SESSION_HANDLE session, CK_BYTE *seed, CK_ULONG seedLength)) \
    F(C_GenerateRandom, (CK_SESSION_HANDLE session, CK_BYTE *random, CK_ULONG randomLength)) \
    F(C_GetFunctionStatus, (CK_SESSION_HANDLE session)) \
    F(C_CancelFunction, (CK_SESSION_HANDLE session)) \
    F(C_WaitForSlotEvent, (CK_FLAGS flags, CK_SLOT_ID *slot, void *reserved))

/* What version 3.0 adds. */
#define KC_FUNCTIONS_3_0(F, U) \
    F(C_GetInterfaceList, (CK_INTERFACE *interfaces, CK_ULONG *count)) \
    F(C_GetInterface, (CK_BYTE *name, CK_VERSION *version, CK_INTERFACE **interface, CK_FLAGS flags)) \
    F(C_LoginUser, (CK_SESSION_HANDLE session, CK_USER_TYPE user, CK_BYTE *pin, CK_ULONG pinLength, CK_BYTE *name, \
      CK_ULONG nameLength)) \
    F(C_SessionCancel, (CK_SESSION_HANDLE session, CK_FLAGS flags)) \
    U(C_MessageEncryptInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_EncryptMessage, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *associated, \
      CK_ULONG associatedLength, CK_BYTE *plain, CK_ULONG plainLength, CK_BYTE *encrypted, CK_ULONG \
      *encryptedLength)) \
    U(C_EncryptMessageBegin, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE \
      *associated, CK_ULONG associatedLength)) \
    U(C_EncryptMessageNext, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *plain, \
      CK_ULONG plainLength, CK_BYTE *encrypted, CK_ULONG *encryptedLength, CK_FLAGS flags)) \
    U(C_MessageEncryptFinal, (CK_SESSION_HANDLE session)) \
    U(C_MessageDecryptInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_DecryptMessage, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *associated, \
      CK_ULONG associatedLength, CK_BYTE *encrypted, CK_ULONG encryptedLength, CK_BYTE *plain, CK_ULONG \
      *plainLength)) \
    U(C_DecryptMessageBegin, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE \
      *associated, CK_ULONG associatedLength)) \
    U(C_DecryptMessageNext, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE \
      *encrypted, CK_ULONG encryptedLength, CK_BYTE *plain, CK_ULONG *plainLength, CK_FLAGS flags)) \
    U(C_MessageDecryptFinal, (CK_SESSION_HANDLE session)) \
    U(C_MessageSignInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_SignMessage, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *data, CK_ULONG \
      dataLength, CK_BYTE *signature, CK_ULONG *signatureLength)) \
    U(C_SignMessageBegin, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength)) \
    U(C_SignMessageNext, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *data, \
      CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG *signatureLength)) \
    U(C_MessageSignFinal, (CK_SESSION_HANDLE session)) \
    U(C_MessageVerifyInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key)) \
    U(C_VerifyMessage, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *data, \
      CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG signatureLength)) \
    U(C_VerifyMessageBegin, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength)) \
    U(C_VerifyMessageNext, (CK_SESSION_HANDLE session, void *parameter, CK_ULONG parameterLength, CK_BYTE *data, \
      CK_ULONG dataLength, CK_BYTE *signature, CK_ULONG signatureLength)) \
    U(C_MessageVerifyFinal, (CK_SESSION_HANDLE session))

/* What version 3.2 adds. */
#define KC_FUNCTIONS_3_2(F, U) \
    F(C_EncapsulateKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE publicKey, \
      CK_ATTRIBUTE *attributes, CK_ULONG attributeCount, CK_BYTE *capsule, CK_ULONG *capsuleLength, CK_OBJECT_HANDLE \
      *key)) \
    F(C_DecapsulateKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE privateKey, \
      CK_ATTRIBUTE *attributes, CK_ULONG attributeCount, CK_BYTE *capsule, CK_ULONG capsuleLength, CK_OBJECT_HANDLE \
      *key)) \
    U(C_VerifySignatureInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key, CK_BYTE \
      *signature, CK_ULONG signatureLength)) \
    U(C_VerifySignature, (CK_SESSION_HANDLE session, CK_BYTE *data, CK_ULONG dataLength)) \
    U(C_VerifySignatureUpdate, (CK_SESSION_HANDLE session, CK_BYTE *part, CK_ULONG partLength)) \
    U(C_VerifySignatureFinal, (CK_SESSION_HANDLE session)) \
    U(C_GetSessionValidationFlags, (CK_SESSION_HANDLE session, CK_ULONG type, CK_FLAGS *flags)) \
    U(C_AsyncComplete, (CK_SESSION_HANDLE session, CK_BYTE *function, void *result)) \
    U(C_AsyncGetID, (CK_SESSION_HANDLE session, CK_BYTE *function, CK_ULONG *identifier)) \
    U(C_AsyncJoin, (CK_SESSION_HANDLE session, CK_BYTE *function, CK_ULONG identifier, CK_BYTE *data, CK_ULONG \
      dataLength)) \
    U(C_WrapKeyAuthenticated, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE wrappingKey, \
      CK_OBJECT_HANDLE key, CK_BYTE *associated, CK_ULONG associatedLength, CK_BYTE *wrapped, CK_ULONG \
      *wrappedLength)) \
    U(C_UnwrapKeyAuthenticated, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE unwrappingKey, \
      CK_BYTE *wrapped, CK_ULONG wrappedLength, CK_ATTRIBUTE *attributes, CK_ULONG attributeCount, CK_BYTE \
      *associated, CK_ULONG associatedLength, CK_OBJECT_HANDLE *key))

#define KC_MEMBER(name, arguments) CK_RV (*name) arguments;

struct CK_FUNCTION_LIST {
    CK_VERSION version;
    KC_FUNCTIONS_2_40(KC_MEMBER, KC_MEMBER)
};

typedef struct {
    CK_VERSION version;
    KC_FUNCTIONS_2_40(KC_MEMBER, KC_MEMBER)
    KC_FUNCTIONS_3_0(KC_MEMBER, KC_MEMBER)
} CK_FUNCTION_LIST_3_0;

typedef struct {
    CK_VERSION version;
    KC_FUNCTIONS_2_40(KC_MEMBER, KC_MEMBER)
    KC_FUNCTIONS_3_0(KC_MEMBER, KC_MEMBER)
    KC_FUNCTIONS_3_2(KC_MEMBER, KC_MEMBER)
} CK_FUNCTION_LIST_3_2;

/* The functions themselves, which are in Swift, and in Unsupported.c. */
#define KC_DECLARATION(name, arguments) CK_RV kc_##name arguments;
KC_FUNCTIONS_2_40(KC_DECLARATION, KC_DECLARATION)
KC_FUNCTIONS_3_0(KC_DECLARATION, KC_DECLARATION)
KC_FUNCTIONS_3_2(KC_DECLARATION, KC_DECLARATION)

/* What a function that the module does not have returns: CKR_FUNCTION_NOT_SUPPORTED, if the session is there. */
CK_RV kc_unsupported(CK_SESSION_HANDLE session);

/* C_FindObjectsInit of version 2.40. */
CK_RV kc_old_FindObjectsInit(CK_SESSION_HANDLE session, CK_ATTRIBUTE *attributes, CK_ULONG attributeCount);

/* The tables, and the interfaces that hand them out: the newest first. */
CK_FUNCTION_LIST *kc_old_table(void);
unsigned long kc_interface_count(void);
CK_INTERFACE *kc_interface(unsigned long index);

/* Whether two texts are equal: 1 or 0. */
int kc_is_equal(const CK_BYTE *name, const char *other);

/* The value of a variable of the environment; NULL in a program with more rights than its user. */
const char *kc_environment(const char *name);

/* The path of this library as the program loaded it; NULL if it is not known. */
const char *kc_library_path(void);

/* Whether the program has more rights than its user: 1 or 0. */
int kc_has_raised_rights(void);

/*
 * Starts the program that serves the user's vault to this process and its children, and that ends with the last of
 * them. `listener` is the socket at which it serves, in `folder`. Returns 1, or 0 if it cannot be started.
 */
int kc_start_helper(const char *program, const char *folder, int listener);

/* Ends what kc_start_helper has started, for this process. */
void kc_end_helper(void);

/* Starts the program that puts a question of the daemon to a person. Returns the socket to it, or -1. */
int kc_start_asker(const char *program);

/* What the library exports. */
CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list);
CK_RV C_GetInterfaceList(CK_INTERFACE *interfaces, CK_ULONG *count);
CK_RV C_GetInterface(CK_BYTE *name, CK_VERSION *version, CK_INTERFACE **interface, CK_FLAGS flags);

#endif
