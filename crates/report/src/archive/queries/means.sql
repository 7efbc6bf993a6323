SELECT case_."case", CAST(avg(end_ns - scheduled_ns) AS double precision)
FROM case_
JOIN block ON block.case_ = case_.id
JOIN sample ON sample.block = block.id
WHERE run = ?1 AND outcome = 0 AND replica = 0
GROUP BY case_.id
