// Package state is the durable state of one thread: the state that follows from the lines of its rollout,
// and from nothing else.
//
// [State.Apply] applies one line. A State has three parts: plain [Values], such as the settings and the
// name; the context ([appserver/core/pure/history]), which the model receives; and the transcript
// ([appserver/core/pure/transcript]), which clients see. Apply gives each line to the part that stores it, and
// connects the parts: an item of the context has the id of its turn, a rollback reverts both.
//
// A line that cannot be read changes nothing but the number of lines, so that every rollout loads.
// Applying the lines of a rollout always gives the same State. [State.WriteSnapshot] stores it, so that
// the next load can begin there.
//
// Nothing here knows the active turn, tools, models or clients. Package core records lines and applies
// them in the same step.
//
// # Decisions
//
// Values are exported fields and not methods, because package core reads them at about 250 places. The
// snapshot stores Values as they are; a test fails if it loses a field.
//
// Settings apply line by line, and a missing value keeps the one before. The reference implementation
// stores them in two forms, turn_context lines and thread_settings_applied events. Both are read, because
// either can be missing in files of older versions.
package state
