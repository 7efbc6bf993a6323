SELECT run, CAST(sum(CAST(load -> 'totals' ->> 'transactions' AS bigint)) AS bigint)
FROM run JOIN case_ ON run = run.id JOIN server_load ON server_load.case_ = case_.id
