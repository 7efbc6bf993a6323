SELECT case_.id, started_utc, "case", run.id, series, load, environment
FROM run JOIN case_ ON case_.run = run.id LEFT JOIN server_load ON server_load.case_ = case_.id
WHERE state = 'finished' AND replica = 0 AND published_mean_s IS NULL
  AND (CAST(?1 AS text) IS NULL OR algorithm = ?1) AND (CAST(?2 AS text) IS NULL OR operation = ?2)
ORDER BY started_utc, run.id, number
