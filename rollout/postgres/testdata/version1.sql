-- Rows as programs of schema version 1 wrote them: two threads, one of them archived, and the lease of a
-- server that was killed while it owned the first one.
INSERT INTO node VALUES ('old-1', 'incarnation', '', now() - interval '1 day');
INSERT INTO thread (id, epoch, next, node, incarnation) VALUES
	('0190a6f8-1111-7aaa-8bbb-000000000001', 3, 3, 'old-1', 'incarnation'),
	('0190a6f8-1111-7aaa-8bbb-000000000002', 1, 2, NULL, NULL);
INSERT INTO line
	SELECT '0190a6f8-1111-7aaa-8bbb-000000000001'::uuid, n, convert_to(format('{"line":%s,"text":"Grüße"}', n), 'UTF8')
	FROM generate_series(0, 2) AS n
	UNION ALL SELECT '0190a6f8-1111-7aaa-8bbb-000000000002', n, convert_to(repeat('long ', 10000) || n, 'UTF8')
	FROM generate_series(0, 1) AS n;
INSERT INTO head (id, archived, listed, created, updated, running, provider, cwd, source, parent, name, body) VALUES
	('0190a6f8-1111-7aaa-8bbb-000000000001', false, true, 1767323045000000000, 1767323046000000000, true,
		'openai', '/src', 'cli', NULL, 'The First', convert_to('{"meta":{"id":"0190a6f8-1111-7aaa-8bbb-000000000001",'
		'"timestamp":"2026-01-02T03:04:05Z","cwd":"/src","source":"cli","model_provider":"openai"},'
		'"context":true,"model":"m","preview":"Say Grüße"}', 'UTF8')),
	('0190a6f8-1111-7aaa-8bbb-000000000002', true, true, 1767323045000000000, 1767323047000000000, false,
		'openai', '/src', 'cli', NULL, '', convert_to('{"meta":{"id":"0190a6f8-1111-7aaa-8bbb-000000000002"},'
		'"preview":"second"}', 'UTF8'));
INSERT INTO title VALUES
	('0190a6f8-1111-7aaa-8bbb-000000000001', 0, 'say grüße'), ('0190a6f8-1111-7aaa-8bbb-000000000001', 1, 'the first'),
	('0190a6f8-1111-7aaa-8bbb-000000000002', 0, 'second'), ('0190a6f8-1111-7aaa-8bbb-000000000002', 1, '');
INSERT INTO message VALUES
	('0190a6f8-1111-7aaa-8bbb-000000000001', 1, 'user', 'message', '', 'Say Grüße', NULL),
	('0190a6f8-1111-7aaa-8bbb-000000000002', 1, 'user', 'message', '', 'Hidden in the ARCHIVE', NULL);
INSERT INTO indexed VALUES ('0190a6f8-1111-7aaa-8bbb-000000000001', 3), ('0190a6f8-1111-7aaa-8bbb-000000000002', 2);
