-- A team's archive, version 1: the tables of SQLite's 1.sql, which documents them, for PostgreSQL 15 and later.
-- deploy/postgresql/roles.sql says who may do what. Columns of JSON are of type json, which keeps what it is given as it is.
-- The caller of a function chooses the search path, and may have operators in a schema of their own. So each function is either
-- parsed when it is made (RETURN), or sets its own path.
CREATE SCHEMA keymark;
SET LOCAL search_path = keymark;

CREATE TABLE archive (version bigint NOT NULL);
INSERT INTO archive VALUES (1);

CREATE TABLE run (
    id              text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9-]+$'),
    started_utc     text COLLATE "C" NOT NULL CHECK (started_utc ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$'),
    state           text NOT NULL CHECK (state IN ('unfinished', 'finished', 'interrupted', 'published')),
    keymark         text NOT NULL,
    schema          bigint NOT NULL,
    plan            json NOT NULL,
    environment     json NOT NULL,
    harness         json,
    stores          json NOT NULL,
    in_series       json,
    series          text COLLATE "C" GENERATED ALWAYS AS (in_series ->> 'id') STORED,
    series_number   bigint GENERATED ALWAYS AS ((in_series ->> 'number')::bigint) STORED,
    writer          name NOT NULL DEFAULT current_user, -- whose run it is: nobody else changes it
    sum             text NOT NULL
);
CREATE INDEX run_by_start ON run (started_utc, id);
CREATE INDEX run_by_series ON run (series);

CREATE TABLE case_ (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run              text COLLATE "C" NOT NULL REFERENCES run ON DELETE CASCADE,
    number           bigint NOT NULL,
    "case"           json NOT NULL,
    device           text NOT NULL GENERATED ALWAYS AS ("case" ->> 'device') STORED,
    algorithm        text NOT NULL GENERATED ALWAYS AS ("case" ->> 'algorithm') STORED,
    operation        text NOT NULL GENERATED ALWAYS AS ("case" ->> 'operation') STORED,
    replica          bigint NOT NULL GENERATED ALWAYS AS (("case" ->> 'replica')::bigint) STORED,
    ending           json,
    stopped          text GENERATED ALWAYS AS (ending ->> 'stopped') STORED,
    reason           text GENERATED ALWAYS AS (ending ->> 'reason') STORED,
    published        json,
    published_mean_s double precision GENERATED ALWAYS AS ((published ->> 'mean')::double precision) STORED,
    parts            json,
    operations       bigint NOT NULL DEFAULT 0,
    sum              text NOT NULL
);
-- Lists of runs read this alone: the rows are long.
CREATE UNIQUE INDEX case_by_run ON case_ (run, number) INCLUDE (id, device, algorithm, operations);
CREATE INDEX case_by_algorithm ON case_ (algorithm, operation);

CREATE TABLE server_load (
    case_ bigint PRIMARY KEY REFERENCES case_ ON DELETE CASCADE,
    load  json NOT NULL
);

CREATE TABLE block (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    case_        bigint NOT NULL REFERENCES case_ ON DELETE CASCADE,
    round        bigint NOT NULL,
    samples      bigint NOT NULL,
    done         bigint NOT NULL,
    done_ns      bigint NOT NULL,
    length_ns    bigint,
    waiting      bigint,
    reference_ns bigint,
    sum          text NOT NULL
);
CREATE INDEX block_by_case ON block (case_) INCLUDE (id, done, done_ns);

CREATE TABLE sample (
    block        bigint NOT NULL REFERENCES block ON DELETE CASCADE,
    number       bigint NOT NULL,
    worker       bigint NOT NULL,
    scheduled_ns bigint NOT NULL,
    start_ns     bigint NOT NULL,
    end_ns       bigint NOT NULL,
    outcome      smallint NOT NULL CHECK (outcome IN (0, 1, 2)),
    user_us      bigint,
    system_us    bigint,
    PRIMARY KEY (block, number)
);

CREATE TABLE identity (
    run    text COLLATE "C" NOT NULL REFERENCES run ON DELETE CASCADE,
    part   bigint NOT NULL,
    whole  json NOT NULL,
    writer name NOT NULL DEFAULT current_user,
    PRIMARY KEY (run, part)
);

