(CAST(?1 AS text) IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(lower(device), ?1) > 0))
AND (CAST(?2 AS text) IS NULL OR EXISTS (SELECT 1 FROM case_ WHERE run = run.id AND instr(algorithm, ?2) > 0))
AND (CAST(?3 AS text) IS NULL OR started_utc >= ?3)
AND (CAST(?4 AS text) IS NULL OR started_utc < ?4)
