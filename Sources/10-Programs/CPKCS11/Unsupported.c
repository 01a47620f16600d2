#include "CPKCS11.h"

/* The tables have these functions too, because programs call them without a look whether they are there. */
#pragma clang diagnostic ignored "-Wunused-parameter"
#define KC_NOTHING(name, arguments)
#define KC_REFUSAL(name, arguments) CK_RV kc_##name arguments { return kc_unsupported(session); }
KC_FUNCTIONS_2_40(KC_NOTHING, KC_REFUSAL)
KC_FUNCTIONS_3_0(KC_NOTHING, KC_REFUSAL)
KC_FUNCTIONS_3_2(KC_NOTHING, KC_REFUSAL)
