SELECT id, environment FROM run WHERE state = 'finished' ORDER BY started_utc DESC, id DESC LIMIT 200
