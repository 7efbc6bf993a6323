WITH recent AS (
    SELECT id, row_number() OVER (ORDER BY started_utc DESC, id DESC) AS age
    FROM run WHERE state <> 'published' ORDER BY age LIMIT 5
)
SELECT case_."case", CAST(sum(done_ns) AS double precision) / sum(done)
FROM recent JOIN case_ ON case_.run = recent.id JOIN block ON block.case_ = case_.id
GROUP BY case_.id, age HAVING sum(done) > 0 ORDER BY age, case_.number
