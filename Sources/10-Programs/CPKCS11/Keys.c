#include "Keys.h"

#include <string.h>

/* Declared as in openssl/evp.h, rsa.h, ec.h, ec_key.h, ecdh.h, bn.h, mldsa.h, mlkem.h and bytestring.h, with the prefix of
 * swift-crypto's copy. */
#define NAMED(name) CCryptoBoringSSL_##name
typedef struct bignum_st BIGNUM;
typedef struct ec_group_st EC_GROUP;
typedef struct ec_point_st EC_POINT;
typedef struct ec_key_st EC_KEY;
typedef struct rsa_st RSA;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct env_md_st EVP_MD;
typedef struct env_md_ctx_st EVP_MD_CTX;
typedef struct { const uint8_t *data; size_t length; } CBS;
/* Has two pointers, two lengths and flags: 48 bytes. */
typedef struct { _Alignas(16) uint8_t bytes[128]; } CBB;
/* Has 6,240 bytes for ML-DSA-65, 8,288 for ML-DSA-87, 6,208 for ML-KEM-768, 10,304 for ML-KEM-1024. */
typedef struct { _Alignas(16) uint8_t bytes[16384]; } PUBLIC_KEY;

extern BIGNUM *NAMED(BN_new)(void), *NAMED(BN_bin2bn)(const uint8_t *in, size_t length, BIGNUM *number);
extern int NAMED(BN_set_word)(BIGNUM *number, uint64_t value);
extern void NAMED(BN_clear_free)(BIGNUM *number);
extern unsigned NAMED(BN_num_bytes)(const BIGNUM *number);
extern size_t NAMED(BN_bn2bin)(const BIGNUM *number, uint8_t *out);
extern RSA *NAMED(RSA_new)(void);
extern void NAMED(RSA_free)(RSA *rsa);
extern int NAMED(RSA_generate_key_ex)(RSA *rsa, int bits, const BIGNUM *exponent, void *callback);
extern RSA *NAMED(RSA_new_private_key)(const BIGNUM *n, const BIGNUM *e, const BIGNUM *d, const BIGNUM *p,
    const BIGNUM *q, const BIGNUM *dmp1, const BIGNUM *dmq1, const BIGNUM *iqmp);
extern RSA *NAMED(RSA_new_public_key)(const BIGNUM *n, const BIGNUM *e);
extern const BIGNUM *NAMED(RSA_get0_n)(const RSA *rsa), *NAMED(RSA_get0_e)(const RSA *rsa);
extern unsigned NAMED(RSA_size)(const RSA *rsa);
extern int NAMED(RSA_sign_raw)(
    RSA *rsa, size_t *out_length, uint8_t *out, size_t most, const uint8_t *in, size_t in_length, int padding);
extern int NAMED(RSA_marshal_private_key)(CBB *out, const RSA *rsa);
extern EC_KEY *NAMED(EC_KEY_new_by_curve_name)(int curve);
extern void NAMED(EC_KEY_free)(EC_KEY *key);
extern int NAMED(EC_KEY_generate_key)(EC_KEY *key), NAMED(EC_KEY_check_key)(const EC_KEY *key);
extern int NAMED(EC_KEY_oct2priv)(EC_KEY *key, const uint8_t *in, size_t length);
extern size_t NAMED(EC_KEY_priv2oct)(const EC_KEY *key, uint8_t *out, size_t most);
extern int NAMED(EC_KEY_oct2key)(EC_KEY *key, const uint8_t *in, size_t length, void *context);
extern int NAMED(EC_KEY_set_public_key)(EC_KEY *key, const EC_POINT *point);
extern const EC_GROUP *NAMED(EC_KEY_get0_group)(const EC_KEY *key);
extern const BIGNUM *NAMED(EC_KEY_get0_private_key)(const EC_KEY *key);
extern const EC_POINT *NAMED(EC_KEY_get0_public_key)(const EC_KEY *key);
extern EC_POINT *NAMED(EC_POINT_new)(const EC_GROUP *group);
extern unsigned NAMED(EC_GROUP_get_degree)(const EC_GROUP *group);
extern void NAMED(EC_POINT_free)(EC_POINT *point);
extern int NAMED(EC_POINT_mul)(const EC_GROUP *group, EC_POINT *result, const BIGNUM *n, const EC_POINT *q,
    const BIGNUM *m, void *context);
