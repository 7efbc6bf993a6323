-- Where the time of a case's operations went, where that was measured: JSON, as in an export.
ALTER TABLE case_ ADD COLUMN parts TEXT;
