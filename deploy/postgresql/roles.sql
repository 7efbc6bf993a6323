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
GRANT INSERT ON keymark.run, keymark.case_, keymark.block, keymark.sample, keymark.server_load,
    keymark.identity TO keymark_writer;
GRANT UPDATE (state, harness) ON keymark.run TO keymark_writer;
GRANT UPDATE (ending, parts, operations) ON keymark.case_ TO keymark_writer;
GRANT UPDATE (load) ON keymark.server_load TO keymark_writer;
GRANT UPDATE (whole) ON keymark.identity TO keymark_writer;
GRANT DELETE ON keymark.run TO keymark_writer;
