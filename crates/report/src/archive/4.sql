-- What the workers of a case are.
ALTER TABLE case_ ADD COLUMN worker TEXT NOT NULL DEFAULT 'thread'; -- thread, process
