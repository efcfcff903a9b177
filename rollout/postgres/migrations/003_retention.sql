-- The retention reads the threads that lists omit, too. The index serves both.
DROP INDEX head_updated;
CREATE INDEX head_updated ON head (archived, updated, id);
