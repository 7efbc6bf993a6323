SELECT run, CAST(sum(samples) AS bigint)
FROM run JOIN case_ ON run = run.id JOIN block ON block.case_ = case_.id
