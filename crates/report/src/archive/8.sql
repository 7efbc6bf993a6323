-- What the assumptions of a prediction leave open.
ALTER TABLE case_ ADD COLUMN published_low_s REAL;
ALTER TABLE case_ ADD COLUMN published_high_s REAL;

-- Lists and searches of runs read these alone: the rows of runs and cases are long.
DROP INDEX run_by_start;
CREATE INDEX run_by_start ON run (started_utc, id, state, series);
CREATE INDEX case_by_run ON case_ (run, number, device, algorithm);
DROP INDEX block_by_case;
CREATE INDEX block_by_case ON block (case_, samples);
