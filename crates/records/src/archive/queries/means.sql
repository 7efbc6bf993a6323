SELECT case_."case", CAST(sum(done_ns) AS double precision) / sum(done)
FROM case_ JOIN block ON block.case_ = case_.id
WHERE run = $1 AND replica = 0
GROUP BY case_.id HAVING sum(done) > 0