-- A writer changes runs of their own only, and reads nobody else's identity. The owner of the tables may do all.
CREATE FUNCTION owns(its_run text) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM keymark.run WHERE id = its_run AND writer = current_user);
CREATE FUNCTION owns(its_case bigint) RETURNS boolean LANGUAGE sql STABLE
    RETURN EXISTS (SELECT FROM keymark.case_ JOIN keymark.run ON run.id = case_.run
                   WHERE case_.id = its_case AND writer = current_user);

ALTER TABLE run ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON run FOR SELECT USING (true);
CREATE POLICY added ON run FOR INSERT WITH CHECK (writer = current_user);
CREATE POLICY changed ON run FOR UPDATE USING (writer = current_user);
CREATE POLICY removed ON run FOR DELETE USING (writer = current_user);
ALTER TABLE case_ ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON case_ FOR SELECT USING (true);
CREATE POLICY added ON case_ FOR INSERT WITH CHECK (owns(run));
CREATE POLICY changed ON case_ FOR UPDATE USING (owns(run));
ALTER TABLE server_load ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON server_load FOR SELECT USING (true);
CREATE POLICY added ON server_load FOR INSERT WITH CHECK (owns(case_));
CREATE POLICY changed ON server_load FOR UPDATE USING (owns(case_));
ALTER TABLE block ENABLE ROW LEVEL SECURITY;
CREATE POLICY readable ON block FOR SELECT USING (true);
CREATE POLICY added ON block FOR INSERT WITH CHECK (owns(case_));
ALTER TABLE identity ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON identity USING (writer = current_user) WITH CHECK (writer = current_user AND owns(run));

-- Operations of a case are counted as they come, so that lists of runs need not.
CREATE FUNCTION count_samples() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE keymark.case_ SET operations = operations + NEW.samples WHERE id = NEW.case_;
    RETURN NULL;
END $$;
CREATE TRIGGER samples AFTER INSERT ON block FOR EACH ROW EXECUTE FUNCTION count_samples();
CREATE FUNCTION count_transactions() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE keymark.case_ SET operations = (NEW.load -> 'totals' ->> 'transactions')::bigint WHERE id = NEW.case_;
    RETURN NULL;
END $$;
CREATE TRIGGER transactions AFTER INSERT ON server_load FOR EACH ROW EXECUTE FUNCTION count_transactions();

-- COPY, by which samples come, knows no policies.
CREATE FUNCTION check_samples() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM (SELECT DISTINCT block FROM added) AS its JOIN keymark.block ON block.id = its.block
               WHERE NOT keymark.owns(case_)) THEN
        RAISE insufficient_privilege USING MESSAGE = 'these are samples of a run of another user';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER own AFTER INSERT ON sample REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION check_samples();

-- As SQLite has it.
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE RETURN pg_catalog.strpos($1, $2);

CREATE VIEW latency AS
SELECT case_.run, case_.number AS "case", case_.device, case_."case" ->> 'provenance' AS provenance, case_.algorithm,
       case_.operation, case_."case" ->> 'stack' AS stack, case_."case" -> 'parameters' AS parameters,
       (case_."case" #>> '{load,workers}')::bigint AS workers, case_."case" #>> '{load,worker}' AS worker_kind,
       case_."case" #>> '{load,pacing,open}' AS rate,
       (case_."case" #>> '{load,pacing,thinking,secs}')::bigint
       + (case_."case" #>> '{load,pacing,thinking,nanos}')::bigint / 1e9 AS think_s,
       (case_."case" ->> 'input_bytes')::bigint AS input_bytes, case_.replica, block.id AS block, block.round,
       sample.worker, sample.scheduled_ns, sample.start_ns, sample.end_ns,
       (sample.end_ns - sample.scheduled_ns) / 1e9 AS latency_s, sample.outcome, sample.user_us, sample.system_us
FROM sample JOIN block ON block.id = sample.block JOIN case_ ON case_.id = block.case_;
