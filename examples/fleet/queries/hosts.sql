-- Hosts on which a function's share is far from that on the release's other hosts: by deviations,
-- the farthest first. limit.
with totals as (select release, host, sum(period) as total from samples group by release, host),
counts as (select release, count(*) as n from totals group by release),
shares as (
    select s.release as release, s.host as host, f.name as name, sum(s.period) * 100e0 / max(t.total) as share
    from samples s join leaves l on l.stack_hash = s.stack_hash join functions f on f.function_hash = l.function_hash
    join totals t on t.release = s.release and t.host = s.host
    group by s.release, s.host, f.name),
sums as (
    select h.release as release, h.name as name, max(c.n) as n, sum(h.share) as first, sum(h.share * h.share) as second
    from shares h join counts c on c.release = h.release group by h.release, h.name),
others as (
    select h.release as release, h.host as host, h.name as name, h.share as share, (t.first - h.share) / (t.n - 1) as mean,
        (t.second - h.share * h.share) / (t.n - 1) as squares
    from shares h join sums t on t.release = h.release and t.name = h.name where t.n > 2)
select release, host, name, share, mean, (share - mean) / sqrt(greatest(squares - mean * mean, 0e0) + 25e-2) as deviations
from others order by abs(share - mean) / sqrt(greatest(squares - mean * mean, 0e0) + 25e-2) desc, name, host limit $limit
