-- Times are nanoseconds since 1970 UTC, hashes are the 32 bytes of a SHA-256. The rows that clients page through have
-- a sequence number of this store beside their globally unique id.

-- closed: the last process closed the store; settled: it left no change open.
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('closed', 1), ('settled', 1);

-- A blob's row is the truth about it: its content stands in contents, or, where content is NULL, in a file.
CREATE TABLE blobs (
	hash BLOB PRIMARY KEY,
	size INTEGER NOT NULL,
	time INTEGER NOT NULL,
	content INTEGER
) WITHOUT ROWID;
CREATE TABLE contents (id INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- An edit's row is written while somebody waits for the disk: each index here is one more page to wait for, so there is
-- only the one. Its id is its number and a random tag, which spares the index of ids.
CREATE TABLE edits (
	seq INTEGER PRIMARY KEY,
	tag TEXT NOT NULL,
	time INTEGER NOT NULL,
	workspace TEXT NOT NULL,
	path TEXT NOT NULL,
	file TEXT NOT NULL,
	op TEXT NOT NULL,
	tool TEXT NOT NULL,
	agent TEXT NOT NULL,
	client TEXT NOT NULL,
	run TEXT NOT NULL,
	turn TEXT NOT NULL,
	before BLOB,
	after BLOB,
	existed INTEGER NOT NULL,
	deleted INTEGER NOT NULL,
	mode_before INTEGER NOT NULL,
	mode_after INTEGER NOT NULL,
	temp TEXT NOT NULL,
	state TEXT NOT NULL,
	added INTEGER NOT NULL,
	removed INTEGER NOT NULL,
	note TEXT NOT NULL,
	undoes TEXT NOT NULL,
	forgotten INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX edits_file ON edits (file);

CREATE TABLE snapshots (
	run TEXT NOT NULL,
	file TEXT NOT NULL,
	edit INTEGER NOT NULL,
	time INTEGER NOT NULL,
	workspace TEXT NOT NULL,
	hash BLOB,
	mode INTEGER NOT NULL,
	absent INTEGER NOT NULL,
	unreadable INTEGER NOT NULL,
	link TEXT NOT NULL,
	generation INTEGER NOT NULL,
	folders TEXT NOT NULL,
	PRIMARY KEY (run, file)
) WITHOUT ROWID;

CREATE TABLE runs (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	workspace TEXT NOT NULL,
	agent TEXT NOT NULL,
	team TEXT NOT NULL,
	stages TEXT NOT NULL,
	meta TEXT NOT NULL,
	standing INTEGER NOT NULL,
	idle INTEGER NOT NULL,
	opened INTEGER NOT NULL,
	touched INTEGER NOT NULL,
	closed INTEGER NOT NULL
);
CREATE INDEX runs_workspace ON runs (workspace);
CREATE INDEX runs_standing ON runs (workspace, agent) WHERE standing AND closed = 0;

CREATE TABLE events (
	seq INTEGER PRIMARY KEY,
	time INTEGER NOT NULL,
	kind TEXT NOT NULL,
	workspace TEXT NOT NULL,
	data TEXT NOT NULL
);

CREATE TABLE container_command_logs (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	time INTEGER NOT NULL,
	run TEXT NOT NULL,
	turn TEXT NOT NULL,
	agent TEXT NOT NULL,
	client TEXT NOT NULL,
	workspace TEXT NOT NULL,
	container TEXT NOT NULL,
	command TEXT NOT NULL,
	background INTEGER NOT NULL,
	exit_code INTEGER,
	duration INTEGER NOT NULL,
	stdout_bytes INTEGER NOT NULL,
	stderr_bytes INTEGER NOT NULL,
	stdout_head TEXT NOT NULL,
	stderr_head TEXT NOT NULL,
	outcome TEXT NOT NULL,
	approval TEXT NOT NULL
);
CREATE INDEX commands_run ON container_command_logs (run);
CREATE INDEX commands_running ON container_command_logs (seq) WHERE outcome = 'running';

CREATE TABLE approvals (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	time INTEGER NOT NULL,
	workspace TEXT NOT NULL,
	run TEXT NOT NULL,
	turn TEXT NOT NULL,
	agent TEXT NOT NULL,
	client TEXT NOT NULL,
	tool TEXT NOT NULL,
	arguments TEXT NOT NULL,
	path TEXT NOT NULL,
	digest TEXT NOT NULL,
	detail TEXT NOT NULL,
	outcome TEXT NOT NULL,
	answered INTEGER NOT NULL,
	answered_by TEXT NOT NULL,
	reason TEXT NOT NULL,
	rule TEXT NOT NULL
);
CREATE INDEX approvals_pending ON approvals (seq) WHERE outcome = 'pending';
