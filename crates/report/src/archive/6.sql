-- How a key is used, otherwise than usual.
ALTER TABLE case_ ADD COLUMN scheme TEXT; -- pss; NULL: PKCS#1 v1.5 of RSA, and of other algorithms their only one
