-- How the program openssl gets at a key.
ALTER TABLE case_ ADD COLUMN openssl_way TEXT; -- file, engine, provider; NULL: not asked through it
