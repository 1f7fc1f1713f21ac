-- Functions by what they took themselves, of each release and build. limit: how many.
select s.release as release, f.build_id as build_id, f.name as name, sum(s.period) as self, count(*) as samples
from samples s join leaves l on l.stack_hash = s.stack_hash join functions f on f.function_hash = l.function_hash
group by s.release, f.build_id, f.name order by self desc, name, release limit $limit
