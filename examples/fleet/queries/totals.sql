-- What each function took itself, and with all that it called, in each recording.
select m.recording as recording, m.name as name, sum(m.self_period) as self, sum(m.total_period) as total
from (
    select s.recording as recording, f.name as name, s.period as self_period, 0 as total_period
    from samples s join leaves l on l.stack_hash = s.stack_hash join functions f on f.function_hash = l.function_hash
    union all
    select s.recording as recording, f.name as name, 0 as self_period, s.period as total_period
    from samples s join members m on m.stack_hash = s.stack_hash join functions f on f.function_hash = m.function_hash
) m group by m.recording, m.name order by recording, name
