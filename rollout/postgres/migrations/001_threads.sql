-- A lease per node. expires_at is by the clock of this server.
CREATE TABLE node (
	id text COLLATE "C" PRIMARY KEY,
	incarnation text COLLATE "C" NOT NULL,
	address text NOT NULL,
	expires_at timestamptz NOT NULL
);

-- The owner and the end of each thread. Each append updates its row, so the row is narrow, no
-- changing column is indexed, and pages keep space for new versions (HOT updates).
CREATE TABLE thread (
	id uuid PRIMARY KEY,
	epoch bigint NOT NULL,
	next bigint NOT NULL,
	node text COLLATE "C",
	incarnation text COLLATE "C"
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

-- The lines have no foreign key, because it would lock the thread for each line. Whoever deletes a
-- thread deletes its lines.
CREATE TABLE line (
	thread uuid NOT NULL,
	ordinal bigint NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (thread, ordinal)
);

-- A server may be built without lz4. It then uses its default.
DO $$ BEGIN
	ALTER TABLE line ALTER COLUMN data SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;

-- What lists show. Times are Unix nanoseconds. body has the other members as JSON, in bytes
-- because text cannot contain NUL.
CREATE TABLE head (
	id uuid PRIMARY KEY,
	archived boolean NOT NULL,
	listed boolean NOT NULL,
	created bigint NOT NULL,
	updated bigint NOT NULL,
	running boolean NOT NULL,
	provider text COLLATE "C" NOT NULL,
	cwd text COLLATE "C" NOT NULL,
	source text COLLATE "C" NOT NULL,
	parent text COLLATE "C",
	name text COLLATE "C" NOT NULL,
	body bytea NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX head_created ON head (archived, created, id) WHERE listed;
CREATE INDEX head_updated ON head (archived, updated, id) WHERE listed;
CREATE INDEX head_cwd ON head (cwd) WHERE listed;
CREATE INDEX head_running ON head (id) WHERE running;
CREATE INDEX head_parent ON head (parent) WHERE parent IS NOT NULL;

-- The preview (kind 0) and the name (kind 1) of each thread in lower case. They are apart from head,
-- because an update of head would write their index entries again.
CREATE TABLE title (
	thread uuid NOT NULL,
	kind smallint NOT NULL,
	folded text COLLATE "C" NOT NULL,
	PRIMARY KEY (thread, kind)
);
CREATE INDEX title_folded ON title USING gin (folded gin_trgm_ops);

-- folded is the text in lower case if its ASCII letters are not the only ones that change.
CREATE TABLE message (
	thread uuid NOT NULL,
	ordinal bigint NOT NULL,
	role text NOT NULL,
	kind text NOT NULL,
	tool_name text NOT NULL,
	text text COLLATE "C" NOT NULL,
	folded text COLLATE "C",
	PRIMARY KEY (thread, ordinal)
);
CREATE INDEX message_folded ON message USING gin ((coalesce(folded, lower(text))) gin_trgm_ops);

-- The ordinal up to which the messages of a thread are stored, exclusively. Its row is the lock of
-- the messages.
CREATE TABLE indexed (
	thread uuid PRIMARY KEY,
	next bigint NOT NULL
) WITH (fillfactor = 60);
