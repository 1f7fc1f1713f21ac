// SPDX-License-Identifier: MIT
// What the compiler is recorded over: templates of the standard library, another set for each SEED.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

template <int N> struct Row {
    std::map<std::string, std::vector<Row<N - 1>>> below;
    std::unordered_map<int, std::shared_ptr<Row<N - 1>>> kept;
    int sum(const std::function<int(int)> &by) const
    {
        int all = by(N + SEED);
        for (const auto &[name, rows] : below)
            for (const auto &row : rows)
                all += row.sum([&](int x) { return by(x) + static_cast<int>(name.size()); });
        for (const auto &[key, row] : kept)
            all += key * row->sum(by);
        return all;
    }
};
template <> struct Row<0> {
    int sum(const std::function<int(int)> &by) const { return by(SEED); }
};

int whole(const std::vector<std::string> &words)
{
    Row<12> row;
    std::regex pattern("([a-z]+)([0-9]*)");
    std::vector<std::string> sorted(words);
    std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.size() < b.size(); });
    int matched = 0;
    for (const auto &word : sorted)
        matched += std::regex_match(word, pattern);
    return matched + row.sum([](int x) { return x + 1; });
}
