#define _GNU_SOURCE

#include "CPKCS11.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define KC_ENTRY(name, arguments) kc_##name,

/* Version 2.40 has no names for Ed25519, ML-DSA and ML-KEM. Programs that use it fail over such keys (libp11 0.4.12). */
#define kc_C_FindObjectsInit kc_old_FindObjectsInit
static CK_FUNCTION_LIST functions_2_40 = {{2, 40}, KC_FUNCTIONS_2_40(KC_ENTRY, KC_ENTRY)};
#undef kc_C_FindObjectsInit

static CK_FUNCTION_LIST_3_0 functions_3_0 = {{3, 0}, KC_FUNCTIONS_2_40(KC_ENTRY, KC_ENTRY) KC_FUNCTIONS_3_0(KC_ENTRY, KC_ENTRY)};

static CK_FUNCTION_LIST_3_2 functions_3_2 = {
    {3, 2}, KC_FUNCTIONS_2_40(KC_ENTRY, KC_ENTRY) KC_FUNCTIONS_3_0(KC_ENTRY, KC_ENTRY) KC_FUNCTIONS_3_2(KC_ENTRY, KC_ENTRY)};

/* CKF_INTERFACE_FORK_SAFE: a child of the program that loaded the module has a connection of its own. */
#define FORK_SAFE 1UL

static CK_INTERFACE interfaces[] = {
    {"PKCS 11", &functions_3_2, FORK_SAFE},
    {"PKCS 11", &functions_3_0, FORK_SAFE},
    {"PKCS 11", &functions_2_40, FORK_SAFE},
};

CK_FUNCTION_LIST *kc_old_table(void) { return &functions_2_40; }

unsigned long kc_interface_count(void) { return sizeof interfaces / sizeof *interfaces; }

CK_INTERFACE *kc_interface(unsigned long index) { return index < kc_interface_count() ? &interfaces[index] : NULL; }

int kc_is_equal(const CK_BYTE *name, const char *other) { return strcmp((const char *)name, other) == 0; }

const char *kc_environment(const char *name) { return secure_getenv(name); }

const char *kc_library_path(void) {
    Dl_info information;
    return dladdr(interfaces, &information) ? information.dli_fname : NULL;
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list) { return kc_C_GetFunctionList(list); }

CK_RV C_GetInterfaceList(CK_INTERFACE *list, CK_ULONG *count) { return kc_C_GetInterfaceList(list, count); }

CK_RV C_GetInterface(CK_BYTE *name, CK_VERSION *version, CK_INTERFACE **interface, CK_FLAGS flags) {
    return kc_C_GetInterface(name, version, interface, flags);
}
