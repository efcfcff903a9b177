// Package line reads and writes the lines of rollouts. It knows neither files of a home nor
// threads.
//
// # Lines
//
// A line is a JSON object that ends with LF:
//
//	{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{...}}
//
// "type" must be a string, and "payload" must exist. Other members are ignored. A byte order
// mark at the start of the file, CR before LF, and blank lines are skipped. Of duplicate
// members the last one counts. JSON nests at most 10,000 deep.
//
// Any other text that ends with LF is [Damage]. It is skipped, reported with its line and
// offset, and kept in the file. Text after the last LF counts if it is a whole line. Otherwise
// it is a torn tail: the trace of a write that was never acknowledged. A tail with zero bytes
// is damage, because only a crash of the disk leaves them.
//
// A damaged line may hold sound records: before or after zero bytes, after a record that was cut off, or several
// without LF between them. They are read like lines of their own ([Pieces]). The damage is reported once for the line,
// and counts as one line.
//
// [ParseFile] and [ParseChunk] parse many lines, [Parse] one, and [Records] one that may be damaged.
// [ChunkReader] reads a file in parts of whole lines, and [Follower] its lines from an offset on. [Encode] returns
// lines as they are stored. [Rewrite] changes the payload of a line and keeps its other
// members. [PaddedWriter] writes lines at given offsets, with spaces in the gaps.
//
// # Ordinals
//
// Ordinals are integers from 0 to 2^53-1. A line without one has the ordinal after that of the
// line before it. Each damaged line counts as one, so damage does not change the ordinals of
// sound lines. After the first context_backup line ordinals only grow: a lower one is ignored.
// [Ordinals] assigns them.
//
// # Lines that refer to other files
//
// A session_meta may name an [Origin], the file in which the history begins. Forks of the
// reference implementation have forked_from_ordinal_exclusive or history_base. The lines of the
// origin below that ordinal precede the own lines, except its session_meta.
//
// A context_backup line is a [Marker]. The lines before it are a selection of the first bytes
// of the backup. It names their number and their CRC-32C (Castagnoli).
//
// # Concurrency
//
// All functions are pure or use their arguments only. [ParseFile] and [ParseChunk] use one
// goroutine per CPU for more than 1 MiB. They end before the call returns.
//
// # Decisions
//
// The scanner is our own. It validates JSON as encoding/json does and finds members in one
// pass. A validator of a library and a second pass take several times as long.
package line