extern size_t NAMED(EC_POINT_point2oct)(
    const EC_GROUP *group, const EC_POINT *point, int form, uint8_t *out, size_t most, void *context);
extern int NAMED(ECDH_compute_key)(void *out, size_t length, const EC_POINT *point, const EC_KEY *key,
    void *(*kdf)(const void *in, size_t in_length, void *out, size_t *out_length));
extern int NAMED(ECDSA_sign_p1363)(const uint8_t *digest, size_t digest_length, uint8_t *signature, size_t *length,
    size_t most, const EC_KEY *key);
extern EVP_PKEY *NAMED(EVP_PKEY_new)(void);
extern void NAMED(EVP_PKEY_free)(EVP_PKEY *key);
extern int NAMED(EVP_PKEY_set1_RSA)(EVP_PKEY *key, RSA *rsa), NAMED(EVP_PKEY_set1_EC_KEY)(EVP_PKEY *key, EC_KEY *curve);
extern EC_KEY *NAMED(EVP_PKEY_get0_EC_KEY)(const EVP_PKEY *key);
extern RSA *NAMED(EVP_PKEY_get0_RSA)(const EVP_PKEY *key);
extern EVP_PKEY *NAMED(EVP_PKEY_new_raw_private_key)(int type, void *engine, const uint8_t *in, size_t length);
extern int NAMED(EVP_PKEY_get_raw_private_key)(const EVP_PKEY *key, uint8_t *out, size_t *length);
extern int NAMED(EVP_marshal_public_key)(CBB *out, const EVP_PKEY *key);
extern EVP_PKEY_CTX *NAMED(EVP_PKEY_CTX_new)(EVP_PKEY *key, void *engine);
extern void NAMED(EVP_PKEY_CTX_free)(EVP_PKEY_CTX *context);
extern int NAMED(EVP_PKEY_sign_init)(EVP_PKEY_CTX *context), NAMED(EVP_PKEY_decrypt_init)(EVP_PKEY_CTX *context);
extern int NAMED(EVP_PKEY_sign)(
    EVP_PKEY_CTX *context, uint8_t *out, size_t *length, const uint8_t *digest, size_t digest_length);
extern int NAMED(EVP_PKEY_decrypt)(
    EVP_PKEY_CTX *context, uint8_t *out, size_t *length, const uint8_t *in, size_t in_length);
