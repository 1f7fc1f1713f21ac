-- Shares of functions in two releases, in percent; each recording is one observation, so that hosts
-- that vary count as such. The change is certain where it is greater than its error (95 %, normal).
-- before, after.
with totals as (
    select release, recording, sum(period) as total from samples where release in ('$before', '$after')
    group by release, recording),
counts as (select release, count(*) as n from totals group by release),
shares as (
    select s.release as release, s.recording as recording, f.name as name, sum(s.period) * 100e0 / max(t.total) as share
    from samples s join leaves l on l.stack_hash = s.stack_hash join functions f on f.function_hash = l.function_hash
    join totals t on t.release = s.release and t.recording = s.recording
    group by s.release, s.recording, f.name),
sums as (
    select h.name as name, h.release as release, max(c.n) as n, sum(h.share) as first, sum(h.share * h.share) as second
    from shares h join counts c on c.release = h.release group by h.name, h.release),
stats as (
    select name, release, first / n as mean,
        case when n > 1 then greatest(second - first * first / n, 0e0) / (n - 1) / n else 0e0 end as variance
    from sums),
joined as (
    select name, sum(case when release = '$before' then mean else 0e0 end) as before_share,
        sum(case when release = '$after' then mean else 0e0 end) as after_share, 1.96 * sqrt(sum(variance)) as error
    from stats group by name)
select name, before_share, after_share, after_share - before_share as growth, error
from joined order by abs(after_share - before_share) desc, name
