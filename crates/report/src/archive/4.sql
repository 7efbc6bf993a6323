-- What the workers of a case are.
ALTER TABLE case_ ADD COLUMN worker TEXT NOT NULL DEFAULT 'thread'; -- thread, process
-- What a block of an open loop covers of its queue's time, which stands still between blocks; NULL for others.
ALTER TABLE block ADD COLUMN length_ns INTEGER;
ALTER TABLE block ADD COLUMN waiting INTEGER;   -- arrivals that nobody had begun with at its end
