-- Functions that grew from one release to the next beyond their error, the greatest certain growth
-- first. before, after.
select name, before_share, after_share, growth, error from (
$compare
) changes where growth > error order by growth - error desc, name
