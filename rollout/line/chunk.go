package line

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// ChunkReader reads files in parts, so that memory does not grow with the file. Sizes are in
// bytes.
type ChunkReader struct {
	// Size is the length of a read. A longer line is read whole up to MaxLine. An even longer
	// line is damage.
	Size, MaxLine int64
}

// NewChunkReader returns a reader of 4 MiB chunks, for lines of up to 256 MiB.
func NewChunkReader() ChunkReader { return ChunkReader{Size: 4 << 20, MaxLine: 256 << 20} }

// Chunk is a part of a file. It consists of whole lines, except for the last chunk.
type Chunk struct {
	Offset int64
	Data   []byte
	// Omitted is the number of bytes that are missing from the last line.
	Omitted int64
}

// End returns the offset after the chunk.
func (c Chunk) End() int64 { return c.Offset + int64(len(c.Data)) + c.Omitted }

// Chunks returns an iterator over the chunks of file between two offsets, or to its end. Each
// chunk has a buffer of its own.
func (k ChunkReader) Chunks(file io.ReaderAt, from, to int64) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		c := Chunk{Offset: from}
		for size := k.Size; from < to; {
			n := min(size, to-from)
			data := append(make([]byte, 0, int64(len(c.Data))+n), c.Data...)
			got, err := file.ReadAt(data[len(data):int64(len(data))+n], from)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(c, err)
				return
			}
			from += int64(got)
			c.Data = data[:len(data)+got]
			ended := int64(got) < n || from == to
			whole := c.wholeLines()
			if whole == 0 && !ended {
				if size = min(2*size, k.MaxLine); c.replaceLongLine(k.MaxLine) {
					size = k.Size
				}
				continue
			}
			if whole > 0 && !yield(Chunk{c.Offset, c.Data[:whole], c.Omitted}, nil) {
				return
			}
			if whole > 0 {
				c = Chunk{Offset: c.Offset + c.Omitted + int64(whole), Data: c.Data[whole:]}
				size = k.Size
			}
			if ended {
				break
			}
		}
		if len(c.Data) > 0 {
			yield(c, nil)
		}
	}
}

// wholeLines returns the length of the whole lines. A line with omitted bytes is a chunk of
// its own.
func (c *Chunk) wholeLines() int {
	if c.Omitted > 0 {
		return bytes.IndexByte(c.Data, '\n') + 1
	}
	return bytes.LastIndexByte(c.Data, '\n') + 1
}

// replaceLongLine replaces a line above the limit by a byte that is not JSON, so that the line
// is damage.
func (c *Chunk) replaceLongLine(limit int64) bool {
	n := int64(len(c.Data))
	if n <= limit && c.Omitted == 0 {
		return false
	}
	c.Omitted += n - 1
	c.Data = []byte{'!'}
	return true
}
