-- What a load on a server has shown, in place of samples; and which handshakes it was of.
ALTER TABLE case_ ADD COLUMN tls_version TEXT;
ALTER TABLE case_ ADD COLUMN key_exchange TEXT;
CREATE TABLE server_load (
    case_ INTEGER PRIMARY KEY REFERENCES case_ (id) ON DELETE CASCADE,
    -- As in schema/record-1.json.
    load  TEXT NOT NULL
) STRICT;