extern int NAMED(EVP_PKEY_CTX_set_rsa_padding)(EVP_PKEY_CTX *context, int padding);
extern int NAMED(EVP_PKEY_CTX_set_rsa_pss_saltlen)(EVP_PKEY_CTX *context, int length);
extern int NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern int NAMED(EVP_PKEY_CTX_set_rsa_oaep_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern int NAMED(EVP_PKEY_CTX_set_signature_md)(EVP_PKEY_CTX *context, const EVP_MD *type);
extern EVP_MD_CTX *NAMED(EVP_MD_CTX_new)(void);
extern void NAMED(EVP_MD_CTX_free)(EVP_MD_CTX *context);
extern int NAMED(EVP_DigestSignInit)(
    EVP_MD_CTX *context, EVP_PKEY_CTX **key_context, const EVP_MD *type, void *engine, EVP_PKEY *key);
extern int NAMED(EVP_DigestSign)(
    EVP_MD_CTX *context, uint8_t *out, size_t *length, const uint8_t *data, size_t data_length);
extern int NAMED(RAND_bytes)(uint8_t *out, size_t length);
extern int NAMED(CBB_init_fixed)(CBB *bytes, uint8_t *out, size_t most);
extern int NAMED(CBB_finish)(CBB *bytes, uint8_t **out, size_t *length);
extern void NAMED(CBB_cleanup)(CBB *bytes);
extern int NAMED(MLKEM768_parse_public_key)(PUBLIC_KEY *key, CBS *in);
extern int NAMED(MLKEM1024_parse_public_key)(PUBLIC_KEY *key, CBS *in);
extern void NAMED(MLKEM768_encap)(uint8_t *capsule, uint8_t *secret, const PUBLIC_KEY *key);
extern void NAMED(MLKEM1024_encap)(uint8_t *capsule, uint8_t *secret, const PUBLIC_KEY *key);
extern int NAMED(MLDSA65_parse_public_key)(PUBLIC_KEY *key, CBS *in);
extern int NAMED(MLDSA87_parse_public_key)(PUBLIC_KEY *key, CBS *in);
extern int NAMED(MLDSA65_verify)(const PUBLIC_KEY *key, const uint8_t *signature, size_t signature_length,
    const uint8_t *message, size_t length, const uint8_t *context, size_t context_length);
extern int NAMED(MLDSA87_verify)(const PUBLIC_KEY *key, const uint8_t *signature, size_t signature_length,
    const uint8_t *message, size_t length, const uint8_t *context, size_t context_length);
extern void NAMED(ERR_clear_error)(void);

/* EVP_PKEY_ED25519 */
enum { edwards = 949 };

static EVP_PKEY *pkey(const kc_key *key) { return (EVP_PKEY *)key; }

/* NID_X9_62_prime256v1, NID_secp384r1, NID_secp521r1 */
static EC_KEY *new_curve(unsigned bits) {
    int name = bits == 256 ? 415 : bits == 384 ? 715 : bits == 521 ? 716 : 0;
    return name ? NAMED(EC_KEY_new_by_curve_name)(name) : NULL;
}

/* Takes the key over, if `is_made`; frees it in any case. */
static kc_key *with_rsa(RSA *rsa, int is_made) {
    EVP_PKEY *key = rsa && is_made ? NAMED(EVP_PKEY_new)() : NULL;
    if (key && !NAMED(EVP_PKEY_set1_RSA)(key, rsa)) {
        NAMED(EVP_PKEY_free)(key);
        key = NULL;
    }
    NAMED(RSA_free)(rsa);
    NAMED(ERR_clear_error)();
    return (kc_key *)key;
}

static kc_key *with_curve(EC_KEY *curve, int is_made) {
    EVP_PKEY *key = curve && is_made ? NAMED(EVP_PKEY_new)() : NULL;
    if (key && !NAMED(EVP_PKEY_set1_EC_KEY)(key, curve)) {
        NAMED(EVP_PKEY_free)(key);
        key = NULL;
    }
    NAMED(EC_KEY_free)(curve);
    NAMED(ERR_clear_error)();
    return (kc_key *)key;
}

kc_key *kc_key_make_rsa(unsigned bits) {
    RSA *rsa = NAMED(RSA_new)();
    BIGNUM *exponent = NAMED(BN_new)();
    int is_made = rsa && exponent && NAMED(BN_set_word)(exponent, 65537)
        && NAMED(RSA_generate_key_ex)(rsa, (int)bits, exponent, NULL);
    NAMED(BN_clear_free)(exponent);
    return with_rsa(rsa, is_made);
}

kc_key *kc_key_make_curve(unsigned bits) {
    EC_KEY *curve = new_curve(bits);
    return with_curve(curve, curve && NAMED(EC_KEY_generate_key)(curve));
}

kc_key *kc_key_make_edwards(void) {
    uint8_t seed[32];
    if (!NAMED(RAND_bytes)(seed, sizeof seed)) return NULL;
    kc_key *key = kc_key_from_seed((kc_bytes){seed, sizeof seed});
    explicit_bzero(seed, sizeof seed);
    return key;
}

kc_key *kc_key_from_numbers(const kc_bytes numbers[8]) {
    BIGNUM *read[8];
    int is_read = 1;
    for (int index = 0; index < 8; index++) {
        read[index] = NAMED(BN_bin2bn)(numbers[index].bytes, numbers[index].count, NULL);
        is_read = is_read && read[index];
    }
    /* It checks that the numbers belong together. */
    RSA *rsa = is_read
        ? NAMED(RSA_new_private_key)(read[0], read[1], read[2], read[3], read[4], read[5], read[6], read[7])
        : NULL;
    for (int index = 0; index < 8; index++) NAMED(BN_clear_free)(read[index]);
    return with_rsa(rsa, 1);
}

kc_key *kc_key_from_scalar(unsigned bits, kc_bytes scalar) {
    EC_KEY *curve = new_curve(bits);
    size_t length = (bits + 7) / 8;
    uint8_t padded[66] = {0};
    /* Some programs leave out leading zeros. */
    int is_made = curve && scalar.count > 0 && scalar.count <= length;
    if (is_made) memcpy(padded + length - scalar.count, scalar.bytes, scalar.count);
    is_made = is_made && NAMED(EC_KEY_oct2priv)(curve, padded, length);
    explicit_bzero(padded, sizeof padded);
    const EC_GROUP *group = is_made ? NAMED(EC_KEY_get0_group)(curve) : NULL;
    EC_POINT *point = group ? NAMED(EC_POINT_new)(group) : NULL;
    is_made = point && NAMED(EC_POINT_mul)(group, point, NAMED(EC_KEY_get0_private_key)(curve), NULL, NULL, NULL)
        && NAMED(EC_KEY_set_public_key)(curve, point) && NAMED(EC_KEY_check_key)(curve);
    NAMED(EC_POINT_free)(point);
    return with_curve(curve, is_made);
}

kc_key *kc_key_from_seed(kc_bytes seed) {
    EVP_PKEY *key = NAMED(EVP_PKEY_new_raw_private_key)(edwards, NULL, seed.bytes, seed.count);
    NAMED(ERR_clear_error)();
    return (kc_key *)key;
}

void kc_key_free(kc_key *key) { NAMED(EVP_PKEY_free)(pkey(key)); }

static size_t info(const EVP_PKEY *key, uint8_t *out) {
    CBB bytes;
    size_t length = 0;
    if (!key || !NAMED(CBB_init_fixed)(&bytes, out, KC_LONGEST)) return 0;
    if (!NAMED(EVP_marshal_public_key)(&bytes, key) || !NAMED(CBB_finish)(&bytes, NULL, &length)) length = 0;
    NAMED(CBB_cleanup)(&bytes);
    NAMED(ERR_clear_error)();
    return length;
}

size_t kc_key_info(const kc_key *key, uint8_t *out) { return info(pkey(key), out); }

size_t kc_rsa_info(kc_bytes modulus, kc_bytes exponent, uint8_t *out) {
    BIGNUM *n = NAMED(BN_bin2bn)(modulus.bytes, modulus.count, NULL);
    BIGNUM *e = NAMED(BN_bin2bn)(exponent.bytes, exponent.count, NULL);
    kc_key *key = with_rsa(n && e ? NAMED(RSA_new_public_key)(n, e) : NULL, 1);
    NAMED(BN_clear_free)(n);
    NAMED(BN_clear_free)(e);
    size_t length = info(pkey(key), out);
    kc_key_free(key);
    return length;
}

size_t kc_curve_info(unsigned bits, kc_bytes point, uint8_t *out) {
    EC_KEY *curve = new_curve(bits);
    kc_key *key = with_curve(curve, curve && NAMED(EC_KEY_oct2key)(curve, point.bytes, point.count, NULL));
    size_t length = info(pkey(key), out);
    kc_key_free(key);
    return length;
}

size_t kc_key_secret(const kc_key *key, uint8_t *out) {
    RSA *rsa = NAMED(EVP_PKEY_get0_RSA)(pkey(key));
    EC_KEY *curve = NAMED(EVP_PKEY_get0_EC_KEY)(pkey(key));
    size_t length = 0;
    if (rsa) {
        CBB bytes;
        if (!NAMED(CBB_init_fixed)(&bytes, out, KC_LONGEST)) return 0;
        if (!NAMED(RSA_marshal_private_key)(&bytes, rsa) || !NAMED(CBB_finish)(&bytes, NULL, &length)) length = 0;
        NAMED(CBB_cleanup)(&bytes);
    } else if (curve) {
        const EC_GROUP *group = NAMED(EC_KEY_get0_group)(curve);
        /* POINT_CONVERSION_UNCOMPRESSED */
        size_t point = NAMED(EC_POINT_point2oct)(group, NAMED(EC_KEY_get0_public_key)(curve), 4, out, KC_LONGEST, NULL);
        size_t scalar = point ? NAMED(EC_KEY_priv2oct)(curve, out + point, KC_LONGEST - point) : 0;
        length = scalar ? point + scalar : 0;
    } else {
        length = KC_LONGEST;
        if (!NAMED(EVP_PKEY_get_raw_private_key)(pkey(key), out, &length)) length = 0;
    }
    NAMED(ERR_clear_error)();
    return length;
}

size_t kc_key_number(const kc_key *key, int which, uint8_t *out) {
    RSA *rsa = NAMED(EVP_PKEY_get0_RSA)(pkey(key));
    NAMED(ERR_clear_error)();
    if (!rsa) return 0;
    const BIGNUM *number = which ? NAMED(RSA_get0_e)(rsa) : NAMED(RSA_get0_n)(rsa);
    return NAMED(BN_num_bytes)(number) <= KC_LONGEST ? NAMED(BN_bn2bin)(number, out) : 0;
}

/* Signs with RSA what is hashed by `type`. */
static size_t sign_hashed(EVP_PKEY *key, int padding, const EVP_MD *type, kc_bytes data, uint8_t *out) {
    EVP_PKEY_CTX *context = type ? NAMED(EVP_PKEY_CTX_new)(key, NULL) : NULL;
    size_t length = KC_LONGEST;
    int is_done = context && NAMED(EVP_PKEY_sign_init)(context)
        && NAMED(EVP_PKEY_CTX_set_rsa_padding)(context, padding)
        && (padding != KC_PADDING_PSS
            || (NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(context, type)
                /* As long as the digest. */
                && NAMED(EVP_PKEY_CTX_set_rsa_pss_saltlen)(context, -1)))
        && NAMED(EVP_PKEY_CTX_set_signature_md)(context, type)
        && NAMED(EVP_PKEY_sign)(context, out, &length, data.bytes, data.count);
    if (context) NAMED(EVP_PKEY_CTX_free)(context);
    return is_done ? length : 0;
}

static size_t sign_raw(RSA *rsa, int padding, kc_bytes data, uint8_t *out) {
    if (!rsa) return 0;
    size_t length = 0, size = NAMED(RSA_size)(rsa);
    uint8_t padded[2048] = {0};
    /* Without padding, leading zeros may be left out. */
    if (padding == KC_PADDING_NONE && data.count < size && size <= sizeof padded) {
        memcpy(padded + size - data.count, data.bytes, data.count);
        data = (kc_bytes){padded, size};
    }
    return NAMED(RSA_sign_raw)(rsa, &length, out, KC_LONGEST, data.bytes, data.count, padding) ? length : 0;
}

size_t kc_key_sign(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out) {
    RSA *rsa = NAMED(EVP_PKEY_get0_RSA)(pkey(key));
    EC_KEY *curve = NAMED(EVP_PKEY_get0_EC_KEY)(pkey(key));
    const EVP_MD *type = kc_hash_function(hash);
    size_t length = 0;
    switch (scheme) {
    case KC_ECDSA:
        if (!curve || !NAMED(ECDSA_sign_p1363)(data.bytes, data.count, out, &length, KC_LONGEST, curve)) length = 0;
        break;
    case KC_EDDSA: {
        EVP_MD_CTX *context = NAMED(EVP_MD_CTX_new)();
        length = KC_LONGEST;
        if (!context || !NAMED(EVP_DigestSignInit)(context, NULL, NULL, NULL, pkey(key))
            || !NAMED(EVP_DigestSign)(context, out, &length, data.bytes, data.count))
            length = 0;
        if (context) NAMED(EVP_MD_CTX_free)(context);
        break;
    }
    case KC_RSA_PKCS1:
        length = type ? sign_hashed(pkey(key), KC_PADDING_PKCS1, type, data, out)
                      : sign_raw(rsa, KC_PADDING_PKCS1, data, out);
        break;
    case KC_RSA_PSS: length = sign_hashed(pkey(key), KC_PADDING_PSS, type, data, out); break;
    case KC_RSA_RAW: length = sign_raw(rsa, KC_PADDING_NONE, data, out); break;
    default: break;
    }
    NAMED(ERR_clear_error)();
    return length;
}

size_t kc_key_decrypt(const kc_key *key, kc_scheme scheme, kc_hash hash, kc_bytes data, uint8_t *out, int *is_done) {
    EVP_PKEY_CTX *context = NAMED(EVP_PKEY_CTX_new)(pkey(key), NULL);
    int padding = scheme == KC_RSA_OAEP ? KC_PADDING_OAEP : scheme == KC_RSA_RAW ? KC_PADDING_NONE : KC_PADDING_PKCS1;
    const EVP_MD *type = kc_hash_function(hash);
    size_t length = KC_LONGEST;
    *is_done = context && NAMED(EVP_PKEY_decrypt_init)(context)
        && NAMED(EVP_PKEY_CTX_set_rsa_padding)(context, padding)
        && (padding != KC_PADDING_OAEP
            || (type && NAMED(EVP_PKEY_CTX_set_rsa_oaep_md)(context, type)
                && NAMED(EVP_PKEY_CTX_set_rsa_mgf1_md)(context, type)))
        && NAMED(EVP_PKEY_decrypt)(context, out, &length, data.bytes, data.count);
    if (context) NAMED(EVP_PKEY_CTX_free)(context);
    NAMED(ERR_clear_error)();
    return *is_done ? length : 0;
}

size_t kc_key_agree(const kc_key *key, kc_bytes point, uint8_t *out) {
    EC_KEY *curve = NAMED(EVP_PKEY_get0_EC_KEY)(pkey(key));
    int length = 0;
    if (curve) {
        const EC_GROUP *group = NAMED(EC_KEY_get0_group)(curve);
        EC_KEY *other = new_curve((unsigned)NAMED(EC_GROUP_get_degree)(group));
        /* It refuses a point that is not on the curve. */
        if (other && NAMED(EC_KEY_oct2key)(other, point.bytes, point.count, NULL))
            length = NAMED(ECDH_compute_key)(out, KC_LONGEST, NAMED(EC_KEY_get0_public_key)(other), curve, NULL);
        NAMED(EC_KEY_free)(other);
    }
    NAMED(ERR_clear_error)();
    return length > 0 ? (size_t)length : 0;
}

size_t kc_encapsulate(unsigned set, kc_bytes key, uint8_t *capsule, uint8_t secret[32]) {
    PUBLIC_KEY parsed;
    CBS bytes = {key.bytes, key.count};
    if (set == 768 && NAMED(MLKEM768_parse_public_key)(&parsed, &bytes) && bytes.length == 0) {
        NAMED(MLKEM768_encap)(capsule, secret, &parsed);
        return 1088;
    }
    bytes = (CBS){key.bytes, key.count};
    if (set == 1024 && NAMED(MLKEM1024_parse_public_key)(&parsed, &bytes) && bytes.length == 0) {
        NAMED(MLKEM1024_encap)(capsule, secret, &parsed);
        return 1568;
    }
    NAMED(ERR_clear_error)();
    return 0;
}

int kc_is_valid_mldsa(unsigned set, kc_bytes key, kc_bytes message, kc_bytes context, kc_bytes signature) {
    PUBLIC_KEY parsed;
    CBS bytes = {key.bytes, key.count};
    int is_valid = 0;
    if (set == 65) {
        is_valid = NAMED(MLDSA65_parse_public_key)(&parsed, &bytes) && bytes.length == 0
            && NAMED(MLDSA65_verify)(&parsed, signature.bytes, signature.count, message.bytes, message.count,
                context.bytes, context.count);
    } else if (set == 87) {
        is_valid = NAMED(MLDSA87_parse_public_key)(&parsed, &bytes) && bytes.length == 0
            && NAMED(MLDSA87_verify)(&parsed, signature.bytes, signature.count, message.bytes, message.count,
                context.bytes, context.count);
    }
    NAMED(ERR_clear_error)();
    return is_valid == 1;
}
