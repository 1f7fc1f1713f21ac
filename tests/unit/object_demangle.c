/* SPDX-License-Identifier: MIT */
/* Names as perf writes them. */
#include "object/symtab/demangle.h"
#include "test.h"

static void check(const char *mangled, bool verbose, const char *expected)
{
    char *text = pd_demangle(mangled, verbose);
    if (expected)
        CHECK_STR(text, expected);
    else
        CHECK(!text);
    free(text);
}

/* Each argument is made of the one before, twice: the text doubles, the name does not. */
static void check_explosion(unsigned steps, bool readable)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[512] = "_Z1f1a1PIS_S_E", *to = name + strlen(name), *text;

    for (unsigned i = 1; i <= steps; i++, to += strlen(to)) {
        char last = digits[i];
        memcpy(to, "S0_IS?_S?_E", 12);
        to[5] = to[8] = last;
    }
    text = pd_demangle(name, true);
    CHECK((text != NULL) == readable);
    free(text);
}

int main(void)
{
    check_explosion(8, true);
    check_explosion(34, false);
    /* C++: no parameters unless verbose */
    check("_ZN2ns1AIlE1fEli", false, "ns::A<long>::f");
    check("_ZN2ns1AIlE1fEli", true, "ns::A<long>::f(long, int)");
    check("_GLOBAL__I_a", false, "global constructors keyed to a");
    check("_Z", false, NULL);
    check("_Znonsense", false, NULL);
    /* Rust: legacy without its hash, and v0 */
    check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", false, "core::fmt::Formatter::pad");
    check("_RNvCs1234_7mycrate3foo", false, "mycrate::foo");
    /* OCaml: "__" is a dot, $xx a character, the number stays */
    check("camlStdlib__array__map_154", false, "Stdlib.array.map_154");
    check("camlStdlib__anon_fn$5bstdlib$2eml$3a334$5d_1453", false,
          "Stdlib.anon_fn[stdlib.ml:334]_1453");
    check("camlfoo", false, NULL);
    /* Java: class, method and arguments, no result type */
    check("Ljava/lang/StringLatin1;equals([B[B)Z", false,
          "java.lang.StringLatin1.equals(byte[], byte[])");
    check("La/B;m(La/C;ILa/D;)V", false, "a.B.m(a.C, int, a.D)");
    check("La/B;m([La/C;I)V", false, "a.B.m(a.C, int[])"); /* brackets move on */
    check("La/B;m(;)V", false, NULL);
    check("plain(", false, NULL);
    check("main", false, NULL);
    check("", false, NULL);
    return test_done();
}
