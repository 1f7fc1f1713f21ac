-- Stacks of a release in a range of time (ns of the recordings' clocks), as flame graph scripts
-- take them. release, start, stop.
select p.path as path, sum(s.period) as period
from samples s join paths p on p.stack_hash = s.stack_hash
where s.release = '$release' and s.time between $start and $stop
group by p.path order by path
