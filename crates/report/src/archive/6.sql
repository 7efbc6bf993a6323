-- How the program openssl gets at a key.
ALTER TABLE case_ ADD COLUMN openssl_way TEXT; -- file, engine, provider; NULL: not asked through it
-- How a key is used, otherwise than usual.
ALTER TABLE case_ ADD COLUMN scheme TEXT; -- pss; NULL: PKCS#1 v1.5 of RSA, and of other algorithms their only one
