/* SPDX-License-Identifier: MIT */
/* Functions that have no name for the linker: lambdas, their templates, an unnamed namespace. */
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>
#include <cstdio>
template <typename F> static auto apply(F f, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += f(i);
    return s;
}
struct S {
    long v;
    template <typename G> long each(G g) const
    {
        long t = 0;
        for (long i = 0; i < v; i++)
            t ^= g(i);
        return t;
    }
};
namespace
{
struct Local {
    std::vector<int> d;
    long run(int k)
    {
        std::sort(d.begin(), d.end(), [k](int a, int b) { return ((a * 7) ^ k) < ((b * 7) ^ k); });
        return std::accumulate(d.begin(), d.end(), 0L, [](long a, int b) { return a + b % 3; });
    }
};
} // namespace
int main(int argc, char **)
{
    long total = 0;
    std::map<std::string, std::function<long(int)>> m;
    m["a"] = [&](int x) { return apply([x](int i) { return (i * x) % 17; }, 3000); };
    m["b"] = [&](int x) {
        S s{ x + 2000 };
        return s.each([=](long i) { return i * x + (i >> 2); });
    };
    for (int r = 0; r < 600; r++) {
        for (auto &p : m)
            total += p.second(r + argc);
        Local l;
        for (int i = 0; i < 3000; i++)
            l.d.push_back((i * 7919) % 3001);
        total += l.run(r);
        std::for_each(l.d.begin(), l.d.end(), [&total](int v) { total ^= v; });
    }
    printf("%ld\n", total);
}
