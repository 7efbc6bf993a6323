SELECT case_."case", load FROM case_ JOIN server_load ON server_load.case_ = case_.id
WHERE run = $1 AND replica = 0
