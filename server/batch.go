package server

import (
	"fmt"

	"appserver/protocol"
)

// batch collects the answers to the messages of one array. After the array was
// read it belongs to the writer.
type batch struct {
	pending   int    // answers still to come
	responses []byte // so far, separated by commas
}

func unpackBatch(array []byte, maxBatch int, in []incoming) ([]incoming, *protocol.Error) {
	b, before := new(batch), len(in)
	for raw := range arrayElements(array) {
		if len(in)-before == maxBatch {
			return in[:before], protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: a batch of more than %d messages", maxBatch)
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

// maxCollected is how many bytes of answers may wait for the rest of their batches, of all
// batches of a connection.
const maxBatchedBytes = maxFlood

// isFull tells whether an answer cannot wait. The last one of a batch does not have to.
func (b *batch) isFull(e *encoder) bool { return b.pending > 1 && e.batchedBytes > maxBatchedBytes }

// withheld is the answer where one cannot wait: what was asked for is done by then.
func batchOverflow() *protocol.Error {
	return &protocol.Error{
		Code: protocol.CodeOverloaded,
		Message: fmt.Sprintf("The request was served, but its answer is left out: those that wait for the rest of their batches have more than %d bytes; "+
			"ask again outside of a batch, or in smaller ones", maxBatchedBytes),
		Data: &protocol.ErrorData{Kind: protocol.KindOverloaded},
	}
}

// collect moves the answer in e from start on into the batch, and after the last
// one writes them all as one array.
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
