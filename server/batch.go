package server

import (
	"fmt"

	"appserver/protocol"
)

// batch collects the responses to the messages of one JSON array. The reader fills pending.
// After that the batch belongs to the writer.
type batch struct {
	pending   int    // responses not yet encoded
	responses []byte // encoded responses, separated by commas
}

func unpackBatch(array []byte, maxBatch int, in []incoming) ([]incoming, *protocol.Error) {
	b, before := new(batch), len(in)
	for raw := range protocol.Elements(array) {
		if len(in)-before == maxBatch {
			return in[:before], protocol.Refuse(
				protocol.KindInvalidRequest,
				"Invalid request: a batch of more than %d messages",
				maxBatch,
			)
		}
		m := readMessage(raw)
		if m.kind == kindRequest || m.kind == kindMalformed {
			m.batch = b
			b.pending++
		}
		in = append(in, m)
	}
	if len(in) == before {
		return in, protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: empty batch")
	}
	return in, nil
}

// maxBatchedBytes limits the encoded responses that a connection holds for incomplete batches.
const maxBatchedBytes = 64 << 20

// isFull reports whether a response cannot be held in the batch. The last response of a batch
// is never held.
func (b *batch) isFull(e *encoder) bool { return b.pending > 1 && e.batchedBytes > maxBatchedBytes }

// batchOverflow returns the error that replaces a response which cannot be held. The request
// itself was served, so the message says so.
func batchOverflow() *protocol.Error {
	return &protocol.Error{
		Code: protocol.CodeOverloaded,
		Message: fmt.Sprintf(
			"The request was served, but its response is omitted: responses held for incomplete batches exceed %d bytes; "+
				"send the request alone or in a smaller batch",
			maxBatchedBytes,
		),
		Data: &protocol.ErrorData{Kind: protocol.KindOverloaded},
	}
}

// add moves the encoded response in e, from start on, into the batch. After the last response
// it writes all of them to e as one array.
func (b *batch) add(e *encoder, start int) {
	if len(b.responses) > 0 {
		b.responses = append(b.responses, ',')
		e.batchedBytes++
	}
	b.responses = append(b.responses, e.buf[start:]...)
	e.batchedBytes += len(e.buf) - start
	e.buf = e.buf[:start]
	if b.pending--; b.pending > 0 {
		return
	}
	e.text("[")
	e.buf = append(e.buf, b.responses...)
	e.text("]\n")
	e.batchedBytes -= len(b.responses)
	b.responses = nil
}
