WITH recent AS (
    SELECT id, row_number() OVER (ORDER BY started_utc DESC, id DESC) AS age
    FROM run WHERE state <> 'published' ORDER BY age LIMIT 5
)
SELECT case_."case", CAST(avg(end_ns - scheduled_ns) AS double precision)
FROM recent
JOIN case_ ON case_.run = recent.id
JOIN block ON block.case_ = case_.id
JOIN sample ON sample.block = block.id
WHERE outcome = 0
GROUP BY case_.id, age ORDER BY age, case_.number
