// Signs and agrees on secrets with a P-256 key in a TPM through tpm2-tss alone, in three ways:
//
// - tss: for each operation the key is loaded, used in a salted HMAC session and flushed. These are the commands that
//   the package sends, with the same guarantee: the authorization and the shared secret do not cross the bus in the clear.
// - tss-kept: the same with a key that is loaded once, as a program can that has the TPM to itself.
// - tss-password: as the first, but with the authorization and the shared secret in the clear.
//
// Prints medians in microseconds and the fastest round.
//
//   tpm-sign TCTI ROUNDS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_tctildr.h>

static void check(TSS2_RC status, const char *what)
{
    if (status == 0) return;
    fprintf(stderr, "%s: 0x%x\n", what, status);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static TPM2B_PUBLIC template(TPMA_OBJECT attributes, int isParent)
{
    TPM2B_PUBLIC made = {.publicArea = {
        .type = TPM2_ALG_ECC, .nameAlg = TPM2_ALG_SHA256, .objectAttributes = attributes,
        .parameters.eccDetail = {
            .symmetric = {.algorithm = TPM2_ALG_NULL}, .scheme = {.scheme = TPM2_ALG_NULL},
            .curveID = TPM2_ECC_NIST_P256, .kdf = {.scheme = TPM2_ALG_NULL}}}};
    if (isParent) {
        made.publicArea.parameters.eccDetail.symmetric = (TPMT_SYM_DEF_OBJECT){
            .algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    }
    return made;
}

static void load(ESYS_CONTEXT *tpm, ESYS_TR parent, TPM2B_PRIVATE *private, TPM2B_PUBLIC *public,
    TPM2B_AUTH *authorization, ESYS_TR *key)
{
    check(Esys_Load(tpm, parent, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, private, public, key), "Load");
    check(Esys_TR_SetAuth(tpm, *key, authorization), "SetAuth");
}

int main(int count, char **arguments)
{
    int rounds = count == 3 ? atoi(arguments[2]) : 0;
    if (rounds < 1) return 64;
    TSS2_TCTI_CONTEXT *transport = NULL;
    ESYS_CONTEXT *tpm = NULL;
    check(Tss2_TctiLdr_Initialize(arguments[1], &transport), "connect");
    check(Esys_Initialize(&tpm, transport, NULL), "initialize");

    TPMA_OBJECT common = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN
        | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
    TPM2B_PUBLIC parentTemplate = template(common | TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT, 1);
    TPM2B_PUBLIC keyTemplate = template(common | TPMA_OBJECT_SIGN_ENCRYPT | TPMA_OBJECT_DECRYPT, 0);
    TPM2B_SENSITIVE_CREATE none = {0}, authorized = {.sensitive.userAuth = {.size = 32}};
    memset(authorized.sensitive.userAuth.buffer, 7, 32);
    TPM2B_DATA outside = {0};
    TPML_PCR_SELECTION registers = {0};
    ESYS_TR parent, session, key;
    check(Esys_CreatePrimary(tpm, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &none, &parentTemplate,
              &outside, &registers, &parent, NULL, NULL, NULL, NULL), "CreatePrimary");
    TPM2B_PRIVATE *private;
    TPM2B_PUBLIC *public;
    check(Esys_Create(tpm, parent, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &authorized, &keyTemplate, &outside,
              &registers, &private, &public, NULL, NULL, NULL), "Create");
    TPMT_SYM_DEF symmetric = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
    check(Esys_StartAuthSession(tpm, parent, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL, TPM2_SE_HMAC,
              &symmetric, TPM2_ALG_SHA256, &session), "StartAuthSession");

    TPM2B_DIGEST digest = {.size = 32};
    TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    TPMT_TK_HASHCHECK ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    TPM2B_ECC_POINT peer = {.point = public->publicArea.unique.ecc};
    double *times = malloc(sizeof(double) * rounds);
    const char *names[] = {"tss", "tss-kept", "tss-password"};
    for (int way = 0; way < 3; way++) {
        int keeps = way == 1;
        ESYS_TR proof = way == 2 ? ESYS_TR_PASSWORD : session;
        for (int agrees = 0; agrees <= 1; agrees++) {
            if (keeps) load(tpm, parent, private, public, &authorized.sensitive.userAuth, &key);
            check(Esys_TRSess_SetAttributes(tpm, session,
                      TPMA_SESSION_CONTINUESESSION | (agrees ? TPMA_SESSION_ENCRYPT : 0), 0xff), "SetAttributes");
            for (int round = 0; round < rounds; round++) {
                double start = now();
                if (!keeps) load(tpm, parent, private, public, &authorized.sensitive.userAuth, &key);
                if (agrees) {
                    TPM2B_ECC_POINT *product;
                    check(Esys_ECDH_ZGen(tpm, key, proof, ESYS_TR_NONE, ESYS_TR_NONE, &peer, &product), "ECDH_ZGen");
                    free(product);
                } else {
                    TPMT_SIGNATURE *signature;
                    check(Esys_Sign(tpm, key, proof, ESYS_TR_NONE, ESYS_TR_NONE, &digest, &scheme, &ticket, &signature),
                        "Sign");
                    free(signature);
                }
                if (!keeps) check(Esys_FlushContext(tpm, key), "FlushContext");
                times[round] = now() - start;
            }
            if (keeps) check(Esys_FlushContext(tpm, key), "FlushContext");
            qsort(times, rounds, sizeof(double), ascending);
            printf("tpm.%s.%s\t%f\t%f\n", agrees ? "exchange" : "sign", names[way], times[rounds / 2], times[0]);
        }
    }
    Esys_FlushContext(tpm, session);
    Esys_FlushContext(tpm, parent);
    Esys_Finalize(&tpm);
    Tss2_TctiLdr_Finalize(&transport);
    return 0;
}
