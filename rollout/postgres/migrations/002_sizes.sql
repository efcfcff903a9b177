-- generation is the number of rewrites of the lines, so that copies of former lines are recognized. bytes
-- is the size of the lines.
ALTER TABLE thread
	ADD COLUMN generation bigint NOT NULL DEFAULT 0,
	ADD COLUMN bytes bigint NOT NULL DEFAULT 0;
UPDATE thread AS t SET bytes = coalesce((SELECT sum(octet_length(l.data)) FROM line AS l WHERE l.thread = t.id), 0);
