-- What cases have come to differ in, as columns; and the code that a device refused with.
ALTER TABLE case_ ADD COLUMN rate REAL;         -- arrivals a second, in an open loop
ALTER TABLE case_ ADD COLUMN think_s REAL;      -- longest pause of a user before an operation, in seconds
ALTER TABLE case_ ADD COLUMN ssh_agent TEXT;    -- openssh, gpg-agent; NULL: not asked through one
ALTER TABLE case_ ADD COLUMN code TEXT;         -- name of the device's return code, if it refused: 6982
ALTER TABLE case_ ADD COLUMN code_number INTEGER;
