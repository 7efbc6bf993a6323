-- Roles of a team's archive. Its owner runs this once, in the archive's database, after the first
-- `keymark runs --archive postgresql://…` has made the tables:
--   psql -d DATABASE -f roles.sql
--   psql -d DATABASE -c 'CREATE ROLE jane LOGIN PASSWORD …; GRANT keymark_writer TO jane'
-- The owner sees everything. A writer adds runs, changes and removes only runs of their own, and reads everything but what
-- others have told with --identify (table identity). A reader reads everything but that table.
CREATE ROLE keymark_reader NOLOGIN;
CREATE ROLE keymark_writer NOLOGIN;
GRANT USAGE ON SCHEMA keymark TO keymark_reader, keymark_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA keymark TO keymark_reader, keymark_writer;
-- Numbers of rows, sums of operations and the name of the writer are the server's to give.
GRANT INSERT (id, started_utc, state, keymark, schema, plan, environment, harness, stores, in_series, sum)
    ON keymark.run TO keymark_writer;
GRANT INSERT (run, number, "case", published, parts, sum) ON keymark.case_ TO keymark_writer;
GRANT INSERT (case_, round, samples, done, done_ns, length_ns, waiting, reference_ns, sum) ON keymark.block TO keymark_writer;
GRANT INSERT ON keymark.sample, keymark.server_load TO keymark_writer;
GRANT INSERT (run, part, whole) ON keymark.identity TO keymark_writer;
GRANT UPDATE (state, harness, sum) ON keymark.run TO keymark_writer;
GRANT UPDATE (ending, parts, operations, sum) ON keymark.case_ TO keymark_writer;
GRANT UPDATE (load) ON keymark.server_load TO keymark_writer;
GRANT UPDATE (whole) ON keymark.identity TO keymark_writer;
GRANT DELETE ON keymark.run TO keymark_writer;
